/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside the judge: the figures of one workload, W, from what the guest sent of it, R. FALSE when
 * RECORD was made a failure. */
#include "lab/judge.h"

gboolean lab_judge_syscall_loop(const LabMachine *machine, const ResReport *report,
                                const LabWorkload *w, const ResWorkload *r, ResRecord *record);
/* FILES gets the histogram as well: WORKLOAD-hist.json. */
gboolean lab_judge_cyclictest(const LabWorkload *w, const ResWorkload *r, ResRecord *record,
                              GHashTable *files);

/* Adds WORKLOAD.WHAT to RECORD, of the record's fidelity; VALUE: the figure, and the least and the
 * largest sample behind it. The metric belongs to RECORD. */
ResMetric *lab_judge_add_metric(ResRecord *record, const char *workload, const char *what,
                                const char *unit, ResDirection direction, const double value[3],
                                guint64 samples, const char *evidence);
