/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs are alike. There is no one file for it, so several are asked, the surest first. */
#include <stdlib.h>

#include "host/topology_private.h"

#define CPU_DIR "sys/devices/system/cpu"

static int
descending(gconstpointer a, gconstpointer b, gpointer data)
{
    const guint64 *values = data;
    guint64 x = values[*(const unsigned int *)a], y = values[*(const unsigned int *)b];

    return x == y ? 0 : x < y ? 1 : -1;
}

GPtrArray *
host_kinds_by_value(const HostCpuset *set, const guint64 *values, const char *what)
{
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(unsigned int));
    GPtrArray *kinds;
    HostCpuset *cpus = NULL;
    guint64 top = 0;
    unsigned int cpu;

    hwloc_bitmap_foreach_begin(cpu, set)
    {
        if (values[cpu] == 0)
            return NULL;
        g_array_append_val(order, cpu);
    }
    hwloc_bitmap_foreach_end();
    g_array_sort_with_data(order, descending, (gpointer)values);

    kinds = host_kinds_new();
    for (guint i = 0; i < order->len; i++) {
        cpu = g_array_index(order, unsigned int, i);
        /* Against the fastest of the kind, so that a slope of small steps does not make one kind of
         * everything. In doubles: values come from files and can be near 2^64. */
        if (!cpus ||
            (double)values[cpu] * 100 < (double)top * (100 - HOST_KIND_TOLERANCE_PERCENT)) {
            cpus = hwloc_bitmap_alloc();
            top = values[cpu];
            host_kinds_add(kinds, g_strdup_printf("%s %" G_GUINT64_FORMAT, what, top), cpus);
        }
        hwloc_bitmap_set(cpus, cpu);
    }
    return kinds;
}

/* The PMUs of Intel's hybrid CPUs each name the CPUs they count on. */
static GPtrArray *
kinds_by_pmu(const HostTopology *t, const HostRoot *root)
{
    static const char *const pmus[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
    GPtrArray *kinds = host_kinds_new();
    g_autoptr(HostCpuset) covered = hwloc_bitmap_alloc();

    for (gsize i = 0; i < G_N_ELEMENTS(pmus); i++) {
        g_autofree char *text =
            host_root_linef(root, "sys/bus/event_source/devices/%s/cpus", pmus[i]);
        g_autoptr(HostCpuset) cpus =
            text ? host_cpulist_parse(text, HOST_CPULIST_KERNEL, 0, NULL, NULL) : NULL;
        if (!cpus)
            continue;
        hwloc_bitmap_and(cpus, cpus, t->online);
        hwloc_bitmap_andnot(cpus, cpus, covered);
        if (hwloc_bitmap_iszero(cpus))
            continue;
        hwloc_bitmap_or(covered, covered, cpus);
        host_kinds_add(kinds, g_strdup(pmus[i]), g_steal_pointer(&cpus));
    }
    if (kinds->len && hwloc_bitmap_isequal(covered, t->online))
        return kinds;
    g_ptr_array_unref(kinds);
    return NULL;
}

static GPtrArray *
kinds_by_file(const HostTopology *t, const HostRoot *root, const char *file, const char *what)
{
    gsize n = (gsize)host_cpuset_last(t->online) + 1;
    g_autofree guint64 *values = g_new0(guint64, n);
    unsigned int cpu;

    hwloc_bitmap_foreach_begin(cpu, t->online)
    {
        g_autofree char *text = host_root_linef(root, CPU_DIR "/cpu%u/%s", cpu, file);
        if (!text || !g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT64, &values[cpu], NULL))
            return NULL;
    }
    hwloc_bitmap_foreach_end();
    return host_kinds_by_value(t->online, values, what);
}

/* The main ID register: implementer, variant, part, revision (Documentation/arch/arm64,
 * cpu-feature-registers). Revisions of one part are one kind. */
#define MIDR_REVISION G_GUINT64_CONSTANT(0xf)

static GPtrArray *
kinds_by_midr(const HostTopology *t, const HostRoot *root)
{
    GPtrArray *kinds = host_kinds_new();
    unsigned int cpu;

    hwloc_bitmap_foreach_begin(cpu, t->online)
    {
        g_autofree char *text =
            host_root_linef(root, CPU_DIR "/cpu%u/regs/identification/midr_el1", cpu);
        char *end = NULL;
        guint64 midr = text ? g_ascii_strtoull(text, &end, 16) : 0;
        if (!midr || *end) {
            g_ptr_array_unref(kinds);
            return NULL;
        }
        g_autofree char *name =
            g_strdup_printf("MIDR 0x%" G_GINT64_MODIFIER "x", midr & ~MIDR_REVISION);
        HostCpuKind *kind = NULL;
        for (guint i = 0; i < kinds->len && !kind; i++) {
            HostCpuKind *k = kinds->pdata[i];
            kind = g_str_equal(k->name, name) ? k : NULL;
        }
        if (!kind) {
            host_kinds_add(kinds, g_steal_pointer(&name), hwloc_bitmap_alloc());
            kind = kinds->pdata[kinds->len - 1];
        }
        hwloc_bitmap_set(kind->cpus, cpu);
    }
    hwloc_bitmap_foreach_end();
    return kinds;
}

void
host_kinds_read(HostTopology *t, const HostRoot *root)
{
    const char *from = "PMUs' cpus files";
    GPtrArray *kinds = kinds_by_pmu(t, root);

    if (!kinds) {
        from = "cpu_capacity";
        kinds = kinds_by_file(t, root, "cpu_capacity", "capacity");
    }
    if (!kinds) {
        from = "MIDR";
        kinds = kinds_by_midr(t, root);
    }
    if (!kinds) {
        from = "maximum frequency";
        kinds = kinds_by_file(t, root, "cpufreq/cpuinfo_max_freq", "kHz");
    }
    if (!kinds) {
        g_clear_pointer(&t->kinds_from, g_free);
        host_topology_one_kind(t);
        return;
    }
    g_ptr_array_unref(t->kinds);
    t->kinds = kinds;
    t->kinds_from = g_strdup(from);
}
