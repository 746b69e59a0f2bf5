/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/hist_private.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#define DEEPEST_NINES 12

gint64
res_hist_at_rank(const ResHist *h, guint64 rank, gboolean *censored)
{
    guint64 seen = 0;
    gboolean pending = h->censored > 0;
    *censored = FALSE;
    for (guint i = 0; i < h->counts->len; i++) {
        /* buckets at or above the limit come from histograms with a higher one: the censored
         * samples may lie below them */
        if (pending && res_hist_high(i) >= h->limit) {
            seen += h->censored;
            pending = FALSE;
            if (seen >= rank) {
                break;
            }
        }
        seen += g_array_index(h->counts, guint64, i);
        if (seen >= rank) {
            *censored = !pending && h->censored > 0;
            return *censored ? h->limit : CLAMP(res_hist_high(i), h->min, h->max);
        }
    }
    *censored = h->censored > 0;
    return *censored ? h->limit : h->max;
}

/* P(X <= k) of the binomial distribution of N samples; beyond what GSL counts to, the normal one,
 * which nothing tells from it there. */
static double
binomial_below(guint64 k, double q, guint64 n)
{
    if (n <= G_MAXUINT) {
        return gsl_cdf_binomial_P((unsigned int)k, q, (unsigned int)n);
    }
    return gsl_cdf_ugaussian_P(((double)k + 0.5 - (double)n * q) / sqrt((double)n * q * (1 - q)));
}

/* The smallest k in 0..n with P(X <= k) >= p. */
static guint64
binomial_quantile(double p, double q, guint64 n)
{
    guint64 low = 0, high = n;
    while (low < high) {
        guint64 middle = low + (high - low) / 2;
        if (binomial_below(middle, q, n) >= p) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Does the interval of Q have an upper end: is the largest of N samples above the quantile, surely
 * enough? */
static gboolean
has_upper_end(double q, guint64 n, double confidence)
{
    return q < 1 && (double)n * log(q) <= log((1 - confidence) / 2);
}

gboolean
res_hist_quantile(const ResHist *h, double q, double confidence, ResQuantile *quantile)
{
    if (h->count == 0 || !(q > 0) || q > 1 || !(confidence > 0) || confidence >= 1) {
        return FALSE;
    }
    guint64 n = h->count, rank = MAX(1, (guint64)ceil(q * (double)n));
    double tail = (1 - confidence) / 2;
    gboolean at_limit = FALSE, low_at_limit = FALSE, high_at_limit = FALSE;
    /* the largest rank whose sample is at most the quantile with 1 - tail: P(X >= l) >= 1 - tail */
    guint64 l = q < 1 ? binomial_quantile(tail, q, n) : n;
    *quantile = (ResQuantile){.q = q, .confidence = confidence, .high = HUGE_VAL};
    quantile->value = (double)res_hist_at_rank(h, MIN(rank, n), &at_limit);
    quantile->low = l > 0 ? (double)res_hist_at_rank(h, l, &low_at_limit) : (double)h->min;
    gboolean carried = has_upper_end(q, n, confidence);
    if (carried) {
        /* the smallest rank whose sample is at least the quantile with 1 - tail */
        guint64 u = binomial_quantile(1 - tail, q, n) + 1;
        quantile->high = (double)res_hist_at_rank(h, MIN(u, n), &high_at_limit);
        quantile->high = high_at_limit ? (double)h->max : quantile->high;
    }
    quantile->censored = at_limit || !carried;
    if (!carried) {
        quantile->value = quantile->low;
    }
    return TRUE;
}

double
res_hist_deepest(guint64 n, double confidence)
{
    double deepest = 0, beyond = 0.1;
    if (has_upper_end(0.5, n, confidence)) {
        deepest = 0.5;
    }
    for (int nines = 1; nines <= DEEPEST_NINES; nines++, beyond /= 10) {
        if (has_upper_end(1 - beyond, n, confidence)) {
            deepest = 1 - beyond;
        }
    }
    return deepest;
}

char *
res_hist_quantile_name(double q)
{
    return g_strdup_printf("p%.12g", q * 100);
}

char *
res_hist_quantile_text(const ResQuantile *quantile, const char *unit)
{
    return g_strdup_printf("%s%.15g %s", quantile->censored ? ">= " : "", quantile->value, unit);
}
