/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: estimates with intervals, from the values of the boots of two sides. */
#include "results/compare.h"

/* One side's boots, in the order they ran. LOW and HIGH are the same but for censored values, which
 * lie anywhere between. */
typedef struct {
    guint n;
    double *low, *high;
    gint64 *when_us;               /* start of each boot */
    double within;                 /* variance that chance inside a boot adds, at least (shares) */
    gboolean censored;             /* some are */
    double median, min, max, mean; /* of LOW */
} ResSide;

/* What is needed of both sides to fill estimate, shift, ratio and confidence of C; A and B are set
 * as well. */
void res_estimate_location(ResComparison *c, const ResSide *a, const ResSide *b, double confidence);
void res_estimate_count(ResComparison *c, const ResSide *a, const ResSide *b, double confidence);
void res_estimate_share(ResComparison *c, const ResSide *a, const ResSide *b, double confidence);

/* b / a, never NaN: 1 when both are 0, +-HUGE_VAL when only a is. */
double res_estimate_ratio(double b, double a);

/*
 * How much of C's shift a drift in time explains, when one side ran wholly before the other:
 * Kendall's test for a trend within the sides (one-sided, 5%), and its slope by Theil and Sen taken
 * on from one side's middle to the other's. 0 when there is no such trend.
 */
double res_estimate_drift(const ResComparison *c, const ResSide *a, const ResSide *b);
