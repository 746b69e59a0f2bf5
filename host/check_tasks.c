/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that may run on isolated CPUs: the affinity of every one, kernel threads apart. */
#include <string.h>

#include "host/check_private.h"
#include "host/threads.h"

/* include/linux/sched.h, shown in /proc/PID/stat. NO_SETAFFINITY: per-CPU threads and workqueues'
 * workers, which nobody can move; unbound workers follow the workqueue cpumask. */
#define PF_NO_SETAFFINITY 0x04000000
#define PF_KTHREAD 0x00200000
#define MAX_NAMED 6

typedef struct {
    guint threads; /* looked at */
    guint strays, kthreads, unmovable, pinned_vcpus, floating_vcpus, unread, settled;
    GString *strays_named, *kthreads_named, *floating_named, *settled_named;
    char *first_stray, *first_kthread;
} Count;

static void
name_one(GString *names, guint n, const char *comm, const char *tid, const HostCpuset *allowed)
{
    g_autofree char *list = host_cpulist_format(allowed);

    if (n <= MAX_NAMED)
        g_string_append_printf(names, "%s%s (%s, may run on %s)", names->len ? ", " : "", comm, tid,
                               list);
    else if (n == MAX_NAMED + 1)
        g_string_append(names, ", ...");
}

/* Field 9 of /proc/PID/stat; what stands in parentheses before it may hold anything. */
static guint64
stat_flags(const char *stat)
{
    const char *p = strrchr(stat, ')');
    g_auto(GStrv) fields = g_strsplit(p ? p + 1 : "", " ", 9);

    /* "", state, ppid, pgrp, session, tty, tpgid, flags */
    return g_strv_length(fields) > 7 ? g_ascii_strtoull(fields[7], NULL, 10) : 0;
}

/* "ksoftirqd/3", "cpuhp/3", "migration/3", "kworker/3:1H" on CPU 3 alone. Threads that offload RCU
 * callbacks are named after a CPU, too, but can and must run elsewhere. */
static gboolean
is_per_cpu(const char *comm, const HostCpuset *allowed)
{
    const char *slash = strrchr(comm, '/');

    if (!slash || !g_ascii_isdigit(slash[1]) || g_str_has_prefix(comm, "rcuo") ||
        hwloc_bitmap_weight(allowed) != 1)
        return FALSE;
    return g_ascii_strtoull(slash + 1, NULL, 10) == (guint64)hwloc_bitmap_first(allowed);
}

static void
count_kthread(Count *n, const char *comm, const char *tid, guint64 flags, const HostCpuset *allowed)
{
    /* Handlers of interrupts run where these arrive, which the check irq tells. */
    if ((flags & PF_NO_SETAFFINITY) || is_per_cpu(comm, allowed) ||
        g_str_has_prefix(comm, "irq/")) {
        n->unmovable++;
        return;
    }
    n->kthreads++;
    name_one(n->kthreads_named, n->kthreads, comm, tid, allowed);
    if (!n->first_kthread)
        n->first_kthread = g_strdup(tid);
}

static void
count_thread(HostChecker *c, Count *n, const char *comm, const char *pid, const char *tid,
             const HostCpuset *allowed)
{
    unsigned int vcpu;
    HostThreadKind kind = host_thread_kind(comm, &vcpu);
    gboolean inside = hwloc_bitmap_isincluded(allowed, c->isolated);

    if (kind == HOST_THREAD_VCPU || kind == HOST_THREAD_ALL_VCPUS) {
        if (inside && hwloc_bitmap_weight(allowed) == 1) {
            n->pinned_vcpus++;
            return;
        }
        if (inside) {
            n->floating_vcpus++;
            name_one(n->floating_named, n->floating_vcpus, comm, tid, allowed);
            return;
        }
    }
    if (inside) {
        n->settled++;
        name_one(n->settled_named, n->settled, comm, tid, allowed);
        return;
    }
    n->strays++;
    name_one(n->strays_named, n->strays, comm, tid, allowed);
    if (!n->first_stray)
        n->first_stray = g_strdup(pid);
}

static void
look_at_thread(HostChecker *c, Count *n, const char *pid, const char *tid)
{
    g_autofree char *folder = g_strdup_printf("proc/%s/task/%s/", pid, tid);
    g_autofree char *status_path = g_strconcat(folder, "status", NULL);
    g_autofree char *status = host_root_read(c->root, status_path, NULL, NULL);
    g_autofree char *comm = host_root_linef(c->root, "%scomm", folder);
    g_autofree char *stat = host_root_linef(c->root, "%sstat", folder);

    if (!status || !comm || !stat)
        return; /* it ended meanwhile */
    n->threads++;
    g_autoptr(HostCpuset) allowed = host_cpulist_from_status(status, NULL);
    if (!allowed) {
        n->unread++;
        return;
    }
    if (!hwloc_bitmap_intersects(allowed, c->isolated))
        return;
    guint64 flags = stat_flags(stat);
    if (flags & PF_KTHREAD)
        count_kthread(n, comm, tid, flags, allowed);
    else
        count_thread(c, n, comm, pid, tid, allowed);
}

static void
say(HostChecker *c, const Count *n)
{
    if (n->strays)
        host_check_say(c, HOST_GRADE_FAIL,
                       g_strdup_printf("taskset -acp %s %s, for each process; for all of them: "
                                       "CPUAffinity=%s in /etc/systemd/system.conf, and reboot",
                                       c->housekeeping_list, n->first_stray, c->housekeeping_list),
                       "%u thread%s may run on isolated CPUs %s: %s", n->strays,
                       n->strays == 1 ? "" : "s", c->isolated_list, n->strays_named->str);
    if (n->floating_vcpus)
        host_check_say(
            c, HOST_GRADE_FAIL, g_strdup("pin each vCPU to one CPU: virsh vcpupin DOMAIN VCPU CPU"),
            "%u vCPU thread%s may run on several isolated CPUs, where nothing balances "
            "load: all sit on the first one: %s",
            n->floating_vcpus, n->floating_vcpus == 1 ? "" : "s", n->floating_named->str);
    if (n->settled)
        host_check_say(c, HOST_GRADE_WARN, NULL,
                       "%u thread%s that %s no vCPU may run on isolated CPUs only, so somebody put "
                       "%s there: %s",
                       n->settled, n->settled == 1 ? "" : "s", n->settled == 1 ? "is" : "are",
                       n->settled == 1 ? "it" : "them", n->settled_named->str);
    if (n->kthreads)
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup_printf("taskset -cp %s %s, for each; nohz_full= and isolcpus= at "
                                       "boot keep them away",
                                       c->housekeeping_list, n->first_kthread),
                       "%u kernel thread%s may run on isolated CPUs %s: %s", n->kthreads,
                       n->kthreads == 1 ? "" : "s", c->isolated_list, n->kthreads_named->str);
    if (n->unread)
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "the affinity of %u of %u threads can't be read",
                       n->unread, n->threads);
}

void
host_check_tasks(HostChecker *c)
{
    g_autoptr(GPtrArray) pids = host_root_list(c->root, "proc");
    Count n = {.strays_named = g_string_new(NULL),
               .kthreads_named = g_string_new(NULL),
               .floating_named = g_string_new(NULL),
               .settled_named = g_string_new(NULL)};
    guint before = c->lines->len;
    gboolean any = !hwloc_bitmap_iszero(c->isolated);

    for (guint i = 0; any && pids && i < pids->len; i++) {
        const char *pid = pids->pdata[i];
        if (!g_ascii_isdigit(*pid))
            break; /* numbers come first */
        g_autofree char *folder = g_strdup_printf("proc/%s/task", pid);
        g_autoptr(GPtrArray) tids = host_root_list(c->root, folder);
        for (guint k = 0; tids && k < tids->len; k++)
            look_at_thread(c, &n, pid, tids->pdata[k]);
    }
    say(c, &n);
    if (!any)
        host_check_say(c, HOST_GRADE_PASS, NULL, "no CPU is isolated, so none must be left alone");
    else if (!n.threads)
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "no threads are to be seen in proc");
    else if (c->lines->len == before)
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "none of %u threads may run on isolated CPUs %s but %u pinned vCPUs and %u "
                       "kernel threads that nobody can move",
                       n.threads, c->isolated_list, n.pinned_vcpus, n.unmovable);
    GString *const texts[] = {n.strays_named, n.kthreads_named, n.floating_named, n.settled_named};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        g_string_free(texts[i], TRUE);
    g_free(n.first_stray);
    g_free(n.first_kthread);
}
