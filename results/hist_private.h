/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: what the parts of the histogram share. */
#include "results/hist.h"

#define RES_HIST_BITS 7 /* 2^7 buckets in a power of two */

struct ResHist {
    char *unit, *name;
    GArray *counts; /* guint64, by bucket; grows to the highest one used */
    guint64 count, sum;
    gint64 min, max;
    guint64 censored;
    gint64 limit;
};

/* The bucket of a value of 0 or more, and the values it spans, both included. */
guint res_hist_index(gint64 value);
gint64 res_hist_low(guint index);
gint64 res_hist_high(guint index);
/* The value of the RANK-th smallest sample (from 1 to count): the highest of its bucket, within
 * minimum and maximum; a censored sample gives the limit. *CENSORED tells such. */
gint64 res_hist_at_rank(const ResHist *h, guint64 rank, gboolean *censored);
