/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The decisions of a bisection, on series that are made up. */
#include "results/bisect.h"

#include <math.h>

#define STEPS_MAX 200

typedef struct {
    unsigned int steps, first_bad;
    double good, bad, noise; /* noise: standard deviation of a boot */
    gboolean missing[STEPS_MAX + 1];
    GRand *random;
    unsigned int boots, states;
    gboolean seen[STEPS_MAX + 1];
} World;

/* Roughly normal: the sum of twelve uniform numbers. */
static double
normal(GRand *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += g_rand_double(random);
    return sum;
}

static double
boot(World *w, unsigned int state)
{
    w->boots++;
    w->states += !w->seen[state];
    w->seen[state] = TRUE;
    return (state >= w->first_bad ? w->bad : w->good) + w->noise * normal(w->random);
}

static ResBisectNext
bisect(World *w, ResBisect *b)
{
    for (;;) {
        ResBisectNext next = res_bisect_next(b);
        if (next.kind != RES_BISECT_BOOT)
            return next;
        if (w->missing[next.state])
            res_bisect_skip(b, next.state);
        else
            res_bisect_value(b, next.state, boot(w, next.state));
        g_assert_cmpuint(w->boots, <, 10000);
    }
}

/* Boots that repeat exactly: every step is found, with one boot of each state between the ends and
 * as few states as there can be. */
static void
test_minimum(void)
{
    for (unsigned int steps = 1; steps <= 70; steps++) {
        for (unsigned int bad = 1; bad <= steps; bad++) {
            World w = {.steps = steps, .first_bad = bad, .good = 531.1, .bad = 791};
            g_autoptr(GRand) random = g_rand_new_with_seed(1);
            w.random = random;
            g_autoptr(ResBisect) b = res_bisect_new(steps, &res_bisect_defaults);
            ResBisectNext next = bisect(&w, b);

            g_assert_cmpint(next.kind, ==, RES_BISECT_FOUND);
            g_assert_cmpuint(next.state, ==, bad);
            g_assert_cmpuint(w.states, <=, 2 + (unsigned int)ceil(log2(steps)));
            g_assert_cmpuint(w.boots, ==, 6 + w.states - 2);
        }
    }
}

/* A difference of two standard deviations: rarely told by one boot. Wrong at most about as often as
 * the confidence lets it be. */
static void
test_noise(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    unsigned int wrong = 0, untold = 0, boots = 0, trials = 300;

    for (unsigned int i = 0; i < trials; i++) {
        World w = {.steps = 8,
                   .first_bad = 1 + i % 8,
                   .good = 100,
                   .bad = 110,
                   .noise = 5,
                   .random = random};
        g_autoptr(ResBisect) b = res_bisect_new(w.steps, &res_bisect_defaults);
        ResBisectNext next = bisect(&w, b);
        untold += next.kind != RES_BISECT_FOUND;
        wrong += next.kind == RES_BISECT_FOUND && next.state != w.first_bad;
        boots += w.boots;
    }
    g_test_message("%u of %u wrong, %u not told, %.1f boots each", wrong, trials, untold,
                   (double)boots / trials);
    g_assert_cmpuint(wrong, <=, trials * 6 / 100); /* five decisions of 99% each */
    g_assert_cmpuint(untold, <=, trials / 5);
    g_assert_cmpuint(boots / trials, >, 12); /* it did repeat */
}

static void
test_alike(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    World same = {.steps = 8, .first_bad = 3, .good = 100, .bad = 100, .random = random};
    g_autoptr(ResBisect) a = res_bisect_new(8, &res_bisect_defaults);
    g_assert_cmpint(bisect(&same, a).kind, ==, RES_BISECT_ALIKE);
    g_assert_cmpuint(same.boots, ==, 2 * res_bisect_defaults.max_boots);

    World hidden = {
        .steps = 8, .first_bad = 3, .good = 100, .bad = 100.05, .noise = 0, .random = random};
    g_autoptr(ResBisect) b = res_bisect_new(8, &res_bisect_defaults);
    g_assert_cmpint(bisect(&hidden, b).kind, ==, RES_BISECT_ALIKE); /* irrelevant */
}

static void
test_skips(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    World around = {.steps = 8, .first_bad = 6, .good = 10, .bad = 20, .random = random};
    around.missing[4] = TRUE;
    around.missing[3] = TRUE;
    g_autoptr(ResBisect) a = res_bisect_new(8, &res_bisect_defaults);
    ResBisectNext next = bisect(&around, a);
    g_assert_cmpint(next.kind, ==, RES_BISECT_FOUND);
    g_assert_cmpuint(next.state, ==, 6);
    g_assert_true(res_bisect_state(a, 4).skipped);

    World hidden = {.steps = 8, .first_bad = 5, .good = 10, .bad = 20, .random = random};
    hidden.missing[4] = hidden.missing[5] = TRUE;
    g_autoptr(ResBisect) b = res_bisect_new(8, &res_bisect_defaults);
    next = bisect(&hidden, b);
    g_assert_cmpint(next.kind, ==, RES_BISECT_RANGE);
    g_assert_cmpuint(next.first, ==, 4);
    g_assert_cmpuint(next.last, ==, 6);

    World no_end = {.steps = 8, .first_bad = 5, .good = 10, .bad = 20, .random = random};
    no_end.missing[8] = TRUE;
    g_autoptr(ResBisect) c = res_bisect_new(8, &res_bisect_defaults);
    next = bisect(&no_end, c);
    g_assert_cmpint(next.kind, ==, RES_BISECT_NO_END);
    g_assert_cmpuint(next.state, ==, 8);
}

/* Told again in the same order, it asks for the same next: that is how a killed one goes on. */
static void
test_replay(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(11);
    World w = {.steps = 20, .first_bad = 13, .good = 50, .bad = 60, .noise = 3, .random = random};
    g_autoptr(ResBisect) first = res_bisect_new(20, &res_bisect_defaults);
    g_autoptr(GArray) states = g_array_new(FALSE, FALSE, sizeof(unsigned int));
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));

    for (;;) {
        g_autoptr(ResBisect) again = res_bisect_new(20, &res_bisect_defaults);
        for (guint i = 0; i < states->len; i++)
            res_bisect_value(again, g_array_index(states, unsigned int, i),
                             g_array_index(values, double, i));
        ResBisectNext a = res_bisect_next(first), b = res_bisect_next(again);
        g_assert_cmpint(a.kind, ==, b.kind);
        g_assert_cmpuint(a.state, ==, b.state);
        if (a.kind != RES_BISECT_BOOT)
            break;
        double value = boot(&w, a.state);
        res_bisect_value(first, a.state, value);
        g_array_append_val(states, a.state);
        g_array_append_val(values, value);
    }
}

/* Two steps move it: the one that crosses the middle is named, and the level between is seen. */
static void
test_between(void)
{
    g_autoptr(ResBisect) b = res_bisect_new(4, &res_bisect_defaults);
    const double level[] = {100, 100, 160, 160, 200};

    for (ResBisectNext n; (n = res_bisect_next(b)).kind == RES_BISECT_BOOT;)
        res_bisect_value(b, n.state, level[n.state]);
    ResBisectNext next = res_bisect_next(b);
    g_assert_cmpint(next.kind, ==, RES_BISECT_FOUND);
    g_assert_cmpuint(next.state, ==, 2);
    g_assert_true(res_bisect_state(b, 2).between);
    g_assert_false(res_bisect_state(b, 1).between);
    g_assert_false(res_bisect_state(b, 0).between);
    g_assert_cmpfloat(res_bisect_state(b, 2).low, ==, 160);
    g_assert_cmpuint(res_bisect_state(b, 3).n, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bisect/minimum", test_minimum);
    g_test_add_func("/bisect/noise", test_noise);
    g_test_add_func("/bisect/alike", test_alike);
    g_test_add_func("/bisect/skips", test_skips);
    g_test_add_func("/bisect/replay", test_replay);
    g_test_add_func("/bisect/between", test_between);
    return g_test_run();
}
