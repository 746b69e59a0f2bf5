/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/ranktest.h"

#define LEFT_MAX 60
#define RIGHT_MAX 28
/* From simulated series: results/calibrate_history.c. */
#define RANK_LIMIT 3.9
#define DISTANCE_LIMIT 4.6
#define OVERLAP_MAX 0.25
#define OVERLAP_MAX_SHORT 0.375
#define CORRELATION_MAX 0.95

static const gsize lengths[] = {4, 5, 7, 10, 14, 20, RIGHT_MAX};

typedef struct {
    const double *left, *right;
    gsize nl, nr;
    double spread;      /* robust standard deviation of one night */
    double correlation; /* of one night with the next */
} Sides;

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double
median_sorted(const double *v, gsize n)
{
    return n % 2 == 1 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

static double
median_of(const double *v, gsize n)
{
    double sorted[LEFT_MAX];
    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    return median_sorted(sorted, n);
}

/* Sum over groups of equal values, among both sides, of t^3 - t. */
static double
ties_of(const double *left, gsize nl, const double *right, gsize nr)
{
    double all[LEFT_MAX + RIGHT_MAX], sum = 0;
    gsize n = nl + nr;
    memcpy(all, left, nl * sizeof *all);
    memcpy(all + nl, right, nr * sizeof *all);
    qsort(all, n, sizeof *all, compare_doubles);
    for (gsize i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && !(all[k] > all[i]); k++) {
        }
        double t = (double)(k - i);
        sum += t * t * t - t;
    }
    return sum;
}

/* Mann and Whitney's U as a standard normal figure: positive where RIGHT is higher. */
static double
rank_z(const double *left, gsize nl, const double *right, gsize nr)
{
    int above = 0, below = 0;
    for (gsize i = 0; i < nr; i++) {
        for (gsize k = 0; k < nl; k++) {
            above += right[i] > left[k];
            below += right[i] < left[k];
        }
    }
    double excess = (above - below) / 2.0, a = (double)nl, b = (double)nr, n = a + b;
    /* Ties make U's variance small: where most figures are equal, two odd ones of four would do. */
    if (fabs(excess) < (nr <= 5 ? OVERLAP_MAX_SHORT : OVERLAP_MAX) * a * b) {
        return 0;
    }
    double variance = a * b / 12 * (n + 1 - ties_of(left, nl, right, nr) / (n * (n - 1)));
    return variance > 0 ? excess / sqrt(variance) : 0;
}

/* Spread and correlation of N values around their median. */
static void
measure(const double *v, gsize n, double *spread, double *correlation)
{
    double middle = median_of(v, n), off[LEFT_MAX], cap, with = 0, own = 0;
    for (gsize i = 0; i < n; i++) {
        off[i] = fabs(v[i] - middle);
    }
    *spread = 1.4826 * median_of(off, n);
    /* Spikes would hide the correlation of the rest. */
    cap = *spread > 0 ? 2.5 * *spread : HUGE_VAL;
    for (gsize i = 0; i < n; i++) {
        off[i] = CLAMP(v[i] - middle, -cap, cap);
        own += off[i] * off[i];
        with += i > 0 ? off[i] * off[i - 1] : 0;
    }
    double r = own > 0 ? with / own : 0;
    /* Biased low in short series (Kendall, Biometrika 41 (1954)). */
    r += (1 + 4 * r) / (double)n;
    *correlation = CLAMP(r, 0, CORRELATION_MAX);
}

/* By how much correlation widens the variance of a mean of N nights. */
static double
widening(double correlation, gsize n)
{
    double sum = 1, power = 1;
    for (gsize k = 1; k < n; k++) {
        power *= correlation;
        sum += 2 * (1 - (double)k / (double)n) * power;
    }
    return sum;
}

/* The medians' distance in standard errors; MORE is variance to be added, in squared spreads. */
static double
distance_z(const Sides *s, double more)
{
    double d = median_of(s->right, s->nr) - median_of(s->left, s->nl);
    /* a median's variance is pi/2 times a mean's */
    double variance = G_PI / 2 *
                          (widening(s->correlation, s->nr) / (double)s->nr +
                           widening(s->correlation, s->nl) / (double)s->nl) +
                      more;
    double error = s->spread * sqrt(variance);
    return error > 0 ? d / error : d > 0 ? HUGE_VAL : d < 0 ? -HUGE_VAL : 0;
}

/* Theil and Sen's slope of one night. */
static double
drift_of(const double *v, gsize n)
{
    g_autofree double *slopes = g_new(double, n *(n - 1) / 2);
    gsize at = 0;
    for (gsize i = 0; i + 1 < n; i++) {
        for (gsize k = i + 1; k < n; k++) {
            slopes[at++] = (v[k] - v[i]) / (double)(k - i);
        }
    }
    qsort(slopes, at, sizeof *slopes, compare_doubles);
    return median_sorted(slopes, at);
}

static gboolean
agree(double ranks, double distance)
{
    return fabs(ranks) >= RANK_LIMIT && fabs(distance) >= DISTANCE_LIMIT &&
           (ranks > 0) == (distance > 0);
}

/* The same question with the drift of the left side taken out of both. */
static gboolean
agree_without_drift(const Sides *s, double slope, double ranks)
{
    double left[LEFT_MAX], right[RIGHT_MAX];
    Sides flat = *s;
    for (gsize i = 0; i < s->nl; i++) {
        left[i] = s->left[i] - slope * (double)i;
    }
    for (gsize i = 0; i < s->nr; i++) {
        right[i] = s->right[i] - slope * (double)(s->nl + i);
    }
    flat.left = left;
    flat.right = right;
    measure(left, s->nl, &flat.spread, &flat.correlation);
    /* what the slope's own error makes of the distance between the sides' middles */
    double n = (double)s->nl, away = (n + (double)s->nr) / 2;
    double more = 12 / (n * n * n) * away * away * widening(flat.correlation, s->nl);
    double z = rank_z(left, s->nl, right, s->nr);
    return agree(z, distance_z(&flat, more)) && (z > 0) == (ranks > 0);
}

/* ALIGNED: the values, with those before the last change put on today's level. *SLOPE: the drift up
 * to SPLIT, where it goes the change's way. */
static gboolean
changed(const double *v, const double *aligned, gsize from, gsize split, gsize end, double *slope)
{
    gsize start = split - from > LEFT_MAX ? split - LEFT_MAX : from;
    gsize wide = split > LEFT_MAX ? split - LEFT_MAX : 0;
    Sides s = {v + start, v + split, split - start, end - split, 0, 0};
    /* Soon after a change ranks have too few nights to go by: they take the aligned ones before it
     * as well. How well the new level is known, distance still asks. */
    Sides wider = s;
    if (s.nl < RES_CHANGES_FIRST) {
        wider.left = aligned + wide;
        wider.nl = split - wide;
    }
    double z = rank_z(wider.left, wider.nl, s.right, s.nr);
    if (fabs(z) < RANK_LIMIT) {
        return FALSE;
    }
    measure(aligned + wide, split - wide, &s.spread, &s.correlation);
    if (!agree(z, distance_z(&s, 0))) {
        return FALSE;
    }
    *slope = drift_of(wider.left, wider.nl);
    if (*slope * z <= 0) {
        *slope = 0;
        return TRUE;
    }
    return agree_without_drift(&wider, *slope, z);
}

/* The split that ranks tell apart best, with SLOPE taken out, of those that FROM and END allow. */
static gsize
best_split(const double *v, gsize from, gsize least, gsize end, double slope)
{
    double flat[LEFT_MAX + RIGHT_MAX];
    gsize base = end - from > G_N_ELEMENTS(flat) ? end - G_N_ELEMENTS(flat) : from;
    gsize best = 0;
    double most = -1;
    for (gsize i = base; i < end; i++) {
        flat[i - base] = v[i] - slope * (double)(i - base);
    }
    for (gsize nr = RES_CHANGES_SEGMENT; nr <= RIGHT_MAX && end - from >= nr + least; nr++) {
        gsize split = end - nr, start = split - base > LEFT_MAX ? split - LEFT_MAX : base;
        double z = fabs(rank_z(flat + start - base, split - start, flat + split - base, nr));
        if (z > most) {
            most = z;
            best = split;
        }
    }
    return best;
}

static ResChange
describe(const double *v, gsize from, gsize split, gsize end)
{
    gsize start = split - from > LEFT_MAX ? split - LEFT_MAX : from;
    gsize na = split - start, nb = end - split;
    g_autofree double *shifts = g_new(double, na *nb);
    double confidence;
    for (gsize i = 0; i < na; i++) {
        for (gsize k = 0; k < nb; k++) {
            shifts[i * nb + k] = v[split + k] - v[start + i];
        }
    }
    qsort(shifts, na * nb, sizeof *shifts, compare_doubles);
    gsize k = res_ranktest_interval(na, nb, 0.99, &confidence);
    return (ResChange){
        .at = split,
        .established = end - 1,
        .before = median_of(v + start, na),
        .after = median_of(v + split, nb),
        .shift = median_sorted(shifts, na * nb),
        .low = shifts[k - 1],
        .high = shifts[na * nb - k],
    };
}

GArray *
res_changes(const double *values, gsize n)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(ResChange));
    g_autofree double *aligned = g_memdup2(values, n * sizeof *values);
    gsize from = 0, least = RES_CHANGES_FIRST;
    double slope = 0;
    for (gsize end = RES_CHANGES_NEEDED; end <= n; end++) {
        for (gsize i = 0; i < G_N_ELEMENTS(lengths) && end - from >= lengths[i] + least; i++) {
            if (!changed(values, aligned, from, end - lengths[i], end, &slope)) {
                continue;
            }
            ResChange c = describe(values, from, best_split(values, from, least, end, slope), end);
            g_array_append_val(found, c);
            /* a drift goes on, it is no part of the step */
            double apart = (double)(MIN(c.at - from, LEFT_MAX) + end - c.at) / 2;
            double step = c.shift - slope * apart;
            for (gsize k = c.at > LEFT_MAX ? c.at - LEFT_MAX : 0; k < c.at; k++) {
                aligned[k] += step;
            }
            from = c.at;
            least = RES_CHANGES_BETWEEN;
            break;
        }
    }
    return found;
}
