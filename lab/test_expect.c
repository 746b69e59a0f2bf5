/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/expect.h"

#include <math.h>
#include <string.h>

#include "results/metric.h"

/* A small experiment: metric, cell, fidelity, unit, values of its boots (NaN ends the list). */
typedef struct {
    const char *metric, *cell;
    ResFidelity fidelity;
    const char *unit;
    double values[5];
} Fact;
static const Fact facts[] = {
    {"a.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {100, 102, 101, NAN}},
    {"a.x", "v=full", RES_FIDELITY_INSTRUCTIONS, "insns", {240, 242, 241, NAN}},
    {"b.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {-1, 1, 0, NAN}},
    {"same.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {5, 5, 5, NAN}},
    {"one.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {7, NAN}},
    {"zero.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {0, 0, NAN}},
    {"empty.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {NAN}},
    {"ns.x", "v=none", RES_FIDELITY_TIME, "ns", {5, 5, NAN}},
    {"huge.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {1e200, 1e200, NAN}},
    {"inf.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {1, INFINITY, 1, NAN}},
    {"s.x", "n=8", RES_FIDELITY_INSTRUCTIONS, "insns", {300, 300, NAN}},
    {"s.x", "n=16", RES_FIDELITY_INSTRUCTIONS, "insns", {500, 500, NAN}},
    {"s.x", "n=40", RES_FIDELITY_INSTRUCTIONS, "insns", {1100, 1100, NAN}},
    {"bent.x", "n=8", RES_FIDELITY_INSTRUCTIONS, "insns", {300, 310, NAN}},
    {"bent.x", "n=16", RES_FIDELITY_INSTRUCTIONS, "insns", {500, NAN}},
    {"bent.x", "n=40", RES_FIDELITY_INSTRUCTIONS, "insns", {1100, NAN}},
    {"minus-it.x", "v=none", RES_FIDELITY_INSTRUCTIONS, "insns", {3, 3, NAN}},
};

static GPtrArray *
look_up(const char *metric, const GPtrArray *selectors, gpointer data, GError **error)
{
    (void)data;
    g_autoptr(GPtrArray) found =
        g_ptr_array_new_with_free_func((GDestroyNotify)lab_expect_data_free);

    if (strcmp(metric, "broken.x") == 0) {
        g_set_error_literal(error, LAB_EXPECT_ERROR, LAB_EXPECT_ERROR_SYNTAX, "no such metric");
        return NULL;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(facts); i++) {
        gboolean wanted = strcmp(facts[i].metric, metric) == 0;
        for (guint j = 0; j < selectors->len; j++) {
            const LabExpectSelector *s = g_ptr_array_index(selectors, j);
            g_autofree char *cell = g_strdup_printf("%s=%s", s->axis, s->value);
            wanted = wanted && strcmp(facts[i].cell, cell) == 0;
        }
        if (!wanted)
            continue;
        LabExpectData *d = g_new0(LabExpectData, 1);
        d->cell = g_strdup(facts[i].cell);
        d->unit = g_strdup(facts[i].unit);
        d->fidelity = facts[i].fidelity;
        d->values = g_array_new(FALSE, FALSE, sizeof(double));
        for (const double *v = facts[i].values; !isnan(*v); v++)
            g_array_append_val(d->values, *v);
        g_auto(GStrv) axis = g_strsplit(facts[i].cell, "=", 2);
        d->axes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_hash_table_insert(d->axes, g_strdup(axis[0]), g_strdup(axis[1]));
        g_ptr_array_add(found, d);
    }
    return g_steal_pointer(&found);
}

static void
test_verdicts(void)
{
    static const struct {
        const char *text;
        LabExpectVerdict verdict;
        const char *reason; /* part of it */
    } cases[] = {
        {"a.x(v=full) / a.x(v=none) >= 2", LAB_EXPECT_HOLDS, "2.38614 (2.35294 to 2.42) is >= 2"},
        {"a.x(v=full)/a.x(v=none) >= 2.5", LAB_EXPECT_FAILS, "is not >= 2.5"},
        {"a.x(v=full)/a.x(v=none) >= 2.4", LAB_EXPECT_CANNOT_TELL, "may or may not be >= 2.4"},
        {"a.x(v=none) in 99..103", LAB_EXPECT_HOLDS, "101 insns (100 to 102) is in 99..103"},
        {"a.x(v=none) in 100..102", LAB_EXPECT_HOLDS, ""},
        {"a.x(v=none) in 103..104", LAB_EXPECT_FAILS, "is not in 103..104"},
        {"a.x(v=none) in 101..104", LAB_EXPECT_CANNOT_TELL, ""},
        {"a.x( v = none ) in -1..2e2", LAB_EXPECT_HOLDS, ""},
        {"a.x(v=\"none\") < 102", LAB_EXPECT_CANNOT_TELL, ""},
        {"a.x(v=none) <= 102", LAB_EXPECT_HOLDS, ""},
        {"a.x(v=none) > 102", LAB_EXPECT_FAILS, ""},
        {"a.x(v=none) < 100", LAB_EXPECT_FAILS, ""},
        {"a.x(v=none) > 99.5", LAB_EXPECT_HOLDS, ""},
        {"same.x == 5", LAB_EXPECT_HOLDS, "5 insns is == 5"},
        {"same.x == 5.5", LAB_EXPECT_FAILS, ""},
        {"a.x(v=none) == 101", LAB_EXPECT_CANNOT_TELL, ""},
        {"spread(a.x) <= 2%", LAB_EXPECT_HOLDS, "0.019802 is <= 0.02"},
        {"spread(a.x) <= 1%", LAB_EXPECT_FAILS, ""},
        {"spread(a.x(v=full)) <= 1%", LAB_EXPECT_HOLDS, ""},
        {"spread(same.x, a.x) <= 1%", LAB_EXPECT_FAILS, ""},
        {"spread(same.x) == 0", LAB_EXPECT_HOLDS, ""},
        {"spread(zero.x) == 0", LAB_EXPECT_HOLDS, ""},
        {"spread(one.x) <= 1%", LAB_EXPECT_CANNOT_TELL, "one boot of cell v=none has one.x"},
        {"spread(one.x, a.x) <= 1%", LAB_EXPECT_CANNOT_TELL, "a spread needs two"},
        {"spread(b.x) <= 1%", LAB_EXPECT_CANNOT_TELL, "the median of b.x in cell v=none is 0"},
        {"slope( s.x , n ) in 24..26", LAB_EXPECT_HOLDS, ""},
        {"slope(bent.x, n) in 20..30", LAB_EXPECT_HOLDS, ""},
        {"slope(bent.x, n) in 24.9..25.1", LAB_EXPECT_CANNOT_TELL, " to "},
        {"slope(s.x(n=8), n) > 1", LAB_EXPECT_CANNOT_TELL, "a slope needs three boots"},
        {"slope(a.x, v) > 1", LAB_EXPECT_CANNOT_TELL, "v of cell v=none is no number"},
        {"slope(s.x, v) > 1", LAB_EXPECT_CANNOT_TELL, "v of cell n=8 is no number"},
        {"one.x >= 7", LAB_EXPECT_HOLDS, ""},
        {"1 / b.x > 0", LAB_EXPECT_CANNOT_TELL, "range, -1 to 1, holds 0"},
        {"1 / zero.x > 0", LAB_EXPECT_CANNOT_TELL, "holds 0"},
        {"b.x / same.x in -0.2..0.2", LAB_EXPECT_HOLDS, "0 (-0.2 to 0.2)"},
        {"b.x * -2 in -2..2", LAB_EXPECT_HOLDS, "(-2 to 2)"},
        {"-a.x(v=none) in -102..-100", LAB_EXPECT_HOLDS, "-101 insns (-102 to -100)"},
        {"a.x(v=full) - a.x(v=none) in 138..142", LAB_EXPECT_HOLDS, "140 insns (138 to 142)"},
        {"min(same.x, a.x(v=none), 9) == 5", LAB_EXPECT_HOLDS, ""},
        {"max(same.x, a.x(v=none)) in 100..102", LAB_EXPECT_HOLDS, ""},
        {"1 + 2 * 3 == 7", LAB_EXPECT_HOLDS, ""},
        {"(1 + 2) * 3 == 9", LAB_EXPECT_HOLDS, ""},
        {"7 - 2 - 1 == 4", LAB_EXPECT_HOLDS, ""},
        {"minus-it.x - 1 == 2", LAB_EXPECT_HOLDS, ""},
        {"empty.x >= 1", LAB_EXPECT_CANNOT_TELL, "no run of cell v=none has empty.x"},
        {"1 <= empty.x", LAB_EXPECT_CANNOT_TELL, "no run of cell v=none has empty.x"},
        {"spread(empty.x) <= 1", LAB_EXPECT_CANNOT_TELL, "no run of cell"},
        {"a.x(v=gone) >= 1", LAB_EXPECT_CANNOT_TELL,
         "no cell that was run matches a.x in column 1"},
        {"spread(a.x(v=gone)) >= 0", LAB_EXPECT_CANNOT_TELL, "no cell that was run matches"},
        {"huge.x * huge.x > 1", LAB_EXPECT_CANNOT_TELL, "range of numbers"},
        {"inf.x > 0", LAB_EXPECT_CANNOT_TELL, "not a finite number"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LabExpectResult) r = lab_expect_evaluate(cases[i].text, look_up, NULL, &error);
        g_assert_no_error(error);
        g_test_message("%s: %s", cases[i].text, r->reason);
        g_assert_cmpint(r->verdict, ==, cases[i].verdict);
        g_assert_nonnull(strstr(r->reason, cases[i].reason));
    }
}

static void
test_figures(void)
{
    g_autoptr(LabExpectResult) r = lab_expect_evaluate("a.x(v=none) >= 1", look_up, NULL, NULL);
    g_assert_cmpfloat(r->value, ==, 101);
    g_assert_cmpfloat(r->low, ==, 100);
    g_assert_cmpfloat(r->high, ==, 102);

    g_autoptr(LabExpectResult) none = lab_expect_evaluate("empty.x >= 1", look_up, NULL, NULL);
    g_assert_true(isnan(none->value));
}

static void
test_refused(void)
{
    static const struct {
        const char *text, *message;
        int code;
    } cases[] = {
        {"ns.x / a.x(v=none) > 1",
         "column 8: ns.x is good for `time', a.x for `instructions': these are never compared",
         LAB_EXPECT_ERROR_FIDELITY},
        {"empty.x + same.x > ns.x", "column 20: ", LAB_EXPECT_ERROR_FIDELITY},
        {"2 * a.x > 1", "column 5: a.x stands for 2 cells (v=none, v=full): pick one",
         LAB_EXPECT_ERROR_CELLS},
        {"1 > broken.x", "column 5: no such metric", LAB_EXPECT_ERROR_SYNTAX},
        {"1 > ", "column 5: expected a number", LAB_EXPECT_ERROR_SYNTAX},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(lab_expect_evaluate(cases[i].text, look_up, NULL, &error));
        g_assert_error(error, LAB_EXPECT_ERROR, cases[i].code);
        g_test_message("%s: %s", cases[i].text, error->message);
        g_assert_true(g_str_has_prefix(error->message, cases[i].message));
    }
}

static void
test_syntax(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "column 1: expected a number, a metric or `(', found the end"},
        {"a.x", "column 4: expected an operator, or one of >= <= > < == in, found the end"},
        {"a.x = 3", "column 5: expected an operator, or one of >= <= > < == in, found `= 3'"},
        {"a.x >= 3 4", "column 10: expected an operator or the end, found `4'"},
        {"a.x >= 3 >= 2", "column 10: "},
        {"a >= 3", "column 1: `a' is neither a metric"},
        {"a.x >= 10us", "column 10: a number has no unit here"},
        {"a.x >= nan", "column 8: `nan' is neither"},
        {"a.x >= 1e999", "column 8: 1e999 is too large"},
        {"a.x >= .5", "column 8: expected a number, a metric"},
        {"a.x in 2", "column 9: expected `..'"},
        {"a.x in 2..1", "column 12: the range is empty: 2 is above 1"},
        {"a.x in x..2", "column 8: expected a number"},
        {"a.x(v) > 1", "column 6: expected = after the axis"},
        {"a.x() > 1", "column 5: expected axis=value"},
        {"a.x(v=1 > 1", "column 12: expected `,' or `)', found the end"},
        {"a.x(v=\"1) > 1", "column 7: the quote is never closed"},
        {"spread(1) > 1", "column 8: expected a metric"},
        {"spread a.x > 1", "column 8: expected `('"},
        {"slope(a.x) > 1", "column 10: expected `,' and an axis, found `)"},
        {"slope(a.x, ) > 1", "column 12: expected an axis"},
        {"slope(1, n) > 1", "column 7: expected a metric"},
        {"slope(a.x, n, m) > 1", "column 13: expected `)'"},
        {"(a.x > 1", "column 6: expected an operator or `)'"},
        {"\303\244.x > 1", "column 1: expected"},
        {"\"\303\244\" > 1", "column 1: expected"},
        {"1 + \303\244\303\244 > 1",
         "column 5: expected a number, a metric or `(', found `\303\244"},
        {"\377 > 1", "column 1: not UTF-8"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(lab_expect_check(cases[i].text, &error));
        g_test_message("%s: %s", cases[i].text, error->message);
        g_assert_error(error, LAB_EXPECT_ERROR, LAB_EXPECT_ERROR_SYNTAX);
        g_assert_true(g_str_has_prefix(error->message, cases[i].message));
    }
    g_assert_true(lab_expect_check("a.x(workload a.cpu=1, k=\"1,2\") / b-c.y.z in 1.2..1.6", NULL));
}

/* Depth and length are bounded, whatever the nesting is made of. */
static void
test_bounds(void)
{
    static const char *const units[] = {"(", "-", "min(", "1+", "-(", "1*("};

    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        for (int n = 0; n < 500; n++)
            g_string_append(text, units[i]);
        g_autoptr(GError) error = NULL;
        g_assert_false(lab_expect_check(text->str, &error));
        g_assert_nonnull(strstr(error->message, "more than 64"));
    }
    g_autofree char *longest = g_strnfill(5000, ' ');
    g_autoptr(GError) error = NULL;
    g_assert_false(lab_expect_check(longest, &error));
    g_assert_nonnull(strstr(error->message, "longer than 4096 bytes"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/expect/verdicts", test_verdicts);
    g_test_add_func("/expect/figures", test_figures);
    g_test_add_func("/expect/refused", test_refused);
    g_test_add_func("/expect/syntax", test_syntax);
    g_test_add_func("/expect/bounds", test_bounds);
    return g_test_run();
}
