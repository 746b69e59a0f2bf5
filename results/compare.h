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
/* Summaries of every metric that all done RECORDS (ResRecord *) of one cell carry, in record order.
 */
GPtrArray *res_summarize(const GPtrArray *records);

typedef enum {
    RES_VERDICT_BETTER,
    RES_VERDICT_SAME,
    RES_VERDICT_WORSE,
    RES_VERDICT_CANNOT_TELL
} ResVerdict;
const char *res_verdict_name(ResVerdict v); /* "better", "same", "worse", "cannot tell" */

typedef struct {
    char *metric, *unit, *cell;
    ResDirection direction;
    ResFidelity fidelity;
    double a, b;                  /* medians over boots */
    unsigned int na, nb;          /* boots */
    double ratio;                 /* b / a; 1 when both are 0, +-HUGE_VAL when only a is */
    double ratio_low, ratio_high; /* over all pairs of boots */
    ResVerdict verdict;
    char *reason; /* one sentence */
} ResComparison;
void res_comparison_free(ResComparison *c);

/*
 * How a metric is judged. The unit of replication is the boot: samples inside a boot share its
 * memory layout and its history, so a million of them are still one observation.
 *
 * functional     cannot tell, always: its numbers mean nothing.
 *
 * time, events   exact two-sided Mann-Whitney test over boots (ranktest.h). p <= 0.05: better or
 * worse. So it takes 4 boots a side at least (2/70 = 0.0286; 3 a side can't get below 2/20 = 0.1).
 * Otherwise "same" only when there were boots enough to find a difference and no pair of boots is
 * more than 1% apart. All else is cannot tell: not having found a difference is not having found
 * that there is none.
 *
 * instructions   With icount a boot is a deterministic machine, and what differs between boots is
 * known to be small (0.02% repeating, 0.1% across machine sizes). A p-value does not see that: with
 * 3 boots a side it stops at 0.1 however exact the figures are. So the rule rests on how well this
 * metric was seen to repeat, in these very boots, and p is given for information. From 3 boots a
 * side:
 *                - medians closer than 0.1%: same, if each side repeats within 1%; if not, cannot
 * tell;
 *                - ranges apart, by at least the wider of the two ranges or with p <= 0.05: better
 * or worse;
 *                - anything else: cannot tell.
 *                The gap is asked for because two sets of 3 noisy boots have disjoint ranges by
 * pure chance once in ten; with a gap as wide as the ranges it is about once in a hundred
 * (simulated: uniform 1.3%, normal 0.8%), and figures that repeat exactly pass at any distance from
 * 0.1% on.
 *
 * A metric without a direction is never better or worse: same or cannot tell, with the difference
 * in the reason.
 */
#define RES_COMPARE_ALPHA 0.05
#define RES_COMPARE_SAME 0.001       /* instructions: medians closer than that are the same */
#define RES_COMPARE_STEADY 0.01      /* instructions: a side that repeats worse can't show "same" */
#define RES_COMPARE_SAME_RANKED 0.01 /* time, events: no pair of boots further apart */
#define RES_COMPARE_BOOTS_MIN 3      /* instructions */

/*
 * Compares two groups of runs (ResRecord *), cell by cell, metric by metric. Cells are matched by
 * name; when each side is one cell they are compared whatever they are called, and cell is then
 * "A's name -> B's name". Refused with RES_COMPARE_ERROR when fidelity, clock or platform differ,
 * or when there is nothing to compare. DIFFERENCES (char *) gets one line for each entry of
 * environment and parameters that differs, for each cell or metric only one side has, and for each
 * run left out because it is not done.
 */
#define RES_COMPARE_ERROR (res_compare_error_quark())
GQuark res_compare_error_quark(void);
typedef enum { RES_COMPARE_ERROR_FIDELITY, RES_COMPARE_ERROR_NOTHING } ResCompareError;
GPtrArray *res_compare(const GPtrArray *a, const GPtrArray *b, GPtrArray *differences,
                       GError **error);
