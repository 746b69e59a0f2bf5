/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/ranktest.h"

#include <math.h>

static void
test_ranktest(void)
{
    /* F36: no variance on one side neither hides the difference nor divides by zero */
    const double a[] = {115, 114, 115, 115, 115}, b[] = {78.8, 78.8, 78.8, 78.8, 78.8};
    ResRankTest t = res_ranktest(a, 5, b, 5);
    g_assert_cmpfloat(t.as_extreme, ==, 2);
    g_assert_cmpfloat(t.of, ==, 252);
    g_assert_cmpfloat(t.p, ==, 2.0 / 252);
    g_assert_cmpint(t.order, ==, -1);
    const double same[] = {5, 5, 5, 5, 5};
    t = res_ranktest(same, 5, same, 5);
    g_assert_cmpfloat(t.p, ==, 1);
    g_assert_cmpint(t.order, ==, 0);
    const double one[] = {1}, two[] = {2};
    t = res_ranktest(one, 1, two, 1);
    g_assert_cmpfloat(t.p, ==, 1);
    g_assert_cmpfloat(t.smallest, ==, 1);
    const double up[] = {1, 2, 3, 4}, down[] = {5, 6, 7, 8};
    t = res_ranktest(up, 3, down, 3);
    g_assert_cmpfloat(t.p, ==, 0.1);
    g_assert_cmpfloat(t.smallest, ==, 0.1);
    t = res_ranktest(up, 4, down, 4);
    g_assert_cmpfloat(t.p, ==, 2.0 / 70);
    t = res_ranktest(up, 2, down, 4);
    g_assert_cmpfloat(t.p, ==, 2.0 / 15);
    /* ties: counted one by one over all 20 ways to deal 1 2 3 3 5 6 */
    const double x[] = {1, 2, 3}, y[] = {3, 5, 6};
    t = res_ranktest(x, 3, y, 3);
    g_assert_cmpfloat(t.as_extreme, ==, 4);
    g_assert_cmpfloat(t.of, ==, 20);
    g_assert_cmpuint(res_ranktest_needed(0.05), ==, 4);
    g_assert_cmpuint(res_ranktest_needed(0.01), ==, 5);
}

/* Where the exact count ends the approximation must go on about as it was. */
static void
test_ranktest_large(void)
{
    double a[40], b[40];
    for (int i = 0; i < 40; i++) {
        a[i] = i * 7 % 40;
        b[i] = i * 11 % 40 + 6.5;
    }
    ResRankTest exact = res_ranktest(a, 30, b, 30);
    ResRankTest approximate = res_ranktest(a, 31, b, 30);
    g_assert_cmpfloat(exact.of, >, 1e17);
    g_assert_cmpfloat(approximate.of, ==, 0);
    g_assert_cmpfloat(exact.p, <, 0.2);
    g_assert_cmpfloat(fabs(approximate.p - exact.p), <, 0.1);
    double flat[40] = {0};
    g_assert_cmpfloat(res_ranktest(flat, 40, flat, 40).p, ==, 1);
}

/* Against the tables of Hollander and Wolfe (A.6) and by hand. */
static void
test_interval(void)
{
    double confidence = 0;
    g_assert_cmpuint(res_ranktest_interval(5, 5, 0.99, &confidence), ==, 1);
    g_assert_cmpfloat_with_epsilon(confidence, 1 - 2.0 / 252, 1e-12);
    g_assert_cmpuint(res_ranktest_interval(5, 5, 0.95, &confidence), ==, 3);
    g_assert_cmpfloat_with_epsilon(confidence, 1 - 2 * 4.0 / 252, 1e-12);
    /* too few for what was asked: the ends, and what they are worth */
    g_assert_cmpuint(res_ranktest_interval(3, 3, 0.99, &confidence), ==, 1);
    g_assert_cmpfloat_with_epsilon(confidence, 0.9, 1e-12);
    g_assert_cmpuint(res_ranktest_interval(1, 1, 0.99, &confidence), ==, 1);
    g_assert_cmpfloat_with_epsilon(confidence, 0, 1e-12);
    gsize exact = res_ranktest_interval(30, 30, 0.99, &confidence);
    gsize approximate = res_ranktest_interval(31, 30, 0.99, &confidence);
    g_assert_cmpuint(approximate, >=, exact);
    g_assert_cmpuint(approximate, <, exact + 20);
    g_assert_cmpfloat_with_epsilon(res_ranktest_apart(4, 4), 2.0 / 255, 1e-12);
    g_assert_cmpfloat(res_ranktest_apart(3, 3), >, 0.03);
}

static void
test_disjoint(void)
{
    const double a[] = {0, 3, 0, 3, 0, 3, 0, 3}, b[] = {1, 4, 4, 1, 1, 4, 1, 4};
    /* four values, four times each: 6 of 12870 ways to give A two of them */
    g_assert_cmpfloat_with_epsilon(res_ranktest_disjoint(a, 8, b, 8), 6.0 / 12870, 1e-12);
    g_assert_cmpfloat(res_ranktest_disjoint(a, 8, a, 8), ==, 1);
    const double x[] = {1, 2, 3}, y[] = {4, 5, 6}, z[] = {7, 7, 7};
    g_assert_cmpfloat(res_ranktest_disjoint(x, 3, y, 3), ==, 1);
    /* 7 goes to one side as a whole, and the others to the other: 2 of 20 */
    g_assert_cmpfloat_with_epsilon(res_ranktest_disjoint(x, 3, z, 3), 0.1, 1e-12);
    g_assert_cmpfloat(res_ranktest_disjoint(x, 1, y, 1), ==, 1);
}

static void
test_adjust(void)
{
    double p[] = {0.04, 0.001, 0.03, 0.5};
    res_ranktest_adjust(p, 4);
    g_assert_cmpfloat_with_epsilon(p[1], 0.004, 1e-12);
    g_assert_cmpfloat_with_epsilon(p[2], 0.16 / 3, 1e-12);
    g_assert_cmpfloat_with_epsilon(p[0], 0.16 / 3, 1e-12);
    g_assert_cmpfloat_with_epsilon(p[3], 0.5, 1e-12);
    res_ranktest_adjust(p, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ranktest/ranktest", test_ranktest);
    g_test_add_func("/ranktest/ranktest-large", test_ranktest_large);
    g_test_add_func("/ranktest/interval", test_interval);
    g_test_add_func("/ranktest/disjoint", test_disjoint);
    g_test_add_func("/ranktest/adjust", test_adjust);
    return g_test_run();
}
