/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of a traced kernel function, before the judge. */
#include "lab/judge_testing.h"

#define TRACED                                                                                     \
    ICOUNT PLAIN "[workload w]\ntype = command\ncommand = /usr/bin/true\ncpu = 1\n"                \
                 "trace = get_nohz_timer_target\n"

static Case *
traced(const char *profile, const char *lines)
{
    Case *c = case_new(profile);

    say(c, PLAIN_FACTS "begin w\n");
    say(c, lines);
    say(c, "done w 0\n");
    judge(c);
    return c;
}

static void
test_figure(void)
{
    g_autoptr(Case) c =
        traced(TRACED, "batch trace 1 0 measure 1 900\n"
                       "batch trace 1 1 measure 1 1100\n"
                       "batch trace 1 2 measure 1 906\n"
                       "value trace_calls 3\nvalue trace_lost 0\nvalue tracer_ns 901\n");
    assert_good(c);
    const ResMetric *m = metric(c, "w.get_nohz_timer_target");
    g_assert_cmpfloat(m->value, ==, 5);
    g_assert_cmpfloat(m->min, ==, 0);
    g_assert_cmpfloat(m->max, ==, 199);
    g_assert_cmpuint(m->samples, ==, 3);
    g_assert_cmpstr(m->unit, ==, "insns");
    g_assert_cmpuint(c->record->notes->len, ==, 0);
    g_assert_cmpfloat(metric(c, "w.tracer")->value, ==, 901);
}

static void
test_lost(void)
{
    g_autoptr(Case) c = traced(TRACED, "batch trace 1 0 measure 1 900\n"
                                       "value trace_calls 9\nvalue trace_lost 4\n");
    assert_good(c);
    g_assert_true(noted(c, "lost 4 records"));
    g_assert_true(noted(c, "the first 1 of 9 calls"));
    g_assert_true(noted(c, "what the tracer itself adds"));
}

static void
test_never_called(void)
{
    g_autoptr(Case) c = traced(TRACED, "value trace_calls 0\nvalue trace_lost 0\n");
    assert_failed(c, RES_OUTCOME_INCOMPLETE, "trace", "get_nohz_timer_target|not called once");
}

/* Of a system call loop its own batches are the figure, and the traced calls are not. */
static void
test_beside_a_loop(void)
{
    g_autoptr(Case) c =
        traced(ICOUNT PLAIN "[workload w]\ntype = syscall-loop\ncpu = 1\nbatches = 1\n"
                            "trace = vtime_user_enter\n",
               "batch trace 1 0 measure 1 50\n"
               "batch invalid 1 0 measure 10 5000\nvalue steady 1\n");
    assert_good(c);
    g_assert_cmpfloat(metric(c, "w.per_call")->value, ==, 500);
    g_assert_cmpfloat(metric(c, "w.vtime_user_enter")->value, ==, 50);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/judge-trace/figure", test_figure);
    g_test_add_func("/judge-trace/lost", test_lost);
    g_test_add_func("/judge-trace/never-called", test_never_called);
    g_test_add_func("/judge-trace/beside-a-loop", test_beside_a_loop);
    return g_test_run();
}
