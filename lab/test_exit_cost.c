/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads of type exit-cost: what a profile may ask for, the guest's job, what its report comes
 * to. */
#include "lab/exit_cost.h"
#include "lab/judge_testing.h"

#define METAL_HOST "[host]\nplatform = metal\n"
#define EXITS "[workload e]\ntype = exit-cost\nbatches = 3\n"

static void
test_job(void)
{
    g_autoptr(Case) all = case_new(METAL_HOST EXITS);
    g_autoptr(Case) some = case_new(METAL_HOST EXITS "kinds = cpuid,hlt_timer\ntimeout = 9s\n");

    g_assert_cmpstr(all->machine->job, ==,
                    "nohzlab-job 1\nbarriers host\nworkload e 120\nargv /exit-cost\n"
                    "argv --batches=3\nend\ndone\n");
    g_assert_nonnull(strstr(some->machine->job, "workload e 9\n"));
    g_assert_nonnull(strstr(some->machine->job, "argv --kinds=cpuid,hlt_timer\n"));
    g_assert_cmpstr(lab_params_flat(cell(all->profile, 0)->params), ==, "exit-cost");
    g_autoptr(LabProfile) plain = parse_ok(METAL_HOST "[workload e]\ntype = exit-cost\n", NULL);
    const LabWorkload *w = cell(plain, 0)->params->workloads->pdata[0];
    g_assert_cmpuint(w->batches, ==, 50);
    g_assert_cmpstr(g_hash_table_lookup(cell(plain, 0)->settings, "workload e.batches"), ==, "50");
    g_autoptr(LabProfile) other =
        parse_ok("[main]\nsummary = x\n[workload c]\ntype = cyclictest\n", NULL);
    g_assert_null(lab_params_flat(cell(other, 0)->params));
}

static void
test_refused(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {METAL_HOST EXITS "kinds = cpuid,hlt-timer\n", "did you mean `hlt_timer'"},
        {METAL_HOST EXITS "kinds = cpuid, vmcall\n", "` vmcall' is no kind of exit"},
        {METAL_HOST EXITS "kinds = cpuid,\n", "is no kind of exit"},
        {METAL_HOST EXITS "kinds =\n", "names no kind of exit"},
        {METAL_HOST EXITS "cpu = 1\n[guest]\nvcpus = 2\n", "vCPU 0"},
        {METAL_HOST "[workload e]\ntype = exit-cost\nbatches = 1001\n", "at most 1000"},
        {METAL_HOST EXITS "[workload c]\ntype = cyclictest\n", "a guest without a system"},
        {METAL_HOST EXITS "[guest]\nvcpus = 3\n", "one vCPU, or two"},
        {METAL_HOST EXITS "[guest]\nvcpus = 2\nisolated = 1\n", "no kernel that could isolate"},
        {METAL_HOST EXITS "trace = do_idle\n", "no kernel whose functions"},
        {"[host]\nplatform = bare\n" EXITS, "no KVM"},
        {METAL_HOST EXITS "loop = stat\n", "kinds, batches, functions"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(lab_profile_parse(cases[i].text, -1, "p", NULL, NULL, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[i].says));
    }
}

#define FACTS TSC "fact cmdline console=ttyS0\nfact cpus.possible 0\n"
#define EMPTY                                                                                      \
    "batch empty 0 0 measure 10 70\nbatch empty 0 1 measure 10 90\nbatch empty 0 2 measure 4 35\n"
#define CPUID                                                                                      \
    "batch cpuid 0 0 warmup 10 99999\nbatch cpuid 0 1 measure 10 1070\n"                           \
    "batch cpuid 0 2 measure 10 2070\nbatch cpuid 0 3 measure 10 1170\n"
#define SLEEP                                                                                      \
    "batch hlt_timer 0 1 measure 1 500\nbatch hlt_timer 0 2 measure 1 502\n"                       \
    "batch hlt_timer 0 3 measure 1 501\n"

static void
test_figures(void)
{
    g_autoptr(Case) c = case_new(METAL_HOST EXITS);

    say(c, FACTS "begin e\n" EMPTY CPUID SLEEP
                 "value x2apic 1\ntext vmcall was not measured: it has none\ndone e 0\n");
    judge(c);
    assert_good(c);
    g_assert_cmpuint(c->record->metrics->len, ==, 2);
    const ResMetric *m = metric(c, "e.cpuid");
    g_assert_cmpfloat(m->value, ==,
                      110); /* the median, the least empty loop of ten calls taken off */
    g_assert_cmpfloat(m->min, ==, 100);
    g_assert_cmpfloat(m->max, ==, 200);
    g_assert_cmpuint(m->samples, ==, 3);
    g_assert_cmpstr(m->unit, ==, "ticks");
    g_assert_cmpint(m->direction, ==, RES_LOWER_IS_BETTER);
    g_assert_cmpfloat(metric(c, "e.hlt_timer")->value, ==, 501); /* no loop is in it */
    g_assert_true(noted(c, "vmcall was not measured: it has none"));
}

/* What a guest may send is not what it should. */
static void
test_spoilt(void)
{
    static const struct {
        const char *keys, *lines, *says;
    } cases[] = {
        {"", EMPTY "batch cpuid 0 1 measure 10 1070\n", "1 measured batches of cpuid"},
        {"", CPUID, "cpuid"}, /* no empty loop */
        {"", "batch empty 0 0 measure 9 70\n" CPUID, "cpuid"},
        {"kinds = cpuid,vmcall\n", EMPTY CPUID, "0 measured batches of vmcall"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *profile = g_strconcat(METAL_HOST EXITS, cases[i].keys, NULL);
        g_autoptr(Case) c = case_new(profile);
        say(c, FACTS "begin e\n");
        say(c, cases[i].lines);
        say(c, "done e 0\n");
        judge(c);
        g_assert_cmpint(c->record->outcome, ==, RES_OUTCOME_INCOMPLETE);
        g_assert_nonnull(strstr(c->record->message, cases[i].says));
    }
}

/* However much it has to say, and of whatever it knows nothing about. */
static void
test_talkative(void)
{
    g_autoptr(Case) c = case_new(METAL_HOST EXITS);

    say(c, FACTS "begin e\n" EMPTY CPUID "batch nonsense 0 0 measure 1 1\n");
    for (guint i = 0; i < 1000; i++)
        say(c, "text and another thing\n");
    say(c, "done e 0\n");
    judge(c);
    assert_good(c);
    g_assert_cmpuint(c->record->metrics->len, ==, 1);
    g_assert_cmpuint(c->record->notes->len, <, 100);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exit-cost/job", test_job);
    g_test_add_func("/exit-cost/refused", test_refused);
    g_test_add_func("/exit-cost/figures", test_figures);
    g_test_add_func("/exit-cost/spoilt", test_spoilt);
    g_test_add_func("/exit-cost/talkative", test_talkative);
    return g_test_run();
}
