/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "results/changes.h"
#include "results/sim.h"

static const double two_percent = 0.02, drift = 0.001;

static GArray *
changes_of(SimDraw draw, gconstpointer data, guint64 seed, gsize n, gsize step_at, double factor)
{
    g_autoptr(SimRng) rng = sim_rng_new(seed);
    g_autofree double *v = g_new(double, n);
    double state = 0;
    for (gsize i = 0; i < n; i++) {
        v[i] = draw(rng, (guint)i, &state, data) * (i >= step_at ? factor : 1);
    }
    return res_changes(v, n);
}

static void
test_nothing(void)
{
    static const double one[] = {546};
    double same[400];
    for (gsize i = 0; i < G_N_ELEMENTS(same); i++) {
        same[i] = 546;
    }
    g_autoptr(GArray) none = res_changes(one, 0), single = res_changes(one, 1),
                      constant = res_changes(same, G_N_ELEMENTS(same));
    g_assert_cmpuint(none->len + single->len + constant->len, ==, 0);
}

/* A short run of `make calibrate`'s rows: 40 series of 250 nights are 10,000 nights. */
static void
test_false(void)
{
    const struct {
        SimDraw draw;
        const double *data;
    } rows[] = {{sim_normal, &two_percent},
                {sim_heavy, &two_percent},
                {sim_correlated, &two_percent},
                {sim_drifting, &drift}};
    for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
        guint found = 0;
        for (guint64 seed = 1; seed <= 40; seed++) {
            g_autoptr(GArray) c = changes_of(rows[r].draw, rows[r].data, seed, 250, G_MAXSIZE, 1);
            found += c->len;
        }
        g_assert_cmpuint(found, <=, 10);
    }
}

static void
test_steps(void)
{
    guint found = 0, dated = 0;
    for (guint64 seed = 1; seed <= 50; seed++) {
        g_autoptr(GArray) c = changes_of(sim_normal, &two_percent, seed, 90, 60, 1.06);
        if (c->len == 1) {
            const ResChange *change = &g_array_index(c, ResChange, 0);
            found++;
            dated += change->at >= 57 && change->at <= 63;
            g_assert_cmpfloat(change->low, <=, change->shift);
            g_assert_cmpfloat(change->shift, <=, change->high);
            g_assert_cmpfloat(change->shift, >, 30);
        }
    }
    g_assert_cmpuint(found, >=, 47);
    g_assert_cmpuint(dated, >=, 44);
}

/* One instruction more, told once; spikes are not told; and back. */
static void
test_exact(void)
{
    double v[100];
    for (gsize i = 0; i < G_N_ELEMENTS(v); i++) {
        v[i] = i >= 40 && i < 70 ? 547 : 546;
    }
    v[20] = v[21] = 900;
    v[50] = 100;
    g_autoptr(GArray) c = res_changes(v, G_N_ELEMENTS(v));
    g_assert_cmpuint(c->len, ==, 2);
    const ResChange *up = &g_array_index(c, ResChange, 0), *down = &g_array_index(c, ResChange, 1);
    g_assert_cmpuint(up->at, ==, 40);
    g_assert_cmpuint(up->established, <=, 44);
    g_assert_cmpfloat(up->shift, ==, 1);
    g_assert_cmpuint(down->at, ==, 70);
    g_assert_cmpfloat(down->shift, ==, -1);
}

/* What was told on a night is told the same on every later one. */
static void
test_once(void)
{
    double v[120];
    g_autoptr(SimRng) rng = sim_rng_new(7);
    double state = 0;
    for (guint i = 0; i < G_N_ELEMENTS(v); i++) {
        v[i] = sim_normal(rng, i, &state, &two_percent) * (i >= 50 && i < 90 ? 1.1 : 1);
    }
    g_autoptr(GArray) all = res_changes(v, G_N_ELEMENTS(v));
    g_assert_cmpuint(all->len, ==, 2);
    for (gsize n = 0; n <= G_N_ELEMENTS(v); n++) {
        g_autoptr(GArray) then = res_changes(v, n);
        guint known = 0;
        while (known < all->len && g_array_index(all, ResChange, known).established < n) {
            known++;
        }
        g_assert_cmpuint(then->len, ==, known);
        for (guint i = 0; i < known; i++) {
            g_assert_cmpuint(g_array_index(then, ResChange, i).at, ==,
                             g_array_index(all, ResChange, i).at);
        }
    }
}

/* Figures at the ends of what a double holds must not trip anything. */
static void
test_huge(void)
{
    double v[80];
    for (gsize i = 0; i < G_N_ELEMENTS(v); i++) {
        v[i] = (i % 3 == 0 ? 1 : -1) * (i % 2 == 0 ? 1.7e308 : 1e-308);
    }
    g_autoptr(GArray) c = res_changes(v, G_N_ELEMENTS(v));
    g_assert_nonnull(c);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/changes/nothing", test_nothing);
    g_test_add_func("/changes/false", test_false);
    g_test_add_func("/changes/steps", test_steps);
    g_test_add_func("/changes/exact", test_exact);
    g_test_add_func("/changes/once", test_once);
    g_test_add_func("/changes/huge", test_huge);
    return g_test_run();
}
