/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Inside results/ only: the verdict on one metric of one cell.
 *
 * functional     cannot tell, always: its numbers mean nothing.
 *
 * all others     the exact two-sided rank test over boots (ranktest.h), at a false discovery rate
 *                of alpha (1%) over all metrics compared at once. 5 boots a side can reach 1%
 *                (2/252) when one metric is judged, 8 when it is twenty.
 *
 * instructions   are exact, and ranks alone don't see that: with 4 boots a side their p stops at
 *                2/70 however exact the figures are. So here
 *                - two groups of boots further apart than twice the width of either are taken at
 *                  the bound of res_ranktest_apart(): told from 4 boots a side on (2/256);
 *                - figures that take few values and share none between the sides are different
 *                  (res_ranktest_disjoint()), though their ranges may overlap: then it is not sure
 *                  which way. This test gets a tenth of the false alarms, the other two the rest.
 *                - with 3 boots a side nothing can be told from these boots alone (two kinds of
 *                  boots fall apart like that in 1 of 32), only from how well the metric is known
 *                  to repeat: as calibrated, or 0.1%. A gap of ten times that is told when each
 *                  side repeats as it should. This is the one verdict that rests on an assumption;
 *                  it says so.
 *
 * Once a difference is sure, its size decides: below the smallest relevant change it is
 * irrelevant. Where none is sure it is "same" only when the whole interval is within the smallest
 * relevant change; not having found a difference is not having found that there is none.
 */
#include "results/estimate.h"

#define RES_VERDICT_KNOWN_BOOTS 3     /* boots a side that repeatability known beforehand takes */
#define RES_VERDICT_APART_BOOTS 4     /* the bound for groups apart is below 1% from here on */
#define RES_VERDICT_DISJOINT_PART 0.1 /* of the false alarms is for values that are not shared */

/* The metric LIKE's name in R, which is most often the AT-th; or NULL. */
static inline const ResMetric *
res_metric_at(const ResRecord *r, const ResMetric *like, guint at)
{
    const ResMetric *m = at < r->metrics->len ? g_ptr_array_index(r->metrics, at) : NULL;
    return m != NULL && g_str_equal(m->name, like->name) ? m : res_record_metric(r, like->name);
}

/* A side's boots (ResRecord *), all of which carry metric LIKE, most often as the AT-th. NULL with
 * an error when a figure is no figure. */
ResSide *res_side_new(const GPtrArray *records, const ResMetric *like, guint at, GError **error);
void res_side_free(ResSide *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResSide, res_side_free)

/* A comparison with its estimate, intervals and p, before the verdict; RELEVANT is set from
 * PARAMETERS (of a profile), CALIBRATION or the default. */
ResComparison *res_verdict_estimate(const ResMetric *like, const char *cell, const ResSide *a,
                                    const ResSide *b, const ResCalibrationEntry *calibration,
                                    const char *wanted, const ResCompareOptions *options);
/* The smallest relevant change of C, whose a is known. WANTED: the profile's word or NULL. */
void res_verdict_set_relevant(ResComparison *c, const ResCalibrationEntry *calibration,
                              const char *wanted);
/* Fills verdict, reason, next and needed, once p_adjusted is known. JUDGED: metrics at once. A and
 * B may be NULL (quantiles over all boots: no drift). */
void res_verdict_decide(ResComparison *c, const ResSide *a, const ResSide *b, double alpha,
                        unsigned int judged);
/* (max - min) / median; 0 when max is min, HUGE_VAL for a median of 0. */
double res_verdict_spread(double min, double max, double median);
