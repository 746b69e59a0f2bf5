/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/verdict.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "results/hist.h"
#include "results/ranktest.h"

#define KNOWN_BOOTS 3   /* boots a side that repeatability known beforehand takes */
#define KNOWN_GAP 10    /* ... and how many times wider than it the gap must be */
#define APART_GAP 2     /* see res_ranktest_apart() */
#define APART_BOOTS 4   /* its bound is below 1% from here on */
#define DRIFT_SHARE 0.5 /* a drift that explains so much of a shift makes it untellable */
#define NEEDED_MAX 1000 /* boots; a profile can't ask for more */

const char *
res_verdict_name(ResVerdict v)
{
    static const char *const names[] = {
        [RES_VERDICT_BETTER] = "better",
        [RES_VERDICT_SAME] = "same",
        [RES_VERDICT_WORSE] = "worse",
        [RES_VERDICT_CANNOT_TELL] = "cannot tell",
        [RES_VERDICT_IRRELEVANT] = "different but irrelevant",
        [RES_VERDICT_DIFFERENT] = "different",
    };
    return (gsize)v < G_N_ELEMENTS(names) ? names[v] : "?";
}

const char *
res_estimate_name(ResEstimate e)
{
    static const char *const names[] = {"location", "count", "share", "quantile"};
    return (gsize)e < G_N_ELEMENTS(names) ? names[e] : "?";
}

double
res_verdict_spread(double min, double max, double median)
{
    if (!(max > min)) {
        return 0;
    }
    double wide = max / fabs(median) - min / fabs(median);
    return median < 0 || median > 0 ? MIN(wide, HUGE_VAL) : HUGE_VAL;
}

gboolean
res_relevant_parse(const char *text, double *value, gboolean *is_share)
{
    char *end = NULL;
    *value = g_ascii_strtod(text, &end);
    *is_share = *end == '%';
    if (end == text || !g_ascii_isdigit(text[0]) || !isfinite(*value) ||
        *(end + (*is_share ? 1 : 0)) != '\0') {
        return FALSE;
    }
    *value /= *is_share ? 100 : 1;
    return TRUE;
}

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
res_side_new(const GPtrArray *records, const ResMetric *like, GError **error)
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
        const ResMetric *m = res_record_metric(r, like->name);
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
    return MIN(a->n, b->n) >= KNOWN_BOOTS && x.gap > 0 && x.width <= repeats * middle &&
           x.gap >= KNOWN_GAP * repeats * middle;
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
        Apart x = apart(a, b);
        if (MIN(a->n, b->n) >= APART_BOOTS) {
            c->p_smallest = MIN(c->p_smallest, res_ranktest_apart(a->n, b->n));
        }
        if (x.gap > 0 && x.gap >= APART_GAP * x.width && c->p_smallest < c->p) {
            c->p = c->p_smallest;
            c->by_repeatability = TRUE;
        }
        c->known_to_repeat = known_apart(a, b, calibration);
    }
    return c;
}

/* --- verdict --- */

static void G_GNUC_PRINTF(3, 4)
    decide(ResComparison *c, ResVerdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    c->verdict = verdict;
    c->reason = g_strdup_vprintf(format, args);
    va_end(args);
}

static void G_GNUC_PRINTF(2, 3) advise(ResComparison *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_free(c->next);
    c->next = g_strdup_vprintf(format, args);
    va_end(args);
}

static ResVerdict
by_direction(const ResComparison *c, gboolean higher)
{
    if (c->direction == RES_NO_DIRECTION) {
        return RES_VERDICT_DIFFERENT;
    }
    return higher == (c->direction == RES_HIGHER_IS_BETTER) ? RES_VERDICT_BETTER
                                                            : RES_VERDICT_WORSE;
}

/* "p = 0.0079 (exact), 0.016 adjusted for 4 metrics" */
static char *
p_text(const ResComparison *c, unsigned int judged)
{
    g_autofree char *adjusted =
        judged > 1 ? g_strdup_printf(", %.2g adjusted for %u metrics", c->p_adjusted, judged)
                   : g_strdup("");
    return g_strdup_printf("p = %.2g%s%s", c->p, c->p_exact ? " (exact)" : "", adjusted);
}

static gboolean
all_equal(const ResSide *a, const ResSide *b)
{
    return !(a->max > a->min) && !(b->max > b->min) && !(a->min > b->min) && !(a->min < b->min) &&
           !a->censored && !b->censored;
}

/* Boots a side from which the smallest p that can be reached is at most ALPHA for JUDGED metrics.
 */
static unsigned int
boots_needed(const ResComparison *c, double alpha, unsigned int judged)
{
    double each = alpha / MAX(judged, 1);
    unsigned int ranked = res_ranktest_needed(each);
    if (c->fidelity == RES_FIDELITY_INSTRUCTIONS && c->estimate != RES_ESTIMATE_QUANTILE) {
        unsigned int n = APART_BOOTS;
        while (res_ranktest_apart(n, n) > each) {
            n++;
        }
        return MIN(ranked, n);
    }
    return ranked;
}

static void
advise_boots(ResComparison *c, unsigned int boots)
{
    c->needed = boots;
    advise(c, "run %u boots a side (--set main.boots=%u)", boots, boots);
}

static void
advise_look(ResComparison *c)
{
    if (c->run_a != NULL && c->run_b != NULL) {
        advise(c, "look at the boots nearest the figures: A %s, B %s (nohzlab show RUN --all)",
               c->run_a, c->run_b);
    }
}

/* Which way, when a difference is sure: the estimate may be 0 where many values are tied. */
static double
effect_of(const ResComparison *c, const ResSide *a, const ResSide *b)
{
    return c->shift.value < 0 || c->shift.value > 0 || a == NULL ? c->shift.value
                                                                 : b->mean - a->mean;
}

static void
decide_different(ResComparison *c, double effect, double alpha, unsigned int judged)
{
    g_autofree char *p = p_text(c, judged);
    const char *way = effect > 0 ? "higher" : "lower";
    g_autofree char *how =
        c->p_adjusted > alpha
            ? g_strdup_printf("by how exactly it is known to repeat, not by p (%s), B is %s", p,
                              way)
        : c->by_repeatability
            ? g_strdup_printf("all boots of B are %s, and the sides are further apart than twice "
                              "what boots of one side differ by: %s",
                              way, p)
            : g_strdup_printf("test over boots: %s, so B is %s", p, way);
    if (fabs(effect) < c->relevant) {
        decide(c, RES_VERDICT_IRRELEVANT,
               "%s, but by less than the smallest relevant change of %.4g %s (%s)", how,
               c->relevant, c->unit, c->relevant_from);
        return;
    }
    decide(c, by_direction(c, effect > 0), "%s", how);
    if (c->verdict == RES_VERDICT_WORSE || c->verdict == RES_VERDICT_DIFFERENT) {
        advise_look(c);
    }
}

static gboolean
within_relevant(const ResComparison *c)
{
    return c->shift.low >= -c->relevant && c->shift.high <= c->relevant;
}

/* No difference was found: is there room for one? */
static void
decide_room(ResComparison *c, double alpha, unsigned int judged)
{
    g_autofree char *p = p_text(c, judged);
    unsigned int needed = boots_needed(c, alpha, judged), n = MIN(c->na, c->nb);
    gboolean enough = c->p_smallest <= alpha && c->confidence >= 1 - alpha - 1e-12;
    if (c->fidelity == RES_FIDELITY_INSTRUCTIONS && n >= KNOWN_BOOTS) {
        enough = TRUE;
    }
    if (enough && within_relevant(c)) {
        decide(c, RES_VERDICT_SAME,
               "the whole interval is within the smallest relevant change of %.4g %s (%s); %s",
               c->relevant, c->unit, c->relevant_from, p);
        return;
    }
    if (c->p_smallest > alpha) {
        decide(c, RES_VERDICT_CANNOT_TELL,
               "%u against %u boots: the smallest p the test can reach is %.2g, above %.2g; %u "
               "boots a side would do",
               c->na, c->nb, c->p_smallest, alpha, needed);
        advise_boots(c, needed);
        return;
    }
    if (c->p <= alpha) {
        decide(c, RES_VERDICT_CANNOT_TELL,
               "%s: alone it would be told, but %u metrics are judged at once", p, judged);
        advise_boots(c, MAX(needed, n + 1));
        return;
    }
    decide(c, RES_VERDICT_CANNOT_TELL,
           "%s: no difference found, but the interval leaves room for more than the smallest "
           "relevant change of %.4g %s (%s)",
           p, c->relevant, c->unit, c->relevant_from);
    /* its width goes down with the root of the number of boots */
    double half = (c->shift.high - c->shift.low) / 2;
    double boots = isfinite(half) && c->relevant > 0 ? ceil(n * pow(half / c->relevant, 2)) : 0;
    if (boots > n && boots <= NEEDED_MAX) {
        advise_boots(c, (unsigned int)boots);
    } else if (boots > NEEDED_MAX) {
        advise(c,
               "no affordable number of boots shows a change of %.4g %s here: see nohzlab "
               "calibrate, and give this metric a larger one in [relevant]",
               c->relevant, c->unit);
    }
}

/* All boots of both sides gave one and the same value. */
static void
decide_identical(ResComparison *c, double alpha, unsigned int judged)
{
    gboolean exact = c->fidelity == RES_FIDELITY_INSTRUCTIONS;
    if (c->p_smallest <= alpha || (exact && MIN(c->na, c->nb) >= KNOWN_BOOTS)) {
        decide(c, RES_VERDICT_SAME, "identical: all %u and %u boots gave the same value", c->na,
               c->nb);
        return;
    }
    unsigned int needed = exact ? KNOWN_BOOTS : boots_needed(c, alpha, judged);
    decide(c, RES_VERDICT_CANNOT_TELL,
           "%u against %u boots, all values are identical: the smallest p the test can reach is "
           "%.2g, above %.2g; %u boots a side would do",
           c->na, c->nb, c->p_smallest, alpha, needed);
    advise_boots(c, needed);
}

static gboolean
decide_drift(ResComparison *c, const ResSide *a, const ResSide *b, unsigned int judged)
{
    gboolean repeats = c->by_repeatability || c->known_to_repeat;
    double explained = a != NULL && !repeats ? res_estimate_drift(c, a, b) : 0;
    if (explained < DRIFT_SHARE) {
        return FALSE;
    }
    g_autofree char *p = p_text(c, judged);
    decide(c, RES_VERDICT_CANNOT_TELL,
           "%s, but one side ran after the other and both drift that way from boot to boot, which "
           "would make %.0f%% of the difference",
           p, MIN(explained * 100, 100));
    advise(c, "let boots of both sides alternate: both kernels as an axis of one profile");
    return TRUE;
}

void
res_verdict_decide(ResComparison *c, const ResSide *a, const ResSide *b, double alpha,
                   unsigned int judged)
{
    c->next = g_strdup("");
    if (c->fidelity == RES_FIDELITY_FUNCTIONAL) {
        decide(c, RES_VERDICT_CANNOT_TELL, "every number is meaningless at fidelity functional");
        return;
    }
    if (a != NULL && all_equal(a, b)) {
        decide_identical(c, alpha, judged);
        return;
    }
    double effect = effect_of(c, a, b);
    gboolean sure = c->p_adjusted <= alpha || c->known_to_repeat;
    if (!sure || !(effect < 0 || effect > 0)) {
        decide_room(c, alpha, judged);
    } else if (!decide_drift(c, a, b, judged)) {
        decide_different(c, effect, alpha, judged);
    }
}
