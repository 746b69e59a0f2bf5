/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/compare.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "results/ranktest.h"

typedef struct {
    ResFidelity fidelity;
    ResDirection direction;
} Kind;

static const Kind insns = {RES_FIDELITY_INSTRUCTIONS, RES_LOWER_IS_BETTER};
static const Kind time_ns = {RES_FIDELITY_TIME, RES_LOWER_IS_BETTER};

static ResRecord *
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

static GPtrArray *
new_runs(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
}

/* One run per number in TEXT, all of one cell. */
static GPtrArray *
runs_of(const char *cell, Kind kind, const char *text)
{
    GPtrArray *runs = new_runs();
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    for (char **word = words; *word != NULL; word++) {
        g_ptr_array_add(runs, make_run(cell, kind, g_ascii_strtod(*word, NULL)));
    }
    return runs;
}

static void
assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        g_error("\"%s\" does not say \"%s\"", text, part);
    }
}

static void
assert_verdict(Kind kind, const char *a, const char *b, ResVerdict verdict, const char *says)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) left = runs_of("x=1", kind, a);
    g_autoptr(GPtrArray) right = runs_of("x=1", kind, b);
    g_autoptr(GPtrArray) out = res_compare(left, right, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(out->len, ==, 1);
    const ResComparison *c = g_ptr_array_index(out, 0);
    assert_says(c->reason, says);
    g_assert_cmpstr(res_verdict_name(c->verdict), ==, res_verdict_name(verdict));
    g_assert_false(isnan(c->ratio) || isnan(c->ratio_low) || isnan(c->ratio_high));
}

static void
test_ranktest(void)
{
    /* F36: no variance on one side neither hides the difference nor divides by zero */
    const double a[] = {115, 114, 115, 115, 115}, b[] = {78.8, 78.8, 78.8, 78.8, 78.8};
    ResRankTest t = res_ranktest(a, 5, b, 5);
    g_assert_cmpfloat(t.as_extreme, ==, 2);
    g_assert_cmpfloat(t.of, ==, 252);
    g_assert_cmpfloat(t.p, ==, 2.0 / 252);
    g_assert_cmpint(t.order, ==, -1);
    const double same[] = {5, 5, 5, 5, 5};
    t = res_ranktest(same, 5, same, 5);
    g_assert_cmpfloat(t.p, ==, 1);
    g_assert_cmpint(t.order, ==, 0);
    const double one[] = {1}, two[] = {2};
    t = res_ranktest(one, 1, two, 1);
    g_assert_cmpfloat(t.p, ==, 1);
    g_assert_cmpfloat(t.smallest, ==, 1);
    const double up[] = {1, 2, 3, 4}, down[] = {5, 6, 7, 8};
    t = res_ranktest(up, 3, down, 3);
    g_assert_cmpfloat(t.p, ==, 0.1);
    g_assert_cmpfloat(t.smallest, ==, 0.1);
    t = res_ranktest(up, 4, down, 4);
    g_assert_cmpfloat(t.p, ==, 2.0 / 70);
    t = res_ranktest(up, 2, down, 4);
    g_assert_cmpfloat(t.p, ==, 2.0 / 15);
    /* ties: counted one by one over all 20 ways to deal 1 2 3 3 5 6 */
    const double x[] = {1, 2, 3}, y[] = {3, 5, 6};
    t = res_ranktest(x, 3, y, 3);
    g_assert_cmpfloat(t.as_extreme, ==, 4);
    g_assert_cmpfloat(t.of, ==, 20);
    g_assert_cmpuint(res_ranktest_needed(0.05), ==, 4);
    g_assert_cmpuint(res_ranktest_needed(0.01), ==, 5);
}

/* Where the exact count ends the approximation must go on about as it was. */
static void
test_ranktest_large(void)
{
    double a[40], b[40];
    for (int i = 0; i < 40; i++) {
        a[i] = i * 7 % 40;
        b[i] = i * 11 % 40 + 6.5;
    }
    ResRankTest exact = res_ranktest(a, 30, b, 30);
    ResRankTest approximate = res_ranktest(a, 31, b, 30);
    g_assert_cmpfloat(exact.of, >, 1e17);
    g_assert_cmpfloat(approximate.of, ==, 0);
    g_assert_cmpfloat(exact.p, <, 0.2);
    g_assert_cmpfloat(fabs(approximate.p - exact.p), <, 0.1);
    double flat[40] = {0};
    g_assert_cmpfloat(res_ranktest(flat, 40, flat, 40).p, ==, 1);
}

static void
test_time(void)
{
    assert_verdict(time_ns, "115 114 115 115 115", "78.8 78.8 78.8 78.8 78.8", RES_VERDICT_BETTER,
                   "2 of 252");
    assert_verdict(time_ns, "5 5 5 5 5", "5 5 5 5 5", RES_VERDICT_SAME, "identical");
    assert_verdict(time_ns, "5", "9", RES_VERDICT_CANNOT_TELL, "can reach is 1,");
    assert_verdict(time_ns, "5", "5", RES_VERDICT_CANNOT_TELL, "identical");
    assert_verdict(time_ns, "1 2 3", "7 8 9", RES_VERDICT_CANNOT_TELL, "can reach is 0.1,");
    assert_verdict(time_ns, "1 2 3", "7 8 9", RES_VERDICT_CANNOT_TELL, "4 boots a side would do");
    assert_verdict(time_ns, "1 2 3 4", "7 8 9 10", RES_VERDICT_WORSE, "p = 0.029 (2 of 70");
    assert_verdict(time_ns, "7 8 9 10", "1 2 3 4", RES_VERDICT_BETTER, "B is lower");
    assert_verdict(time_ns, "1 2 3 7.5", "7 8 9 10", RES_VERDICT_CANNOT_TELL, "above 0.05");
    assert_verdict(time_ns, "1000 1001 1002 1003", "1000 1001 1002 1004", RES_VERDICT_SAME,
                   "no pair of boots");
    const Kind events = {RES_FIDELITY_EVENTS, RES_HIGHER_IS_BETTER};
    assert_verdict(events, "0 0 0 0", "3046 3000 3046 3010", RES_VERDICT_BETTER, "2 of 70");
    assert_verdict(events, "0 0 0 0", "0 0 0 1", RES_VERDICT_CANNOT_TELL, "above 0.05");
    const Kind neutral = {RES_FIDELITY_EVENTS, RES_NO_DIRECTION};
    assert_verdict(neutral, "1 2 3 4", "7 8 9 10", RES_VERDICT_CANNOT_TELL, "no better or worse");
}

static void
test_instructions(void)
{
    assert_verdict(insns, "228.2 228.2 228.3", "546.4 546.4 546.4", RES_VERDICT_WORSE,
                   "exact repeatability, not by p");
    assert_verdict(insns, "228.2 228.2 228.3", "546.4 546.4 546.4", RES_VERDICT_WORSE, "p = 0.1");
    assert_verdict(insns, "546.4 546.4 546.4", "228.2 228.2 228.3", RES_VERDICT_BETTER, "lower");
    assert_verdict(insns, "5 5 5 5 5", "5 5 5 5 5", RES_VERDICT_SAME, "identical");
    assert_verdict(insns, "228.2 228.2 228.3", "228.2 228.3 228.3", RES_VERDICT_SAME,
                   "less than 0.1%");
    assert_verdict(insns, "5", "5", RES_VERDICT_CANNOT_TELL, "smallest p reachable 1)");
    assert_verdict(insns, "228 228", "546 546", RES_VERDICT_CANNOT_TELL, "3 boots a side would do");
    assert_verdict(insns, "228 228 228", "546 546", RES_VERDICT_CANNOT_TELL, "reachable 0.2");
    assert_verdict(insns, "6655 6746 6971", "6700 6747 6990", RES_VERDICT_CANNOT_TELL,
                   "differ by 4.7% among");
    assert_verdict(insns, "6655 6746 6971", "6700 6800 6990", RES_VERDICT_CANNOT_TELL, "overlap");
    /* apart by less than either side is wide: three boots can't carry it, four can */
    assert_verdict(insns, "100 101 102", "103 104 105", RES_VERDICT_CANNOT_TELL, "more boots");
    assert_verdict(insns, "100 101 102 102", "103 104 105 105", RES_VERDICT_WORSE, "2 of 70");
    assert_verdict(insns, "11389 11389 11389", "11408 11408 11408", RES_VERDICT_WORSE, "gap of 19");
    const Kind no_number = {RES_FIDELITY_FUNCTIONAL, RES_LOWER_IS_BETTER};
    assert_verdict(no_number, "1 1 1 1 1", "9 9 9 9 9", RES_VERDICT_CANNOT_TELL,
                   "every number is meaningless at fidelity functional");
}

static void
test_ratios(void)
{
    g_autoptr(GPtrArray) a = runs_of("", insns, "100 200 400");
    g_autoptr(GPtrArray) b = runs_of("", insns, "300 100 800");
    g_autoptr(GPtrArray) out = res_compare(a, b, NULL, NULL);
    const ResComparison *c = g_ptr_array_index(out, 0);
    g_assert_cmpfloat(c->a, ==, 200);
    g_assert_cmpfloat(c->b, ==, 300);
    g_assert_cmpfloat(c->ratio, ==, 1.5);
    g_assert_cmpfloat(c->ratio_low, ==, 0.25);
    g_assert_cmpfloat(c->ratio_high, ==, 8);
    g_assert_cmpuint(c->na, ==, 3);
    g_assert_cmpuint(c->nb, ==, 3);
    assert_verdict(insns, "0 0 0", "5 5 5", RES_VERDICT_WORSE, "gap of 5");
    assert_verdict(insns, "0 0 0", "-5 5 0", RES_VERDICT_CANNOT_TELL, "");
    assert_verdict(insns, "1e308 1e308 1e308", "-1e308 -1e308 -1e308", RES_VERDICT_BETTER, "");
}

static void
test_summary(void)
{
    g_autoptr(GPtrArray) runs = runs_of("", insns, "6746 6655 6971 6700");
    ResRecord *failed = make_run("", insns, 1);
    failed->outcome = RES_OUTCOME_BOOT;
    g_ptr_array_set_size(failed->metrics, 0);
    g_ptr_array_add(runs, failed);
    ResRecord *extra = g_ptr_array_index(runs, 0);
    g_ptr_array_add(extra->metrics, res_metric_new("only-here", "u", RES_NO_DIRECTION,
                                                   RES_FIDELITY_INSTRUCTIONS, 1, 1, 1, 1, "f"));
    g_autoptr(GPtrArray) summaries = res_summarize(runs);
    g_assert_cmpuint(summaries->len, ==, 1);
    const ResSummary *s = g_ptr_array_index(summaries, 0);
    g_assert_cmpstr(s->name, ==, "m");
    g_assert_cmpuint(s->boots, ==, 4);
    g_assert_cmpfloat(s->median, ==, 6723);
    g_assert_cmpfloat(s->min, ==, 6655);
    g_assert_cmpfloat(s->max, ==, 6971);
    g_assert_cmpfloat_with_epsilon(s->spread, 316.0 / 6723, 1e-12);
    const double pair[] = {1.7e308, 1.7e308};
    g_assert_cmpfloat(res_median(pair, 2), ==, 1.7e308);
}

static void
set_env(GPtrArray *runs, const char *key, const char *value)
{
    for (guint i = 0; i < runs->len; i++) {
        ResRecord *r = g_ptr_array_index(runs, i);
        g_hash_table_insert(r->environment, g_strdup(key), g_strdup(value));
    }
}

static void
test_differences(void)
{
    g_autoptr(GPtrArray) a = runs_of("v=none", insns, "1 1 1");
    g_autoptr(GPtrArray) b = runs_of("v=none", insns, "1 1 1");
    set_env(a, "kernel.release", "6.1");
    set_env(b, "kernel.release", "6.12");
    set_env(a, "clocksource", "tsc");
    set_env(b, "clocksource", "tsc");
    set_env(b, "kvm.halt_poll_ns", "0");
    ResRecord *r = g_ptr_array_index(a, 0);
    g_hash_table_insert(r->parameters, g_strdup("main.boots"), g_strdup("3"));
    g_ptr_array_add(a, make_run("v=old", insns, 1));
    g_ptr_array_add(b, make_run("v=new", insns, 1));
    ResRecord *failed = make_run("v=none", insns, 1);
    failed->outcome = RES_OUTCOME_BOOT;
    failed->detail = g_strdup("timeout");
    g_ptr_array_add(b, failed);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) out = res_compare(a, b, lines, NULL);
    g_assert_cmpuint(out->len, ==, 1);
    static const char *const want[] = {
        "B: run r is left out: boot: timeout",
        "cell \"v=old\": only in A",
        "cell \"v=new\": only in B",
        "kernel.release: A \"6.1\", not recorded; B \"6.12\", not recorded",
        "kvm.halt_poll_ns: A not recorded; B \"0\", not recorded",
        "parameter main.boots: A \"3\", not recorded; B not recorded",
    };
    g_assert_cmpuint(lines->len, ==, G_N_ELEMENTS(want));
    for (gsize i = 0; i < G_N_ELEMENTS(want); i++) {
        g_assert_cmpstr(g_ptr_array_index(lines, i), ==, want[i]);
    }
}

static void
test_two_single_runs(void)
{
    g_autoptr(GPtrArray) a = runs_of("v=none", insns, "228");
    g_autoptr(GPtrArray) b = runs_of("v=nohz", insns, "546");
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) out = res_compare(a, b, lines, NULL);
    g_assert_cmpuint(out->len, ==, 1);
    const ResComparison *c = g_ptr_array_index(out, 0);
    g_assert_cmpstr(c->cell, ==, "v=none -> v=nohz");
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_CANNOT_TELL);
    g_assert_cmpuint(lines->len, ==, 0);
}

static void
assert_refused(const GPtrArray *a, const GPtrArray *b, int code, const char *says)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    g_assert_null(res_compare(a, b, lines, &error));
    g_assert_error(error, RES_COMPARE_ERROR, code);
    assert_says(error->message, says);
    g_assert_cmpuint(lines->len, ==, 0);
}

static void
test_refused(void)
{
    g_autoptr(GPtrArray) a = runs_of("", insns, "1 1 1");
    g_autoptr(GPtrArray) slow = runs_of("", time_ns, "1 1 1");
    g_autoptr(GPtrArray) none = new_runs();
    assert_refused(a, slow, RES_COMPARE_ERROR_FIDELITY, "fidelity differs");
    assert_refused(a, none, RES_COMPARE_ERROR_NOTHING, "second side");
    assert_refused(none, a, RES_COMPARE_ERROR_NOTHING, "first side");

    g_autoptr(GPtrArray) b = runs_of("", insns, "1 1 1");
    ResRecord *r = g_ptr_array_index(b, 2);
    g_free(r->platform);
    r->platform = g_strdup("box");
    assert_refused(a, b, RES_COMPARE_ERROR_FIDELITY, "platform differs");
    g_free(r->platform);
    r->platform = g_strdup("bare");
    g_free(r->clock);
    r->clock = g_strdup("wall");
    assert_refused(a, b, RES_COMPARE_ERROR_FIDELITY, "clock differs");
    g_free(r->clock);
    r->clock = g_strdup("icount");
    for (guint i = 0; i < b->len; i++) {
        ResRecord *run = g_ptr_array_index(b, i);
        ((ResMetric *)g_ptr_array_index(run->metrics, 0))->fidelity = RES_FIDELITY_EVENTS;
    }
    assert_refused(a, b, RES_COMPARE_ERROR_FIDELITY, "metric m");
    for (guint i = 0; i < b->len; i++) {
        ResRecord *run = g_ptr_array_index(b, i);
        ResMetric *m = g_ptr_array_index(run->metrics, 0);
        m->fidelity = RES_FIDELITY_INSTRUCTIONS;
        g_free(m->unit);
        m->unit = g_strdup("ns");
    }
    assert_refused(a, b, RES_COMPARE_ERROR_NOTHING, "one unit");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/compare/ranktest", test_ranktest);
    g_test_add_func("/compare/ranktest-large", test_ranktest_large);
    g_test_add_func("/compare/time", test_time);
    g_test_add_func("/compare/instructions", test_instructions);
    g_test_add_func("/compare/ratios", test_ratios);
    g_test_add_func("/compare/summary", test_summary);
    g_test_add_func("/compare/differences", test_differences);
    g_test_add_func("/compare/two-single-runs", test_two_single_runs);
    g_test_add_func("/compare/refused", test_refused);
    return g_test_run();
}
