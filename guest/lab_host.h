/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What the job wants done before the workloads: files, change times, and, when guests will run in
 * this guest, what their emulator needs. */
#include <stdbool.h>
#include <stddef.h>

#include "guest/job.h"

/* False with the reason in WHY (CAP bytes). */
bool bm_lab_host_prepare(const BmJob *job, char *why, size_t cap);
