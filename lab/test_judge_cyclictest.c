/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cyclictest left in a guest, before the judge. */
#include "lab/judge_testing.h"
#include "results/hist.h"

#define CYCLICTEST                                                                                 \
    "[workload ct]\ntype = cyclictest\ncpu = 1\nloops = 1000\ninterval = 1ms\nhistogram = 30us\n"
/* nanoseconds, as the job asks for */
#define CT_CMDLINE                                                                                 \
    "/usr/bin/cyclictest --quiet --mlockall --priority=95 --threads=1 --affinity=1 "               \
    "--interval=1000 --loops=1000 --nsecs --histogram=30000 --json=/tmp/cyclictest.json"

/* One thread's object. */
static char *
ct_thread(guint n, int cycles, const char *min, int max, const char *mean, const char *histogram)
{
    return g_strdup_printf(
        "\"%u\": {\"histogram\": {%s}, \"cycles\": %d, \"min\": %s, \"max\": %d, "
        "\"avg\": %s, \"cpu\": 1, \"node\": 0}",
        n, histogram, cycles, min, max, mean);
}

static char *
ct_json(guint threads, const char *objects)
{
    return g_strdup_printf(
        "{\"file_version\": 1, \"cmdline\": \"" CT_CMDLINE "\", \"rt_test_version\": \"2.5\", "
        "\"return_code\": 0, \"sysinfo\": {\"realtime\": 0}, \"num_threads\": %u, "
        "\"resolution_in_ns\": 1, \"thread\": {%s}}",
        threads, objects);
}

static void
say_file(Case *c, const char *json, const char *after)
{
    say(c, "begin ct\nfile cyclictest.json\n");
    for (const char *p = json; *p;) {
        gsize n = MIN(strlen(p), 1000);
        g_string_append(c->lines, "part ");
        for (gsize i = 0; i < n; i++)
            g_string_append_printf(c->lines, p[i] > ' ' && p[i] != '%' ? "%c" : "%%%02X",
                                   (guint8)p[i]);
        g_string_append_c(c->lines, '\n');
        p += n;
    }
    say(c, "text %\n");
    say(c, after);
    say(c, "done ct 0\n");
}

static Case *
ct_case(const char *profile, const char *json, const char *after)
{
    Case *c = case_new(profile);
    say(c, PLAIN_FACTS);
    say_file(c, json, after);
    judge(c);
    return c;
}

static char *
ct_good(void)
{
    g_autofree char *thread =
        ct_thread(0, 1000, "2100", 29000, "4213.5", "\"2100\": 600, \"9000\": 395, \"29000\": 5");
    return ct_json(1, thread);
}

/* The histogram the run keeps, all CPUs together. */
static ResHist *
kept(const Case *c)
{
    g_autoptr(GError) error = NULL;
    GBytes *bytes = g_hash_table_lookup(c->files, "ct-hist.json");
    g_assert_nonnull(bytes);
    gsize len;
    const char *text = g_bytes_get_data(bytes, &len);
    g_autoptr(GPtrArray) hists = res_hist_from_json(text, len, &error);
    g_assert_no_error(error);
    return res_hist_merge_all(hists, NULL);
}

/* Without a histogram nothing is known between minimum and maximum, and that is said. */
static void
test_cyclictest_no_histogram(void)
{
    g_autofree char *thread = ct_thread(0, 1000, "2100", 990000, "9000", "");
    g_autofree char *json = ct_json(1, thread);
    g_autoptr(Case) c = ct_case(ICOUNT PLAIN "[workload ct]\ntype = cyclictest\ncpu = 1\n"
                                             "loops = 1000\nhistogram = 0us\n",
                                json, "");
    assert_good(c);
    g_assert_null(res_record_metric(c->record, "ct.p50"));
    g_autoptr(ResHist) h = kept(c);
    g_assert_cmpuint(res_hist_censored(h), ==, 1000);
    g_assert_cmpint(res_hist_limit(h), ==, 2100);
    g_assert_cmpfloat_with_epsilon(res_hist_mean(h), 9000, 1);
}

static void
test_cyclictest_good(void)
{
    static const struct {
        const char *profile, *unit;
    } cases[] = {{ICOUNT PLAIN CYCLICTEST, "insns"}, {METAL PLAIN CYCLICTEST, "ns"}};

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *json = ct_good();
        g_autoptr(Case) c = ct_case(cases[i].profile, json, "");
        assert_good(c);
        static const struct {
            const char *name;
            double value;
        } figures[] = {{"ct.min", 2100},
                       {"ct.mean", 4213.5},
                       {"ct.max", 29000},
                       {"ct.p50", 2100},
                       {"ct.p99", 9000}};
        for (gsize k = 0; k < G_N_ELEMENTS(figures); k++) {
            const ResMetric *m = metric(c, figures[k].name);
            g_assert_cmpfloat(m->value, ==, figures[k].value);
            g_assert_cmpstr(m->unit, ==, cases[i].unit);
            g_assert_cmpuint(m->samples, ==, 1000);
            g_assert_cmpstr(m->evidence, ==, "ct-cyclictest.json");
            g_assert_cmpint(m->direction, ==, RES_LOWER_IS_BETTER);
        }
        /* One sample lies beyond it: that is the maximum by another name. */
        g_assert_null(res_record_metric(c->record, "ct.p99.9"));
        g_assert_nonnull(g_hash_table_lookup(c->files, "ct-cyclictest.json"));
        g_autoptr(ResHist) h = kept(c);
        g_assert_cmpstr(res_hist_unit(h), ==, cases[i].unit);
        g_assert_cmpstr(res_hist_name(h), ==, "cpu1");
        g_assert_cmpuint(res_hist_count(h), ==, 1000);
        g_assert_cmpuint(res_hist_censored(h), ==, 0);
        g_assert_cmpint(res_hist_min(h), ==, 2100);
        g_assert_cmpint(res_hist_max(h), ==, 29000);
        g_assert_cmpuint(res_hist_sum(h), ==, 2100 * 600 + 9000 * 395 + 29000 * 5);
        g_assert_cmpstr(g_hash_table_lookup(c->record->environment, "rt-tests.version"), ==, "2.5");
    }
}

static void
test_cyclictest_overflow(void)
{
    g_autofree char *thread = ct_thread(0, 1000, "2100", 990000, "9000", "\"2100\": 600");
    g_autofree char *json = ct_json(1, thread);
    g_autoptr(Case) c = ct_case(ICOUNT PLAIN CYCLICTEST, json, "");

    assert_good(c);
    g_assert_cmpfloat(metric(c, "ct.p50")->value, ==, 2100);
    g_assert_false(metric(c, "ct.p50")->censored);
    const ResMetric *p99 = metric(c, "ct.p99");
    g_assert_true(p99->censored);
    g_assert_cmpfloat(p99->value, ==, 30000);
    g_assert_cmpfloat(p99->max, ==, 990000);
    g_autoptr(ResHist) h = kept(c);
    g_assert_cmpuint(res_hist_count(h), ==, 1000);
    g_assert_cmpuint(res_hist_censored(h), ==, 400);
    g_assert_cmpint(res_hist_limit(h), ==, 30000);
    g_assert_cmpint(res_hist_max(h), ==, 990000);
    g_assert_cmpfloat_with_epsilon(res_hist_mean(h), 13260, 1); /* can't be less than that */
    g_assert_true(noted(c, "ct.p99 lies beyond the histogram (30 us)"));
}

/* Figures of several threads: the worst of them. */
static void
test_cyclictest_smp(void)
{
    static const char profile[] =
        ICOUNT PLAIN "[workload ct]\ntype = cyclictest\nloops = 1000\nhistogram = 30us\n";
    g_autofree char *a = ct_thread(0, 1000, "2000", 8000, "3000", "\"5000\": 1000");
    g_autofree char *b = ct_thread(1, 900, "1000", 9000, "2000", "\"2000\": 500, \"7000\": 400");
    g_autofree char *both = g_strjoin(", ", a, b, NULL);
    g_autofree char *text = ct_json(2, both);
    g_auto(GStrv) halves = g_strsplit(text, "--threads=1 --affinity=1", 2);
    g_autofree char *json = g_strjoinv("--smp", halves);
    g_autoptr(Case) c = ct_case(profile, json, "");

    assert_good(c);
    g_assert_cmpfloat(metric(c, "ct.min")->value, ==, 1000);
    g_assert_cmpfloat(metric(c, "ct.max")->value, ==, 9000);
    g_assert_cmpfloat(metric(c, "ct.mean")->value, ==, 3000);
    g_assert_cmpfloat(metric(c, "ct.p50")->value, ==, 5000); /* of the first */
    g_assert_cmpfloat(metric(c, "ct.p99")->value, ==, 7000); /* of the second */
    g_assert_cmpuint(metric(c, "ct.max")->samples, ==, 1900);
}

static void
test_cyclictest_bad(void)
{
    g_autofree char *good = ct_good();
    g_autofree char *half = g_strndup(good, strlen(good) / 2);
    g_autofree char *few = ct_thread(0, 999, "2100", 9000, "4213.5", "\"2100\": 999");
    g_autofree char *few_json = ct_json(1, few);
    g_autofree char *negative = ct_thread(0, 1000, "-5", 9000, "4213.5", "\"2100\": 1000");
    g_autofree char *negative_json = ct_json(1, negative);
    g_autofree char *a = ct_thread(0, 1000, "2000", 8000, "3000", "\"2000\": 1000");
    g_autofree char *b = ct_thread(1, 1000, "2000", 8000, "3000", "\"2000\": 1000");
    g_autofree char *both = g_strjoin(", ", a, b, NULL);
    g_autofree char *two_json = ct_json(2, both);
    const struct {
        const char *json, *after;
        ResOutcome outcome;
        const char *words;
    } cases[] = {
        {half, "", RES_OUTCOME_INCOMPLETE, "ct"},
        {"", "", RES_OUTCOME_INCOMPLETE, "ct"},
        {"[1, 2]", "", RES_OUTCOME_INCOMPLETE, "ct"},
        {good, "cut cyclictest.json\n", RES_OUTCOME_INCOMPLETE, "too large"},
        {few_json, "", RES_OUTCOME_INCOMPLETE, "999"},
        {negative_json, "", RES_OUTCOME_CLOCK, "ct"},
        {two_json, "", RES_OUTCOME_INCOMPLETE, "threads"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Case) c = ct_case(ICOUNT PLAIN CYCLICTEST, cases[i].json, cases[i].after);
        assert_failed(c, cases[i].outcome, "cyclictest", cases[i].words);
    }
    g_autoptr(Case) missing = case_new(ICOUNT PLAIN CYCLICTEST);
    say(missing, PLAIN_FACTS "begin ct\nfile other.json\ntext {}\ndone ct 0\n");
    judge(missing);
    assert_failed(missing, RES_OUTCOME_INCOMPLETE, "cyclictest", "ct|missing");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/judge/cyclictest/good", test_cyclictest_good);
    g_test_add_func("/judge/cyclictest/overflow", test_cyclictest_overflow);
    g_test_add_func("/judge/cyclictest/no-histogram", test_cyclictest_no_histogram);
    g_test_add_func("/judge/cyclictest/smp", test_cyclictest_smp);
    g_test_add_func("/judge/cyclictest/bad", test_cyclictest_bad);
    return g_test_run();
}
