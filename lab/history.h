/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The history of a metric for people and programs. */
#include "results/history.h"

/* Histories (ResHistory *) with their changes of SINCE_US or later, and the notes on them. g_free.
 */
char *lab_history_text(const GPtrArray *histories, const GPtrArray *annotations, gint64 since_us);
char *lab_history_json(const GPtrArray *histories, const GPtrArray *annotations, gint64 since_us);

/* "2026-12-01", UTC; "?" where no calendar has it. g_free. */
char *lab_history_date(gint64 us);
/* "nohzlab bisect ...", fit for a shell; NULL: no two kernels to bisect between. g_free. */
char *lab_history_bisect(const ResHistory *h, const ResHistoryChange *c);
/* "worse", "better", "changed". */
const char *lab_history_kind(const ResHistoryChange *c);
/* "new", "gone", "accepted", "stands"; "" for what is no regression and not new. */
const char *lab_history_state(const ResHistoryChange *c);
