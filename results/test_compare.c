/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/compare_testing.h"
#include "results/verdict.h"

static void
assert_interval(const ResInterval *i)
{
    g_assert_false(isnan(i->value) || isnan(i->low) || isnan(i->high));
    g_assert_cmpfloat(i->low, <=, i->value);
    g_assert_cmpfloat(i->value, <=, i->high);
}

static void
assert_verdict(Kind kind, const char *a, const char *b, ResVerdict verdict, const char *says)
{
    g_autoptr(GPtrArray) left = runs_of("x=1", kind, a);
    g_autoptr(GPtrArray) right = runs_of("x=1", kind, b);
    g_autoptr(ResCompareResult) r = compare_ok(left, right);
    g_assert_cmpuint(r->comparisons->len, ==, 1);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 0);
    assert_says(c->reason, says);
    g_assert_cmpstr(res_verdict_name(c->verdict), ==, res_verdict_name(verdict));
    assert_interval(&c->shift);
    assert_interval(&c->ratio);
    g_assert_true(c->p > 0 && c->p <= 1);
}

static void
test_time(void)
{
    assert_verdict(time_ns, "115 114 115 115 115", "78.8 78.8 78.8 78.8 78.8", RES_VERDICT_BETTER,
                   "p = 0.0079 (exact), so B is lower");
    assert_verdict(time_ns, "5 5 5 5 5", "5 5 5 5 5", RES_VERDICT_SAME, "identical");
    assert_verdict(time_ns, "5", "9", RES_VERDICT_CANNOT_TELL, "can reach is 1,");
    assert_verdict(time_ns, "5", "5", RES_VERDICT_CANNOT_TELL, "identical");
    assert_verdict(time_ns, "1 2 3", "7 8 9", RES_VERDICT_CANNOT_TELL, "can reach is 0.1,");
    assert_verdict(time_ns, "1 2 3 4", "7 8 9 10", RES_VERDICT_CANNOT_TELL,
                   "5 boots a side would do");
    assert_verdict(time_ns, "1 2 3 4 5", "7 8 9 10 11", RES_VERDICT_WORSE, "so B is higher");
    assert_verdict(time_ns, "7 8 9 10 11", "1 2 3 4 5", RES_VERDICT_BETTER, "B is lower");
    assert_verdict(time_ns, "1 2 3 4 7.5", "7 8 9 10 11", RES_VERDICT_CANNOT_TELL,
                   "leaves room for more");
    assert_verdict(time_ns, "1000 1001 1002 1003 1004", "1000 1001 1002 1004 1004",
                   RES_VERDICT_SAME, "within the smallest relevant change of 10.02 u");
    assert_verdict(time_ns, "1000 1001 1002 1003 1004", "1005 1006 1007 1008 1009",
                   RES_VERDICT_IRRELEVANT, "less than the smallest relevant change");
    const Kind events = {RES_FIDELITY_EVENTS, RES_HIGHER_IS_BETTER};
    assert_verdict(events, "0 0 0 0 0", "3046 3000 3046 3010 3001", RES_VERDICT_BETTER, "higher");
    assert_verdict(events, "0 0 0 0 0", "0 0 0 0 1", RES_VERDICT_CANNOT_TELL, "room");
    const Kind neutral = {RES_FIDELITY_EVENTS, RES_NO_DIRECTION};
    assert_verdict(neutral, "1 2 3 4 5", "7 8 9 10 11", RES_VERDICT_DIFFERENT, "higher");
}

static void
test_instructions(void)
{
    assert_verdict(insns, "228.2 228.2 228.3", "546.4 546.4 546.4", RES_VERDICT_WORSE,
                   "known to repeat, not by p (p = 0.1");
    assert_verdict(insns, "546.4 546.4 546.4", "228.2 228.2 228.3", RES_VERDICT_BETTER, "lower");
    assert_verdict(insns, "5 5 5 5 5", "5 5 5 5 5", RES_VERDICT_SAME, "identical");
    assert_verdict(insns, "228.2 228.2 228.3", "228.2 228.3 228.3", RES_VERDICT_SAME, "within");
    assert_verdict(insns, "5", "5", RES_VERDICT_CANNOT_TELL, "can reach is 1,");
    assert_verdict(insns, "228 228", "546 546", RES_VERDICT_CANNOT_TELL, "4 boots a side would do");
    assert_verdict(insns, "6655 6746 6971", "6700 6747 6990", RES_VERDICT_CANNOT_TELL, "is 0.11,");
    /* one instruction of 546: from 4 boots a side; 3 could be two kinds of boots by chance */
    assert_verdict(insns, "546 546 546", "547 547 547", RES_VERDICT_CANNOT_TELL, "4 boots a side");
    assert_verdict(insns, "546 546 546 546", "547 547 547 547", RES_VERDICT_WORSE,
                   "further apart than twice");
    assert_verdict(insns, "547 547 547 547", "546 546 546 546", RES_VERDICT_BETTER, "lower");
    /* ... and where it is too little to matter it is found all the same */
    assert_verdict(insns, "6635 6635 6635 6635", "6636 6636 6636 6636", RES_VERDICT_IRRELEVANT,
                   "higher");
    /* apart by less than twice what a side is wide: only ranks can tell */
    assert_verdict(insns, "100 101 102 102", "103 104 105 105", RES_VERDICT_CANNOT_TELL, "");
    assert_verdict(insns, "100 101 102 102 102", "103 104 105 105 105", RES_VERDICT_WORSE,
                   "test over boots");
    /* two kinds of boots, 3 apart, and one instruction more: no value is shared */
    assert_verdict(insns, "500 503 500 503 500 503 500 503", "501 504 504 501 501 504 501 504",
                   RES_VERDICT_DIFFERENT, "no value occurs on both sides");
    assert_verdict(insns, "6632 6635 6632 6635 6632 6635 6632 6635",
                   "6633 6636 6636 6633 6633 6636 6633 6636", RES_VERDICT_IRRELEVANT, "no value");
    assert_verdict(insns, "11389 11389 11389 11389", "11408 11408 11408 11408", RES_VERDICT_WORSE,
                   "higher");
    const Kind no_number = {RES_FIDELITY_FUNCTIONAL, RES_LOWER_IS_BETTER};
    assert_verdict(no_number, "1 1 1 1 1", "9 9 9 9 9", RES_VERDICT_CANNOT_TELL,
                   "every number is meaningless at fidelity functional");
}

static void
test_estimates(void)
{
    g_autoptr(GPtrArray) a = runs_of("", insns, "100 200 400");
    g_autoptr(GPtrArray) b = runs_of("", insns, "300 100 800");
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 0);
    g_assert_cmpfloat(c->a, ==, 200);
    g_assert_cmpfloat(c->b, ==, 300);
    /* by hand: pairs of boots, ascending: -300 -100 -100 0 100 200 400 600 700 */
    g_assert_cmpfloat(c->shift.value, ==, 100);
    g_assert_cmpfloat(c->shift.low, ==, -300);
    g_assert_cmpfloat(c->shift.high, ==, 700);
    /* 0.25 0.5 0.75 1 1.5 2 3 4 8 */
    g_assert_cmpfloat(c->ratio.value, ==, 1.5);
    g_assert_cmpfloat(c->ratio.low, ==, 0.25);
    g_assert_cmpfloat(c->ratio.high, ==, 8);
    g_assert_cmpfloat_with_epsilon(c->confidence, 0.9, 1e-12);
    g_assert_cmpuint(c->na, ==, 3);
    assert_verdict(insns, "0 0 0 0", "5 5 5 5", RES_VERDICT_WORSE, "higher");
    assert_verdict(insns, "0 0 0", "-5 5 0", RES_VERDICT_CANNOT_TELL, "");
    assert_verdict(insns, "1e308 1e308 1e308 1e308", "-1e308 -1e308 -1e308 -1e308",
                   RES_VERDICT_BETTER, "");
}

static void
set_unit(GPtrArray *runs, const char *unit)
{
    for (guint i = 0; i < runs->len; i++) {
        const ResRecord *r = g_ptr_array_index(runs, i);
        ResMetric *m = g_ptr_array_index(r->metrics, 0);
        g_free(m->unit);
        m->unit = g_strdup(unit);
    }
}

static void
test_counts_and_shares(void)
{
    const Kind events = {RES_FIDELITY_EVENTS, RES_LOWER_IS_BETTER};
    g_autoptr(GPtrArray) a = runs_of("", events, "10 12 9 11 8");
    g_autoptr(GPtrArray) b = runs_of("", events, "20 60 25 30 45");
    set_unit(a, "count");
    set_unit(b, "count");
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 0);
    g_assert_cmpint(c->estimate, ==, RES_ESTIMATE_COUNT);
    g_assert_cmpfloat_with_epsilon(c->ratio.value, 3.6, 1e-12);
    /* overdispersed: 180 events against 50 as Poisson would have given 2.6 to 5.1 at 95% */
    g_assert_cmpfloat(c->ratio.low, <, 1.8);
    g_assert_cmpfloat(c->ratio.high, >, 6);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_WORSE);

    g_autoptr(GPtrArray) none = runs_of("", events, "0 0 0 0 0");
    set_unit(none, "count");
    g_autoptr(ResCompareResult) from_none = compare_ok(none, a);
    c = g_ptr_array_index(from_none->comparisons, 0);
    g_assert_true(isinf(c->ratio.value) && isinf(c->ratio.high));
    /* 50 events against an upper bound of 5.3 */
    g_assert_cmpfloat(c->ratio.low, >, 5);
    g_assert_cmpfloat(c->ratio.low, <, 10);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_WORSE);

    const Kind share = {RES_FIDELITY_EVENTS, RES_HIGHER_IS_BETTER};
    g_autoptr(GPtrArray) low = runs_of("", share, "0.41 0.55 0.48 0.44 0.52");
    g_autoptr(GPtrArray) high = runs_of("", share, "0.8 0.85 0.83 0.9 0.79");
    set_unit(low, "share");
    set_unit(high, "share");
    g_autoptr(ResCompareResult) shares = compare_ok(low, high);
    c = g_ptr_array_index(shares->comparisons, 0);
    g_assert_cmpint(c->estimate, ==, RES_ESTIMATE_SHARE);
    g_assert_cmpfloat_with_epsilon(c->shift.value, 0.354, 1e-9);
    g_assert_cmpfloat(c->shift.low, >, 0.2);
    g_assert_cmpfloat(c->shift.high, <, 0.5);
    g_assert_cmpfloat_with_epsilon(c->relevant, 0.01, 1e-12); /* a hundredth, not of a */
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_BETTER);
}

static void
set_censored(GPtrArray *runs, guint i, double max)
{
    const ResRecord *r = g_ptr_array_index(runs, i);
    ResMetric *m = g_ptr_array_index(r->metrics, 0);
    m->censored = TRUE;
    m->max = max;
}

/* What lies beyond a histogram counts as beyond, not as its end. */
static void
test_censored(void)
{
    g_autoptr(GPtrArray) a = runs_of("", time_ns, "10 11 12 13 14");
    g_autoptr(GPtrArray) b = runs_of("", time_ns, "30 30 30 30 30");
    for (guint i = 0; i < 5; i++) {
        set_censored(b, i, 90);
    }
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 0);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_WORSE);
    g_assert_true(c->censored_b);
    g_assert_false(c->censored_a);
    g_assert_cmpfloat(c->shift.low, ==, 16);
    g_assert_cmpfloat(c->shift.high, ==, 80);
    /* nothing is known of what both sides have beyond it */
    for (guint i = 0; i < 5; i++) {
        const ResRecord *run = g_ptr_array_index(a, i);
        ((ResMetric *)g_ptr_array_index(run->metrics, 0))->value = 30;
        set_censored(a, i, 31);
    }
    g_autoptr(ResCompareResult) both = compare_ok(a, b);
    c = g_ptr_array_index(both->comparisons, 0);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_CANNOT_TELL);
    g_assert_cmpfloat(c->p, ==, 1);
}

/* Five boots can tell one metric, not one of twenty. */
static void
test_many_metrics(void)
{
    g_autoptr(GPtrArray) a = runs_of("", time_ns, "1 2 3 4 5 6 7");
    g_autoptr(GPtrArray) b = runs_of("", time_ns, "7.5 8 9 10 11 12 13");
    for (guint k = 0; k < 19; k++) {
        g_autofree char *name = g_strdup_printf("noise%u", k);
        for (guint i = 0; i < 14; i++) {
            ResRecord *r = g_ptr_array_index(i < 7 ? a : b, i % 7);
            double value = (double)((i * 7 + k * 5) % 14);
            g_ptr_array_add(r->metrics,
                            res_metric_new(name, "u", RES_LOWER_IS_BETTER, RES_FIDELITY_TIME, value,
                                           value, value, 1, "f"));
        }
    }
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    g_assert_cmpuint(r->judged, ==, 20);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 0);
    g_assert_cmpfloat_with_epsilon(c->p, 2.0 / 3432, 1e-12);
    g_assert_cmpfloat_with_epsilon(c->p_adjusted, 20 * 2.0 / 3432, 1e-12);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_CANNOT_TELL);
    assert_says(c->reason, "alone it would be told, but 20 metrics are judged at once");
    g_assert_cmpuint(c->needed, ==, 8);
    assert_says(c->next, "--set main.boots=8");
}

static void
test_relevant(void)
{
    g_autoptr(GPtrArray) a = runs_of("", time_ns, "1000 1001 1002 1003 1004");
    g_autoptr(GPtrArray) b = runs_of("", time_ns, "1005 1006 1007 1008 1009");
    for (guint i = 0; i < 5; i++) {
        ResRecord *r = g_ptr_array_index(b, i);
        g_hash_table_insert(r->parameters, g_strdup("relevant.m"), g_strdup("0.1%"));
    }
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 0);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_WORSE);
    g_assert_cmpstr(c->relevant_from, ==, "profile");
    g_assert_cmpfloat_with_epsilon(c->relevant, 1.002, 1e-9);
    static const struct {
        const char *text;
        double value;
        gboolean good, share;
    } cases[] = {{"2%", 0.02, TRUE, TRUE}, {"5", 5, TRUE, FALSE},      {"0", 0, TRUE, FALSE},
                 {"", 0, FALSE, FALSE},    {"-1", 0, FALSE, FALSE},    {"nan", 0, FALSE, FALSE},
                 {"2%%", 0, FALSE, FALSE}, {"1e400", 0, FALSE, FALSE}, {"2 %", 0, FALSE, FALSE}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        double value = 0;
        gboolean share = FALSE;
        g_assert_cmpint(res_relevant_parse(cases[i].text, &value, &share), ==, cases[i].good);
        if (cases[i].good) {
            g_assert_cmpfloat(value, ==, cases[i].value);
            g_assert_cmpint(share, ==, cases[i].share);
        }
    }
}

static void
set_times(GPtrArray *runs, gint64 from, gint64 step)
{
    for (guint i = 0; i < runs->len; i++) {
        ((ResRecord *)g_ptr_array_index(runs, i))->started_us = from + i * step;
    }
}

/* A machine that gets slower all the time looks like a slower kernel to whoever measures that one
 * second. */
static void
test_drift(void)
{
    g_autoptr(GPtrArray) a = runs_of("", time_ns, "100 102 104 106 108 110 112 114");
    g_autoptr(GPtrArray) b = runs_of("", time_ns, "116 118 120 122 124 126 128 130");
    set_times(a, 1, 1);
    set_times(b, 100, 1);
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 0);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_CANNOT_TELL);
    assert_says(c->reason, "both drift that way");
    assert_says(c->next, "alternate");
    /* boots that alternate drift alike */
    set_times(a, 1, 2);
    set_times(b, 2, 2);
    g_autoptr(ResCompareResult) alternating = compare_ok(a, b);
    c = g_ptr_array_index(alternating->comparisons, 0);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_WORSE);
    /* the other side first: now the drift works against the difference */
    set_times(a, 100, 1);
    set_times(b, 1, 1);
    g_autoptr(ResCompareResult) against = compare_ok(a, b);
    c = g_ptr_array_index(against->comparisons, 0);
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_WORSE);
}

static void
test_clock_faults(void)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, -3, 18446744057004122648.0};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GPtrArray) a = runs_of("", time_ns, "1 2 3 4 5");
        g_autoptr(GPtrArray) b = runs_of("", time_ns, "1 2 3 4 5");
        set_unit(a, "ns");
        set_unit(b, "ns");
        const ResRecord *r = g_ptr_array_index(b, 2);
        ((ResMetric *)g_ptr_array_index(r->metrics, 0))->value = bad[i];
        assert_refused(a, b, RES_COMPARE_ERROR_CLOCK, "clock fault");
        assert_refused(b, a, RES_COMPARE_ERROR_CLOCK, "run r: m is");
    }
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

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/compare/time", test_time);
    g_test_add_func("/compare/instructions", test_instructions);
    g_test_add_func("/compare/estimates", test_estimates);
    g_test_add_func("/compare/counts-and-shares", test_counts_and_shares);
    g_test_add_func("/compare/censored", test_censored);
    g_test_add_func("/compare/many-metrics", test_many_metrics);
    g_test_add_func("/compare/relevant", test_relevant);
    g_test_add_func("/compare/drift", test_drift);
    g_test_add_func("/compare/clock-faults", test_clock_faults);
    g_test_add_func("/compare/summary", test_summary);
    return g_test_run();
}
