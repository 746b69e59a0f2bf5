/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of cyclictest, and its histogram, from the JSON it left in the guest. */
#include <math.h>
#include <string.h>

#include "lab/judge_private.h"
#include "results/cyclictest.h"

#define QUANTILE_SAMPLES_BEYOND 5
#define NS_PER_US 1000

static const char *
latency_unit(const ResRecord *record)
{
    return record->fidelity == RES_FIDELITY_INSTRUCTIONS ? "insns" : "ns";
}

/* The worst of the threads: a partition is as good as its worst CPU. FALSE without a histogram.
 * Beyond its end nothing is known but that it is beyond. */
static gboolean
worst_quantile(const LabWorkload *w, const ResLatency *c, double q, gint64 *worst,
               gboolean *censored)
{
    gint64 limit = (gint64)w->histogram_us * NS_PER_US;

    *worst = G_MININT64;
    *censored = FALSE;
    for (guint i = 0; i < c->threads->len; i++) {
        gint64 at = 0;
        if (!res_latency_quantile(c->threads->pdata[i], q, &at)) {
            *censored = TRUE;
            at = limit;
        }
        *worst = MAX(*worst, at);
    }
    return limit > 0;
}

static void
add_quantiles(const LabWorkload *w, const ResLatency *c, const double range[2], guint64 cycles,
              const char *evidence, ResRecord *record)
{
    static const double quantiles[] = {0.5, 0.99, 0.999, 0.9999, 0.99999, 0.999999};

    for (gsize k = 0; k < G_N_ELEMENTS(quantiles); k++) {
        g_autofree char *name = res_hist_quantile_name(quantiles[k]);
        gint64 worst;
        gboolean censored;
        /* A quantile with fewer samples beyond it is no more than one of the largest values. */
        if ((double)cycles / c->threads->len * (1 - quantiles[k]) < QUANTILE_SAMPLES_BEYOND ||
            !worst_quantile(w, c, quantiles[k], &worst, &censored))
            continue;
        const double value[3] = {MIN(worst, range[1]), range[0], range[1]};
        ResMetric *m = lab_judge_add_metric(record, w->name, name, latency_unit(record),
                                            RES_LOWER_IS_BETTER, value, cycles, evidence);
        m->censored = censored;
        if (censored)
            g_ptr_array_add(record->notes,
                            g_strdup_printf("%s.%s lies beyond the histogram (%" G_GUINT64_FORMAT
                                            " us): raise histogram to see it",
                                            w->name, name, w->histogram_us));
    }
}

static void
add_cyclictest_metrics(const LabWorkload *w, const ResLatency *c, const char *evidence,
                       ResRecord *record)
{
    const char *unit = latency_unit(record);
    gint64 min = G_MAXINT64, max = G_MININT64;
    double mean = -INFINITY;
    guint64 cycles = 0;

    for (guint i = 0; i < c->threads->len; i++) {
        const ResLatencyThread *t = c->threads->pdata[i];
        min = MIN(min, t->min_ns);
        max = MAX(max, t->max_ns);
        mean = MAX(mean, t->mean_ns);
        cycles += t->cycles;
    }
    const double lowest[3] = {min, min, min}, highest[3] = {max, max, max},
                 middle[3] = {mean, min, max}, range[2] = {min, max};
    lab_judge_add_metric(record, w->name, "min", unit, RES_LOWER_IS_BETTER, lowest, cycles,
                         evidence);
    lab_judge_add_metric(record, w->name, "mean", unit, RES_LOWER_IS_BETTER, middle, cycles,
                         evidence);
    lab_judge_add_metric(record, w->name, "max", unit, RES_LOWER_IS_BETTER, highest, cycles,
                         evidence);
    add_quantiles(w, c, range, cycles, evidence, record);
}

/* WORKLOAD-hist.json: one histogram for each thread. */
static gboolean
keep_histograms(const LabWorkload *w, const ResLatency *c, const ResRecord *record,
                GHashTable *files, GError **error)
{
    g_autoptr(GPtrArray) hists = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);

    for (guint i = 0; i < c->threads->len; i++) {
        ResHist *h = res_latency_hist(c->threads->pdata[i], latency_unit(record),
                                      (gint64)w->histogram_us * NS_PER_US, error);
        if (!h)
            return FALSE;
        g_ptr_array_add(hists, h);
    }
    char *text = res_hist_to_json(hists);
    g_hash_table_insert(files, g_strconcat(w->name, RES_HIST_SUFFIX, NULL),
                        g_bytes_new_take(text, strlen(text)));
    return TRUE;
}

static ResOutcome
cyclictest_outcome(const GError *error)
{
    return g_error_matches(error, RES_LATENCY_ERROR, RES_LATENCY_ERROR_CLOCK)
               ? RES_OUTCOME_CLOCK
               : RES_OUTCOME_INCOMPLETE;
}

gboolean
lab_judge_cyclictest(const LabWorkload *w, const ResWorkload *r, ResRecord *record,
                     GHashTable *files)
{
    g_autoptr(GError) error = NULL;
    const ResFile *file = NULL;

    for (guint i = 0; i < r->files->len; i++) {
        const ResFile *f = r->files->pdata[i];
        if (g_str_equal(f->name, LAB_GUEST_CYCLICTEST_JSON))
            file = f;
    }
    if (!file || file->cut) {
        lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "cyclictest", "workload %s: its JSON %s",
                        w->name,
                        file ? "was too large to be sent whole" : "is missing from the report");
        return FALSE;
    }
    g_autoptr(ResLatency) c = res_cyclictest_parse(file->content->str, file->content->len, &error);
    if (!c) {
        lab_record_fail(record, cyclictest_outcome(error), "cyclictest", "workload %s: %s", w->name,
                        error->message);
        return FALSE;
    }
    for (guint i = 0; i < c->notes->len; i++)
        g_ptr_array_add(record->notes,
                        g_strdup_printf("%s: %s", w->name, (char *)c->notes->pdata[i]));
    guint expected = w->cpu >= 0 ? 1 : 0;
    if (c->broken || !c->unit_known || c->threads->len == 0 ||
        (expected && c->threads->len != expected)) {
        lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "cyclictest", "workload %s: %s", w->name,
                        c->broken        ? "stopped by its break threshold"
                        : !c->unit_known ? "the unit of its figures is unknown"
                                         : "unexpected number of threads");
        return FALSE;
    }
    for (guint i = 0; i < c->threads->len; i++) {
        const ResLatencyThread *t = c->threads->pdata[i];
        /* Without an affinity other threads go on until the first has done its loops. */
        if (i == 0 && t->cycles < w->loops) {
            lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "cyclictest",
                            "workload %s: thread %u did %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " cycles",
                            w->name, t->thread, t->cycles, w->loops);
            return FALSE;
        }
    }
    if (!keep_histograms(w, c, record, files, &error)) {
        lab_record_fail(record, RES_OUTCOME_CLOCK, "cyclictest", "workload %s: %s", w->name,
                        error->message);
        return FALSE;
    }
    g_autofree char *evidence = g_strdup_printf("%s-%s", w->name, LAB_GUEST_CYCLICTEST_JSON);
    lab_record_env(record, "rt-tests.version", c->version);
    add_cyclictest_metrics(w, c, evidence, record);
    return TRUE;
}
