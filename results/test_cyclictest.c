/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fixtures are real output of rt-tests 1.5, 2.4 and 2.10. */
#include "results/cyclictest.h"

#include <glib/gstdio.h>
#include <string.h>

#define FIXTURES "results/fixtures/cyclictest/"

static char *
read_fixture(const char *name)
{
    g_autofree char *path = g_strconcat(FIXTURES, name, NULL);
    g_autoptr(GError) error = NULL;
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

static ResLatency *
parse_ok(const char *text)
{
    g_autoptr(GError) error = NULL;
    ResLatency *c = res_cyclictest_parse(text, strlen(text), &error);
    g_assert_no_error(error);
    return c;
}

static ResLatency *
load(const char *name)
{
    g_autofree char *text = read_fixture(name);
    return parse_ok(text);
}

static void
assert_refused(const char *text, int code, const char *says)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(res_cyclictest_parse(text, strlen(text), &error));
    g_assert_nonnull(error);
    if (!g_error_matches(error, RES_LATENCY_ERROR, code) || strstr(error->message, says) == NULL) {
        g_error("\"%s\" (code %d) is not code %d saying \"%s\"", error->message, error->code, code,
                says);
    }
}

static gboolean
noted(const ResLatency *c, const char *part)
{
    for (guint i = 0; i < c->notes->len; i++) {
        if (strstr(g_ptr_array_index(c->notes, i), part) != NULL) {
            return TRUE;
        }
    }
    return FALSE;
}

static const ResLatencyThread *
thread_of(const ResLatency *c, guint i)
{
    g_assert_cmpuint(i, <, c->threads->len);
    return g_ptr_array_index(c->threads, i);
}

static guint64
in_buckets(const ResLatencyThread *t)
{
    guint64 sum = 0;
    gint64 last = -1;
    for (guint i = 0; i < t->buckets->len; i++) {
        const ResLatencyBucket *b = &g_array_index(t->buckets, ResLatencyBucket, i);
        g_assert_cmpint(b->latency_ns, >, last);
        last = b->latency_ns;
        sum += b->count;
    }
    return sum;
}

/* The figures that can be read in each fixture; text is given its unit by a command line. */
static void
test_fixtures(void)
{
    static const struct {
        const char *file;
        const char *cmdline; /* of text */
        guint threads, thread;
        int cpu;
        guint64 cycles;
        gint64 min, max; /* in the file's unit */
        double mean;
        gint64 unit_ns;
        guint64 overflows;
    } cases[] = {
        {"2.4/plain.json", NULL, 2, 0, 0, 500, 16, 302, 43.91, 1000, 0},
        {"2.4/plain.json", NULL, 2, 1, 1, 342, 16, 2677, 46.99, 1000, 0},
        {"2.4/hist.json", NULL, 2, 0, 0, 500, 16, 307, 28.58, 1000, 127},
        {"2.4/hist.json", NULL, 2, 1, 1, 500, 18, 78, 41.55, 1000, 409},
        {"2.4/ns-all-overflow.json", NULL, 1, 0, 0, 500, 15704, 73527, 24636.81, 1, 500},
        {"2.4/break.json", NULL, 1, 0, 0, 1, 51, 51, 51.00, 1000, 0},
        {"2.10/plain.json", NULL, 2, 0, -1, 500, 9, 100, 24.33, 1000, 0},
        {"2.10/plain.json", NULL, 2, 1, -1, 345, 13, 72, 21.20, 1000, 0},
        {"2.10/hist.json", NULL, 2, 0, -1, 500, 16, 121, 42.45, 1000, 382},
        {"2.10/hist.json", NULL, 2, 1, -1, 500, 15, 97, 30.33, 1000, 202},
        {"2.4/text-quiet.txt", "cyclictest -q", 2, 0, -1, 500, 16, 92, 35, 1000, 0},
        {"2.4/text-quiet.txt", "cyclictest -q", 2, 1, -1, 343, 17, 108, 42, 1000, 0},
        {"2.4/text-ns.txt", "cyclictest -q -N", 2, 0, -1, 500, 17777, 142196, 43572, 1, 0},
        {"2.4/text-ns.txt", "cyclictest -qN", 2, 1, -1, 344, 12045, 92084, 32335, 1, 0},
        {"2.4/text-refresh.txt", "cyclictest", 2, 0, -1, 300, 17, 110, 42, 1000, 0},
        {"2.4/text-refresh.txt", "cyclictest", 2, 1, -1, 203, 17, 92, 36, 1000, 0},
        {"2.4/hist-overflow.txt", "cyclictest -q -h 30", 2, 0, -1, 500, 17, 89, 40, 1000, 341},
        {"2.4/hist-overflow.txt", "cyclictest -q -h 30", 2, 1, -1, 500, 10, 65, 22, 1000, 77},
        {"2.4/break.txt", "cyclictest -b 40", 1, 0, -1, 1, 48, 48, 48, 1000, 0},
        {"2.10/text-quiet.txt", "cyclictest -q", 2, 0, -1, 500, 14, 120, 33, 1000, 0},
        {"2.10/text-quiet.txt", "cyclictest -q", 2, 1, -1, 343, 15, 108, 46, 1000, 0},
        {"2.10/text-ns.txt", "cyclictest --nsecs", 2, 0, -1, 500, 15518, 76841, 27562, 1, 0},
        {"2.10/text-ns.txt", "cyclictest --nsecs", 2, 1, -1, 345, 17198, 114501, 53524, 1, 0},
        {"2.10/hist-overflow.txt", "cyclictest -h30", 2, 0, -1, 500, 8, 75, 32, 1000, 227},
        {"2.10/hist-overflow.txt", "cyclictest -h30", 2, 1, -1, 500, 14, 101, 18, 1000, 5},
        {"2.10/break.txt", "cyclictest -b 40", 1, 0, -1, 1, 68, 68, 68, 1000, 0},
        {"1.5/hist-overflow.txt", "cyclictest -h 30", 2, 0, -1, 500, 17, 136, 35, 1000, 285},
        {"1.5/hist-overflow.txt", "cyclictest -h 30", 2, 1, -1, 500, 11, 92, 39, 1000, 293},
        {"1.5/text-refresh.txt", "cyclictest", 2, 0, -1, 300, 17, 83, 39, 1000, 0},
        {"1.5/text-refresh.txt", "cyclictest", 2, 1, -1, 208, 16, 74, 30, 1000, 0},
        {"1.5/break.txt", "cyclictest -b 40", 1, 0, -1, 5, 19, 42, 30, 1000, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ResLatency) c = load(cases[i].file);
        if (cases[i].cmdline != NULL) {
            g_assert_false(c->unit_known);
            g_assert_cmpint(thread_of(c, cases[i].thread)->max_ns, ==, cases[i].max);
            g_assert_true(res_cyclictest_set_cmdline(c, cases[i].cmdline, &error));
            g_assert_no_error(error);
        }
        const ResLatencyThread *t = thread_of(c, cases[i].thread);
        g_assert_true(c->unit_known);
        g_assert_cmpint(c->resolution_ns, ==, cases[i].unit_ns);
        g_assert_cmpuint(c->threads->len, ==, cases[i].threads);
        g_assert_cmpuint(t->thread, ==, cases[i].thread);
        g_assert_cmpint(t->cpu, ==, cases[i].cpu);
        g_assert_cmpuint(t->cycles, ==, cases[i].cycles);
        g_assert_cmpint(t->min_ns, ==, cases[i].min * cases[i].unit_ns);
        g_assert_cmpint(t->max_ns, ==, cases[i].max * cases[i].unit_ns);
        g_assert_cmpfloat_with_epsilon(t->mean_ns, cases[i].mean * (double)cases[i].unit_ns, 1e-6);
        g_assert_cmpuint(t->overflows, ==, cases[i].overflows);
        if (t->buckets->len > 0) {
            g_assert_cmpuint(in_buckets(t), ==, t->cycles - t->overflows);
        }
        g_assert_true(c->broken == (strstr(cases[i].file, "break") != NULL));
        if (c->broken) {
            g_assert_cmpint(c->break_value_ns, ==, t->max_ns);
            g_assert_true(noted(c, "not a clean run"));
        }
    }
}

static void
test_metadata(void)
{
    g_autoptr(ResLatency) old = load("2.4/plain.json");
    g_assert_true(g_str_has_prefix(old->cmdline, "/usr/bin/cyclictest -q -m -p 80"));
    g_assert_cmpstr(old->version, ==, "2.40");
    g_autoptr(ResLatency) text = load("2.10/text-quiet.txt");
    g_assert_cmpint(thread_of(text, 0)->priority, ==, 80);
    g_assert_cmpint(thread_of(text, 1)->interval_us, ==, 1500);
    g_assert_true(noted(text, "unit"));
    g_assert_cmpint(thread_of(old, 0)->priority, ==, -1);
}

static const char json_form[] =
    "{\"file_version\": 1, %s \"num_threads\": 1, \"thread\": {\"0\": {\"histogram\": {%s}, "
    "\"cycles\": %s, \"min\": %s, \"max\": %s, \"avg\": %s, \"cpu\": 3}}}";

static char *
make_json(const char *head, const char *histogram, const char *cycles, const char *min,
          const char *max, const char *avg)
{
    GString *s = g_string_new(json_form);
    const char *parts[] = {head, histogram, cycles, min, max, avg};
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_string_replace(s, "%s", parts[i], 1);
    }
    return g_string_free(s, FALSE);
}

/* F23: the colon in the key; F27: the unit, from the file and from the command line. */
static void
test_unit(void)
{
    static const struct {
        const char *head;
        gint64 unit_ns; /* 0: not known */
    } cases[] = {
        {"\"cmdline:\":\"cyclictest -q\",\"resolution_in_ns\":0,", 1000},
        {"\"cmdline\":\"cyclictest -q\",\"resolution_in_ns\":0,", 1000},
        {"\"cmdline\":\"cyclictest -q -N\",\"resolution_in_ns\":1,", 1},
        {"\"cmdline\":\"cyclictest -mN\",", 1},
        {"\"cmdline\":\"/usr/bin/cyclictest --nsecs\",", 1},
        {"\"cmdline\":\"cyclictest -q -p 80\",", 1000},
        {"\"cmdline\":\"oslat -c 1\",", 1000},
        {"\"cmdline\":\"sometool\",", 0},
        {"", 0},
        {"\"resolution_in_ns\":1,", 1},
        {"\"cmdline\":\"cyclictest -q\",\"resolution_in_ns\":1,", 0},
        {"\"cmdline\":\"cyclictest -N\",\"resolution_in_ns\":0,", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *json = make_json(cases[i].head, "", "10", "2", "61", "4.5");
        g_autoptr(ResLatency) c = parse_ok(json);
        g_assert_cmpint(c->unit_known, ==, cases[i].unit_ns != 0);
        g_assert_cmpint(thread_of(c, 0)->max_ns, ==, 61 * MAX(cases[i].unit_ns, 1));
        g_assert_true(c->unit_known || noted(c, "unit is not known"));
    }
    g_autofree char *odd = make_json("\"resolution_in_ns\": 1000,", "", "10", "2", "61", "4");
    assert_refused(odd, RES_LATENCY_ERROR_FORMAT, "resolution_in_ns is 1000");

    /* the same run in both units */
    g_autofree char *us =
        make_json("\"cmdline\":\"cyclictest\",\"resolution_in_ns\":0,", "", "10", "2", "61", "4");
    g_autofree char *ns = make_json("\"cmdline\":\"cyclictest -N\",\"resolution_in_ns\":1,", "",
                                    "10", "2100", "61603", "4100");
    g_autoptr(ResLatency) in_us = parse_ok(us);
    g_autoptr(ResLatency) in_ns = parse_ok(ns);
    g_assert_cmpint(thread_of(in_us, 0)->max_ns, ==, thread_of(in_ns, 0)->max_ns / 1000 * 1000);

    /* a command line told later may confirm, not contradict */
    g_autoptr(GError) error = NULL;
    g_assert_true(res_cyclictest_set_cmdline(in_ns, "cyclictest -N", &error));
    g_assert_false(res_cyclictest_set_cmdline(in_ns, "cyclictest", &error));
    g_assert_error(error, RES_LATENCY_ERROR, RES_LATENCY_ERROR_FORMAT);
}

/* F24: the thread's number is no latency, and the mean is weighted by samples. */
static void
test_two_threads(void)
{
    g_autoptr(ResLatency) c =
        parse_ok("T: 0 (11) P:80 I:1000 C: 300000 Min: 2 Act: 3 Avg: 3 Max: 9\n"
                 "[   12.5] T: 1 (12) P:80 I:1000 C: 100000 Min: 2 Act: 5 Avg: 7 Max: 2211\n");
    gint64 min, max;
    double mean;
    guint64 cycles;
    res_latency_overall(c, &min, &mean, &max, &cycles);
    g_assert_cmpint(max, ==, 2211);
    g_assert_cmpint(min, ==, 2);
    g_assert_cmpfloat(mean, ==, 4);
    g_assert_cmpuint(cycles, ==, 400000);
}

#define F25 "000004 000002\t000001\n000041 000000\t000001\n"
#define F25_FIGURES                                                                                \
    "# Min Latencies: 00004 00004\n# Avg Latencies: 00004 00022\n# Max Latencies: 00004 00041\n"

static void
test_histogram_text(void)
{
    g_autoptr(ResLatency) c = parse_ok(F25 "# Total: 000000002 000000002\n" F25_FIGURES "\n");
    const ResLatencyThread *a = thread_of(c, 0), *b = thread_of(c, 1);
    g_assert_cmpuint(c->threads->len, ==, 2);
    g_assert_cmpint(a->min_ns, ==, 4);
    g_assert_cmpint(b->min_ns, ==, 4);
    g_assert_cmpfloat(a->mean_ns, ==, 4);
    g_assert_cmpfloat(b->mean_ns, ==, 22);
    g_assert_cmpint(a->max_ns, ==, 4);
    g_assert_cmpint(b->max_ns, ==, 41); /* padded decimal, not octal */
    g_assert_cmpuint(a->cycles, ==, 2);
    g_assert_cmpuint(a->buckets->len, ==, 1);
    g_assert_cmpuint(b->buckets->len, ==, 2);

    /* the sum column of -H */
    g_autoptr(ResLatency) sums =
        parse_ok("000004 000002\t000001\t000003\n000041 000000\t000001\t000001\n"
                 "# Total: 000000002 000000002 000000004\n" F25_FIGURES);
    g_assert_cmpuint(sums->threads->len, ==, 2);
    g_assert_cmpuint(thread_of(sums, 1)->cycles, ==, 2);

    /* 2.10, everything beyond the histogram: no row at all */
    g_autoptr(ResLatency) beyond =
        parse_ok("# Histogram\n" F25_FIGURES "# Histogram Overflows: 00007 00009\n");
    g_assert_cmpuint(thread_of(beyond, 1)->overflows, ==, 9);
    g_assert_cmpuint(thread_of(beyond, 1)->cycles, ==, 9);

    static const struct {
        const char *text;
        int code;
        const char *says;
    } bad[] = {
        {F25, RES_LATENCY_ERROR_INCOMPLETE, "Min Latencies"},
        {F25 "# Min Latencies: 00004 00004\n", RES_LATENCY_ERROR_INCOMPLETE, "Avg Latencies"},
        {F25 "# Min Latencies: 00004 00004\n# Avg Latencies:\n", RES_LATENCY_ERROR_INCOMPLETE,
         "line 4: Avg Latencies has no figures"},
        {"000004 000002\t000001\n# Total: 000000002 000000002\n" F25_FIGURES,
         RES_LATENCY_ERROR_INCOMPLETE, "rows are missing"},
        {"000004 000002\t000001\n" F25_FIGURES, RES_LATENCY_ERROR_INCOMPLETE,
         "beyond the histogram's last row"},
        {"000004 000002\t000001\n000041 000000\n" F25_FIGURES, RES_LATENCY_ERROR_FORMAT, "line 2"},
        {"000004 000002\t000001\n000004 000000\t000001\n" F25_FIGURES, RES_LATENCY_ERROR_FORMAT,
         "line 2"},
        {"000004 -00002\t000001\n", RES_LATENCY_ERROR_FORMAT, "count is negative"},
        {"-1 000002\t000001\n", RES_LATENCY_ERROR_CLOCK, "latency -1"},
        {"000004 000002\n" F25_FIGURES, RES_LATENCY_ERROR_FORMAT, "1 columns"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        assert_refused(bad[i].text, bad[i].code, bad[i].says);
    }
}

/* F26: never a clean run, however it is told. */
static void
test_break(void)
{
    g_autoptr(ResLatency) text =
        parse_ok("T: 0 (7) P:80 I:1000 C: 1 Min: 75 Act: 75 Avg: 75 Max: 75\n"
                 "# Thread Ids: 7\n# Break thread: 7\n# Break value: 75\n");
    g_assert_true(text->broken);
    g_assert_cmpint(text->break_value_ns, ==, 75);
    g_assert_true(res_cyclictest_set_cmdline(text, "cyclictest -b 1 -l 5000", NULL));
    g_assert_cmpint(text->break_value_ns, ==, 75000);

    g_autofree char *json = make_json("\"cmdline\":\"cyclictest -b 1 -l 10000\",\"return_code\":0,",
                                      "", "1", "75", "75", "75");
    g_autoptr(ResLatency) c = parse_ok(json);
    g_assert_true(c->broken);
    g_assert_cmpint(c->break_value_ns, ==, 75000);
    static const struct {
        const char *head;
        gboolean broken;
    } cases[] = {
        {"\"cmdline\":\"cyclictest -b1000 -l 10\",", FALSE},
        {"\"cmdline\":\"cyclictest --breaktrace=50 -l 10\",", TRUE},
        {"\"cmdline\":\"cyclictest -b 1000 -l 10000\",", TRUE}, /* far too few cycles */
        {"\"cmdline\":\"cyclictest -mb 50 -N\",\"resolution_in_ns\":1,", TRUE},
        {"\"cmdline\":\"cyclictest -mb 100 -N\",\"resolution_in_ns\":1,", FALSE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text_json = make_json(cases[i].head, "", "10", "2", "75", "4");
        g_autoptr(ResLatency) run = parse_ok(text_json);
        g_assert_cmpint(run->broken, ==, cases[i].broken);
    }
}

/* F28, as far as the file tells. */
static void
test_asked_and_ran(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ResLatency) c =
        parse_ok("T: 0 (1) P:48 I:1000 C: 540000 Min: 2 Act: 3 Avg: 18 Max: 99\n"
                 "T: 1 (2) P:48 I:1500 C: 360000 Min: 2 Act: 5 Avg: 18 Max: 90\n");
    g_assert_true(
        res_cyclictest_set_cmdline(c, "cyclictest -t 2 -a 0 -p 98 -D 540 -h '' -q", &error));
    g_assert_no_error(error);
    g_assert_true(noted(c, "asked for priority 98, ran with 48"));
    g_assert_true(noted(c, "-h came without a value"));
    g_assert_false(noted(c, "text does not say"));
    static const char *const empty[] = {"-h  -q", "-q -h", "-h \\\"\\\" -q", "--histogram= -q",
                                        "-h -q"};
    for (gsize i = 0; i < G_N_ELEMENTS(empty); i++) {
        g_autofree char *head = g_strdup_printf("\"cmdline\":\"cyclictest %s\",", empty[i]);
        g_autofree char *json = make_json(head, "", "10", "2", "75", "4");
        g_autoptr(ResLatency) run = parse_ok(json);
        g_assert_true(noted(run, "-h came without a value"));
        g_assert_cmpuint(thread_of(run, 0)->overflows, ==, 0);
    }
    /* a file that was asked for more loops than it has */
    g_autofree char *cut = make_json("\"cmdline\":\"cyclictest -l 100\",", "", "10", "2", "9", "4");
    assert_refused(cut, RES_LATENCY_ERROR_INCOMPLETE, "10 of 100 loops");
    g_autofree char *failed = make_json("\"return_code\": 1,", "", "10", "2", "9", "4");
    assert_refused(failed, RES_LATENCY_ERROR_INCOMPLETE, "return_code 1");
    g_autoptr(ResLatency) shared =
        parse_ok("{\"num_threads\":2,\"thread\":{"
                 "\"0\":{\"cycles\":1,\"min\":1,\"max\":1,\"avg\":1,\"cpu\":0},"
                 "\"1\":{\"cycles\":1,\"min\":1,\"max\":1,\"avg\":1,\"cpu\":0}}}");
    g_assert_true(noted(shared, "threads 0 and 1 both ran on CPU 0"));
}

/* F30 */
static void
test_clock(void)
{
    static const char us[] = "\"cmdline\":\"cyclictest\",\"resolution_in_ns\":0,";
    static const struct {
        const char *histogram, *min, *max, *avg;
    } cases[] = {
        {"", "-3", "9", "4"},
        {"", "2", "18446744057004122648", "4"},
        {"", "2", "99999999999999999999999", "4"},
        {"", "2", "9223372036854775807", "4"},
        {"", "2", "4294967293", "4"}, /* 32 bits wrapped */
        {"", "2", "9", "-1.5"},
        {"\"-1\": 2, \"5\": 3", "2", "9", "4"},
        {"\"18446744073709551615\": 2", "2", "9", "4"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *json =
            make_json(us, cases[i].histogram, "10", cases[i].min, cases[i].max, cases[i].avg);
        assert_refused(json, RES_LATENCY_ERROR_CLOCK, "thread 0 (CPU 3)");
    }
    assert_refused("T: 0 (11) P:80 I:1000 C: 30 Min: -3 Act: 3 Avg: 3 Max: 9\n",
                   RES_LATENCY_ERROR_CLOCK, "thread 0 (CPU not said): the minimum -3");
}

static void
test_incomplete(void)
{
    /* cut anywhere, JSON is never taken for whole */
    g_autofree char *json = read_fixture("2.10/hist.json");
    gsize len = strlen(json);
    while (json[len - 1] != '}') {
        len--;
    }
    for (gsize cut = 0; cut < len; cut += 7) {
        g_autoptr(GError) error = NULL;
        g_assert_null(res_cyclictest_parse(json, cut, &error));
        g_assert_error(error, RES_LATENCY_ERROR, RES_LATENCY_ERROR_INCOMPLETE);
    }
    assert_refused("", RES_LATENCY_ERROR_INCOMPLETE, "empty");
    assert_refused("# /dev/cpu_dma_latency set to 0us\n", RES_LATENCY_ERROR_INCOMPLETE, "neither");
    assert_refused("T: 0 (11) P:80 I:1000 C: 30 Min: 2 Act: 3 Avg: 3 Max: 9",
                   RES_LATENCY_ERROR_INCOMPLETE, "middle of line 1");
    assert_refused("T: 0 (11) P:80 I:1000 C: 30 Min: 2 Act: 3 Avg: 3\n", RES_LATENCY_ERROR_FORMAT,
                   "line 1: not a whole T: line");
    assert_refused("T: 0 (11) P:80 I:1000 C: 0 Min: 1000000 Act: 0 Avg: 0 Max: 0\n",
                   RES_LATENCY_ERROR_INCOMPLETE, "took no sample");
    assert_refused("T: 1 (11) P:80 I:1000 C: 30 Min: 2 Act: 3 Avg: 3 Max: 9\n",
                   RES_LATENCY_ERROR_FORMAT, "before this one is missing");
    /* the last block of a refreshed screen lacks its second line */
    g_autofree char *refresh = read_fixture("2.4/text-refresh.txt");
    char *last = g_strrstr(refresh, "T: 1");
    *last = '\0';
    assert_refused(refresh, RES_LATENCY_ERROR_INCOMPLETE, "thread 1 has");

    static const char *const bad[][2] = {
        {"{\"num_threads\":1}", "\"thread\" is missing"},
        {"{\"num_threads\":2,\"thread\":{\"0\":{}}}", "num_threads is 2, but there are 1"},
        {"{\"num_threads\":1,\"thread\":{\"1\":{}}}", "thread 0 is missing"},
        {"{\"num_threads\":1,\"thread\":{\"0\":{\"min\":1,\"max\":2,\"avg\":1}}}",
         "cycles is missing"},
        {"{\"num_threads\":1,\"thread\":{\"0\":{\"min\":1,\"max\":null,\"avg\":1}}}",
         "max is missing"},
        {"{\"num_threads\":1,\"thread\":{\"0\":{\"cycles\":1,\"min\":1,\"max\":2}}}",
         "avg is missing"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        assert_refused(bad[i][0], RES_LATENCY_ERROR_INCOMPLETE, bad[i][1]);
    }
    g_autofree char *order = make_json("", "", "10", "9", "2", "4");
    assert_refused(order, RES_LATENCY_ERROR_FORMAT, "not in order");
    g_autofree char *many = make_json("", "\"3\": 11", "10", "2", "9", "4");
    assert_refused(many, RES_LATENCY_ERROR_FORMAT, "more than the 10 cycles");
    g_autofree char *type = make_json("", "", "10", "\"2\"", "9", "4");
    assert_refused(type, RES_LATENCY_ERROR_FORMAT, "min must be a whole number");
    g_autofree char *huge = g_strnfill(RES_CYCLICTEST_MAX + 1, ' ');
    assert_refused(huge, RES_LATENCY_ERROR_FORMAT, "more than the");
}

static void
test_quantile(void)
{
    g_autofree char *json = make_json("\"cmdline\":\"cyclictest -h 10\",\"resolution_in_ns\":0,",
                                      "\"2\": 50, \"3\": 40, \"7\": 5", "100", "2", "30", "4");
    g_autoptr(ResLatency) c = parse_ok(json);
    const ResLatencyThread *t = thread_of(c, 0);
    gint64 latency = 0;
    static const struct {
        double q;
        gint64 ns;
        gboolean inside;
    } cases[] = {{0.01, 2000, TRUE}, {0.5, 2000, TRUE},   {0.51, 3000, TRUE}, {0.9, 3000, TRUE},
                 {0.95, 7000, TRUE}, {0.96, 7000, FALSE}, {1, 7000, FALSE},   {0, 0, FALSE}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpint(res_latency_quantile(t, cases[i].q, &latency), ==, cases[i].inside);
        g_assert_cmpint(latency, ==, cases[i].ns);
    }
    g_autoptr(ResLatency) none = load("2.4/plain.json");
    g_assert_false(res_latency_quantile(thread_of(none, 0), 0.5, &latency));
    g_autoptr(ResLatency) beyond = load("2.4/ns-all-overflow.json");
    g_assert_false(res_latency_quantile(thread_of(beyond, 0), 0.5, &latency));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cyclictest/fixtures", test_fixtures);
    g_test_add_func("/cyclictest/metadata", test_metadata);
    g_test_add_func("/cyclictest/unit", test_unit);
    g_test_add_func("/cyclictest/two-threads", test_two_threads);
    g_test_add_func("/cyclictest/histogram-text", test_histogram_text);
    g_test_add_func("/cyclictest/break", test_break);
    g_test_add_func("/cyclictest/asked-and-ran", test_asked_and_ran);
    g_test_add_func("/cyclictest/clock", test_clock);
    g_test_add_func("/cyclictest/incomplete", test_incomplete);
    g_test_add_func("/cyclictest/quantile", test_quantile);
    return g_test_run();
}
