/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The judge on trial: boots drawn from known distributions, compared as `nohzlab compare` would,
 * many times. Used by test_calibrate.c and, at length, by `make calibrate`, which writes
 * results/calibration.md.
 */
#include <gsl/gsl_rng.h>

#include "results/compare.h"
#include "results/hist.h"

typedef gsl_rng SimRng;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SimRng, gsl_rng_free)
/* GSL's Mersenne twister. */
SimRng *sim_rng_new(guint64 seed);

/* The order in which the boots of both sides run. */
typedef enum { SIM_ALTERNATING, SIM_SEQUENTIAL } SimOrder;

/* One boot: VALUE of the AT-th boot of all (0, 1, ...). STATE: a double that lasts over the boots
 * of a comparison, 0 at first. */
typedef double (*SimDraw)(gsl_rng *rng, guint at, double *state, gconstpointer data);

typedef struct {
    ResFidelity fidelity;
    const char *unit;
    guint boots; /* a side */
    SimOrder order;
    SimDraw draw;
    gconstpointer data;
    double factor, plus; /* B's boots: value * factor + plus; 1 and 0: A/A */
} SimCase;

typedef struct {
    guint trials;
    guint different; /* a difference was told, whichever way and however small */
    guint worse;     /* B was told to be worse */
    guint missed;    /* the interval of the shift (or ratio) does not hold the true one */
} SimOutcome;

/* TRUTH: the true ratio, for `missed`; NAN: not looked at. */
SimOutcome sim_run(const SimCase *c, double truth, guint trials, guint64 seed);

typedef struct {
    guint trials;
    guint any;    /* comparisons with at least one false alarm */
    double rate;  /* mean share of false ones among the differences told */
    double found; /* mean share of the changed metrics that were told */
} SimMany;
/* METRICS metrics of normal boots with spread SD, correlated with each other by RHO within a boot;
 * the first CHANGED of them are FACTOR times as large in B. */
SimMany sim_run_many(guint metrics, guint changed, double factor, double sd, double rho,
                     guint boots, guint trials, guint64 seed);

/* --- distributions of boots; all around 1000 --- */

double sim_normal(gsl_rng *rng, guint at, double *state, gconstpointer sd); /* const double * */
double sim_uniform(gsl_rng *rng, guint at, double *state, gconstpointer half);
double sim_heavy(gsl_rng *rng, guint at, double *state, gconstpointer sd); /* Student's t, 2 df */
double sim_bimodal(gsl_rng *rng, guint at, double *state,
                   gconstpointer gap); /* half of the boots */
double sim_correlated(gsl_rng *rng, guint at, double *state, gconstpointer sd); /* AR(1), 0.6 */
double sim_drifting(gsl_rng *rng, guint at, double *state,
                    gconstpointer step); /* a boot; sd 0.65% */
double sim_lattice(gsl_rng *rng, guint at, double *state, gconstpointer step);  /* 0 or one step */
double sim_clusters(gsl_rng *rng, guint at, double *state, gconstpointer data); /* 3 unequal ones */
double sim_counts(gsl_rng *rng, guint at, double *state, gconstpointer mean);   /* overdispersed */

/* --- recorded boots --- */

typedef struct {
    char *name, *unit; /* "syscall-overhead variant=none invalid.per_call" */
    GArray *values;    /* double */
} SimRecorded;
/* results/fixtures/calibration/aa.txt: SimRecorded *. */
GPtrArray *sim_recorded_load(const char *path, GError **error);
/* One of the values of a SimRecorded, drawn. */
double sim_recorded(gsl_rng *rng, guint at, double *state, gconstpointer recorded);

/* --- histograms --- */

typedef struct {
    guint64 samples;    /* a boot */
    guint burst;        /* samples come in runs of so many equal ones (autocorrelation) */
    double boot_sd;     /* of a boot's factor on all its latencies */
    double slow_share;  /* of boots that are... */
    double slow_factor; /* ... so much slower (bimodal) */
    double drift;       /* a boot, on all its latencies */
    double tail_share;  /* of samples that come from a Pareto tail of... */
    double tail_index;  /* ... this index, from the body's p99 on */
    double tail_factor; /* on latencies of B above p99: 1 for A/A */
    guint boots;        /* a side */
    SimOrder order;
} SimHists;

typedef struct {
    guint trials;
    guint boots_different;  /* p99.9 of boots, by ranks */
    guint pooled_different; /* p99.9 of all samples of all boots */
    guint pooled_missed;    /* its interval does not hold the true ratio */
} SimTails;
/* BODY: latencies and counts of a recorded histogram (sim_body_load). */
SimTails sim_run_hists(const SimHists *s, const GArray *body, guint trials, guint64 seed);
GArray *sim_body_load(const char *path, GError **error); /* ResHistBucket */
