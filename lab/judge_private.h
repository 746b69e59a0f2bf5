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

/* One metric a kind of exit, WORKLOAD.KIND: the least batch's empty loop is subtracted. */
gboolean lab_judge_exit_cost(const LabWorkload *w, const ResWorkload *r, ResRecord *record);

/* The calls of the function W traces: adds WORKLOAD.FUNCTION, the median over them without what the
 * tracer added to each, which is WORKLOAD.tracer. */
gboolean lab_judge_trace(const LabWorkload *w, const ResWorkload *r, ResRecord *record);

/* Orders doubles, for g_array_sort(). */
int lab_judge_by_value(gconstpointer a, gconstpointer b);

/* Adds WORKLOAD.WHAT to RECORD, of the record's fidelity; VALUE: the figure, and the least and the
 * largest sample behind it. The metric belongs to RECORD. */
ResMetric *lab_judge_add_metric(ResRecord *record, const char *workload, const char *what,
                                const char *unit, ResDirection direction, const double value[3],
                                guint64 samples, const char *evidence);
