/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Before the verdict: the figures of both sides, what they are estimated to differ by, and p. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "results/hist.h"
#include "results/ranktest.h"
#include "results/verdict.h"

#define KNOWN_GAP 10 /* so many times wider than a metric is known to repeat a gap must be */
#define APART_GAP 2  /* see res_ranktest_apart() */

/* --- sides --- */

static gboolean
is_latency(const char *unit)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "ticks", "insns", NULL};
    return g_strv_contains(units, unit);
}

static gboolean
check_figure(const ResRecord *r, const ResMetric *m, GError **error)
{
    if (isfinite(m->value) &&
        !(is_latency(m->unit) && (m->value < 0 || m->value > (double)RES_HIST_VALUE_MAX))) {
        return TRUE;
    }
    g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_CLOCK,
                "run %s: %s is %g %s: a clock fault, not a figure; leave the run out", r->id,
                m->name, m->value, m->unit);
    return FALSE;
}

static int
by_time(gconstpointer x, gconstpointer y)
{
    const ResRecord *a = *(ResRecord *const *)x, *b = *(ResRecord *const *)y;
    return a->started_us != b->started_us ? (a->started_us > b->started_us ? 1 : -1)
                                          : g_strcmp0(a->id, b->id);
}

static void
set_summary(ResSide *s)
{
    s->median = res_median(s->low, s->n);
    gsl_stats_minmax(&s->min, &s->max, s->low, 1, s->n);
    s->mean = gsl_stats_mean(s->low, 1, s->n);
}

ResSide *
res_side_new(const GPtrArray *records, const ResMetric *like, guint at, GError **error)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    g_ptr_array_extend(sorted, (GPtrArray *)records, NULL, NULL);
    g_ptr_array_sort(sorted, by_time);
    g_autoptr(ResSide) s = g_new0(ResSide, 1);
    double samples = 0;
    s->n = sorted->len;
    s->low = g_new(double, s->n);
    s->high = g_new(double, s->n);
    s->when_us = g_new(gint64, s->n);
    for (guint i = 0; i < s->n; i++) {
        const ResRecord *r = g_ptr_array_index(sorted, i);
        const ResMetric *m = res_metric_at(r, like, at);
        if (!check_figure(r, m, error)) {
            return NULL;
        }
        s->low[i] = m->value;
        s->high[i] = m->censored ? MAX(m->max, m->value) : m->value;
        s->censored |= m->censored;
        s->when_us[i] = r->started_us;
        samples += (double)m->samples;
    }
    set_summary(s);
    if (samples > s->n) {
        s->within = MAX(0.0, s->mean * (1 - s->mean)) * s->n / samples;
    }
    return g_steal_pointer(&s);
}

void
res_side_free(ResSide *s)
{
    if (s == NULL) {
        return;
    }
    g_free(s->low);
    g_free(s->high);
    g_free(s->when_us);
    g_free(s);
}

/* Values for ranks: what is censored somewhere counts the same wherever it is as high. */
static double *
clipped(const ResSide *s, double limit)
{
    double *values = g_new(double, s->n);
    for (guint i = 0; i < s->n; i++) {
        values[i] = MIN(s->low[i], limit);
    }
    return values;
}

static double
lowest_limit(const ResSide *s)
{
    double limit = HUGE_VAL;
    for (guint i = 0; i < s->n; i++) {
        if (s->high[i] > s->low[i]) {
            limit = MIN(limit, s->low[i]);
        }
    }
    return limit;
}

/* --- estimate --- */

typedef struct {
    double gap, width; /* between the sides' ranges (negative: they overlap); of the wider one */
} Apart;

static Apart
apart(const ResSide *a, const ResSide *b)
{
    return (Apart){MAX(b->min - a->max, a->min - b->max), MAX(a->max - a->min, b->max - b->min)};
}

/* From 3 boots a side on, and by how well the metric is known to repeat. */
static gboolean
known_apart(const ResSide *a, const ResSide *b, const ResCalibrationEntry *calibration)
{
    gboolean calibrated = calibration != NULL && calibration->boots >= RES_CALIBRATION_BOOTS_MIN;
    double repeats = calibrated ? calibration->spread : RES_COMPARE_REPEATS;
    double middle = MIN(fabs(a->median), fabs(b->median));
    Apart x = apart(a, b);
    return MIN(a->n, b->n) >= RES_VERDICT_KNOWN_BOOTS && x.gap > 0 && middle > 0 &&
           x.width <= repeats * middle && x.gap >= KNOWN_GAP * repeats * middle;
}

static gboolean
is_count(const ResSide *s)
{
    for (guint i = 0; i < s->n; i++) {
        if (s->low[i] < 0 || s->low[i] > floor(s->low[i])) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
is_share(const ResSide *s)
{
    return s->min >= 0 && s->max <= 1;
}

void
res_verdict_set_relevant(ResComparison *c, const ResCalibrationEntry *calibration,
                         const char *wanted)
{
    double value = c->fidelity == RES_FIDELITY_INSTRUCTIONS && c->estimate != RES_ESTIMATE_QUANTILE
                       ? RES_COMPARE_RELEVANT_INSTRUCTIONS
                       : RES_COMPARE_RELEVANT;
    gboolean of_a = c->estimate != RES_ESTIMATE_SHARE;
    c->relevant_from = "default";
    if (wanted != NULL && res_relevant_parse(wanted, &value, &of_a)) {
        c->relevant_from = "profile";
    } else if (calibration != NULL && of_a && calibration->relevant > value) {
        value = calibration->relevant;
        c->relevant_from = "calibration";
    }
    c->relevant = of_a ? value * fabs(c->a) : value;
}

/* What exact figures show beside their ranks. The tests share the false alarms: what each may use
 * up of them divides its p. */
static void
test_exactness(ResComparison *c, const ResSide *a, const ResSide *b)
{
    Apart x = apart(a, b);
    if (MIN(a->n, b->n) >= RES_VERDICT_APART_BOOTS) {
        c->p_smallest = MIN(c->p_smallest, res_ranktest_apart(a->n, b->n));
    }
    if (x.gap > 0 && x.gap >= APART_GAP * x.width && c->p_smallest < c->p) {
        c->p = c->p_smallest;
        c->by_repeatability = TRUE;
    }
    c->p = MIN(1.0, c->p / (1 - RES_VERDICT_DISJOINT_PART));
    c->p_smallest = MIN(1.0, c->p_smallest / (1 - RES_VERDICT_DISJOINT_PART));
    double disjoint = res_ranktest_disjoint(a->low, a->n, b->low, b->n) / RES_VERDICT_DISJOINT_PART;
    if (disjoint < c->p) {
        c->p = disjoint;
        c->p_exact = TRUE;
        c->disjoint = TRUE;
    }
}

ResComparison *
res_verdict_estimate(const ResMetric *like, const char *cell, const ResSide *a, const ResSide *b,
                     const ResCalibrationEntry *calibration, const char *wanted,
                     const ResCompareOptions *options)
{
    ResComparison *c = g_new0(ResComparison, 1);
    double confidence = 1 - options->alpha, limit = MIN(lowest_limit(a), lowest_limit(b));
    c->metric = g_strdup(like->name);
    c->unit = g_strdup(like->unit);
    c->cell = g_strdup(cell);
    c->direction = like->direction;
    c->fidelity = like->fidelity;
    c->na = a->n;
    c->nb = b->n;
    if (g_str_equal(like->unit, "count") && is_count(a) && is_count(b)) {
        res_estimate_count(c, a, b, confidence);
    } else if (g_str_equal(like->unit, "share") && is_share(a) && is_share(b)) {
        res_estimate_share(c, a, b, confidence);
    } else {
        res_estimate_location(c, a, b, confidence);
    }
    c->censored_a = c->a >= limit;
    c->censored_b = c->b >= limit;
    res_verdict_set_relevant(c, calibration, wanted);
    g_autofree double *ranked_a = clipped(a, limit), *ranked_b = clipped(b, limit);
    ResRankTest t = res_ranktest(ranked_a, a->n, ranked_b, b->n);
    c->p = t.p;
    c->p_exact = t.of > 0;
    c->p_smallest = t.smallest;
    if (like->fidelity == RES_FIDELITY_INSTRUCTIONS && limit >= HUGE_VAL) {
        test_exactness(c, a, b);
        c->known_to_repeat = c->estimate == RES_ESTIMATE_LOCATION && known_apart(a, b, calibration);
    }
    return c;
}
