/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The judge on trial, in short: `make calibrate` does it at length (results/calibration.md). Seeds
 * are fixed, so that this fails when the judge changes, and not by chance. */
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "results/sim.h"

#define TRIALS 1000
#define FIXTURES "results/fixtures/calibration/"
#define SURE 1e-4 /* chance of leaving an interval by accident, one-sided */

static const double two_percent = 0.02, spread = 0.02 / 3.078, three = 3, ten_percent = 0.1,
                    mean_count = 4, drift = 0.004;

/* COUNT of TRIALS is not surely more than RATE says. */
static void
assert_at_most(guint count, guint trials, double rate)
{
    g_test_message("%u of %u, at most %g", count, trials, rate);
    g_assert_cmpfloat(count > 0 ? gsl_cdf_binomial_Q(count - 1, rate, trials) : 1, >, SURE);
}

static void
assert_at_least(guint count, guint trials, double rate)
{
    g_test_message("%u of %u, at least %g", count, trials, rate);
    g_assert_cmpfloat(gsl_cdf_binomial_P(count, rate, trials), >, SURE);
}

static void
test_false_alarms(void)
{
    static const struct {
        ResFidelity fidelity;
        const char *unit;
        guint boots;
        SimDraw draw;
        gconstpointer data;
    } cases[] = {
        {RES_FIDELITY_TIME, "u", 5, sim_normal, &two_percent},
        {RES_FIDELITY_TIME, "u", 10, sim_normal, &two_percent},
        {RES_FIDELITY_TIME, "u", 10, sim_heavy, &two_percent},
        {RES_FIDELITY_TIME, "u", 10, sim_bimodal, &ten_percent},
        {RES_FIDELITY_TIME, "u", 10, sim_correlated, &two_percent},
        {RES_FIDELITY_TIME, "u", 10, sim_drifting, &drift},
        {RES_FIDELITY_EVENTS, "count", 10, sim_counts, &mean_count},
        {RES_FIDELITY_INSTRUCTIONS, "insns", 4, sim_lattice, &three},
        {RES_FIDELITY_INSTRUCTIONS, "insns", 10, sim_lattice, &three},
        {RES_FIDELITY_INSTRUCTIONS, "insns", 5, sim_clusters, NULL},
        {RES_FIDELITY_INSTRUCTIONS, "insns", 5, sim_normal, &two_percent},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        SimCase c = {cases[i].fidelity,
                     cases[i].unit,
                     cases[i].boots,
                     SIM_ALTERNATING,
                     cases[i].draw,
                     cases[i].data,
                     1,
                     0};
        SimOutcome o = sim_run(&c, 1, TRIALS, i + 1);
        assert_at_most(o.different, TRIALS, 0.01);
    }
    /* and it is no judge that never tells: the level is used */
    SimCase c = {RES_FIDELITY_TIME, "u", 10, SIM_ALTERNATING, sim_normal, &two_percent, 1, 0};
    SimOutcome o = sim_run(&c, 1, TRIALS, 99);
    assert_at_least(o.different, TRIALS, 0.007);
    assert_at_most(o.missed, TRIALS, 0.01);
}

static void
test_recorded(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) all = sim_recorded_load(FIXTURES "aa.txt", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(all->len, ==, 13);
    for (guint i = 0; i < all->len; i++) {
        const SimRecorded *r = g_ptr_array_index(all, i);
        g_test_message("%s", r->name);
        g_assert_cmpuint(r->values->len, ==, 12);
        SimCase c = {RES_FIDELITY_INSTRUCTIONS, r->unit, 5, SIM_ALTERNATING, sim_recorded, r, 1, 0};
        assert_at_most(sim_run(&c, NAN, TRIALS / 4, i + 1).different, TRIALS / 4, 0.01);
        if (g_str_has_suffix(r->name, ".per_call")) {
            /* one instruction a call: found every time, and 0.015% of 6635 does not matter */
            c.plus = 1;
            SimOutcome o = sim_run(&c, NAN, 50, i + 1);
            g_assert_cmpuint(o.different, ==, 50);
            g_assert_cmpuint(o.worse, ==, g_array_index(r->values, double, 0) < 1000 ? 50 : 0);
        }
    }
}

static void
test_power(void)
{
    enum { FEW = 300 };
    SimCase c = {RES_FIDELITY_TIME, "u", 10, SIM_ALTERNATING, sim_normal, &spread, 1.027, 0};
    SimOutcome o = sim_run(&c, 1.027, FEW, 1);
    assert_at_least(o.worse, FEW, 0.95);
    assert_at_most(o.missed, FEW, 0.01);
    /* a 2% standard deviation is another matter: see calibration.md */
    c.data = &two_percent;
    o = sim_run(&c, 1.027, FEW, 2);
    assert_at_least(o.worse, FEW, 0.4);
    assert_at_most(o.worse, FEW, 0.67);
    SimCase one = {
        RES_FIDELITY_INSTRUCTIONS, "insns", 10, SIM_ALTERNATING, sim_lattice, &three, 1, 1};
    assert_at_least(sim_run(&one, NAN, FEW, 3).different, FEW, 0.95);
}

static void
test_many(void)
{
    SimMany none = sim_run_many(20, 0, 1, 0.02, 0.5, 10, 200, 1);
    assert_at_most(none.any, 200, 0.01);
    SimMany some = sim_run_many(20, 5, 1.1, 0.02, 0.5, 10, 200, 2);
    g_assert_cmpfloat(some.found, >, 0.95);
    g_assert_cmpfloat(some.rate, <, 0.02);
}

static void
test_tails(void)
{
    enum { FEW = 60 };
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) body = sim_body_load(FIXTURES "cyclictest.txt", &error);
    g_assert_no_error(error);
    SimHists same = {20000, 1, 0.01, 0.5, 1.5, 0, 0.01, 2, 1, 10, SIM_ALTERNATING};
    SimTails o = sim_run_hists(&same, body, FEW, 1);
    assert_at_most(o.boots_different, FEW, 0.01);
    assert_at_most(o.pooled_different, FEW, 0.01);
    assert_at_most(o.pooled_missed, FEW, 0.02);
    SimHists longer = {100000, 1, 0.01, 0, 1, 0, 0.01, 2, 1.2, 10, SIM_ALTERNATING};
    o = sim_run_hists(&longer, body, FEW, 2);
    assert_at_least(o.boots_different, FEW, 0.95);
    assert_at_least(o.pooled_different, FEW, 0.95);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calibrate/false-alarms", test_false_alarms);
    g_test_add_func("/calibrate/recorded", test_recorded);
    g_test_add_func("/calibrate/power", test_power);
    g_test_add_func("/calibrate/many", test_many);
    g_test_add_func("/calibrate/tails", test_tails);
    return g_test_run();
}
