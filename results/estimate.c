/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/estimate.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "results/ranktest.h"

#define DRIFT_TAIL 0.05
#define POISSON_NORMAL 1e5

double
res_estimate_ratio(double b, double a)
{
    if (a < 0 || a > 0) {
        return CLAMP(b / a, -HUGE_VAL, HUGE_VAL);
    }
    return b > 0 ? HUGE_VAL : b < 0 ? -HUGE_VAL : 1;
}

static double
difference(double b, double a)
{
    return b - a;
}

/* The RANK-th smallest (from 1) of all pairs' values, or their median for 0. */
static double
select_pair(double *pairs, gsize n, gsize rank)
{
    if (rank > 0) {
        return gsl_stats_select(pairs, 1, n, rank - 1);
    }
    double upper = gsl_stats_select(pairs, 1, n, n / 2);
    double lower = n % 2 == 0 ? gsl_stats_select(pairs, 1, n, n / 2 - 1) : upper;
    /* equal first: halves of infinities are fine, their difference is not */
    return lower < upper ? lower / 2 + upper / 2 : upper;
}

static void
fill_pairs(double *pairs, double (*of)(double, double), const double *a, guint na, const double *b,
           guint nb)
{
    for (guint i = 0; i < na; i++) {
        for (guint k = 0; k < nb; k++) {
            pairs[i * nb + k] = of(b[k], a[i]);
        }
    }
}

static ResInterval
pair_interval(double (*of)(double, double), const ResSide *a, const ResSide *b, gsize rank)
{
    gsize n = (gsize)a->n * b->n;
    g_autofree double *pairs = g_new(double, n);
    ResInterval r;
    fill_pairs(pairs, of, a->low, a->n, b->low, b->n);
    r.value = select_pair(pairs, n, 0);
    /* the ends take censored values at whichever end is worse */
    if (a->censored) {
        fill_pairs(pairs, of, a->high, a->n, b->low, b->n);
    }
    r.low = select_pair(pairs, n, rank);
    if (a->censored || b->censored) {
        fill_pairs(pairs, of, a->low, a->n, b->high, b->n);
    }
    r.high = select_pair(pairs, n, n + 1 - rank);
    return r;
}

void
res_estimate_location(ResComparison *c, const ResSide *a, const ResSide *b, double confidence)
{
    gsize rank = res_ranktest_interval(a->n, b->n, confidence, &c->confidence);
    c->estimate = RES_ESTIMATE_LOCATION;
    c->a = a->median;
    c->b = b->median;
    c->shift = pair_interval(difference, a, b, rank);
    c->ratio = pair_interval(res_estimate_ratio, a, b, rank);
}

/* The variance of a side's mean: between its boots, and never less than FLOOR (of one boot) alone
 * would make it. HUGE_VAL for one boot. */
static double
mean_variance(const ResSide *s, double floor)
{
    if (s->n < 2) {
        return HUGE_VAL;
    }
    return MAX(gsl_stats_variance_m(s->low, 1, s->n, s->mean), floor) / s->n;
}

/* Half the width of the interval of b - a: Welch's t. */
static double
half_width(double variance_a, double variance_b, const ResSide *a, const ResSide *b,
           double confidence)
{
    double sum = variance_a + variance_b;
    if (!isfinite(sum)) {
        return HUGE_VAL;
    }
    if (!(sum > 0)) {
        return 0;
    }
    double df =
        sum * sum / (variance_a * variance_a / (a->n - 1) + variance_b * variance_b / (b->n - 1));
    return gsl_cdf_tdist_Qinv((1 - confidence) / 2, df) * sqrt(sum);
}

static void
set_means(ResComparison *c, const ResSide *a, const ResSide *b, double variance_a,
          double variance_b, double confidence)
{
    double half = half_width(variance_a, variance_b, a, b, confidence);
    c->confidence = confidence;
    c->a = a->mean;
    c->b = b->mean;
    double shift = b->mean - a->mean;
    c->shift = (ResInterval){shift, shift - half, shift + half};
}

/* Ends of the interval of a Poisson mean over N boots that counted SUM (Garwood, 1936); of many, by
 * the normal distribution, since GSL's inverse does not converge there. */
static double
poisson_low(double sum, guint n, double tail)
{
    if (sum > POISSON_NORMAL) {
        return (sum - gsl_cdf_ugaussian_Qinv(tail) * sqrt(sum)) / n;
    }
    return sum > 0 ? gsl_cdf_chisq_Pinv(tail, 2 * sum) / 2 / n : 0;
}

static double
poisson_high(double sum, guint n, double tail)
{
    if (sum > POISSON_NORMAL) {
        return (sum + gsl_cdf_ugaussian_Qinv(tail) * sqrt(sum)) / n;
    }
    return gsl_cdf_chisq_Qinv(tail, 2 * sum + 2) / 2 / n;
}

/* The rate ratio on the scale of logarithms, with the variance between boots (overdispersion) and
 * at least Poisson's; where one side counted nothing, from the ends of both rates. */
void
res_estimate_count(ResComparison *c, const ResSide *a, const ResSide *b, double confidence)
{
    double va = mean_variance(a, a->mean), vb = mean_variance(b, b->mean);
    double tail = (1 - confidence) / 2;
    c->estimate = RES_ESTIMATE_COUNT;
    set_means(c, a, b, va, vb, confidence);
    c->ratio = (ResInterval){res_estimate_ratio(b->mean, a->mean), 0, HUGE_VAL};
    if (!isfinite(va + vb)) {
        return;
    }
    if (a->mean > 0 && b->mean > 0) {
        double half =
            half_width(va / (a->mean * a->mean), vb / (b->mean * b->mean), a, b, confidence);
        c->ratio.low = c->ratio.value * exp(-half);
        c->ratio.high = c->ratio.value * exp(half);
        return;
    }
    double high_a = poisson_high(a->mean * a->n, a->n, tail);
    double high_b = poisson_high(b->mean * b->n, b->n, tail);
    c->ratio.low = poisson_low(b->mean * b->n, b->n, tail) / high_a;
    if (a->mean > 0) {
        c->ratio.high = high_b / poisson_low(a->mean * a->n, a->n, tail);
    }
}

void
res_estimate_share(ResComparison *c, const ResSide *a, const ResSide *b, double confidence)
{
    double va = mean_variance(a, a->within), vb = mean_variance(b, b->within);
    c->estimate = RES_ESTIMATE_SHARE;
    set_means(c, a, b, va, vb, confidence);
    c->shift.low = MAX(c->shift.low, -1);
    c->shift.high = MIN(c->shift.high, 1);
    c->ratio.value = res_estimate_ratio(b->mean, a->mean);
    c->ratio.low = MAX(0.0, res_estimate_ratio(a->mean + c->shift.low, a->mean));
    c->ratio.high = res_estimate_ratio(a->mean + c->shift.high, a->mean);
}

/* --- drift --- */

static gboolean
ran_before(const ResSide *first, const ResSide *second)
{
    gint64 last = G_MININT64, next = G_MAXINT64;
    for (guint i = 0; i < first->n; i++) {
        last = MAX(last, first->when_us[i]);
    }
    for (guint i = 0; i < second->n; i++) {
        next = MIN(next, second->when_us[i]);
    }
    return last < next;
}

/* Adds the slopes of all pairs of boots of S, in units a boot, and what Kendall's test needs. */
static void
add_trend(const ResSide *s, GArray *slopes, double *score, double *variance)
{
    double n = s->n;
    for (guint i = 0; i < s->n; i++) {
        for (guint k = i + 1; k < s->n; k++) {
            double slope = (s->low[k] - s->low[i]) / (k - i);
            *score += (slope > 0) - (slope < 0);
            g_array_append_val(slopes, slope);
        }
    }
    *variance += n * (n - 1) * (2 * n + 5) / 18;
}

double
res_estimate_drift(const ResComparison *c, const ResSide *a, const ResSide *b)
{
    gboolean a_first = ran_before(a, b);
    if ((!a_first && !ran_before(b, a)) || a->n < 3 || b->n < 3) {
        return 0;
    }
    g_autoptr(GArray) slopes = g_array_new(FALSE, FALSE, sizeof(double));
    double score = 0, variance = 0;
    add_trend(a, slopes, &score, &variance);
    add_trend(b, slopes, &score, &variance);
    double later =
        a_first ? c->shift.value : -c->shift.value; /* the later side is so much higher */
    if ((score > 0) != (later > 0) ||
        fabs(score) < gsl_cdf_ugaussian_Qinv(DRIFT_TAIL) * sqrt(variance)) {
        return 0;
    }
    double *all = (double *)(gpointer)slopes->data;
    double slope = select_pair(all, slopes->len, 0);
    return MAX(0.0, slope * (a->n + b->n) / 2 / later);
}
