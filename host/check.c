/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/check.h"

#include "host/check_private.h"
#include "host/quote.h"

#define MAX_MESSAGE_BYTES 4096

static const struct {
    const char *name;
    void (*check)(HostChecker *c);
} checks[] = {
    {"cpus", host_check_cpus},
    {"cmdline", host_check_cmdline},
    {"isolation", host_check_isolation},
    {"preempt", host_check_preempt},
    {"irq", host_check_irqs},
    {"irqbalance", host_check_irqbalance},
    {"tasks", host_check_tasks},
    {"cpuset", host_check_cgroup},
    {"workqueue", host_check_workqueue},
    {"timers", host_check_timer_migration},
    {"watchdog", host_check_watchdog},
    {"thp", host_check_thp},
    {"ksm", host_check_ksm},
    {"clock", host_check_clock},
    {"cpuidle", host_check_cpuidle},
    {"governor", host_check_governor},
    {"microcode", host_check_microcode},
    {"mitigations", host_check_mitigations},
    {"kvm", host_check_kvm},
};

const char *
host_grade_name(HostGrade g)
{
    static const char *const names[HOST_GRADES] = {"PASS", "WARN", "FAIL", "CANNOT CHECK"};

    return names[g];
}

void
host_check_line_free(HostCheckLine *l)
{
    if (!l)
        return;
    g_free(l->message);
    g_free(l->fix);
    g_free(l);
}

void
host_check_say(HostChecker *c, HostGrade grade, char *fix, const char *format, ...)
{
    HostCheckLine *l = g_new0(HostCheckLine, 1);
    va_list args;

    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    l->name = c->name;
    l->grade = grade;
    l->message = host_quote(text, MAX_MESSAGE_BYTES);
    l->fix = fix;
    g_ptr_array_add(c->lines, l);
}

unsigned int
host_root_ncpus(const HostRoot *root)
{
    g_autoptr(HostCpuset) possible = host_root_cpulist(root, "sys/devices/system/cpu/possible");

    return possible ? (unsigned int)(host_cpuset_last(possible) + 1) : 0;
}

static void
add_effective(HostCpuset *set, HostEffective e)
{
    hwloc_bitmap_or(set, set, e.cpus);
    host_effective_clear(&e);
}

/* Wished for, or isolated by any means: both are to be left alone. */
static void
find_isolated(HostChecker *c)
{
    g_autofree char *nohz_full = host_root_line(c->root, "sys/devices/system/cpu/nohz_full");
    g_autofree char *isolated = host_root_line(c->root, "sys/devices/system/cpu/isolated");
    const HostKernelView v = {
        .sysfs_nohz_full = nohz_full, .sysfs_isolated = isolated, .ncpus = c->ncpus};

    c->partitions = host_cgroup_isolated(c->root);
    c->isolated = hwloc_bitmap_dup(c->partitions);
    hwloc_bitmap_or(c->isolated, c->isolated, c->wish->isolated);
    add_effective(c->isolated, host_nohz_full_effective(&v));
    add_effective(c->isolated, host_isolated_effective(&v));
    /* nohz_full is shown as it was asked for, which may go beyond the machine. */
    if (c->possible)
        hwloc_bitmap_and(c->isolated, c->isolated, c->possible);
    g_autoptr(HostCpuset) rest = hwloc_bitmap_dup(c->wish->housekeeping);
    if (c->online && hwloc_bitmap_iszero(rest))
        hwloc_bitmap_copy(rest, c->online);
    hwloc_bitmap_andnot(rest, rest, c->isolated);
    c->isolated_list = host_cpulist_format(c->isolated);
    c->housekeeping_list = host_cpulist_format(rest);
}

static void
checker_clear(HostChecker *c)
{
    hwloc_bitmap_free(c->online);
    hwloc_bitmap_free(c->present);
    hwloc_bitmap_free(c->possible);
    hwloc_bitmap_free(c->partitions);
    hwloc_bitmap_free(c->isolated);
    g_clear_pointer(&c->kmsg, g_ptr_array_unref);
    g_free(c->cmdline);
    g_free(c->isolated_list);
    g_free(c->housekeeping_list);
}

GPtrArray *
host_check(const HostRoot *root, const HostWish *wish)
{
    g_autoptr(HostWish) own = NULL;
    HostChecker c = {.root = root,
                     .ncpus = host_root_ncpus(root),
                     .cmdline = host_root_line(root, "proc/cmdline"),
                     .online = host_root_cpulist(root, "sys/devices/system/cpu/online"),
                     .present = host_root_cpulist(root, "sys/devices/system/cpu/present"),
                     .possible = host_root_cpulist(root, "sys/devices/system/cpu/possible")};

    if (!wish)
        own = host_wish_from_cmdline(c.cmdline ? c.cmdline : "", c.ncpus);
    c.wish = wish ? wish : own;
    c.kmsg = host_root_kmsg(root, &c.kmsg_from_boot);
    c.lines = g_ptr_array_new_with_free_func((GDestroyNotify)host_check_line_free);
    find_isolated(&c);
    for (gsize i = 0; i < G_N_ELEMENTS(checks); i++) {
        c.name = checks[i].name;
        checks[i].check(&c);
    }
    GPtrArray *lines = c.lines;
    checker_clear(&c);
    return lines;
}
