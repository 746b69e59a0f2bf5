/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/rules.h"

#include <stdarg.h>
#include <string.h>

#include "host/cmdline.h"

static void
finding_free(gpointer p)
{
    HostRuleFinding *f = p;

    g_free(f->rule);
    g_free(f->message);
    g_free(f->advice);
    g_free(f);
}

void
host_rules_add(HostRules *r, char severity, const char *rule, const char *advice,
               const char *format, ...)
{
    HostRuleFinding *f = g_new0(HostRuleFinding, 1);
    va_list args;

    va_start(args, format);
    f->message = g_strdup_vprintf(format, args);
    va_end(args);
    f->severity = severity;
    f->rule = g_strdup(rule);
    f->advice = g_strdup(advice);
    g_ptr_array_add(r->findings, f);
}

gboolean
host_rules_refuse(const GPtrArray *findings)
{
    for (guint i = 0; i < findings->len; i++) {
        const HostRuleFinding *f = findings->pdata[i];
        if (f->severity == 'E')
            return TRUE;
    }
    return FALSE;
}

const char *
host_rule_severity_name(char severity)
{
    return severity == 'E' ? "error" : severity == 'W' ? "warning" : "note";
}

/* kernel/time/tick-sched.c tick_nohz_init() takes the boot CPU out of nohz_full. */
static void
check_housekeeping(HostRules *r)
{
    const char *advice =
        "leave at least CPU 0 to housekeeping: it boots, keeps the time, and takes "
        "the interrupts, kernel threads and guest timers";

    if (!hwloc_bitmap_iszero(r->p->housekeeping))
        return;
    g_autofree char *asked = host_cpulist_format(r->p->isolated);
    if (!hwloc_bitmap_isset(r->p->isolated, 0)) {
        host_rules_add(r, 'E', "no-housekeeping", advice, "no housekeeping CPU is left beside %s",
                       asked);
        return;
    }
    g_autoptr(HostCpuset) effective = hwloc_bitmap_dup(r->p->isolated);
    hwloc_bitmap_clr(effective, 0);
    g_autofree char *left = host_cpulist_format(effective);
    host_rules_add(
        r, 'E', "no-housekeeping", advice,
        "no housekeeping CPU is left: %s asked for, the kernel takes out CPU 0, the boot "
        "CPU, and %s is in force",
        asked, *left ? left : "nothing");
}

static void
check_overlap(HostRules *r)
{
    g_autoptr(HostCpuset) both = hwloc_bitmap_alloc();

    hwloc_bitmap_and(both, r->p->housekeeping, r->p->isolated);
    if (hwloc_bitmap_iszero(both))
        return;
    g_autofree char *list = host_cpulist_format(both);
    host_rules_add(r, 'E', "overlap", "give each CPU to one of the two",
                   "CPUs %s are both housekeeping and isolated", list);
}

/* Membership, never counts: CPU 35 of 24 online ones can be there. */
static void
check_there(HostRules *r, const HostCpuset *set, const char *what)
{
    g_autoptr(HostCpuset) gone = hwloc_bitmap_alloc();
    g_autoptr(HostCpuset) offline = hwloc_bitmap_alloc();

    hwloc_bitmap_andnot(gone, set, r->t->present);
    hwloc_bitmap_and(offline, set, r->t->present);
    hwloc_bitmap_andnot(offline, offline, r->t->online);
    if (!hwloc_bitmap_iszero(gone)) {
        g_autofree char *shortfall = host_cpuset_shortfall(set, r->t->present, "the machine");
        host_rules_add(r, 'E', "cpu-absent", "plan with the CPUs that are there", "%s: %s", what,
                       shortfall);
    }
    if (!hwloc_bitmap_iszero(offline)) {
        g_autofree char *list = host_cpulist_format(offline);
        host_rules_add(r, 'E', "cpu-offline",
                       "bring it online (/sys/devices/system/cpu/cpuN/online), or leave it out",
                       "%s: CPU %s %s offline", what, list,
                       hwloc_bitmap_weight(offline) == 1 ? "is" : "are");
    }
}

static void
check_unassigned(HostRules *r)
{
    g_autoptr(HostCpuset) rest = hwloc_bitmap_alloc();

    hwloc_bitmap_andnot(rest, r->t->online, r->p->housekeeping);
    hwloc_bitmap_andnot(rest, rest, r->p->isolated);
    if (hwloc_bitmap_iszero(rest))
        return;
    g_autofree char *list = host_cpulist_format(rest);
    host_rules_add(r, 'N', "unassigned", "name them in one of the two",
                   "CPUs %s are in neither set: ordinary tasks and unbound timers go there, the "
                   "plan does not use them",
                   list);
}

static void
check_smt(HostRules *r)
{
    for (guint i = 0; i < r->t->cores->len; i++) {
        const HostCpuset *core = r->t->cores->pdata[i];
        if (!hwloc_bitmap_intersects(core, r->p->isolated) ||
            hwloc_bitmap_isincluded(core, r->p->isolated))
            continue;
        g_autoptr(HostCpuset) in = hwloc_bitmap_alloc();
        g_autoptr(HostCpuset) out = hwloc_bitmap_alloc();
        hwloc_bitmap_and(in, core, r->p->isolated);
        hwloc_bitmap_andnot(out, core, r->p->isolated);
        g_autofree char *inside = host_cpulist_format(in);
        g_autofree char *outside = host_cpulist_format(out);
        host_rules_add(r, 'E', "smt-split",
                       "put all threads of a core on one side, or take the others offline",
                       "CPU %s is isolated, but shares its core with CPU %s, which is not: what "
                       "runs there slows it down",
                       inside, outside);
    }
}

/* What the kernel would make of the whole line. */
static void
check_cmdline(HostRules *r)
{
    g_autofree char *line =
        g_strconcat(r->p->other_cmdline, *r->p->other_cmdline ? " " : "", r->p->host_cmdline, NULL);
    gsize len = strlen(line);
    gboolean fits = len < HOST_COMMAND_LINE_SIZE;

    if (!fits)
        host_rules_add(r, 'E', "cmdline-length",
                       "number the CPUs so that lists are ranges, write regular lists as groups "
                       "(1-1023:1/2 is every second), or drop rcu_nocbs=, which nohz_full= implies",
                       "the kernel command line has %" G_GSIZE_FORMAT
                       " bytes, but the kernel keeps %d: what is beyond is cut off, and a cut list "
                       "names other CPUs",
                       len, HOST_COMMAND_LINE_SIZE - 1);
    if (hwloc_bitmap_iszero(r->p->housekeeping))
        return; /* said; the line has no CPU to name */
    g_autoptr(GPtrArray) lint = host_cmdline_lint(line, r->p->ncpus);
    for (guint i = 0; i < lint->len; i++) {
        const HostFinding *f = lint->pdata[i];
        if (!fits && !*f->param)
            continue; /* the same said as a warning */
        g_autofree char *rule =
            *f->param ? g_strconcat("cmdline-", f->param, NULL) : g_strdup("cmdline");
        host_rules_add(r, f->severity, rule, "", "%s", f->message);
    }
}

static void
check_tsc(HostRules *r)
{
    if (r->p->tsc == HOST_TSC_RELIABLE)
        host_rules_add(r, 'W', "tsc-reliable",
                       "tsc=nowatchdog keeps the checks at boot; neither is needed where the "
                       "kernel trusts the TSC by itself (dmesg has no clocksource watchdog line)",
                       "tsc=reliable switches off the checks that would find a TSC that drifts or "
                       "differs between CPUs: wrong times then pass unnoticed, in the guests, too");
}

static void
check_kinds(HostRules *r)
{
    for (guint i = 0; i < r->t->warnings->len; i++)
        host_rules_add(r, 'W', "topology", "", "%s", (const char *)r->t->warnings->pdata[i]);
    for (guint i = 0; i < r->p->warnings->len; i++)
        host_rules_add(r, 'W', "list", "", "%s", (const char *)r->p->warnings->pdata[i]);
    if (!r->t->kinds_from)
        host_rules_add(r, 'N', "kinds-unknown", "",
                       "nothing tells whether all CPUs are alike (no PMU cpus file, cpu_capacity, "
                       "MIDR or maximum frequency): one kind is assumed");
}

static int
by_severity(gconstpointer a, gconstpointer b)
{
    static const char order[] = "EWN";
    const HostRuleFinding *x = *(HostRuleFinding *const *)a, *y = *(HostRuleFinding *const *)b;

    return (int)(strchr(order, x->severity) - strchr(order, y->severity));
}

GPtrArray *
host_rules_check(const HostPlan *p, const HostTopology *t)
{
    HostRules r = {.p = p, .t = t, .findings = g_ptr_array_new_with_free_func(finding_free)};

    check_housekeeping(&r);
    check_overlap(&r);
    check_there(&r, p->housekeeping, "housekeeping");
    check_there(&r, p->isolated, "isolated");
    check_there(&r, p->emulator_pin, "emulatorpin");
    check_smt(&r);
    check_unassigned(&r);
    check_cmdline(&r);
    host_rules_check_guest(&r);
    check_tsc(&r);
    check_kinds(&r);
    g_ptr_array_sort(r.findings, by_severity); /* GLib's sort of pointer arrays is stable */
    return r.findings;
}
