/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Inside results/ only: in what two groups of runs differ beside what was measured, and whether
 * they were meant to. Settings of the host alone move figures (halt polling moves time from guest
 * to host), so what nothing in the profiles varies makes runs incomparable. Absent is not 0.
 */
#include "results/compare.h"

/* ResDifference *, the unmeant first, then by key. ALLOW: as in ResCompareOptions. */
GPtrArray *res_differences_new(const GPtrArray *a, const GPtrArray *b, const char *const *allow);
/* FALSE with RES_COMPARE_ERROR_ENVIRONMENT when one of them is unmeant: names all such. */
gboolean res_differences_check(const GPtrArray *differences, GError **error);
