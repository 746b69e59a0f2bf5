/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/bisect.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

const ResBisectOptions res_bisect_defaults = {
    .end_boots = 3, .max_boots = 20, .confidence = 0.99, .relevant = 0.001};

typedef struct {
    unsigned int n;
    double mean, squares; /* sum of squares around the mean (Welford, Technometrics 4, 1962) */
    gboolean skipped;
} State;

struct ResBisect {
    ResBisectOptions options;
    unsigned int steps;
    State *states; /* steps + 1 */
};

typedef enum { GOOD, BAD, UNTOLD } Side;

ResBisect *
res_bisect_new(unsigned int steps, const ResBisectOptions *options)
{
    ResBisect *b = g_new0(ResBisect, 1);

    b->options = *options;
    b->steps = steps;
    b->states = g_new0(State, steps + 1);
    return b;
}

void
res_bisect_free(ResBisect *b)
{
    if (!b)
        return;
    g_free(b->states);
    g_free(b);
}

void
res_bisect_value(ResBisect *b, unsigned int state, double value)
{
    g_return_if_fail(state <= b->steps && isfinite(value));
    State *s = &b->states[state];
    double from_mean = value - s->mean;

    s->n++;
    s->mean += from_mean / s->n;
    s->squares += from_mean * (value - s->mean);
}

void
res_bisect_skip(ResBisect *b, unsigned int state)
{
    g_return_if_fail(state <= b->steps);
    b->states[state].skipped = TRUE;
}

/* Half the width of Student's interval of a sum of means whose variances are WEIGHT times that of
 * one boot. 0 while no state has two boots. */
static double
half_width(const ResBisect *b, double weight)
{
    double squares = 0;
    unsigned int freedom = 0;

    for (unsigned int i = 0; i <= b->steps; i++) {
        squares += b->states[i].squares;
        freedom += b->states[i].n ? b->states[i].n - 1 : 0;
    }
    if (freedom == 0)
        return 0;
    return gsl_cdf_tdist_Qinv((1 - b->options.confidence) / 2, freedom) *
           sqrt(squares / freedom * weight);
}

/* Of the difference of the ends. */
static double
distance(const ResBisect *b)
{
    return b->states[b->steps].mean - b->states[0].mean;
}

static gboolean
ends_differ(const ResBisect *b)
{
    const State *good = &b->states[0], *bad = &b->states[b->steps];
    double apart = fabs(distance(b));

    return apart > half_width(b, 1.0 / good->n + 1.0 / bad->n) &&
           apart > b->options.relevant * fabs(good->mean);
}

static Side
side_of(const ResBisect *b, unsigned int state)
{
    const State *good = &b->states[0], *bad = &b->states[b->steps], *s = &b->states[state];

    if (state == 0 || state == b->steps)
        return state ? BAD : GOOD;
    if (s->n == 0)
        return UNTOLD;
    double off = s->mean - (good->mean + bad->mean) / 2;
    double half = half_width(b, 1.0 / s->n + 0.25 / good->n + 0.25 / bad->n);
    if (fabs(off) <= half)
        return UNTOLD;
    return (off > 0) == (distance(b) > 0) ? BAD : GOOD;
}

static ResBisectNext
next(ResBisectKind kind, unsigned int state)
{
    return (ResBisectNext){.kind = kind, .state = state, .first = state, .last = state};
}

/* The ends first: both as often as it takes to know the spread, then as to tell them apart. TRUE:
 * *WHAT is to be done before anything between. */
static gboolean
ends_next(const ResBisect *b, ResBisectNext *what)
{
    const unsigned int ends[] = {0, b->steps};
    unsigned int least = MAX(b->options.end_boots, 2);

    for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
        const State *s = &b->states[ends[i]];
        if (!s->skipped && s->n >= least)
            continue;
        *what = next(s->skipped ? RES_BISECT_NO_END : RES_BISECT_BOOT, ends[i]);
        return TRUE;
    }
    if (ends_differ(b))
        return FALSE;
    unsigned int fewer = b->states[0].n <= b->states[b->steps].n ? 0 : b->steps;
    *what = b->states[fewer].n < b->options.max_boots ? next(RES_BISECT_BOOT, fewer)
                                                      : next(RES_BISECT_ALIKE, 0);
    return TRUE;
}

/*
 * What to boot once more to tell STATE's side: of it and the ends, between whose middle it is
 * looked for, the one whose next boot takes most off the variance. FALSE: all had as many as they
 * may.
 */
static gboolean
most_telling(const ResBisect *b, unsigned int state, unsigned int *which)
{
    const unsigned int states[] = {state, 0, b->steps};
    const double weights[] = {1, 0.25, 0.25};
    double most = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(states); i++) {
        unsigned int n = b->states[states[i]].n;
        double gain = n == 0 ? HUGE_VAL : weights[i] / n / (n + 1);
        if (n >= b->options.max_boots || gain <= most)
            continue;
        most = gain;
        *which = states[i];
    }
    return most > 0;
}

static gboolean
usable(const ResBisect *b, unsigned int state)
{
    unsigned int which;
    return !b->states[state].skipped &&
           (side_of(b, state) != UNTOLD || most_telling(b, state, &which));
}

/* The state nearest the middle of what lies between LOW and HIGH that can be had, or 0. */
static unsigned int
middle(const ResBisect *b, unsigned int low, unsigned int high)
{
    unsigned int at = low + (high - low) / 2;

    for (unsigned int away = 0; away <= high - low; away++) {
        if (at >= low + 1 + away && at - away < high && usable(b, at - away))
            return at - away;
        if (at + away > low && at + away < high && usable(b, at + away))
            return at + away;
    }
    return 0;
}

ResBisectNext
res_bisect_next(const ResBisect *b)
{
    ResBisectNext what;
    unsigned int low = 0, high = b->steps;

    if (ends_next(b, &what))
        return what;
    while (high - low > 1) {
        unsigned int at = middle(b, low, high);
        if (at == 0)
            return (ResBisectNext){
                .kind = RES_BISECT_RANGE, .state = high, .first = low + 1, .last = high};
        Side side = side_of(b, at);
        unsigned int which = at;
        if (side == UNTOLD && most_telling(b, at, &which))
            return next(RES_BISECT_BOOT, which);
        *(side == GOOD ? &low : &high) = at;
    }
    return next(RES_BISECT_FOUND, high);
}

ResBisectState
res_bisect_state(const ResBisect *b, unsigned int state)
{
    const State *s = &b->states[MIN(state, b->steps)];
    ResBisectState r = {.n = s->n, .mean = s->mean, .skipped = s->skipped};
    double half = s->n ? half_width(b, 1.0 / s->n) : 0;

    r.low = s->mean - half;
    r.high = s->mean + half;
    if (s->n && state > 0 && state < b->steps && b->states[0].n && b->states[b->steps].n) {
        double least = b->options.relevant * fabs(b->states[0].mean);
        r.between = fabs(s->mean - b->states[0].mean) >
                        half_width(b, 1.0 / s->n + 1.0 / b->states[0].n) + least &&
                    fabs(s->mean - b->states[b->steps].mean) >
                        half_width(b, 1.0 / s->n + 1.0 / b->states[b->steps].n) + least;
    }
    return r;
}
