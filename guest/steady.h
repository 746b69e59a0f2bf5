/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* When has a loop come to its steady state? Pure arithmetic on batches. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BM_STEADY_RUN 4 /* batches in a row that must agree */

/* Do the last BM_STEADY_RUN of N batches agree within PPM millionths of the smallest? */
bool bm_steady_run(const uint64_t *ticks, size_t n, unsigned int ppm);
/*
 * Do the medians of the first and the second half of N batches agree within PPM? True for fewer
 * than two. SCRATCH has room for N.
 */
bool bm_steady_halves(const uint64_t *ticks, size_t n, unsigned int ppm, uint64_t *scratch);
