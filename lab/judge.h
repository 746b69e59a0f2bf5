/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* From a guest's complete report to metrics, or to the failure that forbids them. Pure. */
#include <gio/gio.h>

#include "lab/machine.h"
#include "lab/profile.h"
#include "results/record.h"
#include "results/report.h"

/*
 * Checks, in this order: workloads ended well (guest), isolation in force as asked (isolation),
 * clock fit for latencies (clock), ticks stopped on nohz_full CPUs while they were busy
 * (isolation), figures readable (incomplete, clock). On the first failure sets RECORD's outcome,
 * detail and message, and returns FALSE. Otherwise adds the metrics. In both cases RECORD's
 * environment gets what the guest said of itself, and FILES (char * name -> GBytes *) the files it
 * left.
 */
gboolean lab_judge(const LabParams *params, const LabMachine *machine, const ResReport *report,
                   ResRecord *record, GHashTable *files);

/* The fidelity of a platform and clock (README, "What a number may be used for"). */
ResFidelity lab_fidelity(LabPlatform platform, LabClock clock);
const char *lab_platform_name(LabPlatform p);
const char *lab_clock_name(LabClock c);

/* Sets a failure; MESSAGE says what happened and what to do next. */
void lab_record_fail(ResRecord *record, ResOutcome outcome, const char *detail, const char *format,
                     ...) G_GNUC_PRINTF(4, 5);
/* Sets one entry of RECORD's environment; nothing when VALUE is NULL. */
void lab_record_env(ResRecord *record, const char *key, const char *value);
