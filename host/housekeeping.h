/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What the kernel makes of several isolcpus= and nohz_full= together: housekeeping_setup() in
 * kernel/sched/isolation.c. */
#include <glib.h>

#include "host/cmdline.h"

/* Indices of HostHousekeeping.cpus: the bits of HostIsolFlags. */
enum { HOST_TYPE_DOMAIN, HOST_TYPE_NOHZ, HOST_TYPE_MANAGED_IRQ, HOST_ISOL_TYPES };

typedef struct {
    unsigned int ncpus;                /* possible CPUs; 0: unknown */
    HostIsolFlags flags;               /* what is in force */
    HostCpuset *cpus[HOST_ISOL_TYPES]; /* isolated from scheduler domains, the tick, managed
                                        * interrupts; empty when not in force */
} HostHousekeeping;

void host_housekeeping_init(HostHousekeeping *h, unsigned int ncpus);
void host_housekeeping_clear(HostHousekeeping *h);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostHousekeeping, host_housekeeping_clear)

/*
 * One accepted parameter, PARAM ("isolcpus", "nohz_full"), in the order of the command line;
 * FINDINGS (HostFinding *) gets what differs from what it asks for. The boot CPU is taken to be CPU
 * 0, and all possible CPUs to be present.
 */
void host_housekeeping_apply(HostHousekeeping *h, const char *param, HostIsolFlags flags,
                             const HostCpuset *cpus, GPtrArray *findings);

/* The CPUs isolated in any way. */
HostCpuset *host_housekeeping_isolated(const HostHousekeeping *h);
/* "domain 2-3, nohz 1-3", "" when nothing is in force. g_free. */
char *host_housekeeping_describe(const HostHousekeeping *h);

/* SEVERITY 'E' or 'W'. */
void host_finding_add(GPtrArray *findings, char severity, const char *param, const char *format,
                      ...) G_GNUC_PRINTF(4, 5);
