/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The partition: its CPUs, the command line that asks for it, and what of it is in force. */
#include <string.h>

#include "host/check_private.h"
#include "host/cmdline.h"
#include "host/partition.h"
#include "host/quote.h"

/* Membership, not counts: CPU 35 may be there with 24 online. */
static void
check_set(HostChecker *c, const char *what, const HostCpuset *asked, gboolean *said)
{
    g_autofree char *short_of = host_cpuset_shortfall(asked, c->possible, "host");

    if (short_of) {
        *said = TRUE;
        host_check_say(c, HOST_GRADE_FAIL, g_strdup("name CPUs this machine has"), "%s: %s", what,
                       short_of);
        return;
    }
    g_autoptr(HostCpuset) absent = hwloc_bitmap_dup(asked);
    if (c->present)
        hwloc_bitmap_andnot(absent, absent, c->present);
    else
        hwloc_bitmap_zero(absent);
    g_autoptr(HostCpuset) offline = hwloc_bitmap_dup(asked);
    hwloc_bitmap_andnot(offline, offline, c->online);
    hwloc_bitmap_andnot(offline, offline, absent);
    g_autofree char *absent_list = host_cpulist_format(absent);
    g_autofree char *offline_list = host_cpulist_format(offline);
    *said |= *absent_list || *offline_list;
    if (*absent_list)
        host_check_say(c, HOST_GRADE_FAIL, NULL,
                       "%s: CPU %s is possible, but not present: there is no such CPU now", what,
                       absent_list);
    if (*offline_list)
        host_check_say(c, HOST_GRADE_FAIL,
                       g_strdup_printf("echo 1 > /sys/devices/system/cpu/cpu%d/online",
                                       hwloc_bitmap_first(offline)),
                       "%s: CPU %s is offline", what, offline_list);
}

void
host_check_cpus(HostChecker *c)
{
    gboolean said = FALSE;

    if (!c->possible || !c->online) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL,
                       "which CPUs this machine has is unknown: sys/devices/system/cpu/possible or "
                       "online can't be read");
        return;
    }
    check_set(c, "isolated", c->wish->isolated, &said);
    if (c->wish->from_file)
        check_set(c, "housekeeping", c->wish->housekeeping, &said);
    if (said)
        return;
    g_autofree char *online = host_cpulist_format(c->online);
    if (hwloc_bitmap_iszero(c->isolated))
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup("boot with isolcpus=domain,managed_irq,LIST nohz_full=LIST "
                                "rcu_nocbs=LIST irqaffinity=HOUSEKEEPING"),
                       "no CPU is isolated, and none was asked for: any thread and interrupt may "
                       "run on any of CPUs %s",
                       online);
    else
        host_check_say(c, HOST_GRADE_PASS, NULL, "isolated %s, housekeeping %s, online %s",
                       c->isolated_list, c->housekeeping_list, online);
}

void
host_check_cmdline(HostChecker *c)
{
    if (!c->cmdline) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "proc/cmdline can't be read");
        return;
    }
    g_autoptr(GPtrArray) findings = host_cmdline_lint(c->cmdline, c->ncpus);
    for (guint i = 0; i < findings->len; i++) {
        const HostFinding *f = findings->pdata[i];
        host_check_say(c, f->severity == 'E' ? HOST_GRADE_FAIL : HOST_GRADE_WARN,
                       g_strdup("change the kernel command line (/etc/default/grub, update-grub) "
                                "and reboot"),
                       "%s", f->message);
    }
    if (!findings->len)
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "the isolation parameters of the kernel command line make sense");
}

/* isolcpus= for what is asked, as a command line to boot with. */
static char *
boot_fix(const HostChecker *c)
{
    const HostWish *w = c->wish;
    g_autoptr(GString) flags = g_string_new(NULL);

    if (!w->from_file || hwloc_bitmap_iszero(w->isolated))
        return NULL;
    if (!hwloc_bitmap_iszero(w->domain))
        g_string_append(flags, "domain");
    if (!hwloc_bitmap_iszero(w->managed_irq))
        g_string_append(flags, flags->len ? ",managed_irq" : "managed_irq");
    const HostPartition p = {.ncpus = c->ncpus,
                             .housekeeping = w->housekeeping,
                             .isolated = w->isolated,
                             .nohz_full = !hwloc_bitmap_iszero(w->nohz_full),
                             .rcu_nocbs = !hwloc_bitmap_iszero(w->rcu_nocbs),
                             .isolcpus = flags->len ? flags->str : NULL};
    g_autofree char *line = host_partition_cmdline(&p);
    return g_strdup_printf("boot with %s", line);
}

static void
say_parameter(HostChecker *c, const HostIsolationCheck *check)
{
    gboolean unknown = !strcmp(check->effective, "unknown");

    if (check->ok && unknown)
        host_check_say(c, HOST_GRADE_PASS, NULL, "%s: asked for none, and no sign of it",
                       check->parameter);
    else if (check->ok)
        host_check_say(c, HOST_GRADE_PASS, NULL, "%s: asked for %s, in force %s", check->parameter,
                       check->requested, check->effective);
    else if (unknown)
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "%s%s", check->message,
                       c->kmsg && !c->kmsg_from_boot
                           ? "; the boot's messages are gone from the kernel's buffer"
                           : "");
    else
        host_check_say(c, HOST_GRADE_FAIL, boot_fix(c), "%s", check->message);
}

/*
 * Isolated cpuset partitions isolate from scheduler domains as isolcpus= does, while the file
 * "isolated" shows them in newer kernels only: what they add is neither missing nor too much.
 */
static char *
isolated_with_partitions(const HostChecker *c, HostCpuset *want)
{
    char *text = host_root_line(c->root, "sys/devices/system/cpu/isolated");
    const HostKernelView v = {.sysfs_isolated = text, .ncpus = c->ncpus};
    g_auto(HostEffective) e = host_isolated_effective(&v);

    if (e.state == HOST_STATE_UNKNOWN || hwloc_bitmap_iszero(c->partitions))
        return text;
    hwloc_bitmap_or(want, want, c->partitions);
    hwloc_bitmap_or(e.cpus, e.cpus, c->partitions);
    g_free(text);
    return host_cpulist_format(e.cpus);
}

void
host_check_isolation(HostChecker *c)
{
    g_autoptr(HostCpuset) want_domain = hwloc_bitmap_dup(c->wish->domain);
    g_autoptr(HostCpuset) want_rcu = hwloc_bitmap_dup(c->wish->rcu_nocbs);
    g_autofree char *nohz_full = host_root_line(c->root, "sys/devices/system/cpu/nohz_full");
    g_autofree char *isolated = isolated_with_partitions(c, want_domain);
    /* Messages of which the first are gone say nothing by what they lack. */
    const HostKernelView v = {.cmdline = c->cmdline,
                              .sysfs_nohz_full = nohz_full,
                              .sysfs_isolated = isolated,
                              .kmsg = c->kmsg_from_boot ? c->kmsg : NULL,
                              .ncpus = c->ncpus};

    g_autoptr(GPtrArray) found =
        host_isolation_compare(&v, c->wish->nohz_full, want_domain, want_rcu);
    for (guint i = 0; i < found->len; i++)
        say_parameter(c, found->pdata[i]);
}

void
host_check_preempt(HostChecker *c)
{
    g_autofree char *realtime = host_root_line(c->root, "sys/kernel/realtime");
    g_autofree char *version = host_root_line(c->root, "proc/sys/kernel/version");
    g_autoptr(GError) error = NULL;
    gboolean rt = FALSE;

    if (!host_is_realtime(realtime, version, &rt, &error)) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "%s", error->message);
        return;
    }
    g_autofree char *shown = host_quote(version, 120);
    host_check_say(c, HOST_GRADE_PASS, NULL, "%s (%s)",
                   rt ? "a PREEMPT_RT kernel" : "not a PREEMPT_RT kernel", shown);
}
