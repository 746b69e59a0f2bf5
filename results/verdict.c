/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/verdict.h"

#include <math.h>
#include <stdarg.h>

#include "results/ranktest.h"

/* One side's boots. */
typedef struct {
    const double *values;
    guint n;
    double median, min, max, spread;
} Side;

const char *
res_verdict_name(ResVerdict v)
{
    static const char *const names[] = {
        [RES_VERDICT_BETTER] = "better",
        [RES_VERDICT_SAME] = "same",
        [RES_VERDICT_WORSE] = "worse",
        [RES_VERDICT_CANNOT_TELL] = "cannot tell",
    };
    return (gsize)v < G_N_ELEMENTS(names) ? names[v] : "?";
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

static Side
side_new(const GArray *values)
{
    Side s = {.values = (const double *)(gpointer)values->data, .n = values->len};
    s.median = res_median(s.values, s.n);
    s.min = s.max = s.values[0];
    for (guint i = 1; i < s.n; i++) {
        s.min = MIN(s.min, s.values[i]);
        s.max = MAX(s.max, s.values[i]);
    }
    s.spread = res_verdict_spread(s.min, s.max, s.median);
    return s;
}

/* Never NaN. */
static double
ratio_of(double b, double a)
{
    if (a < 0 || a > 0) {
        return b / a;
    }
    return b > 0 ? HUGE_VAL : b < 0 ? -HUGE_VAL : 1;
}

static void
set_ratios(ResComparison *c, const Side *a, const Side *b)
{
    c->ratio = ratio_of(b->median, a->median);
    c->ratio_low = c->ratio_high = ratio_of(b->values[0], a->values[0]);
    for (guint i = 0; i < a->n; i++) {
        for (guint k = 0; k < b->n; k++) {
            double r = ratio_of(b->values[k], a->values[i]);
            c->ratio_low = MIN(c->ratio_low, r);
            c->ratio_high = MAX(c->ratio_high, r);
        }
    }
}

static void G_GNUC_PRINTF(3, 4)
    decide(ResComparison *c, ResVerdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    c->verdict = verdict;
    c->reason = g_strdup_vprintf(format, args);
    va_end(args);
}

/* Better or worse when HIGHER tells which way B went. */
static ResVerdict
by_direction(ResDirection direction, gboolean higher)
{
    if (direction == RES_NO_DIRECTION) {
        return RES_VERDICT_CANNOT_TELL;
    }
    return higher == (direction == RES_HIGHER_IS_BETTER) ? RES_VERDICT_BETTER : RES_VERDICT_WORSE;
}

/* "p = 0.0079 (2 of 252)". */
static char *
p_text(const ResRankTest *t)
{
    if (t->of > 0) {
        return g_strdup_printf("p = %.2g (%.0f of %.0f arrangements, exact)", t->p, t->as_extreme,
                               t->of);
    }
    return g_strdup_printf("p = %.2g (normal approximation)", t->p);
}

/* "; the metric has no better or worse" */
static const char *
no_direction(const ResComparison *c)
{
    return c->direction == RES_NO_DIRECTION ? "; this metric has no better or worse" : "";
}

static gboolean
all_equal(const Side *a, const Side *b)
{
    return !(a->max > a->min) && !(b->max > b->min) && !(a->min > b->min) && !(a->min < b->min);
}

static void
judge_ranked(ResComparison *c, const Side *a, const Side *b, const ResRankTest *t)
{
    unsigned int needed = res_ranktest_needed(RES_COMPARE_ALPHA);
    g_autofree char *p = p_text(t);
    if (t->smallest > RES_COMPARE_ALPHA) {
        decide(
            c, RES_VERDICT_CANNOT_TELL,
            "%u against %u boots: the smallest p the rank test can reach is %.2g, above %.2g; %u "
            "boots a side would do%s",
            a->n, b->n, t->smallest, RES_COMPARE_ALPHA, needed,
            all_equal(a, b) ? " (all values are identical)" : "");
        return;
    }
    if (all_equal(a, b)) {
        decide(c, RES_VERDICT_SAME, "identical: all %u and %u boots gave the same value", a->n,
               b->n);
        return;
    }
    if (t->p <= RES_COMPARE_ALPHA && t->order != 0) {
        decide(c, by_direction(c->direction, t->order > 0),
               "rank test over boots: %s, at most %.2g, so B is %s%s", p, RES_COMPARE_ALPHA,
               t->order > 0 ? "higher" : "lower", no_direction(c));
        return;
    }
    if (c->ratio_low >= 1 - RES_COMPARE_SAME_RANKED &&
        c->ratio_high <= 1 + RES_COMPARE_SAME_RANKED) {
        decide(c, RES_VERDICT_SAME, "no pair of boots is more than %g%% apart, and %s",
               RES_COMPARE_SAME_RANKED * 100, p);
        return;
    }
    decide(c, RES_VERDICT_CANNOT_TELL,
           "rank test over boots: %s, above %.2g; B/A lies between %.4g and %.4g over all pairs of "
           "boots",
           p, RES_COMPARE_ALPHA, c->ratio_low, c->ratio_high);
}

static void
judge_instructions(ResComparison *c, const Side *a, const Side *b, const ResRankTest *t)
{
    if (MIN(a->n, b->n) < RES_COMPARE_BOOTS_MIN) {
        decide(c, RES_VERDICT_CANNOT_TELL,
               "%u against %u boots: how well it repeats is not known (smallest p reachable %.2g); "
               "%d boots a side would do%s",
               a->n, b->n, t->smallest, RES_COMPARE_BOOTS_MIN,
               all_equal(a, b) ? " (all values are identical)" : "");
        return;
    }
    g_autofree char *p = p_text(t);
    double spread = MAX(a->spread, b->spread);
    gboolean higher = b->min > a->max, lower = b->max < a->min;
    double gap = higher ? b->min - a->max : a->min - b->max;
    double width = MAX(a->max - a->min, b->max - b->min);
    if (all_equal(a, b)) {
        decide(c, RES_VERDICT_SAME, "identical: all %u and %u boots gave the same value", a->n,
               b->n);
    } else if (fabs(c->ratio - 1) < RES_COMPARE_SAME && spread <= RES_COMPARE_STEADY) {
        decide(c, RES_VERDICT_SAME,
               "medians differ by %.2g%%, less than %g%%; boots repeat within %.2g%%",
               fabs(c->ratio - 1) * 100, RES_COMPARE_SAME * 100, spread * 100);
    } else if (fabs(c->ratio - 1) < RES_COMPARE_SAME) {
        decide(c, RES_VERDICT_CANNOT_TELL,
               "medians differ by %.2g%%, but boots of one side differ by %.2g%% among themselves, "
               "more than the %g%% that would show it",
               fabs(c->ratio - 1) * 100, spread * 100, RES_COMPARE_STEADY * 100);
    } else if ((higher || lower) && (gap >= width || t->p <= RES_COMPARE_ALPHA)) {
        decide(
            c, by_direction(c->direction, higher),
            "by exact repeatability, not by p: all boots of B are %s than all of A, with a gap of "
            "%.6g where boots of one side differ by %.6g at most; %s%s",
            higher ? "higher" : "lower", gap, width, p, no_direction(c));
    } else if (higher || lower) {
        decide(c, RES_VERDICT_CANNOT_TELL,
               "all boots of B are %s than all of A, but the gap of %.6g is less than the %.6g by "
               "which boots of one side differ, and %s is above %.2g; more boots would tell",
               higher ? "higher" : "lower", gap, width, p, RES_COMPARE_ALPHA);
    } else {
        decide(c, RES_VERDICT_CANNOT_TELL,
               "boots of A (%.6g to %.6g) and B (%.6g to %.6g) overlap; %s", a->min, a->max, b->min,
               b->max, p);
    }
}

ResComparison *
res_verdict_new(const ResMetric *like, const char *cell, const GArray *a, const GArray *b)
{
    Side left = side_new(a), right = side_new(b);
    ResComparison *c = g_new0(ResComparison, 1);
    c->metric = g_strdup(like->name);
    c->unit = g_strdup(like->unit);
    c->cell = g_strdup(cell);
    c->direction = like->direction;
    c->fidelity = like->fidelity;
    c->a = left.median;
    c->b = right.median;
    c->na = left.n;
    c->nb = right.n;
    set_ratios(c, &left, &right);
    if (like->fidelity == RES_FIDELITY_FUNCTIONAL) {
        decide(c, RES_VERDICT_CANNOT_TELL, "every number is meaningless at fidelity functional");
        return c;
    }
    ResRankTest t = res_ranktest(left.values, left.n, right.values, right.n);
    if (like->fidelity == RES_FIDELITY_INSTRUCTIONS) {
        judge_instructions(c, &left, &right, &t);
    } else {
        judge_ranked(c, &left, &right, &t);
    }
    return c;
}
