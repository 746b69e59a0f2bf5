/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summaries of one group of runs. */
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "results/compare.h"
#include "results/verdict.h"

void
res_summary_free(ResSummary *s)
{
    if (s == NULL) {
        return;
    }
    g_free(s->name);
    g_free(s->unit);
    g_free(s);
}

double
res_median(const double *values, gsize n)
{
    g_autofree double *sorted = g_memdup2(values, n * sizeof *values);
    gsl_sort(sorted, 1, n);
    if (n % 2 == 1) {
        return sorted[n / 2];
    }
    /* halves first: the sum of two finite values need not be finite */
    return sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

/* The values of a metric over done RECORDS, when all of them carry it in the same unit and
 * fidelity; or NULL. */
static GArray *
values_of(const GPtrArray *records, const ResMetric *like, gboolean *censored)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    *censored = FALSE;
    for (guint i = 0; i < records->len; i++) {
        const ResMetric *m = res_record_metric(g_ptr_array_index(records, i), like->name);
        if (m == NULL || m->fidelity != like->fidelity || g_strcmp0(m->unit, like->unit) != 0) {
            return NULL;
        }
        *censored |= m->censored;
        g_array_append_val(values, m->value);
    }
    return g_steal_pointer(&values);
}

static ResSummary *
summary_new(const ResMetric *m, const double *values, gsize n, gboolean censored)
{
    ResSummary *s = g_new0(ResSummary, 1);
    s->name = g_strdup(m->name);
    s->unit = g_strdup(m->unit);
    s->direction = m->direction;
    s->fidelity = m->fidelity;
    s->boots = (unsigned int)n;
    s->median = res_median(values, n);
    gsl_stats_minmax(&s->min, &s->max, values, 1, n);
    s->spread = res_verdict_spread(s->min, s->max, s->median);
    s->censored = censored;
    return s;
}

GPtrArray *
res_summarize(const GPtrArray *records)
{
    GPtrArray *summaries = g_ptr_array_new_with_free_func((GDestroyNotify)res_summary_free);
    g_autoptr(GPtrArray) done = g_ptr_array_new();
    for (guint i = 0; i < records->len; i++) {
        ResRecord *r = g_ptr_array_index(records, i);
        if (r->outcome == RES_OUTCOME_DONE) {
            g_ptr_array_add(done, r);
        }
    }
    const ResRecord *first = done->len > 0 ? g_ptr_array_index(done, 0) : NULL;
    for (guint i = 0; first != NULL && i < first->metrics->len; i++) {
        const ResMetric *m = g_ptr_array_index(first->metrics, i);
        gboolean censored = FALSE;
        g_autoptr(GArray) values = values_of(done, m, &censored);
        if (values != NULL) {
            g_ptr_array_add(summaries, summary_new(m, (const double *)(gpointer)values->data,
                                                   values->len, censored));
        }
    }
    return summaries;
}
