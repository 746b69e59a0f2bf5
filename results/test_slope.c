/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line through points, against figures from textbooks and lines that are known. */
#include "results/slope.h"

#define NEAR(a, b) g_assert_cmpfloat_with_epsilon((a), (b), 1e-6)

static void
test_exact(void)
{
    const double x[] = {8, 8, 16, 16, 40, 40}, y[] = {3, 3, 5, 5, 11, 11};
    ResSlope line;

    g_assert_true(res_slope(x, y, 6, 0.99, &line));
    NEAR(line.slope, 0.25);
    NEAR(line.low, 0.25);
    NEAR(line.high, 0.25);
    NEAR(line.intercept, 1);
}

/* Anscombe's first set (American Statistician 27, 1973): slope 0.5001 with standard error 0.1179,
 * and t(9) of 97.5% is 2.262157. */
static void
test_anscombe(void)
{
    const double x[] = {10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5};
    const double y[] = {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68};
    ResSlope line;

    g_assert_true(res_slope(x, y, G_N_ELEMENTS(x), 0.95, &line));
    g_assert_cmpfloat_with_epsilon(line.slope, 0.5000909, 1e-6);
    g_assert_cmpfloat_with_epsilon(line.intercept, 3.0000909, 1e-6);
    g_assert_cmpfloat_with_epsilon(line.high - line.slope, 2.262157 * 0.1179055, 1e-5);
    g_assert_cmpfloat_with_epsilon(line.slope - line.low, 2.262157 * 0.1179055, 1e-5);
}

static void
test_refused(void)
{
    const double x[] = {1, 1, 1}, y[] = {1, 2, 3}, huge[] = {-1e308, 1e308, 1e308};
    ResSlope line;

    g_assert_false(res_slope(x, y, 3, 0.99, &line));
    g_assert_false(res_slope(y, y, 2, 0.99, &line));
    g_assert_false(res_slope(y, huge, 3, 0.99, &line));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slope/exact", test_exact);
    g_test_add_func("/slope/anscombe", test_anscombe);
    g_test_add_func("/slope/refused", test_refused);
    return g_test_run();
}
