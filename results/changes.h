/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Change points of a series of nightly figures, found as a nightly run would: night after night,
 * each from what came before it alone. So what was told on one night is never taken back or moved
 * by a later one, and a regression is told once.
 *
 * On every night the last 4, 5, 7, 10, 14, 20 and 28 figures are held against up to 60 before them,
 * back to the last change. A change is established when both agree at one of these lengths:
 *  - ranks (Mann and Whitney, with ties): what a spike, a heavy tail or a second mode can't fake,
 *    since only the order counts;
 *  - distance of the medians, in standard errors from the robust spread (median absolute deviation)
 *    and the correlation of one night with the next: what a wandering host can't fake.
 * Where the figures before drift (Mann and Kendall's test), both must agree on them with the drift
 * (Theil and Sen's slope) taken out, too. Limits come from simulated series, see "History" of
 * `make calibrate`; E-divisive and PELT look back from the end, so that their older changes move.
 */
#include <glib.h>

#define RES_CHANGES_FIRST 12                       /* nights before the first change can be */
#define RES_CHANGES_SEGMENT 3                      /* fewest nights after a change */
#define RES_CHANGES_BETWEEN 4                      /* fewest nights between two changes */
#define RES_CHANGES_NEEDED (RES_CHANGES_FIRST + 4) /* nights from which a change can be told */

typedef struct {
    gsize at;             /* first night of the new level */
    gsize established;    /* the night on which it was known: its last figure is the newest used */
    double before, after; /* medians, of what was used */
    double shift;         /* after - before, by Hodges and Lehmann */
    double low, high;     /* its interval, 99% where the nights carry that (drift not taken out) */
} ResChange;

/* N finite VALUES, oldest first. ResChange, oldest first; none: empty. */
GArray *res_changes(const double *values, gsize n);
