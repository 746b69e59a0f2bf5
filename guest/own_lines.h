/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The report lines a workload writes itself, on file descriptor 3. */
#include <stdbool.h>

/*
 * Is LINE one that the workload called WORKLOAD may send: batch, value, or fact
 * loc.WORKLOAD.CPU.before or .after, well-formed?
 */
bool bm_own_line_ok(const char *line, const char *workload);
