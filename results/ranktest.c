/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than
 * the other", Annals of Mathematical Statistics 18 (1947). With ties every value has the mean of
 * the ranks it spans, and the distribution is that over all ways to deal the pooled ranks to two
 * sides (a permutation test), so it stays exact.
 */
#include "results/ranktest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double value;
    gboolean of_b;
} Item;

static int
compare_items(const void *x, const void *y)
{
    const Item *a = x, *b = y;
    return (a->value > b->value) - (a->value < b->value);
}

/* How many ways there are to choose K of N; a double is exact up to 2^53 and close enough beyond.
 */
static double
choose(gsize n, gsize k)
{
    double ways = 1;
    for (gsize i = 1; i <= k; i++) {
        ways = ways * (double)(n - k + i) / (double)i;
    }
    return ways;
}

/* Twice the mean rank of each item, so that they are whole. TIES gets the sum of t^3 - t over
 * groups. */
static void
rank_items(const Item *items, gsize n, unsigned int *ranks, double *ties)
{
    *ties = 0;
    for (gsize i = 0; i < n;) {
        gsize j = i;
        while (j < n && !(items[j].value > items[i].value)) {
            j++;
        }
        for (gsize k = i; k < j; k++) {
            ranks[k] = (unsigned int)(i + j + 1); /* (i + 1) + j, both ends of the span */
        }
        double t = (double)(j - i);
        *ties += t * t * t - t;
        i = j;
    }
}

/* ways[k][sum]: ways to choose k ranks that add up to sum. Choosing the smaller side is less work.
 */
static double
count_extreme(const unsigned int *ranks, gsize n, gsize k_max, double distance)
{
    gsize sums = n * (n + 1) + 1;
    g_autofree double *ways = g_new0(double, (k_max + 1) * sums);
    ways[0] = 1;
    for (gsize i = 0; i < n; i++) {
        for (gsize k = MIN(i + 1, k_max); k > 0; k--) {
            double *to = ways + k * sums;
            const double *from = to - sums;
            for (gsize s = sums - 1; s >= ranks[i]; s--) {
                to[s] += from[s - ranks[i]];
            }
        }
    }
    double middle = (double)k_max * (double)(n + 1);
    double extreme = 0;
    for (gsize s = 0; s < sums; s++) {
        if (fabs((double)s - middle) >= distance) {
            extreme += ways[k_max * sums + s];
        }
    }
    return extreme;
}

ResRankTest
res_ranktest(const double *a, gsize na, const double *b, gsize nb)
{
    gsize n = na + nb;
    g_autofree Item *items = g_new(Item, n);
    g_autofree unsigned int *ranks = g_new(unsigned int, n);
    for (gsize i = 0; i < n; i++) {
        items[i] = (Item){.value = i < na ? a[i] : b[i - na], .of_b = i >= na};
    }
    qsort(items, n, sizeof *items, compare_items);
    double ties = 0, sum_b = 0;
    rank_items(items, n, ranks, &ties);
    for (gsize i = 0; i < n; i++) {
        sum_b += items[i].of_b ? ranks[i] : 0;
    }
    /* doubled ranks: the middle of B's sum is nb (n + 1), and A's sum is as far from its own middle
     */
    double off = sum_b - (double)nb * (double)(n + 1);
    ResRankTest t = {.smallest = MIN(1.0, 2 / choose(n, MIN(na, nb))),
                     .order = (off > 0) - (off < 0)};
    if (n <= RES_RANKTEST_EXACT_MAX) {
        t.of = choose(n, MIN(na, nb));
        t.as_extreme = count_extreme(ranks, n, MIN(na, nb), fabs(off));
        t.p = MIN(1.0, t.as_extreme / t.of);
        return t;
    }
    double dn = (double)n;
    double variance = (double)na * (double)nb / 12 * (dn + 1 - ties / (dn * (dn - 1)));
    double z = MAX(0.0, fabs(off) / 2 - 0.5) / sqrt(variance);
    t.p = variance > 0 ? erfc(z / G_SQRT2) : 1;
    return t;
}

unsigned int
res_ranktest_needed(double alpha)
{
    unsigned int each = 1;
    while (2 / choose(2 * each, each) > alpha) {
        each++;
    }
    return each;
}
