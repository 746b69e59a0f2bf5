/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* A CPU partition of one machine, and the kernel command line that puts it in force. */
#include <glib.h>

#include "host/cpulist.h"

typedef struct {
    unsigned int ncpus;             /* possible CPUs: 0..ncpus-1 */
    const HostCpuset *housekeeping; /* not empty */
    const HostCpuset *isolated;     /* empty: no isolation, and no parameter for it */
    gboolean nohz_full, rcu_nocbs;  /* of the isolated CPUs */
    const char *isolcpus;           /* flags ("domain,managed_irq"), or NULL for no isolcpus= */
} HostPartition;

/*
 * "isolcpus=domain,managed_irq,1-3 nohz_full=1-3 rcu_nocbs=1-3 irqaffinity=0", or "" without
 * isolated CPUs. irqaffinity= keeps interrupts that no driver places
 * (Documentation/admin-guide/kernel-parameters.txt) on the housekeeping CPUs. g_free it.
 */
char *host_partition_cmdline(const HostPartition *p);

/* What must be in force once it booted: new sets, empty where nothing was asked. nohz_full= implies
 * callback offloading (kernel/rcu/tree_nocb.h, rcu_init_nohz), so those CPUs count as asked for in
 * RCU_NOCBS. Free each with hwloc_bitmap_free. */
void host_partition_wanted(const HostPartition *p, HostCpuset **nohz_full, HostCpuset **domain,
                           HostCpuset **rcu_nocbs);
