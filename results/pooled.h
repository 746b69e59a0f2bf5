/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Inside results/ only: quantiles of all samples of all boots of a side, compared. What is drawn
 * anew is boots, never samples: those of one boot share what made it differ.
 */
#include "results/compare.h"
#include "results/hist.h"

/* Boots a side below which a bootstrap says nothing. */
#define RES_POOLED_BOOTS_MIN 5

typedef struct ResPooled ResPooled;

/* A and B: ResHist *, one a boot, at least one a side, none empty, of one unit. */
ResPooled *res_pooled_new(const GPtrArray *a, const GPtrArray *b);
void res_pooled_free(ResPooled *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResPooled, res_pooled_free)

/* The deepest quantile (res_hist_deepest) that both sides carry. */
double res_pooled_deepest(const ResPooled *p, double confidence);

/*
 * Fills C's a, b, censored, shift, ratio (intervals: percentiles of RESAMPLES bootstraps over
 * boots; open below RES_POOLED_BOOTS_MIN boots a side), confidence, p and p_exact. p is that of a
 * permutation test over boots of |log(b / a)|: all arrangements up to 20,000, otherwise 5 *
 * RESAMPLES of them drawn. A quantile among censored samples counts as the lowest limit.
 */
void res_pooled_compare(const ResPooled *p, double q, double confidence, guint64 seed,
                        unsigned int resamples, ResComparison *c);
