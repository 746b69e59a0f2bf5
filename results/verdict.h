/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: the verdict on one metric of one cell, by the rules in compare.h. */
#include "results/compare.h"

/* A and B: double, one per boot, at least one each. */
ResComparison *res_verdict_new(const ResMetric *like, const char *cell, const GArray *a,
                               const GArray *b);
/* (max - min) / median; 0 when max is min, HUGE_VAL for a median of 0. */
double res_verdict_spread(double min, double max, double median);
