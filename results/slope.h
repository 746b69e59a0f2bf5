/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A straight line through points, by least squares: what one more of X adds to Y. The interval is
 * Student's, from how far the points lie off the line (Draper and Smith, Applied Regression
 * Analysis, 1.4): it covers boots that differ as well as a curve that is no line.
 */
#include <glib.h>

typedef struct {
    double slope, low, high; /* of Y's unit, per 1 of X */
    double intercept;        /* Y where X is 0 */
} ResSlope;

/* N points of finite X and Y. FALSE: fewer than three, all at one X, or out of the range of
 * numbers. CONFIDENCE of the interval from LOW to HIGH, 0.99 say. */
gboolean res_slope(const double *x, const double *y, gsize n, double confidence, ResSlope *line);
