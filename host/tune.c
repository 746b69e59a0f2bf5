/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/tune.h"

#include <string.h>

#include "host/cpumask.h"
#include "host/error.h"
#include "host/knobs.h"

#define CPUS "sys/devices/system/cpu/"

typedef struct {
    const HostRoot *root;
    const HostWish *wish;
    HostCpuset *online;
    GPtrArray *steps;
} Tune;

void
host_tune_step_free(HostTuneStep *s)
{
    if (!s)
        return;
    g_free(s->path);
    g_free(s->old_value);
    g_free(s->new_value);
    g_free(s);
}

static gboolean
check_cpus(const Tune *t, GError **error)
{
    const HostWish *w = t->wish;
    g_autoptr(HostCpuset) awake = hwloc_bitmap_dup(w->housekeeping);

    if (!t->online) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "which CPUs are online is unknown: " CPUS "online can't be read");
        return FALSE;
    }
    if (hwloc_bitmap_iszero(w->isolated)) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "no CPU is to be isolated: the kernel command line asks for none; say which "
                    "with --partition FILE");
        return FALSE;
    }
    g_autofree char *isolated = host_cpuset_shortfall(w->isolated, t->online, "host");
    g_autofree char *housekeeping = host_cpuset_shortfall(w->housekeeping, t->online, "host");
    if (isolated) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "isolated: %s (online CPUs)",
                    isolated);
        return FALSE;
    }
    if (w->from_file && housekeeping) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "housekeeping: %s (online CPUs)",
                    housekeeping);
        return FALSE;
    }
    hwloc_bitmap_and(awake, awake, t->online);
    if (!hwloc_bitmap_iszero(awake))
        return TRUE;
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "no housekeeping CPU is online: nothing could take what leaves the others");
    return FALSE;
}

static HostTuneStep *
add(Tune *t, const char *path, const char *old_value, const char *new_value)
{
    HostTuneStep *s = g_new0(HostTuneStep, 1);

    *s = (HostTuneStep){g_strdup(path), g_strdup(old_value), g_strdup(new_value), FALSE};
    g_ptr_array_add(t->steps, s);
    return s;
}

/* Where the machine has PATH, and not VALUE in it. */
static void
want(Tune *t, const char *path, const char *value)
{
    g_autofree char *now = host_knob_read(t->root, path, NULL);

    if (now && !host_knob_values_equal(host_knob_kind(path), now, value))
        add(t, path, now, value);
}

/* CPUS without the isolated ones; the housekeeping CPUs when no online CPU is left, since the
 * kernel refuses that. NULL when there is nothing to change. */
static HostCpuset *
without_isolated(const Tune *t, const HostCpuset *cpus)
{
    if (!hwloc_bitmap_intersects(cpus, t->wish->isolated))
        return NULL;
    HostCpuset *left = hwloc_bitmap_dup(cpus);
    hwloc_bitmap_andnot(left, left, t->wish->isolated);
    if (!hwloc_bitmap_intersects(left, t->online))
        hwloc_bitmap_copy(left, t->wish->housekeeping);
    return left;
}

static void
keep_off_mask(Tune *t, const char *path)
{
    g_autofree char *now = host_knob_read(t->root, path, NULL);
    g_autoptr(HostCpuset) cpus = now ? host_cpumask_parse(now) : NULL;
    g_autoptr(HostCpuset) left = cpus ? without_isolated(t, cpus) : NULL;

    if (!left)
        return;
    g_autofree char *mask = host_cpumask_format(left);
    add(t, path, now, mask);
}

static void
keep_off_irq(Tune *t, const char *number)
{
    g_autofree char *path = g_strdup_printf("/proc/irq/%s/smp_affinity_list", number);
    if (host_knob_kind(path) == HOST_KNOB_NONE)
        return;
    g_autofree char *now = host_knob_read(t->root, path, NULL);
    g_autoptr(HostCpuset) cpus =
        now ? host_cpulist_parse(now, HOST_CPULIST_KERNEL, 0, NULL, NULL) : NULL;
    g_autoptr(HostCpuset) left = cpus ? without_isolated(t, cpus) : NULL;
    if (!left)
        return;
    g_autofree char *list = host_cpulist_format(left);
    add(t, path, now, list)->may_fail = TRUE;
}

static void
run_fast(Tune *t, const char *policy)
{
    g_autofree char *path = g_strdup_printf("/" CPUS "cpufreq/%s/scaling_governor", policy);
    g_autofree char *affected = host_root_linef(t->root, CPUS "cpufreq/%s/affected_cpus", policy);
    g_autofree char *available =
        host_root_linef(t->root, CPUS "cpufreq/%s/scaling_available_governors", policy);

    if (host_knob_kind(path) == HOST_KNOB_NONE || !affected || !available)
        return;
    g_strdelimit(affected, " ", ',');
    g_auto(GStrv) governors = g_strsplit(available, " ", -1);
    g_autoptr(HostCpuset) cpus = host_cpulist_parse(affected, HOST_CPULIST_KERNEL, 0, NULL, NULL);
    if (cpus && hwloc_bitmap_intersects(cpus, t->wish->isolated) &&
        g_strv_contains((const char *const *)governors, "performance"))
        want(t, path, "performance");
}

static void
each(Tune *t, const char *folder, void (*look_at)(Tune *t, const char *name))
{
    g_autoptr(GPtrArray) names = host_root_list(t->root, folder);

    for (guint i = 0; names && i < names->len; i++)
        look_at(t, names->pdata[i]);
}

static gboolean
want_halt_poll(Tune *t, const char *value, GError **error)
{
    static const char path[] = "/sys/module/kvm/parameters/halt_poll_ns";
    guint64 ns;

    if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT32, &ns, error))
        return FALSE;
    g_autofree char *now = host_knob_read(t->root, path, error);
    if (!now)
        return FALSE;
    want(t, path, value);
    return TRUE;
}

GPtrArray *
host_tune_plan(const HostRoot *root, const HostWish *wish, const char *halt_poll_ns, GError **error)
{
    g_autoptr(HostCpuset) online = host_root_cpulist(root, CPUS "online");
    g_autoptr(GPtrArray) steps =
        g_ptr_array_new_with_free_func((GDestroyNotify)host_tune_step_free);
    Tune t = {root, wish, online, steps};

    if (!check_cpus(&t, error) || (halt_poll_ns && !want_halt_poll(&t, halt_poll_ns, error)))
        return NULL;
    /* The default first: an interrupt that comes up meanwhile is placed by it. */
    keep_off_mask(&t, "/proc/irq/default_smp_affinity");
    each(&t, "proc/irq", keep_off_irq);
    keep_off_mask(&t, "/sys/devices/virtual/workqueue/cpumask");
    want(&t, "/proc/sys/kernel/timer_migration", "1");
    want(&t, "/proc/sys/kernel/nmi_watchdog", "0");
    want(&t, "/sys/kernel/mm/transparent_hugepage/enabled", "never");
    want(&t, "/sys/kernel/mm/ksm/run", "0");
    each(&t, CPUS "cpufreq", run_fast);
    return g_steal_pointer(&steps);
}
