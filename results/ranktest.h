/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The two-sided Mann-Whitney rank test, exact also with ties, and what goes with it. */
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

/*
 * Of the NA * NB differences between a value of B and one of A, ascending: the shift between the
 * sides lies between the K-th smallest and the K-th largest, K from 1 on, with the returned
 * CONFIDENCE, which is at least the one asked for unless even the two ends are not enough (Hodges
 * and Lehmann, Annals of Mathematical Statistics 34 (1963); Hollander and Wolfe, 4.3).
 */
gsize res_ranktest_interval(gsize na, gsize nb, double asked, double *confidence);

/*
 * An upper bound of the chance that boots of one distribution come out as two groups further apart
 * than twice the width of either, one group being A and the other B. Such samples are two clusters;
 * a cluster that holds the share s of a distribution takes all NA and none of NB boots with s^NA (1
 * - s)^NB, at most 4^-n for n boots a side. 2/256 for 4 boots a side, where the rank test can't get
 * below 2/70.
 */
double res_ranktest_apart(gsize na, gsize nb);

/*
 * The chance that no value occurs on both sides when the boots are dealt to them anew: exact, and 1
 * when one does, or when no value occurs twice. For figures that take few values (instruction
 * counts): {6632, 6635} against {6633, 6636} differ by one instruction, which ranks hardly show.
 */
double res_ranktest_disjoint(const double *a, gsize na, const double *b, gsize nb);

/* Benjamini and Hochberg, Journal of the Royal Statistical Society B 57 (1995): replaces the N
 * p-values at P by those adjusted for all N. Holds for independent and for positively dependent
 * metrics. */
void res_ranktest_adjust(double *p, gsize n);
