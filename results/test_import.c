/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which reader takes a file, what logs put around it, oslat, rtla and rteval. */
#include "results/import.h"

#include <string.h>

#define FIXTURES "results/fixtures/"

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
import_bytes(const char *text, gsize len, const char *command, const char **tool, GError **error)
{
    g_autoptr(ResSource) source = res_source_from_memory(text, len);
    return res_import_read(source, command, tool, error);
}

static ResLatency *
import_ok(const char *text, const char *command, const char *expected)
{
    g_autoptr(GError) error = NULL;
    const char *tool = NULL;
    ResLatency *c = import_bytes(text, strlen(text), command, &tool, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(tool, ==, expected);
    g_assert_cmpstr(c->tool, ==, expected);
    return c;
}

static void
assert_refused(const char *text, gsize len, const char *tool_expected, int code, const char *says)
{
    g_autoptr(GError) error = NULL;
    const char *tool = NULL;
    g_assert_null(import_bytes(text, len, NULL, &tool, &error));
    g_assert_nonnull(error);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
    if (!g_error_matches(error, RES_LATENCY_ERROR, code) || strstr(error->message, says) == NULL) {
        g_error("\"%s\" (code %d) is not code %d saying \"%s\"", error->message, error->code, code,
                says);
    }
    g_assert_cmpstr(tool, ==, tool_expected);
}

static gboolean
noted(const GPtrArray *notes, const char *part)
{
    for (guint i = 0; i < notes->len; i++) {
        if (strstr(g_ptr_array_index(notes, i), part) != NULL) {
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

/* Nobody's files, each with the way out. */
static void
test_strangers(void)
{
    static const struct {
        const char *text;
        gsize len;
        const char *says;
    } cases[] = {
        {"", 0, "empty"},
        {" \n\t\n", 4, "empty"},
        {"\x1f\x8b\x08\0", 4, "gunzip"},
        {"\xfd\x37zXZ\0", 6, "unxz"},
        {"\xff\xfeT\0:\0", 6, "UTF-16"},
        {"\x7f"
         "ELF\2\1",
         6, "a program"},
        {"abc\0def\n", 8, "a binary file"},
        {"\n<!doctype HTML>\n<html>", 23, "an HTML page"},
        {"<html></html>", 13, "an HTML page"},
        {"<feed></feed>", 13, "whose root is <feed>"},
        {"<\x01\x02", 3, "line 1"},
        {"{\"a\": 1}", 8, "JSON, but neither"},
        {"hello\n", 6, "none of them"},
        {"hello", 5, "middle of line 1"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        gboolean cut = strstr(cases[i].says, "middle") != NULL;
        assert_refused(cases[i].text, cases[i].len, NULL,
                       cut ? RES_LATENCY_ERROR_INCOMPLETE : RES_LATENCY_ERROR_FOREIGN,
                       cases[i].says);
    }
}

static char *
wrap_lines(const char *text, const char *before, const char *after)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GString *out = g_string_new(NULL);
    for (guint i = 0; lines[i] != NULL && (lines[i + 1] != NULL || lines[i][0] != '\0'); i++) {
        g_string_append_printf(out, "%s%s%s\n", before, lines[i], after);
    }
    return g_string_free(out, FALSE);
}

/* The same figures out of every log. */
static void
test_logs(void)
{
    static const struct {
        const char *before, *after;
    } logs[] = {
        {"", "\r"},
        {"2026-11-30T23:55:41.1234567Z ", ""},
        {"2026-11-30T23:55:41.123456Z 00O ", ""},
        {"[2026-11-30T23:55:41.123Z] ", ""},
        {"2026-11-30 23:55:41,123 ", ""},
        {"23:55:41 ", "\r"},
        {"[23:55:41.5] ", ""},
        {"[   12.345678] ", ""},
        {"[2026-11-30T23:55:41Z] [   12.345678] ", ""},
        {"Nov 30 23:55:41 lab3 cyclictest[123]: ", ""},
        {"2026-11-30T23:55:41+0000 lab3 cyclictest[123]: ", ""},
        {"\033[0m\033[1;32m", "\033[0m\033[K"},
        {"\033]0;title\007", ""},
        {"downloading 10%\rdownloading 100%\r", ""},
    };
    static const struct {
        const char *file, *command, *tool;
    } files[] = {{"cyclictest/2.4/text-quiet.txt", "cyclictest -q", "cyclictest"},
                 {"cyclictest/2.10/hist-overflow.txt", "cyclictest -q -h 30", "cyclictest"},
                 {"cyclictest/1.5/hist-overflow.txt", "cyclictest -q -h 30", "cyclictest"},
                 {"oslat/two-cpus.txt", NULL, "oslat"},
                 {"rtla/timerlat.txt", NULL, "rtla"}};
    for (gsize f = 0; f < G_N_ELEMENTS(files); f++) {
        g_autofree char *text = read_fixture(files[f].file);
        g_autoptr(ResLatency) plain = import_ok(text, files[f].command, files[f].tool);
        for (gsize i = 0; i < G_N_ELEMENTS(logs); i++) {
            g_autofree char *log = wrap_lines(text, logs[i].before, logs[i].after);
            g_autofree char *noisy =
                g_strdup_printf("Starting job\n%sexit code 0\ntotal: 12 of 34\n", log);
            g_autoptr(ResLatency) c = import_ok(noisy, files[f].command, files[f].tool);
            g_assert_cmpuint(c->threads->len, ==, plain->threads->len);
            for (guint t = 0; t < c->threads->len; t++) {
                const ResLatencyThread *a = thread_of(plain, t), *b = thread_of(c, t);
                g_assert_cmpint(a->min_ns, ==, b->min_ns);
                g_assert_cmpint(a->max_ns, ==, b->max_ns);
                g_assert_cmpfloat(a->mean_ns, ==, b->mean_ns);
                g_assert_cmpuint(a->cycles, ==, b->cycles);
                g_assert_cmpuint(a->overflows, ==, b->overflows);
                g_assert_cmpuint(a->buckets->len, ==, b->buckets->len);
                g_assert_cmpint(a->cpu, ==, b->cpu);
            }
        }
    }
}

#define T_LINE "T: 0 (11) P:80 I:1000 C: 300 Min: 2 Act: 3 Avg: 3 Max: 9\n"

/* A command line in the log settles the unit; two of them don't. */
static void
test_command(void)
{
    static const struct {
        const char *before;
        gint64 unit_ns; /* 0: not known */
    } cases[] = {
        {"+ cyclictest -q -m\n", 1000},
        {"++ sudo taskset -c 1 /usr/bin/cyclictest -q -N 2>&1 | tee log\n", 1},
        {"root@lab3:~# cyclictest --nsecs -q\n", 1},
        {"[user@lab3 ~]$ chrt -f 95 cyclictest -q\n", 1000},
        {"$ cyclictest -qN > out.txt\n", 1},
        {"2026-11-30T23:55:41Z + cyclictest -q\n2026-11-30T23:55:41Z + cyclictest -q\n", 1000},
        {"+ cyclictest -q\n+ cyclictest -q -N\n", 0},
        {"we ran cyclictest -N yesterday\n", 0},
        {"# see cyclictest -N for nanoseconds\n", 0},
        {"", 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strconcat(cases[i].before, T_LINE, NULL);
        g_autoptr(ResLatency) c = import_ok(text, NULL, "cyclictest");
        if (c->unit_known != (cases[i].unit_ns != 0)) {
            g_error("unit of \"%s\"", cases[i].before);
        }
        g_assert_cmpint(thread_of(c, 0)->max_ns, ==, 9 * MAX(cases[i].unit_ns, 1));
    }
    /* what the user says must not contradict it */
    g_autoptr(GError) error = NULL;
    const char *tool = NULL;
    static const char log[] = "+ cyclictest -q -N\n" T_LINE;
    g_assert_null(import_bytes(log, strlen(log), "cyclictest -q", &tool, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
}

/* One file, one run; and what is wrong is told with its line and text. */
static void
test_one_run(void)
{
    static const struct {
        const char *text, *tool;
        int code;
        const char *says;
    } cases[] = {
        {T_LINE "T: 0 (12) P:80 I:1000 C: 100 Min: 2 Act: 3 Avg: 3 Max: 9\n", "cyclictest",
         RES_LATENCY_ERROR_INCOMPLETE, "line 2: thread 0 falls back from 300 cycles"},
        {T_LINE "oslat V 2.40\n", "cyclictest", RES_LATENCY_ERROR_INCOMPLETE,
         "line 2: output of oslat begins"},
        {T_LINE "T: 1 (12) P:80 I:10\n" T_LINE "\n T: 1 Min: 3", "cyclictest",
         RES_LATENCY_ERROR_INCOMPLETE, "middle of line 5"},
        {"x\nT: 0 (12) P:80 I:10 C: 7 Min: \033[31mnan\033[0m Act: 2 Avg: 2 Max: 2\n", "cyclictest",
         RES_LATENCY_ERROR_FORMAT,
         "line 2: not a whole T: line (T: C: Min: Act: Avg: Max: with numbers): \"T: 0 (12) P:80 "
         "I:10 C: 7 Min: nan"},
        {"T: 0 (1) P:80 I:1000 C: 3 Min: 2 Act: 3 Avg: inf Max: 9\n", "cyclictest",
         RES_LATENCY_ERROR_FORMAT, "line 1: not a whole T: line"},
        {"T: 0 (1) P:80 I:1000 C: 3 Min: 2 Act: 3 Avg: 3 Max: 18446744073709551613\n", "cyclictest",
         RES_LATENCY_ERROR_CLOCK, "the maximum -3 is negative or wrapped"},
        {"000004 000002\t000001\n000041 000000\t000001\n# Min Latencies: 00004 00004\n"
         "# Avg Latencies: 00004 00022\n# Max Latencies: 00004 00041\n"
         "# Min Latencies: 00004 00004\n",
         "cyclictest", RES_LATENCY_ERROR_INCOMPLETE, "another run begins"},
        /* 2.10 prints no "# Total"; a lost row is found by the figures */
        {"000004 000002\n000007 000001\n# Min Latencies: 00004\n# Avg Latencies: 00013\n"
         "# Max Latencies: 00041\n# Histogram Overflows: 00000\n",
         "cyclictest", RES_LATENCY_ERROR_INCOMPLETE, "rows are missing"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].tool, cases[i].code,
                       cases[i].says);
    }
}

/* F29, and that both forms of one run say the same. */
static void
test_oslat(void)
{
    static const char *const files[] = {"oslat/two-cpus.txt", "oslat/two-cpus.json"};
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *text = read_fixture(files[i]);
        g_autoptr(ResLatency) c = import_ok(text, NULL, "oslat");
        const ResLatencyThread *a = thread_of(c, 0), *b = thread_of(c, 1);
        gint64 min, max, at = 0;
        double mean;
        guint64 cycles;
        res_latency_overall(c, &min, &mean, &max, &cycles);
        g_assert_cmpint(max, ==, 40015000);
        g_assert_cmpint(a->max_ns, ==, 12081000);
        g_assert_cmpint(b->max_ns, ==, 40015000);
        g_assert_cmpint(a->min_ns, ==, 1000);
        g_assert_cmpint(a->cpu, ==, 0);
        g_assert_cmpint(b->cpu, ==, 1);
        g_assert_cmpfloat_with_epsilon(a->mean_ns, 1022, 0.2);
        g_assert_true(b->mean_doubtful);
        g_assert_cmpuint(a->overflows, ==, 379); /* "032 (us)" is 32 or more */
        g_assert_cmpuint(b->overflows, ==, 456);
        g_assert_cmpuint(a->buckets->len, ==, 31);
        g_assert_true(res_latency_quantile(a, 0.99, &at));
        g_assert_cmpint(at, ==, 1000);
        g_assert_false(res_latency_quantile(a, 1, &at));
        g_assert_cmpstr(c->version, ==, "2.40");
    }
    g_autofree char *bias = read_fixture("oslat/bias.txt");
    g_autoptr(ResLatency) c = import_ok(bias, NULL, "oslat");
    g_assert_cmpuint(thread_of(c, 0)->overflows, ==, 1072);
    g_autofree char *threshold = read_fixture("oslat/threshold.txt");
    assert_refused(threshold, strlen(threshold), "oslat", RES_LATENCY_ERROR_INCOMPLETE,
                   "Trace threshold (5 us) triggered on cpu 0");

    static const char huge[] =
        "{\"cmdline\":\"oslat\",\"num_threads\":1,\"thread\":{\"0\":{\"cpu\":3,"
        "\"min\":72222222222222221,\"avg\":1,\"max\":9,\"histogram\":{\"1\":4}}}}";
    assert_refused(huge, strlen(huge), "oslat", RES_LATENCY_ERROR_CLOCK, "thread 0 (CPU 3)");
    static const char latin1[] = "oslat: Trace threshold (5 us) on cpu 0 \xb1\n";
    assert_refused(latin1, strlen(latin1), "oslat", RES_LATENCY_ERROR_INCOMPLETE, "threshold -T");

    /* with -W 100 the figures of JSON are ns, though the histogram is us */
    static const char fine[] =
        "{\"cmdline\":\"oslat -W 100 -b 8\",\"num_threads\":1,\"thread\":{\"0\":{\"cpu\":3,"
        "\"min\":71,\"avg\":0.104,\"max\":40012,\"duration\":1.0,"
        "\"histogram\":{\"0.100\":90,\"0.200\":9,\"0.800\":1}}}}";
    g_autoptr(ResLatency) ns = import_ok(fine, NULL, "oslat");
    g_assert_cmpint(thread_of(ns, 0)->max_ns, ==, 40012);
    g_assert_cmpfloat(thread_of(ns, 0)->mean_ns, ==, 104);
    g_assert_cmpuint(thread_of(ns, 0)->overflows, ==, 1);
    g_assert_cmpint(g_array_index(thread_of(ns, 0)->buckets, ResLatencyBucket, 1).latency_ns, ==,
                    200);

    g_autofree char *text = read_fixture("oslat/two-cpus.txt");
    char *cut = strstr(text, "     Maximum:");
    *cut = '\0';
    assert_refused(text, strlen(text), "oslat", RES_LATENCY_ERROR_INCOMPLETE,
                   "without its \"Maximum:\"");
    static const char short_row[] =
        "        Core:\t 0 1\nCounter Freq:\t 2304 2304 (Mhz)\n    001 (us):\t 5\n";
    assert_refused(short_row, strlen(short_row), "oslat", RES_LATENCY_ERROR_INCOMPLETE,
                   "line 3: 1 figures for 2 CPUs");
    static const char wrapped[] = "oslat V 1\n    001 (us):\t 5\n     Minimum:\t 1 (us)\n"
                                  "     Maximum:\t 18446744073709551615 (us)\n";
    assert_refused(wrapped, strlen(wrapped), "oslat", RES_LATENCY_ERROR_CLOCK, "the maximum");
}

static void
test_rtla(void)
{
    g_autofree char *text = read_fixture("rtla/timerlat.txt");
    g_autoptr(ResLatency) c = import_ok(text, NULL, "rtla");
    g_assert_cmpuint(c->threads->len, ==, 6);
    const ResLatencyThread *user = thread_of(c, 5);
    g_assert_cmpstr(user->series, ==, "timerlat.user");
    g_assert_cmpint(user->cpu, ==, 2);
    g_assert_cmpint(user->max_ns, ==, 282000);
    g_assert_cmpuint(user->overflows, ==, 2);
    g_assert_cmpuint(user->cycles, ==, 60001);
    g_autofree char *old = read_fixture("rtla/timerlat-5.17.txt");
    g_autoptr(ResLatency) second = import_ok(old, NULL, "rtla");
    g_assert_cmpuint(second->threads->len, ==, 4);
    g_assert_cmpint(thread_of(second, 3)->max_ns, ==, 6000);
    g_autofree char *stop = read_fixture("rtla/timerlat-stop.txt");
    g_autoptr(ResLatency) stopped = import_ok(stop, NULL, "rtla");
    g_assert_true(stopped->broken);
    g_assert_cmpuint(stopped->threads->len, ==, 2);
    g_assert_true(noted(stopped->notes, "no sample of timerlat.user"));
    g_autofree char *noise = read_fixture("rtla/osnoise-ns.txt");
    g_autoptr(ResLatency) ns = import_ok(noise, NULL, "rtla");
    g_assert_cmpstr(thread_of(ns, 0)->series, ==, "osnoise");
    g_assert_cmpint(thread_of(ns, 0)->max_ns, ==, 41000);
    g_assert_cmpint(thread_of(ns, 1)->cpu, ==, 3);

    static const struct {
        const char *remove, *put; /* in timerlat-5.17.txt */
        int code;
        const char *says;
    } cases[] = {
        {"2             6      2931         0      2695\n", "", RES_LATENCY_ERROR_INCOMPLETE,
         "CPU 0, timerlat.irq: the histogram holds 59995 samples, its summary counts 60001"},
        {"0         2         0         5\n6", "0         2         0\n6",
         RES_LATENCY_ERROR_INCOMPLETE, "line 10: 3 figures for 4 columns: \"5             0"},
        {"2931", "XXXX", RES_LATENCY_ERROR_FORMAT, "line 7: not a row of counts"},
        {"2931", "-931", RES_LATENCY_ERROR_FORMAT, "line 7: not a row of counts"},
        {"max:          3", "max: 18446744073709551610", RES_LATENCY_ERROR_CLOCK, "(CPU 0)"},
        {"avg:          0", "avg:        nan", RES_LATENCY_ERROR_CLOCK, "(CPU 0)"},
        {"(us)", "(ms)", RES_LATENCY_ERROR_INCOMPLETE, "line 2: a unit that is not known"},
        {"over:", "#", RES_LATENCY_ERROR_INCOMPLETE, "without its \"over:\""},
        {"max:          3         5         1         6\n", "", RES_LATENCY_ERROR_INCOMPLETE,
         "without its \"max:\""},
        {"Index   IRQ-000", "Index   FOO-000", RES_LATENCY_ERROR_FORMAT, "not a head of columns"},
        {"# Duration", "# RTLA timerlat histogram", RES_LATENCY_ERROR_INCOMPLETE,
         "another run begins"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) bad = g_string_new(old);
        g_assert_cmpuint(g_string_replace(bad, cases[i].remove, cases[i].put, 1), ==, 1);
        assert_refused(bad->str, bad->len, "rtla", cases[i].code, cases[i].says);
    }
    /* --no-summary */
    g_autoptr(GString) bare = g_string_new(old);
    g_string_truncate(bare, (gsize)(strstr(bare->str, "count:") - bare->str));
    g_autoptr(ResLatency) none = import_ok(bare->str, NULL, "rtla");
    g_assert_cmpint(thread_of(none, 3)->max_ns, ==, 6000);
    g_assert_true(noted(none->notes, "there is no summary"));
    g_string_replace(bare, "over:         0", "over:         7", 1);
    assert_refused(bare->str, bare->len, "rtla", RES_LATENCY_ERROR_INCOMPLETE,
                   "the maximum is not known");
    g_autoptr(GString) unitless = g_string_new(old);
    g_string_replace(unitless, "# Time unit is microseconds (us)\n", "", 1);
    g_autoptr(ResLatency) unknown = import_ok(unitless->str, NULL, "rtla");
    g_assert_false(unknown->unit_known);
}

static void
test_rteval(void)
{
    g_autofree char *text = read_fixture("rteval/summary.xml");
    g_autoptr(ResLatency) c = import_ok(text, NULL, "rteval");
    g_assert_cmpuint(c->threads->len, ==, 2);
    const ResLatencyThread *b = thread_of(c, 1);
    g_assert_cmpstr(b->series, ==, "cyclictest");
    g_assert_cmpint(b->cpu, ==, 1);
    g_assert_cmpint(b->priority, ==, 95);
    g_assert_cmpint(b->min_ns, ==, 2000);
    g_assert_cmpint(b->max_ns, ==, 40000);
    g_assert_cmpuint(b->cycles, ==, 500);
    g_assert_cmpuint(b->buckets->len, ==, 3);
    g_assert_cmpstr(c->version, ==, "3.7");
    static const char *const facts[][2] = {
        {"kernel.release", "6.1.0-rt-amd64"},
        {"kernel.realtime", "1"},
        {"machine.name", "lab3"},
        {"clocksource", "tsc"},
        {"kernel.cmdline", "BOOT_IMAGE=/vmlinuz ro nohz_full=1 isolcpus=1"}};
    for (gsize i = 0; i < G_N_ELEMENTS(facts); i++) {
        g_assert_cmpstr(g_hash_table_lookup(c->environment, facts[i][0]), ==, facts[i][1]);
    }
    static const struct {
        const char *remove, *put;
        int code;
        const char *says;
    } cases[] = {
        {"<rteval version", "<!DOCTYPE rteval [<!ENTITY a \"aaaa\">]><rteval version",
         RES_LATENCY_ERROR_FORMAT, "a DOCTYPE"},
        {"lab3", "&lab;", RES_LATENCY_ERROR_FORMAT, "line 13"},
        {"<maximum unit=\"us\">10<", "<maximum unit=\"us\">NaN<", RES_LATENCY_ERROR_INCOMPLETE,
         "maximum \"NaN\" is not a number"},
        {"<mean unit=\"us\">3.693", "<mean unit=\"us\">nan", RES_LATENCY_ERROR_CLOCK, "(CPU 0)"},
        {"<minimum unit=\"us\">3<", "<minimum unit=\"us\">-3<", RES_LATENCY_ERROR_CLOCK,
         "thread 0 (CPU 0): the minimum -3"},
        {"<minimum unit=\"us\">3<", "<minimum unit=\"ms\">3<", RES_LATENCY_ERROR_INCOMPLETE,
         "the unit \"ms\" is not known"},
        {"<minimum unit=\"us\">3<", "<minimum>3<", RES_LATENCY_ERROR_INCOMPLETE,
         "the unit \"\" is not known"},
        {"-qmu", "-qmuN", RES_LATENCY_ERROR_INCOMPLETE, "the command line says ns"},
        {"<bucket index=\"10\" value=\"99\"/>\n        </histogram>\n      </core>",
         "</histogram></core>", RES_LATENCY_ERROR_INCOMPLETE, "holds 901 of 1000 samples"},
        {"<samples>500", "<samples>501", RES_LATENCY_ERROR_INCOMPLETE, "of 501 samples"},
        {"<samples>1500", "<samples>1501", RES_LATENCY_ERROR_INCOMPLETE, "the system 1501"},
        {"</rteval>", "", RES_LATENCY_ERROR_INCOMPLETE, "line"},
        {"<core id=\"0\"", "<core id=\"x\"", RES_LATENCY_ERROR_INCOMPLETE, "without its number"},
        {"<maximum unit=\"us\">10</maximum>", "", RES_LATENCY_ERROR_INCOMPLETE,
         "core 0 lacks figures"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) bad = g_string_new(text);
        g_assert_cmpuint(g_string_replace(bad, cases[i].remove, cases[i].put, 1), ==, 1);
        assert_refused(bad->str, bad->len, "rteval", cases[i].code, cases[i].says);
    }
    g_autoptr(GString) broken = g_string_new(text);
    g_string_replace(broken, "      <system desc",
                     "<abort_report reason=\"breaktrace\"><breaktrace latency_threshold=\"50\"/>"
                     "</abort_report><system desc",
                     1);
    g_autoptr(ResLatency) stopped = import_ok(broken->str, NULL, "rteval");
    g_assert_true(stopped->broken);
    /* cut anywhere, it is never taken for whole */
    gsize len = strlen(text);
    for (gsize cut = 60; cut + 11 < len; cut += 97) {
        g_autoptr(GError) error = NULL;
        const char *tool = NULL;
        g_assert_null(import_bytes(text, cut, NULL, &tool, &error));
        g_assert_nonnull(error);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/strangers", test_strangers);
    g_test_add_func("/import/logs", test_logs);
    g_test_add_func("/import/command", test_command);
    g_test_add_func("/import/one-run", test_one_run);
    g_test_add_func("/import/oslat", test_oslat);
    g_test_add_func("/import/rtla", test_rtla);
    g_test_add_func("/import/rteval", test_rteval);
    return g_test_run();
}
