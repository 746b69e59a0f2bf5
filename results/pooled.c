/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/pooled.h"

#include <gsl/gsl_combination.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "results/estimate.h"

#define ARRANGEMENTS_MAX 20000.0
#define EXTREME_MAX 200
#define EQUAL 1e-9 /* arithmetic's error in a ratio of two quantiles */

typedef gsl_rng Rng;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rng, gsl_rng_free)
typedef gsl_combination Combination;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Combination, gsl_combination_free)

struct ResPooled {
    gsize na, n;       /* boots of A, which come first, and of both */
    gsize nvalues;     /* different values over all boots */
    double *values;    /* ascending */
    guint64 *at_least; /* samples from value k on, n boots side by side; the last row is 0 */
    gint64 limit;      /* the lowest value from where samples are censored; G_MAXINT64: none */
};

static int
compare_lows(gconstpointer x, gconstpointer y)
{
    gint64 a = *(const gint64 *)x, b = *(const gint64 *)y;
    return (a > b) - (a < b);
}

/* The different values, ascending: buckets by their highest value, all that is censored in any
 * boot, or as high, at the limit. */
static GArray *
collect_values(const GPtrArray *boots, gint64 limit)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    GArray *values = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint i = 0; i < boots->len; i++) {
        GArray *buckets = res_hist_buckets(g_ptr_array_index(boots, i));
        g_ptr_array_add(all, buckets);
        for (guint k = 0; k < buckets->len; k++) {
            ResHistBucket *b = &g_array_index(buckets, ResHistBucket, k);
            if (b->high < limit && g_hash_table_add(seen, &b->high)) {
                g_array_append_val(values, b->high);
            }
        }
    }
    if (limit < G_MAXINT64) {
        g_array_append_val(values, limit);
    }
    g_array_sort(values, compare_lows);
    return values;
}

static void
fill_boot(ResPooled *p, const ResHist *h, gsize boot)
{
    g_autoptr(GArray) buckets = res_hist_buckets(h);
    gsize k = p->nvalues;
    guint64 seen = 0;
    guint b = buckets->len;
    p->at_least[k * p->n + boot] = 0;
    if (p->limit < G_MAXINT64) {
        /* everything that may be as high as the limit */
        seen = res_hist_censored(h);
        while (b > 0 && g_array_index(buckets, ResHistBucket, b - 1).high >= p->limit) {
            seen += g_array_index(buckets, ResHistBucket, --b).count;
        }
        p->at_least[--k * p->n + boot] = seen;
    }
    while (k > 0) {
        k--;
        if (b > 0 && (double)g_array_index(buckets, ResHistBucket, b - 1).high >= p->values[k]) {
            seen += g_array_index(buckets, ResHistBucket, --b).count;
        }
        p->at_least[k * p->n + boot] = seen;
    }
}

ResPooled *
res_pooled_new(const GPtrArray *a, const GPtrArray *b)
{
    ResPooled *p = g_new0(ResPooled, 1);
    g_autoptr(GPtrArray) boots = g_ptr_array_new();
    g_ptr_array_extend(boots, (GPtrArray *)a, NULL, NULL);
    g_ptr_array_extend(boots, (GPtrArray *)b, NULL, NULL);
    p->na = a->len;
    p->n = boots->len;
    p->limit = G_MAXINT64;
    for (gsize i = 0; i < p->n; i++) {
        const ResHist *h = g_ptr_array_index(boots, i);
        if (res_hist_censored(h) > 0) {
            p->limit = MIN(p->limit, res_hist_limit(h));
        }
    }
    g_autoptr(GArray) values = collect_values(boots, p->limit);
    p->nvalues = values->len;
    p->values = g_new(double, p->nvalues);
    for (gsize k = 0; k < p->nvalues; k++) {
        p->values[k] = (double)g_array_index(values, gint64, k);
    }
    p->at_least = g_new(guint64, p->n * (p->nvalues + 1));
    for (gsize i = 0; i < p->n; i++) {
        fill_boot(p, g_ptr_array_index(boots, i), i);
    }
    return p;
}

void
res_pooled_free(ResPooled *p)
{
    if (p == NULL) {
        return;
    }
    g_free(p->values);
    g_free(p->at_least);
    g_free(p);
}

static guint64
from_value(const ResPooled *p, const gsize *boots, gsize n, gsize k)
{
    const guint64 *row = p->at_least + k * p->n;
    guint64 sum = 0;
    for (gsize i = 0; i < n; i++) {
        sum += row[boots[i]];
    }
    return sum;
}

/* The quantile of the samples of BOOTS together: the first value with a share of Q at or below. */
static double
quantile_of(const ResPooled *p, const gsize *boots, gsize n, double q)
{
    double all = (double)from_value(p, boots, n, 0);
    guint64 above = (guint64)floor((1 - q) * all * (1 + EQUAL)); /* samples that may be beyond */
    gsize low = 0, high = p->nvalues - 1;
    while (low < high) {
        gsize middle = low + (high - low) / 2;
        if (from_value(p, boots, n, middle + 1) <= above) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return p->values[low];
}

double
res_pooled_deepest(const ResPooled *p, double confidence)
{
    guint64 a = 0, b = 0;
    for (gsize i = 0; i < p->n; i++) {
        *(i < p->na ? &a : &b) += p->at_least[i];
    }
    return res_hist_deepest(MIN(a, b), confidence);
}

/* --- bootstrap --- */

static double
draw(const ResPooled *p, gsl_rng *rng, gsize first, gsize n, gsize *boots, double q)
{
    for (gsize i = 0; i < n; i++) {
        boots[i] = first + gsl_rng_uniform_int(rng, n);
    }
    return quantile_of(p, boots, n, q);
}

/* The OUT-th value from the lower end of N (LOW), or from the upper. */
static double
end_of(double *values, gsize n, gsize out, gboolean low)
{
    return gsl_stats_select(values, 1, n, low ? out : n - 1 - out);
}

/* The middle CONFIDENCE of what is drawn. A quantile at the limit may be anywhere above. */
static void
bootstrap(const ResPooled *p, double q, double confidence, gsl_rng *rng, unsigned int resamples,
          ResComparison *c)
{
    gsize out = (gsize)floor((1 - confidence) / 2 * resamples);
    g_autofree double *drawn = g_new(double, 4 * (gsize)resamples);
    double *shift_low = drawn, *shift_high = shift_low + resamples;
    double *ratio_low = shift_high + resamples, *ratio_high = ratio_low + resamples;
    g_autofree gsize *boots = g_new(gsize, p->n);
    for (unsigned int i = 0; i < resamples; i++) {
        double a = draw(p, rng, 0, p->na, boots, q);
        double b = draw(p, rng, p->na, p->n - p->na, boots, q);
        gboolean open_a = a >= (double)p->limit, open_b = b >= (double)p->limit;
        shift_low[i] = open_a ? -HUGE_VAL : b - a;
        shift_high[i] = open_b ? HUGE_VAL : b - a;
        ratio_low[i] = open_a ? 0 : res_estimate_ratio(b, a);
        ratio_high[i] = open_b ? HUGE_VAL : res_estimate_ratio(b, a);
    }
    c->shift.low = end_of(shift_low, resamples, out, TRUE);
    c->shift.high = end_of(shift_high, resamples, out, FALSE);
    c->ratio.low = end_of(ratio_low, resamples, out, TRUE);
    c->ratio.high = end_of(ratio_high, resamples, out, FALSE);
}

/* --- permutation --- */

/* How far apart the two sides are when BOOTS holds A's boots, then B's. */
static double
distance(const ResPooled *p, const gsize *boots, double q)
{
    double a = quantile_of(p, boots, p->na, q);
    double b = quantile_of(p, boots + p->na, p->n - p->na, q);
    return fabs(log((b + 1) / (a + 1))); /* 0 is a latency, too */
}

/* Every arrangement is counted out. */
static double
permute_all(const ResPooled *p, double q, gsize *boots, double observed)
{
    g_autoptr(Combination) chosen = gsl_combination_calloc(p->n, p->na);
    double extreme = 0, of = 0;
    do {
        gsize a = 0, b = p->na;
        for (gsize i = 0; i < p->n; i++) {
            gboolean in_a = a < p->na && gsl_combination_get(chosen, a) == i;
            boots[in_a ? a++ : b++] = i;
        }
        extreme += distance(p, boots, q) >= observed - EQUAL;
        of++;
    } while (gsl_combination_next(chosen) == 0);
    return extreme / of;
}

/* Besag and Clifford, Biometrika 78 (1991): draws until EXTREME_MAX arrangements were as extreme,
 * which settles a large p early, and otherwise all. The arrangement that was seen is one of them,
 * so that p is never too small (Phipson and Smyth, 2010). */
static double
permute_some(const ResPooled *p, double q, gsize *boots, double observed, gsl_rng *rng,
             unsigned int draws)
{
    unsigned int extreme = 0;
    for (unsigned int i = 1; i <= draws; i++) {
        gsl_ran_shuffle(rng, boots, p->n, sizeof *boots);
        extreme += distance(p, boots, q) >= observed - EQUAL;
        if (extreme == EXTREME_MAX) {
            return (double)extreme / i;
        }
    }
    return (extreme + 1.0) / (draws + 1.0);
}

static double
arrangements(gsize n, gsize k)
{
    double ways = 1;
    for (gsize i = 1; i <= k && ways <= ARRANGEMENTS_MAX; i++) {
        ways = ways * (double)(n - k + i) / (double)i;
    }
    return ways;
}

void
res_pooled_compare(const ResPooled *p, double q, double confidence, guint64 seed,
                   unsigned int resamples, ResComparison *c)
{
    gsize nb = p->n - p->na;
    g_autoptr(Rng) rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    g_autofree gsize *boots = g_new(gsize, p->n);
    for (gsize i = 0; i < p->n; i++) {
        boots[i] = i;
    }
    c->estimate = RES_ESTIMATE_QUANTILE;
    c->a = quantile_of(p, boots, p->na, q);
    c->b = quantile_of(p, boots + p->na, nb, q);
    c->censored_a = c->a >= (double)p->limit;
    c->censored_b = c->b >= (double)p->limit;
    c->shift = (ResInterval){c->b - c->a, -HUGE_VAL, HUGE_VAL};
    c->ratio = (ResInterval){res_estimate_ratio(c->b, c->a), 0, HUGE_VAL};
    c->confidence = confidence;
    if (MIN(p->na, nb) >= RES_POOLED_BOOTS_MIN) {
        bootstrap(p, q, confidence, rng, resamples, c);
    }
    double observed = distance(p, boots, q);
    c->p_exact = arrangements(p->n, MIN(p->na, nb)) <= ARRANGEMENTS_MAX;
    c->p = c->p_exact ? permute_all(p, q, boots, observed)
                      : permute_some(p, q, boots, observed, rng, 5 * resamples);
}
