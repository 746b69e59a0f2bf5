/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel does of its own accord on any CPU: workqueues, timers, watchdogs, khugepaged,
 * ksmd. */
#include <string.h>

#include "host/check_private.h"
#include "host/cpumask.h"
#include "host/quote.h"

#define WQ_CPUMASK "sys/devices/virtual/workqueue/cpumask"
#define THP "sys/kernel/mm/transparent_hugepage/enabled"

void
host_check_workqueue(HostChecker *c)
{
    g_autofree char *text = host_root_line(c->root, WQ_CPUMASK);
    g_autoptr(HostCpuset) mask = text ? host_cpumask_parse(text) : NULL;

    if (!mask) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL, WQ_CPUMASK " can't be read");
        return;
    }
    g_autofree char *all = host_cpulist_format(mask);
    g_autoptr(HostCpuset) keep = hwloc_bitmap_dup(mask);
    hwloc_bitmap_andnot(keep, keep, c->isolated);
    g_autofree char *keep_mask = host_cpumask_format(keep);
    hwloc_bitmap_and(mask, mask, c->isolated);
    g_autofree char *list = host_cpulist_format(mask);
    if (*list)
        host_check_say(c, HOST_GRADE_FAIL,
                       g_strdup_printf("nohzlab host apply, or: echo %s > /" WQ_CPUMASK, keep_mask),
                       "work of unbound workqueues may run on isolated CPU %s", list);
    else
        host_check_say(c, HOST_GRADE_PASS, NULL, "unbound workqueues keep to CPUs %s", all);
}

/* get_nohz_timer_target() in kernel/sched/core.c is asked only when timers may migrate. */
void
host_check_timer_migration(HostChecker *c)
{
    g_autofree char *value = host_root_line(c->root, "proc/sys/kernel/timer_migration");

    if (!value)
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "proc/sys/kernel/timer_migration can't be read");
    else if (!strcmp(value, "1"))
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "timer_migration is 1: timers armed on nohz_full CPUs go to housekeeping "
                       "ones");
    else
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup("nohzlab host apply, or: sysctl kernel.timer_migration=1"),
                       "timer_migration is not 1: timers armed on nohz_full CPUs stay there");
}

void
host_check_watchdog(HostChecker *c)
{
    g_autofree char *nmi = host_root_line(c->root, "proc/sys/kernel/nmi_watchdog");
    g_autofree char *soft = host_root_line(c->root, "proc/sys/kernel/watchdog");
    g_autoptr(HostCpuset) mask = host_root_cpulist(c->root, "proc/sys/kernel/watchdog_cpumask");

    if (!nmi) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "proc/sys/kernel/nmi_watchdog can't be read");
        return;
    }
    if (mask)
        hwloc_bitmap_and(mask, mask, c->isolated);
    g_autofree char *list = mask ? host_cpulist_format(mask) : g_strdup("(unknown)");
    gboolean reaches = *list && !hwloc_bitmap_iszero(c->isolated);
    gboolean soft_on = soft && !strcmp(soft, "1");
    if (!strcmp(nmi, "0") && !(soft_on && reaches))
        host_check_say(c, HOST_GRADE_PASS, NULL, "no watchdog interrupts isolated CPUs");
    else if (!reaches)
        host_check_say(c, HOST_GRADE_PASS, NULL, "the watchdogs keep off the isolated CPUs");
    else if (strcmp(nmi, "0"))
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup_printf("nohzlab host apply, or: sysctl kernel.nmi_watchdog=0; or "
                                       "sysctl kernel.watchdog_cpumask=%s",
                                       c->housekeeping_list),
                       "the NMI watchdog interrupts isolated CPU %s", list);
    else
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup_printf("sysctl kernel.watchdog_cpumask=%s", c->housekeeping_list),
                       "the soft lockup watchdog arms a timer on isolated CPU %s", list);
}

void
host_check_thp(HostChecker *c)
{
    g_autofree char *text = host_root_line(c->root, THP);
    g_autofree char *shown = host_quote(text, 60);

    if (!text)
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "this kernel has no transparent huge pages (no " THP ")");
    else if (strstr(text, "[always]"))
        host_check_say(c, HOST_GRADE_WARN, g_strdup("nohzlab host apply, or: echo never > /" THP),
                       "transparent huge pages are %s: khugepaged and compaction interrupt any "
                       "process",
                       shown);
    else
        host_check_say(c, HOST_GRADE_PASS, NULL, "transparent huge pages: %s", shown);
}

void
host_check_ksm(HostChecker *c)
{
    g_autofree char *run = host_root_line(c->root, "sys/kernel/mm/ksm/run");

    if (!run)
        host_check_say(c, HOST_GRADE_PASS, NULL, "this kernel has no KSM (no sys/kernel/mm/ksm)");
    else if (!strcmp(run, "1"))
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup("nohzlab host apply, or: echo 0 > /sys/kernel/mm/ksm/run"),
                       "ksmd merges pages: guests then fault on write, and wait");
    else
        host_check_say(c, HOST_GRADE_PASS, NULL, "ksmd does not run");
}
