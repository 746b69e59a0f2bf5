/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The two-sided Mann-Whitney rank test, exact also with ties. */
#include <glib.h>

/* Up to so many values in all the test is exact; above, the usual normal approximation with
 * correction for ties and continuity is taken (off by a few per cent of p at that size). */
#define RES_RANKTEST_EXACT_MAX 60

typedef struct {
    double p; /* two-sided: share of arrangements at least as far from the middle as this one */
    double as_extreme,
        of;          /* p as a fraction of all arrangements ("2 of 252"); 0 of 0 when approximate */
    double smallest; /* smallest p that sides of these sizes can reach: 2 / (na + nb choose na) */
    int order;       /* rank sum of B against what is expected: -1 lower, 0, 1 higher */
} ResRankTest;

/* NA and NB > 0 finite values. */
ResRankTest res_ranktest(const double *a, gsize na, const double *b, gsize nb);
/* Values per side from which sides of equal size can reach a p of at most ALPHA: 4 for 0.05. */
unsigned int res_ranktest_needed(double alpha);
