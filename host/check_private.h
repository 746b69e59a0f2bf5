/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What the checks share: the machine's facts, read once, and where their lines go. */
#include "host/check.h"
#include "host/isolation.h"

typedef struct {
    const HostRoot *root;
    const HostWish *wish;
    unsigned int ncpus;
    char *cmdline;   /* NULL: can't be read */
    GPtrArray *kmsg; /* char *, or NULL */
    gboolean kmsg_from_boot;
    HostCpuset *online, *present, *possible; /* NULL: can't be read */
    HostCpuset *partitions;                  /* CPUs of isolated cpuset partitions; may be empty */
    HostCpuset *isolated; /* to be left alone: wished for, or isolated in any way */
    char *isolated_list, *housekeeping_list;
    const char *name; /* of the running check */
    GPtrArray *lines;
} HostChecker;

/* FIX is taken, and may be NULL. */
void host_check_say(HostChecker *c, HostGrade grade, char *fix, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* One theme each; they are listed in host/check.c. */
void host_check_cpus(HostChecker *c);
void host_check_cmdline(HostChecker *c);
void host_check_isolation(HostChecker *c);
void host_check_preempt(HostChecker *c);
void host_check_irqs(HostChecker *c);
void host_check_irqbalance(HostChecker *c);
void host_check_tasks(HostChecker *c);
void host_check_cgroup(HostChecker *c);
void host_check_workqueue(HostChecker *c);
void host_check_timer_migration(HostChecker *c);
void host_check_watchdog(HostChecker *c);
void host_check_thp(HostChecker *c);
void host_check_ksm(HostChecker *c);
void host_check_clock(HostChecker *c);
void host_check_cpuidle(HostChecker *c);
void host_check_governor(HostChecker *c);
void host_check_microcode(HostChecker *c);
void host_check_mitigations(HostChecker *c);
void host_check_kvm(HostChecker *c);

/* The CPUs in isolated partitions of cpuset v2; empty when there are none. */
HostCpuset *host_cgroup_isolated(const HostRoot *root);
