/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What isolation is in force in a running kernel, from what it shows of itself, against what was
 * asked. Used for guests (from their report) and for hosts (from /sys).
 */
#include <glib.h>

#include "host/cpulist.h"

/* A parameter's state in a running kernel. */
typedef enum {
    HOST_STATE_UNKNOWN,   /* could not be read or understood: never taken for anything else */
    HOST_STATE_NOT_BUILT, /* the file is absent, or the kernel says it does not know the parameter
                           */
    HOST_STATE_OFF,       /* supported, the set is empty ("(null)", "", "\n") */
    HOST_STATE_ON,
} HostState;

typedef struct {
    HostState state;
    HostCpuset *cpus; /* in force; empty unless HOST_STATE_ON */
} HostEffective;
void host_effective_clear(HostEffective *e);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostEffective, host_effective_clear)

/* What is read from the running system; NULL where there is nothing to read. */
typedef struct {
    const char *cmdline;
    const char *sysfs_nohz_full; /* /sys/devices/system/cpu/nohz_full */
    const char *sysfs_isolated;  /* /sys/devices/system/cpu/isolated */
    const GPtrArray *kmsg; /* char *: kernel messages, at least those about housekeeping, nohz, rcu
                            * nocb, unknown params; with or without time stamps */
    unsigned int ncpus;    /* possible CPUs */
} HostKernelView;

HostEffective host_nohz_full_effective(const HostKernelView *v);
HostEffective host_isolated_effective(const HostKernelView *v);
/* From the kernel's "Offload RCU callbacks from CPUs: LIST." message; UNKNOWN when no message was
 * kept. */
HostEffective host_rcu_nocbs_effective(const HostKernelView *v);

typedef struct {
    const char *parameter; /* "nohz_full", "isolcpus", "rcu_nocbs" */
    char *requested;       /* compressed list, or "none" */
    char *effective;       /* compressed list, "none", "not built in", "unknown" */
    gboolean ok;
    char *message; /* when not ok: what it means, with the kernel's own words where it gave some */
} HostIsolationCheck;
void host_isolation_check_free(HostIsolationCheck *c);

/* One verdict per parameter. A NULL or empty wanted set: that parameter was not asked for and must
 * not be in force; only rcu_nocbs may be, on CPUs with nohz_full, which implies it. */
GPtrArray *host_isolation_compare(const HostKernelView *v, const HostCpuset *want_nohz_full,
                                  const HostCpuset *want_isolated,
                                  const HostCpuset *want_rcu_nocbs);

/* The clock underneath: NULL when NAME ("tsc", "kvm-clock", arm's "arch_sys_counter") can carry
 * latencies and KMSG (may be NULL) has no "unstable" message, otherwise why not (g_free). */
char *host_clock_problem(const char *name, const GPtrArray *kmsg);

/* PREEMPT_RT: from /sys/kernel/realtime (NULL: absent) and uname -v. Error when they contradict
 * each other. */
gboolean host_is_realtime(const char *sysfs_realtime, const char *uname_v, gboolean *rt,
                          GError **error);
