/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What the tests of comparisons share: runs made of a line of numbers, and what is said of them. */
#include <math.h>
#include <string.h>

#include "results/compare.h"

typedef struct {
    ResFidelity fidelity;
    ResDirection direction;
} Kind;

static const Kind insns G_GNUC_UNUSED = {RES_FIDELITY_INSTRUCTIONS, RES_LOWER_IS_BETTER};
static const Kind time_ns G_GNUC_UNUSED = {RES_FIDELITY_TIME, RES_LOWER_IS_BETTER};

static inline ResRecord *
make_run(const char *cell, Kind kind, double value)
{
    ResRecord *r = res_record_new();
    r->id = g_strdup("r");
    r->set = g_strdup("s");
    r->cell = g_strdup(cell);
    r->outcome = RES_OUTCOME_DONE;
    r->platform = g_strdup("bare");
    r->clock = g_strdup("icount");
    r->fidelity = kind.fidelity;
    g_ptr_array_add(r->metrics, res_metric_new("m", "u", kind.direction, kind.fidelity, value,
                                               value, value, 1, "f"));
    return r;
}

static inline GPtrArray *
new_runs(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
}

/* One run per number in TEXT, all of one cell. */
static inline GPtrArray *
runs_of(const char *cell, Kind kind, const char *text)
{
    GPtrArray *runs = new_runs();
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    for (char **word = words; *word != NULL; word++) {
        g_ptr_array_add(runs, make_run(cell, kind, g_ascii_strtod(*word, NULL)));
    }
    return runs;
}

static inline void
assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        g_error("\"%s\" does not say \"%s\"", text, part);
    }
}

static inline ResCompareResult *
compare_ok(const GPtrArray *a, const GPtrArray *b)
{
    g_autoptr(GError) error = NULL;
    ResCompareResult *r = res_compare(a, b, NULL, &error);
    g_assert_no_error(error);
    return r;
}

static inline void
assert_refused(const GPtrArray *a, const GPtrArray *b, int code, const char *says)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(res_compare(a, b, NULL, &error));
    g_assert_error(error, RES_COMPARE_ERROR, code);
    assert_says(error->message, says);
}
