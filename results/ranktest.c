/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than
 * the other", Annals of Mathematical Statistics 18 (1947). With ties every value has the mean of
 * the ranks it spans, and the distribution is that over all ways to deal the pooled ranks to two
 * sides (a permutation test), so it stays exact.
 */
#include "results/ranktest.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
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

/* ways[sum]: ways to choose K of the N RANKS that add up to sum, from 0 to SUMS - 1. */
static double *
count_ways(const unsigned int *ranks, gsize n, gsize k_max, gsize sums)
{
    double *ways = g_new0(double, (k_max + 1) * sums);
    gsize reached = 0; /* no sum is larger so far */
    ways[0] = 1;
    for (gsize i = 0; i < n; i++) {
        reached = MIN(reached + ranks[i], sums - 1);
        for (gsize k = MIN(i + 1, k_max); k > 0; k--) {
            double *to = ways + k * sums + ranks[i];
            const double *from = ways + (k - 1) * sums;
            for (gsize s = 0; s + ranks[i] <= reached; s++) {
                to[s] += from[s];
            }
        }
    }
    memmove(ways, ways + k_max * sums, sums * sizeof *ways);
    return ways;
}

/* Without ties the ways are the same for all values: a thread keeps the last it counted. */
typedef struct {
    gsize n, k;
    double *ways;
} Kept;

static void
kept_free(gpointer data)
{
    g_free(((Kept *)data)->ways);
    g_free(data);
}

/* As count_ways(), for the ranks 1 to N; not to be freed, and good until the next call. */
static const double *
count_plain_ways(gsize n, gsize k)
{
    static GPrivate private = G_PRIVATE_INIT(kept_free);
    Kept *kept = g_private_get(&private);
    if (kept == NULL) {
        kept = g_new0(Kept, 1);
        g_private_set(&private, kept);
    }
    if (kept->n != n || kept->k != k) {
        g_autofree unsigned int *ranks = g_new(unsigned int, n);
        for (gsize i = 0; i < n; i++) {
            ranks[i] = (unsigned int)i + 1;
        }
        g_free(kept->ways);
        *kept = (Kept){n, k, count_ways(ranks, n, k, n * (n + 1) / 2 + 1)};
    }
    return kept->ways;
}

/* Choosing the smaller side is less work. RANKS are doubled. */
static double
count_extreme(const unsigned int *ranks, gsize n, gsize k, gboolean ties, double distance)
{
    double scale = ties ? 2 : 1;
    gsize sums = (ties ? 2 : 1) * n * (n + 1) / 2 + 1;
    g_autofree double *own = ties ? count_ways(ranks, n, k, sums) : NULL;
    const double *ways = ties ? own : count_plain_ways(n, k);
    double middle = scale * (double)k * (double)(n + 1) / 2;
    double extreme = 0;
    for (gsize s = 0; s < sums; s++) {
        if (fabs((double)s - middle) >= distance * scale / 2) {
            extreme += ways[s];
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
        t.as_extreme = count_extreme(ranks, n, MIN(na, nb), ties > 0, fabs(off));
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

gsize
res_ranktest_interval(gsize na, gsize nb, double asked, double *confidence)
{
    gsize n = na + nb, k = MIN(na, nb);
    double tail = (1 - asked) / 2;
    if (n > RES_RANKTEST_EXACT_MAX) {
        double pairs = (double)na * (double)nb, dn = (double)n;
        double rank = pairs / 2 - gsl_cdf_ugaussian_Qinv(tail) * sqrt(pairs * (dn + 1) / 12);
        *confidence = asked;
        return (gsize)MAX(1.0, floor(rank));
    }
    const double *ways = count_plain_ways(n, k);
    double all = choose(n, k), below = 0;
    gsize first = k * (k + 1) / 2, rank = 0; /* the smallest rank sum */
    do {
        below += ways[first + rank] / all; /* P(U <= rank) */
        rank++;
    } while (below + ways[first + rank] / all <= tail);
    *confidence = MAX(0.0, 1 - 2 * below);
    return rank;
}

double
res_ranktest_apart(gsize na, gsize nb)
{
    double n = (double)(na + nb), a = (double)na / n, b = (double)nb / n;
    double once = pow(a, (double)na) * pow(b, (double)nb);
    /* ... or all of them fall into one cluster, and that into two again */
    return MIN(1.0, 2 * once / (1 - once));
}

double
res_ranktest_disjoint(const double *a, gsize na, const double *b, gsize nb)
{
    gsize n = na + nb;
    g_autofree Item *items = g_new(Item, n);
    g_autofree double *ways = g_new0(double, na + 1); /* to fill so many places of A */
    for (gsize i = 0; i < n; i++) {
        items[i] = (Item){.value = i < na ? a[i] : b[i - na], .of_b = i >= na};
    }
    qsort(items, n, sizeof *items, compare_items);
    ways[0] = 1;
    for (gsize i = 0, j; i < n; i = j) {
        for (j = i; j < n && !(items[j].value > items[i].value); j++) {
            if (items[j].of_b != items[i].of_b) {
                return 1;
            }
        }
        for (gsize k = na; k >= j - i && k > 0; k--) { /* all of a value go to A, or none */
            ways[k] += ways[k - (j - i)];
        }
    }
    return MIN(1.0, ways[na] / choose(n, na));
}

void
res_ranktest_adjust(double *p, gsize n)
{
    if (n == 0) {
        return;
    }
    g_autofree gsize *order = g_new(gsize, n);
    gsl_sort_index(order, p, 1, n);
    double least = 1;
    for (gsize i = n; i > 0; i--) {
        double *at = p + order[i - 1];
        least = MIN(least, *at * (double)n / (double)i);
        *at = least;
    }
}
