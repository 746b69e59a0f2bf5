/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of exit-cost: what one exit of each kind costs. */
#include <string.h>

#include "guest/exit_cost.h"
#include "lab/judge_private.h"
#include "results/compare.h"

typedef struct {
    const char *name;
    gboolean loop; /* the empty loop is to be subtracted */
} Kind;
#define KIND(kind, calls, is_loop, what) {#kind, is_loop},
static const Kind kinds[] = {BM_EXIT_KINDS(KIND)};

/* Ticks of the empty loop of CALLS calls; G_MAXUINT64: it was not measured. */
static guint64
empty_ticks(const ResWorkload *r, guint64 calls)
{
    guint64 least = G_MAXUINT64;

    for (guint i = 0; i < r->batches->len; i++) {
        const ResBatch *b = &g_array_index(r->batches, ResBatch, i);
        if (g_str_equal(b->loop, BM_EXIT_EMPTY) && b->calls == calls)
            least = MIN(least, b->ticks);
    }
    return least;
}

/* A call's ticks in each measured batch of KIND, ascending. FALSE: no empty loop goes with them. */
static gboolean
per_call(const ResWorkload *r, const Kind *kind, GArray *values)
{
    for (guint i = 0; i < r->batches->len; i++) {
        const ResBatch *b = &g_array_index(r->batches, ResBatch, i);
        if (!b->measured || !g_str_equal(b->loop, kind->name))
            continue;
        guint64 empty = kind->loop ? empty_ticks(r, b->calls) : 0;
        if (empty == G_MAXUINT64)
            return FALSE;
        double value = ((double)b->ticks - (double)empty) / (double)b->calls;
        g_array_append_val(values, value);
    }
    g_array_sort(values, lab_judge_by_value);
    return TRUE;
}

static gboolean
wanted(const LabWorkload *w, const char *kind)
{
    g_auto(GStrv) words = g_strsplit(w->kinds, ",", -1);
    return g_strv_contains((const char *const *)words, kind);
}

static gboolean
incomplete(const LabWorkload *w, const Kind *kind, guint batches, ResRecord *record)
{
    lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "batches",
                    "workload %s: %u measured batches of %s in the report, %" G_GUINT64_FORMAT
                    " asked for",
                    w->name, batches, kind->name, w->batches);
    return FALSE;
}

/* Kinds that this guest could not cause, with the reason. */
static void
note_output(const ResWorkload *r, ResRecord *record)
{
    g_auto(GStrv) lines = g_strsplit(r->output->str, "\n", -1);

    for (gsize i = 0; lines[i] && i < G_N_ELEMENTS(kinds); i++)
        if (*lines[i])
            g_ptr_array_add(record->notes, g_strconcat(r->name, ": ", lines[i], NULL));
}

gboolean
lab_judge_exit_cost(const LabWorkload *w, const ResWorkload *r, ResRecord *record)
{
    const char *unit = record->fidelity == RES_FIDELITY_INSTRUCTIONS ? "insns" : "ticks";

    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
        if (!per_call(r, &kinds[i], values) ||
            (values->len ? values->len != w->batches : wanted(w, kinds[i].name)))
            return incomplete(w, &kinds[i], values->len, record);
        if (values->len == 0)
            continue;
        const double *all = (const double *)values->data;
        const double value[3] = {res_median(all, values->len), all[0], all[values->len - 1]};
        lab_judge_add_metric(record, w->name, kinds[i].name, unit, RES_LOWER_IS_BETTER, value,
                             values->len, "report.txt");
    }
    note_output(r, record);
    return TRUE;
}
