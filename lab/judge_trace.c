/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of a kernel function that the guest timed while a workload ran. */
#include <string.h>

#include "guest/report.h"
#include "lab/judge_private.h"
#include "results/compare.h"

static double
value_of(const ResWorkload *r, const char *name)
{
    const double *value = g_hash_table_lookup(r->values, name);
    return value ? *value : 0;
}

/* What the ring buffer lost, and what was more than a guest sends, is missing from the figure. */
static void
note_lost(const LabWorkload *w, const ResWorkload *r, guint sent, ResRecord *record)
{
    double lost = value_of(r, "trace_lost"), calls = value_of(r, "trace_calls");

    if (lost > 0)
        g_ptr_array_add(record->notes,
                        g_strdup_printf("%s: the trace of %s lost %.0f records: lower its loops",
                                        w->name, w->trace, lost));
    if (calls > sent)
        g_ptr_array_add(record->notes,
                        g_strdup_printf("%s: %s is the median of the first %u of %.0f calls",
                                        w->name, w->trace, sent, calls));
}

gboolean
lab_judge_trace(const LabWorkload *w, const ResWorkload *r, ResRecord *record)
{
    g_autoptr(GArray) ns = g_array_new(FALSE, FALSE, sizeof(double));

    for (guint i = 0; i < r->batches->len; i++) {
        const ResBatch *b = &g_array_index(r->batches, ResBatch, i);
        double value = (double)b->ticks;
        if (g_str_equal(b->loop, BM_TRACE_LOOP))
            g_array_append_val(ns, value);
    }
    if (ns->len == 0) {
        lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "trace",
                        "workload %s: %s was not called once on its CPU while it ran", w->name,
                        w->trace);
        return FALSE;
    }
    note_lost(w, r, ns->len, record);
    double tracer = value_of(r, "tracer_ns");
    for (guint i = 0; i < ns->len; i++)
        g_array_index(ns, double, i) = MAX(g_array_index(ns, double, i) - tracer, 0);
    g_array_sort(ns, lab_judge_by_value);
    const double *all = (const double *)(gpointer)ns->data;
    const double value[3] = {res_median(all, ns->len), all[0], all[ns->len - 1]};
    /* Under icount a nanosecond is an instruction. */
    const char *unit = record->fidelity == RES_FIDELITY_INSTRUCTIONS ? "insns" : "ns";
    lab_judge_add_metric(record, w->name, w->trace, unit, RES_LOWER_IS_BETTER, value, ns->len,
                         "report.txt");
    const double own[3] = {tracer, tracer, tracer};
    if (tracer > 0)
        lab_judge_add_metric(record, w->name, "tracer", unit, RES_NO_DIRECTION, own, 1,
                             "report.txt");
    else
        g_ptr_array_add(record->notes,
                        g_strdup_printf("%s: what the tracer itself adds to each call of %s could "
                                        "not be measured, and is part of the figure",
                                        w->name, w->trace));
    return TRUE;
}
