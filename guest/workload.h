/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Runs one workload and sends what came of it. */
#include "guest/cpus.h"
#include "guest/job.h"
#include "guest/port.h"

/* Call once, before the first workload: SIGCHLD becomes readable. Returns -1 with errno. */
int bm_workload_signals(void);

/*
 * From `barrier begin:W` to `done W`. CPUS: where an unpinned program may run; SIGNALS: from
 * bm_workload_signals. False: WHY says why the guest cannot go on.
 */
bool bm_workload_run(const BmWorkload *w, BmPort *p, bool barriers, const BmCpus *cpus, int signals,
                     char *why, size_t cap);
