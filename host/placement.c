/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/placement.h"

#include <string.h>

#include "host/error.h"
#include "host/quote.h"

/* As many as libvirt's QEMU driver takes, and more than any machine here needs. */
#define MAX_VCPUS 4096

/* CPUs in the order vCPUs take them, of the cores that FREE holds entirely. */
static GArray *
usable_cpus(const HostTopology *t, const HostCpuset *within, const HostCpuset *free_cpus,
            gboolean share)
{
    GArray *cpus = g_array_new(FALSE, FALSE, sizeof(unsigned int));

    for (guint i = 0; i < t->cores->len; i++) {
        const HostCpuset *core = t->cores->pdata[i];
        unsigned int cpu;
        if (!hwloc_bitmap_isincluded(core, within) || !hwloc_bitmap_isincluded(core, free_cpus))
            continue;
        hwloc_bitmap_foreach_begin(cpu, core)
        {
            g_array_append_val(cpus, cpu);
            if (!share)
                break;
        }
        hwloc_bitmap_foreach_end();
    }
    return cpus;
}

/* The sets to look in, best first: one kind on one node, one node, all. */
static GPtrArray *
pools(const HostTopology *t)
{
    GPtrArray *list = g_ptr_array_new_with_free_func((GDestroyNotify)hwloc_bitmap_free);

    for (guint n = 0; n < t->nodes->len; n++) {
        const HostNode *node = t->nodes->pdata[n];
        for (guint k = 0; k < t->kinds->len; k++) {
            const HostCpuKind *kind = t->kinds->pdata[k];
            HostCpuset *both = hwloc_bitmap_alloc();
            hwloc_bitmap_and(both, node->cpus, kind->cpus);
            g_ptr_array_add(list, both);
        }
    }
    for (guint n = 0; n < t->nodes->len; n++) {
        const HostNode *node = t->nodes->pdata[n];
        g_ptr_array_add(list, hwloc_bitmap_dup(node->cpus));
    }
    g_ptr_array_add(list, hwloc_bitmap_dup(t->online));
    return list;
}

/* The first pool with WANT CPUs, or the largest of one node and kind when WANT is 0; *MOST is the
 * largest seen. */
static GArray *
choose(const HostTopology *t, const HostCpuset *free_cpus, gboolean share, guint want, guint *most)
{
    g_autoptr(GPtrArray) list = pools(t);
    g_autoptr(GArray) best = NULL;
    guint first = t->nodes->len * t->kinds->len;

    *most = 0;
    for (guint i = 0; i < list->len; i++) {
        g_autoptr(GArray) cpus = usable_cpus(t, list->pdata[i], free_cpus, share);
        *most = MAX(*most, cpus->len);
        if (want ? cpus->len >= want : i < first && (!best || cpus->len > best->len)) {
            g_clear_pointer(&best, g_array_unref);
            best = g_steal_pointer(&cpus);
            if (want)
                break;
        }
    }
    return g_steal_pointer(&best);
}

typedef struct {
    guint vcpu; /* MAX_VCPUS: all of them */
    HostCpuset *cpus;
} Pin;

static void
pin_clear(gpointer p)
{
    hwloc_bitmap_free(((Pin *)p)->cpus);
}

static gboolean
read_pin(const HostPlan *p, const char *text, Pin *pin, GError **error)
{
    const char *equals = strchr(text, '=');
    g_autofree char *who = g_strndup(text, equals ? (gsize)(equals - text) : 0);
    g_autofree char *shown = host_quote(text, 80);
    guint64 vcpu = MAX_VCPUS;

    if (!equals || (!g_str_equal(who, "*") &&
                    !g_ascii_string_to_unsigned(who, 10, 0, MAX_VCPUS - 1, &vcpu, NULL))) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "vcpupin %s: write VCPU=CPUS, like 0=2 (or *=2-5 for all vCPUs), with the "
                    "kernel's CPU numbers",
                    shown);
        return FALSE;
    }
    pin->vcpu = (guint)vcpu;
    /* Any number may stand here: CPUs this machine does not have are a finding of their own. */
    pin->cpus = host_cpulist_parse(equals + 1, HOST_CPULIST_TOOL, 0, p->warnings, error);
    if (!pin->cpus) {
        g_prefix_error(error, "vcpupin %s: ", shown);
        return FALSE;
    }
    return TRUE;
}

static GArray *
read_pins(const HostPlan *p, const HostWish *wish, GError **error)
{
    g_autoptr(GArray) pins = g_array_new(FALSE, TRUE, sizeof(Pin));

    g_array_set_clear_func(pins, pin_clear);
    for (guint i = 0; wish->vcpu_pins && wish->vcpu_pins[i]; i++) {
        Pin pin = {0};
        if (!read_pin(p, wish->vcpu_pins[i], &pin, error))
            return NULL;
        g_array_append_val(pins, pin);
    }
    return g_steal_pointer(&pins);
}

static gboolean
apply_pins(HostPlan *p, const GArray *pins, GError **error)
{
    for (guint i = 0; i < pins->len; i++) {
        const Pin *pin = &g_array_index(pins, Pin, i);
        gboolean all = pin->vcpu == MAX_VCPUS;
        if (!all && pin->vcpu >= p->vcpus) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                        "vcpupin names vCPU %u, but the guest has vCPUs 0-%u", pin->vcpu,
                        p->vcpus - 1);
            return FALSE;
        }
        for (guint v = all ? 0 : pin->vcpu; v < (all ? p->vcpus : pin->vcpu + 1); v++) {
            hwloc_bitmap_free(p->vcpu_pins[v]);
            p->vcpu_pins[v] = hwloc_bitmap_dup(pin->cpus);
        }
    }
    return TRUE;
}

/* One CPU each for the vCPUs that have no pin yet. */
static void
place_rest(HostPlan *p, const HostTopology *t)
{
    g_autoptr(HostCpuset) free_cpus = hwloc_bitmap_dup(p->isolated);
    guint rest = 0, most = 0, next = 0;

    for (guint v = 0; v < p->vcpus; v++) {
        if (p->vcpu_pins[v])
            hwloc_bitmap_andnot(free_cpus, free_cpus, p->vcpu_pins[v]);
        else
            rest++;
    }
    if (!rest)
        return;
    g_autoptr(GArray) cpus = choose(t, free_cpus, p->share_cores, rest, &most);
    if (!cpus)
        p->shortage =
            g_strdup_printf("%u vCPUs want a %s each, but only %u isolated %s free", rest,
                            p->share_cores ? "CPU" : "core", most,
                            p->share_cores ? "CPUs of whole cores are" : "whole cores are");
    for (guint v = 0; v < p->vcpus; v++) {
        if (p->vcpu_pins[v])
            continue;
        p->vcpu_pins[v] = hwloc_bitmap_alloc();
        if (cpus)
            hwloc_bitmap_only(p->vcpu_pins[v], g_array_index(cpus, unsigned int, next++));
    }
}

static guint
default_vcpus(const HostPlan *p, const HostTopology *t, const GArray *pins)
{
    guint vcpus = 0, most = 0;

    for (guint i = 0; i < pins->len; i++) {
        const Pin *pin = &g_array_index(pins, Pin, i);
        if (pin->vcpu < MAX_VCPUS)
            vcpus = MAX(vcpus, pin->vcpu + 1);
    }
    if (vcpus)
        return vcpus;
    g_autoptr(GArray) cpus = choose(t, p->isolated, p->share_cores, 0, &most);
    return cpus && cpus->len ? MIN(cpus->len, MAX_VCPUS) : 1;
}

/* Width of the guest's cores: the host's, where vCPUs are laid out along its cores. */
static guint
default_threads(const HostPlan *p, const HostTopology *t)
{
    int cpu = p->share_cores ? hwloc_bitmap_first(p->vcpu_pins[0]) : -1;
    const HostCpuset *core = cpu < 0 ? NULL : host_topology_siblings(t, (unsigned int)cpu);
    guint width = core ? (guint)hwloc_bitmap_weight(core) : 1;

    return p->vcpus % width == 0 ? width : 1;
}

static int
common_node(const HostPlan *p, const HostTopology *t)
{
    g_autoptr(HostCpuset) all = hwloc_bitmap_alloc();

    for (guint v = 0; v < p->vcpus; v++)
        hwloc_bitmap_or(all, all, p->vcpu_pins[v]);
    for (guint i = 0; i < t->nodes->len; i++) {
        const HostNode *node = t->nodes->pdata[i];
        if (!hwloc_bitmap_iszero(all) && hwloc_bitmap_isincluded(all, node->cpus))
            return (int)node->number;
    }
    return -1;
}

gboolean
host_placement(HostPlan *p, const HostTopology *t, const HostWish *wish, GError **error)
{
    g_autoptr(GArray) pins = read_pins(p, wish, error);

    if (!pins)
        return FALSE;
    p->vcpus = wish->vcpus ? wish->vcpus : default_vcpus(p, t, pins);
    if (p->vcpus > MAX_VCPUS) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "%u vCPUs: at most %d can be planned", p->vcpus, MAX_VCPUS);
        p->vcpus = 0;
        return FALSE;
    }
    p->vcpu_pins = g_new0(HostCpuset *, p->vcpus);
    if (!apply_pins(p, pins, error))
        return FALSE;
    place_rest(p, t);
    p->node = common_node(p, t);
    p->guest_threads = wish->guest_threads ? wish->guest_threads : default_threads(p, t);
    if (p->vcpus % p->guest_threads != 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "%u vCPUs can't be cores of %u threads: %u does not divide %u", p->vcpus,
                    p->guest_threads, p->guest_threads, p->vcpus);
        return FALSE;
    }
    return TRUE;
}
