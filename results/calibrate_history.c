/* SPDX-License-Identifier: GPL-2.0-or-later */
/* History: change points of nightly series, false ones and those that are there. */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "results/calibrate_private.h"
#include "results/changes.h"
#include "results/sim.h"

#define NIGHTS 365
#define STEP_AT 60
#define WITHIN 28 /* nights in which a step is to be found */
#define NEAR 3

static const double two_percent = 0.02, ten_percent = 0.10, three = 3, mean_count = 4,
                    drift_slow = 0.0002, drift_small = 0.001;

/* How the N nights of one series are drawn: all at once, or one by one as boots are (sim.h). */
typedef struct {
    void (*all)(SimRng *rng, double *v, gsize n); /* NULL: by NIGHT with DATA */
    SimDraw night;
    const double *data;
} Draw;
#define ALL(function)                                                                              \
    {                                                                                              \
        function, NULL, NULL                                                                       \
    }
#define EACH(function, number)                                                                     \
    {                                                                                              \
        NULL, function, &(number)                                                                  \
    }

static void
fill(SimRng *rng, double *v, gsize n, SimDraw draw, gconstpointer data)
{
    double state = 0;
    for (gsize i = 0; i < n; i++) {
        v[i] = draw(rng, (guint)i, &state, data);
    }
}

static void
draw(const Draw *d, SimRng *rng, double *v, gsize n)
{
    if (d->all != NULL) {
        d->all(rng, v, n);
    } else {
        fill(rng, v, n, d->night, d->data);
    }
}

/* One night in ten at the other mode, 10% up. */
static void
draw_seldom(SimRng *rng, double *v, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        v[i] = 1000 * (gsl_rng_uniform(rng) < 0.1 ? 1.1 : 1) + gsl_ran_gaussian(rng, 5);
    }
}

/* A host that gets warm in summer: 1% up and down in a year. */
static void
draw_seasons(SimRng *rng, double *v, gsize n)
{
    double phase = 2 * G_PI * gsl_rng_uniform(rng);
    for (gsize i = 0; i < n; i++) {
        v[i] = 1000 + 10 * sin(2 * G_PI * (double)i / 365 + phase) + gsl_ran_gaussian(rng, 5);
    }
}

/* One night in twenty 1.5 to 10 times as slow, sometimes two in a row. */
static void
draw_spikes(SimRng *rng, double *v, gsize n)
{
    fill(rng, v, n, sim_normal, &two_percent);
    for (gsize i = 0; i < n; i++) {
        if (gsl_rng_uniform(rng) < 0.05) {
            gsize run = gsl_rng_uniform(rng) < 0.3 ? 2 : 1;
            for (gsize k = i; k < MIN(n, i + run); k++) {
                v[k] *= gsl_ran_flat(rng, 1.5, 10);
            }
        }
    }
}

static void
draw_constant(SimRng *rng G_GNUC_UNUSED, double *v, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        v[i] = 546.4;
    }
}

/* 546 but for one night in fifty. */
static void
draw_exact(SimRng *rng, double *v, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        v[i] = gsl_rng_uniform(rng) < 0.02 ? 560 : 546;
    }
}

/* --- kinds that the limits were not chosen on --- */

/* By day of the week, 1% between its best and worst. */
static void
draw_weekly(SimRng *rng, double *v, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        v[i] = 1000 + 5 * sin(2 * G_PI * (double)i / 7) + gsl_ran_gaussian(rng, 5);
    }
}

/* More alike from night to night than the autocorrelated ones above: 0.8, sd 2%. */
static void
draw_sticky(SimRng *rng, double *v, gsize n)
{
    double state = gsl_ran_gaussian(rng, 20);
    for (gsize i = 0; i < n; i++) {
        v[i] = 1000 + state;
        state = 0.8 * state + gsl_ran_gaussian(rng, 20 * sqrt(1 - 0.8 * 0.8));
    }
}

/* Skewed to the slow side: log-normal, sigma 0.05. */
static void
draw_skewed(SimRng *rng, double *v, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        v[i] = 1000 * gsl_ran_lognormal(rng, 0, 0.05);
    }
}

/* Drift of 0.05% a night that turns round every 50 nights. */
static void
draw_zigzag(SimRng *rng, double *v, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        gsize at = i % 100;
        v[i] = 1000 + 0.5 * (double)MIN(at, 100 - at) + gsl_ran_gaussian(rng, 6.5);
    }
}

typedef struct {
    const char *what;
    Draw draw;
} Series;

static const Series unseen[] = {
    {"by day of the week, 1%, sd 0.5%", ALL(draw_weekly)},
    {"autocorrelated (0.8), sd 2%", ALL(draw_sticky)},
    {"skewed (log-normal, 5%)", ALL(draw_skewed)},
    {"drift 0.05% a night that turns every 50 nights, sd 0.65%", ALL(draw_zigzag)},
};

static const Series series[] = {
    {"normal, sd 2%", EACH(sim_normal, two_percent)},
    {"heavy tails (t, 2 df)", EACH(sim_heavy, two_percent)},
    {"two kinds of nights, 10% apart", EACH(sim_bimodal, ten_percent)},
    {"one night in ten 10% up", ALL(draw_seldom)},
    {"autocorrelated (0.6), sd 2%", EACH(sim_correlated, two_percent)},
    {"drift 0.02% a night, sd 0.65%", EACH(sim_drifting, drift_slow)},
    {"drift 0.1% a night, sd 0.65%", EACH(sim_drifting, drift_small)},
    {"seasons, 1% up and down in a year, sd 0.5%", ALL(draw_seasons)},
    {"spikes to 10 times, one night in twenty, some two in a row", ALL(draw_spikes)},
    {"overdispersed counts, mean 4", EACH(sim_counts, mean_count)},
    {"instructions: 0 or 3 more, by chance", EACH(sim_lattice, three)},
    {"instructions: always the same", ALL(draw_constant)},
    {"instructions: the same but for one night in fifty", ALL(draw_exact)},
};

static const struct {
    const char *what;
    Draw draw;
    double factor;
} steps[] = {
    {"2.7% at sd 2% (1.35 sd)", EACH(sim_normal, two_percent), 1.027},
    {"4% at sd 2%", EACH(sim_normal, two_percent), 1.04},
    {"6% at sd 2%", EACH(sim_normal, two_percent), 1.06},
    {"6% at sd 2%, with spikes", ALL(draw_spikes), 1.06},
    {"10%, heavy tails", EACH(sim_heavy, two_percent), 1.10},
    {"10%, autocorrelated (0.6), sd 2%", EACH(sim_correlated, two_percent), 1.10},
    {"20%, autocorrelated (0.6), sd 2%", EACH(sim_correlated, two_percent), 1.20},
    {"5%, drift 0.1% a night, sd 0.65%", EACH(sim_drifting, drift_small), 1.05},
    {"one instruction of 546", ALL(draw_constant), 547.0 / 546},
    {"one instruction of 546, one night in fifty is off", ALL(draw_exact), 547.0 / 546},
};

typedef struct {
    double rate; /* false changes in 1,000 nights */
    guint any;   /* series with one */
} False;

static False
count_false(const Draw *d, guint64 seed, guint trials)
{
    g_autoptr(SimRng) rng = sim_rng_new(seed);
    guint found = 0;
    False f = {0};

    for (guint t = 0; t < trials; t++) {
        double v[NIGHTS];
        draw(d, rng, v, NIGHTS);
        g_autoptr(GArray) changes = res_changes(v, NIGHTS);
        found += changes->len;
        f.any += changes->len > 0;
    }
    f.rate = 1000.0 * found / trials / NIGHTS;
    return f;
}

/* The limits were chosen by looking at the rates of CHOOSING seeds, which are therefore no proof;
 * the others were drawn once, after that. */
#define CHOOSING 1000
#define FRESH 770000

static void
false_changes(GString *out, guint trials)
{
    g_string_append(out,
                    "| series | false change points in 1,000 nights, fresh seeds | series with any "
                    "| with the seeds the limits were chosen on |\n|---|---|---|---|\n");
    for (gsize i = 0; i < G_N_ELEMENTS(series); i++) {
        False fresh = count_false(&series[i].draw, FRESH + i, trials);
        False chosen = count_false(&series[i].draw, CHOOSING + i, trials);
        g_autofree char *share = calibrate_share(fresh.any, trials);
        g_string_append_printf(out, "| %s | %.3f | %s | %.3f |\n", series[i].what, fresh.rate,
                               share, chosen.rate);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(unseen); i++) {
        False fresh = count_false(&unseen[i].draw, FRESH + 100 + i, trials);
        g_autofree char *share = calibrate_share(fresh.any, trials);
        g_string_append_printf(out, "| *a kind not chosen on:* %s | %.3f | %s | - |\n",
                               unseen[i].what, fresh.rate, share);
    }
    g_string_append(
        out,
        "\nRules and limits were changed several times after looking at the last column (limits of "
        "distance 4.6, 4.3 and again\n4.6), so that column says how they were chosen, not how well "
        "they do. The fresh seeds, and the kinds that were not\nchosen on, were drawn once, with "
        "nothing changed afterwards. The steps below use seeds that were looked at, too. Other\n"
        "methods (E-divisive, PELT with a cost of ranks) were not measured beside this one.\n\n"
        "**Not held:** a drift that turns round is told as change points, about ten in 1,000 "
        "nights "
        "instead of one; only steady drift\nis taken out. Nights as alike as 0.8 come close to "
        "one.\n");
}

static void
found_steps(GString *out, guint trials)
{
    g_string_append_printf(out,
                           "\n| step on night %d | found within 7 nights | 14 | %d | nights "
                           "until established, median | dated within %d nights |\n"
                           "|---|---|---|---|---|---|\n",
                           STEP_AT, WITHIN, NEAR);
    for (gsize i = 0; i < G_N_ELEMENTS(steps); i++) {
        g_autoptr(SimRng) rng = sim_rng_new(2000 + i);
        guint by[WITHIN + 1] = {0}, near = 0, half = 0;
        for (guint t = 0; t < trials; t++) {
            double v[STEP_AT + WITHIN];
            draw(&steps[i].draw, rng, v, G_N_ELEMENTS(v));
            for (gsize k = STEP_AT; k < G_N_ELEMENTS(v); k++) {
                v[k] *= steps[i].factor;
            }
            g_autoptr(GArray) changes = res_changes(v, G_N_ELEMENTS(v));
            for (guint c = 0; c < changes->len; c++) {
                const ResChange *change = &g_array_index(changes, ResChange, c);
                if (change->established < STEP_AT || change->shift < 0) {
                    continue;
                }
                for (gsize k = change->established - STEP_AT + 1; k <= WITHIN; k++) {
                    by[k]++;
                }
                near += ABS((int)change->at - STEP_AT) <= NEAR;
                break;
            }
        }
        while (half < WITHIN && 2 * by[half] < trials) {
            half++;
        }
        g_string_append_printf(out, "| %s | %.1f%% | %.1f%% | %.1f%% | %s%u | %.1f%% |\n",
                               steps[i].what, 100.0 * by[7] / trials, 100.0 * by[14] / trials,
                               100.0 * by[WITHIN] / trials, 2 * by[half] < trials ? "over " : "",
                               half, by[WITHIN] > 0 ? 100.0 * near / by[WITHIN] : 0);
    }
}

void
calibrate_history(GString *out, guint trials, const char *fixtures G_GNUC_UNUSED)
{
    guint few = MAX(trials / 10, 1);
    g_string_append_printf(
        out,
        "## History: change points of nightly series\n\n"
        "%u series of %d nights without a change, and as many with a step, judged night by night "
        "as `nohzlab history` does.\n\n",
        few, NIGHTS);
    false_changes(out, few);
    found_steps(out, few);
    g_string_append(
        out,
        "\n**What can't be reached:** a step of less than about three times the spread of nights "
        "takes two weeks or more, and one of\n1.35 times is missed within four weeks more often "
        "than found; more boots a night make the spread smaller. The price of not\ntaking drift, "
        "seasons or correlated nights for a step: limits of ranks and distance are set by these "
        "rows, not by the\nnormal one. A night is one figure here; in the store it is the median "
        "of "
        "its boots.\n");
}
