/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: which cells of two groups of runs belong together. */
#include "results/record.h"

typedef struct {
    char *name;       /* "v=none", or "v=none -> v=full" */
    GPtrArray *a, *b; /* ResRecord *, borrowed; one of them NULL: the cell has no partner */
} ResCellPair;
/* ResCellPair *, in the order the runs of A come, then the lonely ones of B; rules in compare.h. */
GPtrArray *res_cells_match(const GPtrArray *a, const GPtrArray *b);
