/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Judging: summaries of metrics over boots, and two groups of runs against each other. */
#include <glib.h>

#include "results/record.h"

/* One metric over the boots of one cell. */
typedef struct {
    char *name, *unit;
    ResDirection direction;
    ResFidelity fidelity;
    unsigned int boots;
    double median, min, max; /* of the boots' values */
    double spread;           /* (max - min) / median; 0 for one boot */
} ResSummary;
void res_summary_free(ResSummary *s);
/* Median of N > 0 finite values (mean of the middle two); does not change VALUES. */
double res_median(const double *values, gsize n);
/* Summaries of every metric that all done RECORDS (ResRecord *) of one cell carry, in record order. */
GPtrArray *res_summarize(const GPtrArray *records);

typedef enum { RES_VERDICT_BETTER, RES_VERDICT_SAME, RES_VERDICT_WORSE, RES_VERDICT_CANNOT_TELL } ResVerdict;
const char *res_verdict_name(ResVerdict v); /* "better", "same", "worse", "cannot tell" */

typedef struct {
    char *metric, *unit, *cell;
    double a, b;           /* medians over boots */
    unsigned int na, nb;   /* boots */
    double ratio;          /* b / a */
    double ratio_low, ratio_high; /* over all pairs of boots */
    ResVerdict verdict;
    char *reason;          /* one sentence */
} ResComparison;
void res_comparison_free(ResComparison *c);

/*
 * Compares two groups of done runs (ResRecord *), cell by cell, metric by metric. Refused with
 * RES_COMPARE_ERROR when fidelity, clock or platform differ, or when there is nothing to compare; DIFFERENCES
 * (char *) gets one line for each environment entry that differs.
 */
#define RES_COMPARE_ERROR (res_compare_error_quark())
GQuark res_compare_error_quark(void);
typedef enum { RES_COMPARE_ERROR_FIDELITY, RES_COMPARE_ERROR_NOTHING } ResCompareError;
GPtrArray *res_compare(const GPtrArray *a, const GPtrArray *b, GPtrArray *differences, GError **error);
