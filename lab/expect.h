/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Expectations: what a profile claims, computed over the boots of its cells.
 *
 *   EXPR OP EXPR            OP: >= <= > < == and `EXPR in LOW..HIGH`
 *   EXPR: + - * / ( ) numbers (`0.1%` is 0.001), METRIC, METRIC(axis=value, axis=value),
 * spread(METRIC...), slope(METRIC, AXIS), min(), max()
 *
 * METRIC is a metric's name ("invalid.per_call"). A selector `axis=value` picks cells by value, or
 * by position from 0 when no value of that axis is spelled so; a metric must come down to one cell,
 * except in spread(), which then gives the largest spread, (max - min) / median over the boots,
 * over its cells, and in slope(), whose AXIS is left open: by how much the metric grows from cell
 * to cell with each 1 of the axis's value, a straight line through all boots with its 99% interval
 * (results/slope.h). A metric stands for its values over boots: median, and the range over boots as
 * its interval; a censored value, a lower bound, stands for all up to its upper bound. Intervals go
 * through the arithmetic; a comparison holds when it holds on the whole
 * interval, fails when it fails on the whole interval, and otherwise cannot be told. Different
 * fidelities in one expression are refused. The arithmetic takes every occurrence of a metric as
 * independent, so an interval may come out too wide, never too narrow. A metric's name may hold
 * `-`: a subtraction needs spaces around it. A selector's value that holds `,` or `)` stands in
 * double quotes.
 */
#include <glib.h>

#define LAB_EXPECT_ERROR (lab_expect_error_quark())
GQuark lab_expect_error_quark(void);
typedef enum {
    LAB_EXPECT_ERROR_SYNTAX,   /* not an expectation */
    LAB_EXPECT_ERROR_CELLS,    /* a metric stands for more than one cell */
    LAB_EXPECT_ERROR_FIDELITY, /* figures of different fidelity in one expression */
} LabExpectError;

/* What the evaluator asks about a metric: fills VALUES (double, one per boot) for the cell(s) the
 * selectors allow. */
typedef struct {
    char *cell;     /* name of the cell */
    GArray *values; /* double, one per boot; empty when no run of the cell carries the metric */
    int fidelity;   /* ResFidelity */
    char *unit;
    gboolean censored;   /* some values are lower bounds... */
    double censored_max; /* ... of figures that are at most this */
    GHashTable *axes;    /* char * axis -> char * value; NULL: none */
} LabExpectData;
void lab_expect_data_free(LabExpectData *d);

typedef struct {
    char *axis, *value;
} LabExpectSelector;

/* Returns LabExpectData * elements for METRIC in all cells that match SELECTORS (LabExpectSelector
 * *). */
typedef GPtrArray *(*LabExpectLookup)(const char *metric, const GPtrArray *selectors, gpointer data,
                                      GError **error);

typedef enum { LAB_EXPECT_HOLDS, LAB_EXPECT_FAILS, LAB_EXPECT_CANNOT_TELL } LabExpectVerdict;
typedef struct {
    LabExpectVerdict verdict;
    double value, low,
        high;     /* of the left side: at the medians, and its interval; NaN when it has none */
    char *reason; /* one sentence: figures, bound, why */
} LabExpectResult;
void lab_expect_result_free(LabExpectResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabExpectResult, lab_expect_result_free)

/* Syntax only: NULL lookups. The error gives the position (1-based column) and what was expected
 * there. */
gboolean lab_expect_check(const char *text, GError **error);
LabExpectResult *lab_expect_evaluate(const char *text, LabExpectLookup lookup, gpointer data,
                                     GError **error);
