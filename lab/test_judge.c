/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests' reports, written by hand, before the judge. */
#include "lab/judge_testing.h"

#define LOOP "[workload invalid]\ntype = syscall-loop\ncpu = 1\ncalls = 200\nbatches = 4\n"
#define ISOLATED "[guest]\nvcpus = 4\nisolated = 1-3\nisolcpus = domain,managed_irq\n"
#define BOX "[host]\nplatform = box\nclock = wall\n"
#define ISOLATED_CMDLINE "isolcpus=domain,managed_irq,1-3 nohz_full=1-3 rcu_nocbs=1-3 irqaffinity=0"

/* What a guest says of itself; each may be left out or said otherwise. */
#define NOHZ "fact sysfs.nohz_full 1-3\n"
#define DOMAIN "fact sysfs.isolated 1-3\n"
#define NOCB_LINE "fact kmsg rcu: %09Offload RCU callbacks from CPUs: 1-3.\n"
#define CMDLINE "fact cmdline " ISOLATED_CMDLINE "\n"
#define FACTS TSC CMDLINE NOHZ DOMAIN NOCB_LINE

#define BATCHES                                                                                    \
    "batch invalid 1 0 warmup 200 990000\n"                                                        \
    "batch invalid 1 0 measure 200 40000\n"                                                        \
    "batch invalid 1 1 measure 200 50000\n"                                                        \
    "batch invalid 1 2 measure 200 44000\n"                                                        \
    "batch invalid 1 3 measure 200 46000\n"
#define STEADY "value steady 1\nvalue warmup_batches 1\nvalue measured_batches 4\n"
#define SECOND "value measured_ns 1000000000\n"
#define TICKS(before, after)                                                                       \
    "fact loc.invalid.1.before " #before "\nfact loc.invalid.1.after " #after "\n"
#define BEGIN "begin invalid\n"
#define DONE "done invalid 0\n"

static void
test_good(void)
{
    g_autoptr(Case) c = case_new(ICOUNT ISOLATED LOOP);

    say(c,
        FACTS "fact kernel.release 6.1.0\nfact vulnerability.meltdown Not affected\n" BEGIN BATCHES
            STEADY SECOND TICKS(100, 103) "text hello\n" DONE);
    judge(c);
    assert_good(c);
    const ResMetric *m = metric(c, "invalid.per_call");
    g_assert_cmpfloat(m->value, ==, 225); /* the median of 200, 220, 230, 250 */
    g_assert_cmpfloat(m->min, ==, 200);
    g_assert_cmpfloat(m->max, ==, 250);
    g_assert_cmpuint(m->samples, ==, 4);
    g_assert_cmpstr(m->unit, ==, "insns");
    g_assert_cmpint(m->direction, ==, RES_LOWER_IS_BETTER);
    g_assert_cmpint(m->fidelity, ==, RES_FIDELITY_INSTRUCTIONS);
    g_assert_cmpstr(m->evidence, ==, "report.txt");
    m = metric(c, "invalid.timer_interrupts");
    g_assert_cmpfloat(m->value, ==, 3);
    g_assert_cmpint(m->direction, ==, RES_NO_DIRECTION);
    g_assert_cmpuint(c->record->notes->len, ==, 0);

    GHashTable *env = c->record->environment;
    g_assert_cmpstr(g_hash_table_lookup(env, "guest.kernel.release"), ==, "6.1.0");
    g_assert_cmpstr(g_hash_table_lookup(env, "guest.clocksource"), ==, "tsc");
    g_assert_cmpstr(g_hash_table_lookup(env, "guest.cmdline"), ==, ISOLATED_CMDLINE);
    g_assert_cmpstr(g_hash_table_lookup(env, "guest.vulnerability.meltdown"), ==, "Not affected");
    g_assert_cmpstr(g_hash_table_lookup(env, "guest.effective.nohz_full"), ==, "1-3");
    g_assert_cmpstr(g_hash_table_lookup(env, "guest.effective.isolcpus"), ==, "1-3");
    g_assert_cmpstr(g_hash_table_lookup(env, "guest.effective.rcu_nocbs"), ==, "1-3");
    g_assert_null(g_hash_table_lookup(env, "guest.tsc_khz"));
    GBytes *output = g_hash_table_lookup(c->files, "invalid-output.txt");
    g_assert_nonnull(output);
    g_assert_cmpmem(g_bytes_get_data(output, NULL), g_bytes_get_size(output), "hello\n", 6);
}

/* What the TSC counts is told apart from instructions. */
static void
test_units(void)
{
    static const struct {
        const char *profile, *unit;
        ResFidelity fidelity;
    } cases[] = {
        {ICOUNT PLAIN LOOP, "insns", RES_FIDELITY_INSTRUCTIONS},
        {WALL PLAIN LOOP, "ticks", RES_FIDELITY_FUNCTIONAL},
        {BOX PLAIN LOOP, "ticks", RES_FIDELITY_EVENTS},
        {METAL PLAIN LOOP, "ticks", RES_FIDELITY_TIME},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Case) c = case_new(cases[i].profile);
        say(c, PLAIN_FACTS BEGIN BATCHES STEADY SECOND TICKS(0, 100) DONE);
        judge(c);
        assert_good(c);
        g_assert_cmpstr(metric(c, "invalid.per_call")->unit, ==, cases[i].unit);
        g_assert_cmpstr(res_fidelity_name(metric(c, "invalid.per_call")->fidelity), ==,
                        res_fidelity_name(cases[i].fidelity));
    }
    g_assert_cmpint(lab_fidelity(LAB_PLATFORM_BOX, LAB_CLOCK_ICOUNT), ==,
                    RES_FIDELITY_INSTRUCTIONS);
}

/* --- workloads --- */

static void
test_workload_status(void)
{
    static const struct {
        const char *report;
        ResOutcome outcome;
        const char *detail, *words;
    } cases[] = {
        {BEGIN "text can't open /dev/x\ntext   \ndone invalid 3\n", RES_OUTCOME_GUEST, "status",
         "invalid|status 3|can't open /dev/x"},
        {BEGIN "done invalid 139\n", RES_OUTCOME_GUEST, "status", "status 139|nothing"},
        {BEGIN "text %1B[31mred%07\ndone invalid 1\n", RES_OUTCOME_GUEST, "status", "[31mred"},
        {BEGIN "done invalid 124\n", RES_OUTCOME_GUEST, "timeout", "invalid|120 s|raise"},
        {"", RES_OUTCOME_INCOMPLETE, "workload", "invalid|report.txt"},
        {"begin other\ndone other 0\n", RES_OUTCOME_INCOMPLETE, "workload", "invalid"},
        {BEGIN BATCHES "value steady 0\n" SECOND DONE, RES_OUTCOME_GUEST, "unsteady",
         "invalid|2000|CPU 1"},
        {BEGIN "batch invalid 1 0 measure 200 40000\n" STEADY SECOND TICKS(0, 1) DONE,
         RES_OUTCOME_INCOMPLETE, "batches", "1 measured|4 asked"},
        {BEGIN BATCHES "batch invalid 1 4 measure 200 40000\n" STEADY SECOND TICKS(0, 1) DONE,
         RES_OUTCOME_INCOMPLETE, "batches", "5 measured|4 asked"},
        {BEGIN "batch invalid 0 0 measure 200 40000\n" STEADY SECOND TICKS(0, 1) DONE,
         RES_OUTCOME_ISOLATION, "placement", "CPU 0|CPU 1"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Case) c = case_new(ICOUNT ISOLATED LOOP);
        say(c, FACTS);
        say(c, cases[i].report);
        judge(c);
        assert_failed(c, cases[i].outcome, cases[i].detail, cases[i].words);
        for (const char *p = c->record->message; *p; p++)
            g_assert_false(g_ascii_iscntrl(*p));
    }
}

/* Warm-up may run anywhere; an unpinned loop is measured on vCPU 0. */
static void
test_placement(void)
{
    g_autoptr(Case) c = case_new(ICOUNT ISOLATED LOOP);
    say(c, FACTS BEGIN "batch invalid 3 0 warmup 200 1\n" BATCHES STEADY SECOND TICKS(0, 1) DONE);
    judge(c);
    assert_good(c);

    g_autoptr(Case) free_loop = case_new(ICOUNT PLAIN "[workload invalid]\ntype = syscall-loop\n"
                                                      "batches = 1\n");
    say(free_loop,
        PLAIN_FACTS BEGIN "batch invalid 0 0 measure 200 40000\n" STEADY SECOND
                          "fact loc.invalid.0.before 5\nfact loc.invalid.0.after 7\n" DONE);
    judge(free_loop);
    assert_good(free_loop);
    g_assert_cmpfloat(metric(free_loop, "invalid.timer_interrupts")->value, ==, 2);
}

/* A batch of no calls says nothing, and must not become a figure that is not finite. */
static void
test_no_calls(void)
{
    g_autoptr(Case) c = case_new(ICOUNT PLAIN "[workload invalid]\ntype = syscall-loop\ncpu = 1\n"
                                              "batches = 1\n");
    g_autoptr(GError) error = NULL;
    c->report = res_report_new(NULL, NULL);
    say(c, PLAIN_FACTS BEGIN "batch invalid 1 0 measure 0 40000\n");
    if (!res_report_feed(c->report, c->lines->str, c->lines->len, &error))
        return; /* refused already when it was read */
    g_clear_pointer(&c->report, res_report_free);
    say(c, STEADY SECOND TICKS(0, 1) DONE);
    judge(c);
    assert_failed(c, RES_OUTCOME_INCOMPLETE, "batches", "invalid");
}

/* --- isolation --- */

static void
test_isolation(void)
{
    static const struct {
        const char *facts;
        const char *detail, *words;
    } cases[] = {
        {TSC CMDLINE "fact sysfs.nohz_full 1-2\n" DOMAIN NOCB_LINE, "nohz_full",
         "requested 1-3|in force 1-2"},
        {TSC CMDLINE "fact sysfs.nohz_full (null)\n" DOMAIN NOCB_LINE, "nohz_full",
         "requested 1-3|in force none"},
        {TSC CMDLINE "fact sysfs.nohz_full (null)%0A\n" DOMAIN NOCB_LINE, "nohz_full",
         "requested 1-3|in force none"},
        {TSC CMDLINE "fact sysfs.nohz_full %\n" DOMAIN NOCB_LINE, "nohz_full",
         "requested 1-3|in force none"},
        {TSC CMDLINE DOMAIN NOCB_LINE, "nohz_full", "requested 1-3|in force not built in"},
        {TSC CMDLINE "fact sysfs.nohz_full 1-x\n" DOMAIN NOCB_LINE, "nohz_full",
         "requested 1-3|in force unknown"},
        {TSC CMDLINE NOHZ "fact sysfs.isolated %\n" NOCB_LINE, "isolcpus",
         "requested 1-3|in force none"},
        {TSC CMDLINE NOHZ "fact sysfs.isolated 0-3\n" NOCB_LINE, "isolcpus",
         "requested 1-3|in force 0-3"},
        {TSC CMDLINE NOHZ DOMAIN "fact kmsg Offload RCU callbacks from CPUs: 2-3.\n", "rcu_nocbs",
         "requested 1-3|in force 2-3"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Case) c = case_new(ICOUNT ISOLATED LOOP);
        say(c, cases[i].facts);
        say(c, BEGIN BATCHES STEADY SECOND TICKS(0, 1) DONE);
        judge(c);
        assert_failed(c, RES_OUTCOME_ISOLATION, cases[i].detail, cases[i].words);
        g_assert_nonnull(g_hash_table_lookup(c->record->environment, "guest.effective.nohz_full"));
    }
}

/* What was not asked for must not be in force: a cell without isolation is a claim, too. */
static void
test_isolation_unasked(void)
{
    g_autoptr(Case) c = case_new(ICOUNT PLAIN LOOP);

    say(c, TSC
        "fact cmdline nohz_full=1\nfact sysfs.nohz_full 1\nfact sysfs.isolated %\n" BEGIN BATCHES
            STEADY SECOND TICKS(0, 1) DONE);
    judge(c);
    assert_failed(c, RES_OUTCOME_ISOLATION, "nohz_full", "requested none|in force 1");
}

/* --- clock --- */

static void
test_clock(void)
{
    g_autoptr(Case) hpet = case_new(ICOUNT ISOLATED LOOP);
    say(hpet, "fact clocksource.current hpet\n" CMDLINE NOHZ DOMAIN NOCB_LINE BEGIN BATCHES STEADY
                  SECOND TICKS(0, 1) DONE);
    judge(hpet);
    assert_failed(hpet, RES_OUTCOME_CLOCK, "hpet", "hpet");

    g_autoptr(Case) unknown = case_new(ICOUNT ISOLATED LOOP);
    say(unknown, CMDLINE NOHZ DOMAIN NOCB_LINE BEGIN BATCHES STEADY SECOND TICKS(0, 1) DONE);
    judge(unknown);
    assert_failed(unknown, RES_OUTCOME_CLOCK, "unknown", "unknown");

    /* It was fit at boot, and was found wanting while the guest ran. */
    g_autoptr(Case) late = case_new(METAL PLAIN LOOP);
    say(late, PLAIN_FACTS BEGIN BATCHES STEADY SECOND TICKS(0, 100) DONE
        "fact kmsg tsc: Marking TSC unstable due to clocksource watchdog\n"
        "fact clocksource.current hpet\n");
    judge(late);
    assert_failed(late, RES_OUTCOME_CLOCK, "hpet", "Marking TSC unstable");

    /* In emulated wall time nothing is claimed, so it is only noted. */
    g_autoptr(Case) wall = case_new(WALL PLAIN LOOP);
    say(wall, "fact clocksource.current hpet\nfact cmdline quiet\nfact sysfs.nohz_full (null)\n"
              "fact sysfs.isolated %\n" BEGIN BATCHES STEADY SECOND TICKS(0, 100) DONE);
    judge(wall);
    assert_good(wall);
    g_assert_true(noted(wall, "hpet"));
}

/* A clocksource is the guest's word: no control character of it gets into a record. */
static void
test_clock_hostile(void)
{
    g_autoptr(Case) c = case_new(ICOUNT PLAIN LOOP);

    say(c, "fact clocksource.current %1B]0;owned%07%0Ax\nfact cmdline quiet\n"
           "fact sysfs.nohz_full (null)\nfact sysfs.isolated %\n" BEGIN BATCHES STEADY SECOND TICKS(
               0, 1) DONE);
    judge(c);
    g_assert_false(c->good);
    g_assert_cmpint(c->record->outcome, ==, RES_OUTCOME_CLOCK);
    for (const char *p = c->record->detail; *p; p++)
        g_assert_false(g_ascii_iscntrl(*p));
    for (const char *p = c->record->message; *p; p++)
        g_assert_false(g_ascii_iscntrl(*p));
}

/* --- preconditions --- */

static void
test_precondition(void)
{
    g_autoptr(Case) unmet =
        case_new(METAL PLAIN LOOP "[check]\nguest.clocksource = kvm-clock|acpi_pm\n");
    say(unmet, PLAIN_FACTS BEGIN BATCHES STEADY SECOND TICKS(0, 100) DONE);
    judge(unmet);
    assert_failed(unmet, RES_OUTCOME_SKIP, "guest.clocksource", "is tsc|kvm-clock");

    g_autoptr(Case) met = case_new(METAL PLAIN LOOP "[check]\nguest.clocksource = kvm-clock|tsc\n");
    say(met, PLAIN_FACTS BEGIN BATCHES STEADY SECOND TICKS(0, 100) DONE);
    judge(met);
    assert_good(met);

    /* Not unfit: not what this profile is about. */
    g_autoptr(Case) hpet = case_new(METAL PLAIN LOOP "[check]\nguest.clocksource = tsc\n");
    say(hpet,
        "fact clocksource.current hpet\nfact sysfs.nohz_full (null)\nfact sysfs.isolated %\n" BEGIN
            BATCHES STEADY SECOND TICKS(0, 100) DONE);
    judge(hpet);
    assert_failed(hpet, RES_OUTCOME_SKIP, "guest.clocksource", "is hpet|wants tsc");

    g_autoptr(Case) silent = case_new(METAL PLAIN LOOP "[check]\nguest.clocksource = tsc\n");
    say(silent,
        "fact sysfs.nohz_full (null)\nfact sysfs.isolated %\n" BEGIN BATCHES STEADY SECOND TICKS(
            0, 100) DONE);
    judge(silent);
    assert_failed(silent, RES_OUTCOME_SKIP, "guest.clocksource", "is unknown");
}

/* --- the tick --- */

static void
test_tick(void)
{
    static const struct {
        const char *lines;
        gboolean stopped;
        const char *note; /* NULL: none */
    } cases[] = {
        {SECOND TICKS(1000, 1000), TRUE, NULL},
        {SECOND TICKS(1000, 1007), TRUE, NULL},
        {SECOND TICKS(1000, 1008), FALSE, NULL},
        {SECOND TICKS(1000, 1250), FALSE, NULL},
        {"value measured_ns 10000000000\n" TICKS(0, 52), TRUE, NULL},
        {"value measured_ns 10000000000\n" TICKS(0, 53), FALSE, NULL},
        {"value measured_ns 29000000\n" TICKS(0, 2), TRUE, "too short"},
        {"value measured_ns 31000000\n" TICKS(0, 2), TRUE, NULL},
        {"value measured_ns 29000000\n" TICKS(0, 3), FALSE, NULL},
        {SECOND, TRUE, "unproven"},
        {TICKS(0, 0), TRUE, "unproven"},
        {SECOND "fact loc.invalid.1.before 5\n", TRUE, "unproven"},
        {SECOND TICKS(5, 4), TRUE, "unproven"}, /* counts only grow */
        {SECOND TICKS(5, -1), TRUE, "unproven"},
        {SECOND TICKS(x, 9), TRUE, "unproven"},
        {SECOND TICKS(0, 18446744073709551616), TRUE, "unproven"},
        /* Another CPU's, another workload's. */
        {SECOND "fact loc.invalid.0.before 5\nfact loc.invalid.0.after 900\n", TRUE, "unproven"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Case) c = case_new(ICOUNT ISOLATED LOOP);
        say(c, FACTS BEGIN BATCHES STEADY);
        say(c, cases[i].lines);
        say(c, DONE);
        judge(c);
        g_test_message("%s", cases[i].lines);
        if (!cases[i].stopped) {
            assert_failed(c, RES_OUTCOME_ISOLATION, "tick", "CPU 1|invalid|timer interrupts");
            continue;
        }
        assert_good(c);
        g_assert_cmpuint(c->record->notes->len, ==, cases[i].note ? 1 : 0);
        if (cases[i].note)
            g_assert_true(noted(c, cases[i].note));
    }
    /* A CPU that is not in nohz_full= keeps its tick. */
    g_autoptr(Case) housekeeping = case_new(ICOUNT PLAIN LOOP);
    say(housekeeping, PLAIN_FACTS BEGIN BATCHES STEADY SECOND TICKS(0, 250) DONE);
    judge(housekeeping);
    assert_good(housekeeping);
    g_assert_cmpfloat(metric(housekeeping, "invalid.timer_interrupts")->value, ==, 250);
}

/* --- record helpers --- */

static void
test_record_fail(void)
{
    static const double value[] = {1, 1, 1};
    g_autoptr(ResRecord) r = res_record_new();

    g_ptr_array_add(r->metrics, res_metric_new("a.b", "ns", RES_LOWER_IS_BETTER, RES_FIDELITY_TIME,
                                               value[0], value[1], value[2], 1, "x"));
    lab_record_fail(r, RES_OUTCOME_INFRA, "first", "%s", "one");
    lab_record_fail(r, RES_OUTCOME_BOOT, "second", "%d%%", 2);
    g_assert_cmpint(r->outcome, ==, RES_OUTCOME_BOOT);
    g_assert_cmpstr(r->detail, ==, "second");
    g_assert_cmpstr(r->message, ==, "2%");
    g_assert_cmpuint(r->metrics->len, ==, 0);
    lab_record_env(r, "key", "value");
    lab_record_env(r, "key", NULL);
    lab_record_env(r, "none", NULL);
    g_assert_cmpstr(g_hash_table_lookup(r->environment, "key"), ==, "value");
    g_assert_false(g_hash_table_contains(r->environment, "none"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/judge/good", test_good);
    g_test_add_func("/judge/units", test_units);
    g_test_add_func("/judge/workload-status", test_workload_status);
    g_test_add_func("/judge/placement", test_placement);
    g_test_add_func("/judge/no-calls", test_no_calls);
    g_test_add_func("/judge/isolation", test_isolation);
    g_test_add_func("/judge/isolation-unasked", test_isolation_unasked);
    g_test_add_func("/judge/clock", test_clock);
    g_test_add_func("/judge/clock-hostile", test_clock_hostile);
    g_test_add_func("/judge/precondition", test_precondition);
    g_test_add_func("/judge/tick", test_tick);
    g_test_add_func("/judge/record-fail", test_record_fail);
    return g_test_run();
}
