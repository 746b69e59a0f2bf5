/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/report.h"

#include <string.h>

#include "guest/report.h"

#define START "nohzlab-report 1\n"

static const char whole[] = START "fact kernel.release 6.1.0-57-cloud-amd64\n"
                                  "fact cmdline console=ttyS0 nohz_full=1-3%0A100%25\n"
                                  "fact sysfs.isolated %\n"
                                  "fact kmsg NO_HZ: Full dynticks CPUs: 1-3.\n"
                                  "fact kmsg second\n"
                                  "barrier ready\n"
                                  "barrier begin:invalid\n"
                                  "begin invalid\n"
                                  "barrier end:invalid\n"
                                  "batch invalid 1 0 warmup 200 106300\n"
                                  "batch invalid 1 0 measure 200 106213\n"
                                  "value steady 1\n"
                                  "value offset -0.25\n"
                                  "fact loc.invalid.1.before 92\n"
                                  "text two words\n"
                                  "text %\n"
                                  "part a\n"
                                  "part b%C3\n"
                                  "text %A9%00%FF\n"
                                  "cut output\n"
                                  "file a.json\n"
                                  "text {\n"
                                  "text   %22x%22:%091%00%FF\n"
                                  "cut a.json\n"
                                  "file empty\n"
                                  "done invalid 0\n"
                                  "begin second\n"
                                  "done second 124\n"
                                  "barrier end\n"
                                  "end 30\n";

static void
note_barrier(const char *name, gpointer data)
{
    g_string_append_printf(data, "%s ", name);
}

static void
check_whole(const ResReport *r, const GString *barriers)
{
    const GPtrArray *workloads = res_report_workloads(r);
    const ResWorkload *w = workloads->pdata[0];
    const ResBatch *b = &g_array_index(w->batches, ResBatch, 1);
    const ResFile *f = w->files->pdata[0];

    g_assert_cmpstr(barriers->str, ==, "ready begin:invalid end:invalid end ");
    g_assert_cmpuint(workloads->len, ==, 2);
    g_assert_cmpuint(w->batches->len, ==, 2);
    g_assert_cmpstr(b->loop, ==, "invalid");
    g_assert_cmpuint(b->cpu, ==, 1);
    g_assert_cmpuint(b->index, ==, 0);
    g_assert_true(b->measured);
    g_assert_false(g_array_index(w->batches, ResBatch, 0).measured);
    g_assert_cmpuint(b->calls, ==, 200);
    g_assert_cmpuint(b->ticks, ==, 106213);
    g_assert_cmpfloat(*(double *)g_hash_table_lookup(w->values, "steady"), ==, 1);
    g_assert_cmpfloat(*(double *)g_hash_table_lookup(w->values, "offset"), ==, -0.25);
    g_assert_cmpstr(w->output->str, ==, "two words\n\nab\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\n");
    g_assert_true(w->output_cut);
    g_assert_cmpint(w->status, ==, 0);
    g_assert_cmpuint(w->files->len, ==, 2);
    g_assert_cmpstr(f->name, ==, "a.json");
    g_assert_true(f->cut);
    g_assert_cmpmem(f->content->str, f->content->len, "{\n  \"x\":\t1\0\xff\n", 13);
    f = w->files->pdata[1];
    g_assert_cmpuint(f->content->len, ==, 0);
    g_assert_false(f->cut);
    w = workloads->pdata[1];
    g_assert_cmpint(w->status, ==, BM_STATUS_TIMEOUT);

    g_assert_cmpstr(res_report_fact(r, "cmdline"), ==, "console=ttyS0 nohz_full=1-3\n100%");
    g_assert_cmpstr(res_report_fact(r, "sysfs.isolated"), ==, "");
    g_assert_null(res_report_fact(r, "sysfs.nohz_full"));
    g_assert_cmpuint(res_report_facts(r, "sysfs.nohz_full")->len, ==, 0);
    g_assert_cmpuint(res_report_facts(r, "kmsg")->len, ==, 2);
    g_assert_cmpstr(res_report_fact(r, "kmsg"), ==, "second");
    g_assert_cmpuint(g_hash_table_size(res_report_all_facts(r)), ==, 5);
    g_assert_null(res_report_failure(r));
    g_assert_cmpstr(res_report_raw(r)->str, ==, whole);
}

/* However the bytes are cut up on the way, the result is the same. */
static void
test_whole(void)
{
    for (gsize step = 1; step < sizeof whole; step = step * 3 + 1) {
        g_autoptr(GString) barriers = g_string_new(NULL);
        g_autoptr(ResReport) r = res_report_new(note_barrier, barriers);
        g_autoptr(GError) error = NULL;

        for (gsize at = 0; at < sizeof whole - 1; at += step) {
            g_assert_false(res_report_ended(r));
            res_report_feed(r, whole + at, MIN(step, sizeof whole - 1 - at), &error);
            g_assert_no_error(error);
        }
        g_assert_true(res_report_check_complete(r, &error));
        g_assert_true(res_report_ended(r));
        check_whole(r, barriers);
    }
}

/* Cut anywhere, even after a whole line, it is not complete. */
static void
test_truncated(void)
{
    for (gsize len = 0; len < sizeof whole - 1; len++) {
        g_autoptr(ResReport) r = res_report_new(NULL, NULL);
        g_autoptr(GError) error = NULL;

        g_assert_true(res_report_feed(r, whole, len, &error));
        g_assert_false(res_report_check_complete(r, &error));
        g_assert_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_TRUNCATED);
    }
}

static void
test_truncated_says_where(void)
{
    g_autoptr(ResReport) r = res_report_new(NULL, NULL);
    g_autoptr(GError) error = NULL;
    static const char text[] = START "begin w\ntext 1\ntex";

    g_assert_true(res_report_feed(r, text, strlen(text), NULL));
    g_assert_false(res_report_check_complete(r, &error));
    g_assert_cmpstr(error->message, ==,
                    "the report is cut short after line 3: `end` is missing, in workload w");
}

static void
test_fail(void)
{
    static const char text[] = START "begin w\npart x\nfail workload w cannot be killed\nend 4\n";
    g_autoptr(ResReport) r = res_report_new(NULL, NULL);
    g_autoptr(GError) error = NULL;

    g_assert_true(res_report_feed(r, text, strlen(text), &error));
    g_assert_true(res_report_check_complete(r, &error));
    g_assert_cmpstr(res_report_failure(r), ==, "workload w cannot be killed");
    g_assert_cmpint(((ResWorkload *)res_report_workloads(r)->pdata[0])->status, ==, -1);
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"\n", "line 1: expected \"nohzlab-report 1\""},
    {"hello\n", "line 1: expected"},
    {"nohzlab-report 2\n", "line 1: version 2 of the report"},
    {START START, "line 2: unknown keyword `nohzlab-report`"},
    {START "\n", "line 2: unknown keyword ``"},
    {START "frob x\n", "line 2: unknown keyword `frob`"},
    {START "fact a\n", "line 2: `fact` takes 2 words"},
    {START "fact  a\n", "line 2: `fact` takes 2 words"},
    {START "fact a \n", "line 2: `fact` takes 2 words"},
    {START "fact a/b c\n", "line 2: a fact's key"},
    {START "fact a %0a\n", "line 2: `%0a`: expected"},
    {START "fact a x%\n", "line 2: `%`: expected"},
    {START "fact a \tb\n", "line 2: byte 0x09 at column 8"},
    {START "fact a \xc3\xa9\n", "line 2: byte 0xc3"},
    {START "fact a b\r\n", "line 2: byte 0x0d"},
    {START "barrier a b\n", "line 2: `barrier` takes 1"},
    {START "barrier go:x\n", "line 2: expected `barrier NAME`"},
    {START "barrier end:../x\n", "line 2: expected `barrier NAME`"},
    {START "text x\n", "line 2: `text` outside a workload"},
    {START "batch invalid 1 0 measure 1 1\n", "line 2: `batch` outside"},
    {START "done w 0\n", "line 2: `done` outside"},
    {START "file x\n", "line 2: `file` outside"},
    {START "cut output\n", "line 2: `cut` outside"},
    {START "begin ../x\n", "line 2: a workload's name"},
    {START "begin .x\n", "line 2: a workload's name"},
    {START "begin w\nbegin v\n", "line 3: `begin` before the `done` of workload w"},
    {START "begin w\ndone w 0\nbegin w\n", "line 4: a second workload is called w"},
    {START "begin w\ndone v 0\n", "line 3: expected `done w STATUS`"},
    {START "begin w\ndone w 256\n", "line 3: expected `done w STATUS`"},
    {START "begin w\ndone w -1\n", "line 3: expected `done w STATUS`"},
    {START "begin w\nbatch invalid 1 0 cold 1 1\n", "line 3: a batch's phase"},
    {START "begin w\nbatch invalid 1 0 measure 0 1\n", "line 3: a batch of no calls"},
    {START "begin w\nbatch invalid 1 0 measure 1 18446744073709551616\n",
     "line 3: expected `batch LOOP"},
    {START "begin w\nbatch invalid 9999 0 measure 1 1\n", "line 3: expected `batch LOOP"},
    {START "begin w\nbatch invalid 1 0 measure 1 -1\n", "line 3: expected `batch LOOP"},
    {START "begin w\nbatch invalid 1 0 measure 1 1 1\n", "line 3: `batch` takes 6"},
    {START "begin w\nvalue x nan\n", "line 3: expected `value"},
    {START "begin w\nvalue x 1e5\n", "line 3: expected `value"},
    {START "begin w\nvalue x 0x10\n", "line 3: expected `value"},
    {START "begin w\nvalue x 1.\n", "line 3: expected `value"},
    {START "begin w\nvalue x 1\nvalue x 2\n", "line 4: a second value x"},
    {START "begin w\nfile ../../etc/passwd\n", "line 3: a file's name"},
    {START "begin w\nfile .hidden\n", "line 3: a file's name"},
    {START "begin w\nfile a\nfile a\n", "line 4: a second file is called a"},
    {START "begin w\nfile a\nvalue x 1\n", "line 4: `value` after the first `file`"},
    {START "begin w\ncut a\n", "line 3: expected `cut output`"},
    {START "begin w\nfile a\ncut output\n", "line 4: expected `cut a`"},
    {START "begin w\ncut output\ntext x\n", "line 4: text after `cut`"},
    {START "begin w\npart x\ndone w 0\n", "line 4: `done` inside a line of text"},
    {START "begin w\nend 2\n", "line 3: `end` before the `done` of workload w"},
    {START "fail x\nfact a b\n", "line 3: `fact` after `fail`"},
    {START "fail x\nfail y\n", "line 3: `fail` after `fail`"},
    {START "end 2\n", "line 2: the guest sent 2 lines, 1 came through"},
    {START "end 1\nx", "line 2: 1 bytes after `end`"},
    {START "end 1 1\n", "line 2: `end` takes 1"},
};

static void
test_bad(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(ResReport) r = res_report_new(NULL, NULL);
        g_autoptr(GError) error = NULL, again = NULL, complete = NULL;

        g_assert_false(res_report_feed(r, bad[i].text, strlen(bad[i].text), &error));
        g_assert_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_FORMAT);
        if (!g_str_has_prefix(error->message, "report line ") ||
            strstr(error->message, bad[i].message) == NULL)
            g_error("%s: \"%s\" is not about \"%s\"", bad[i].text, error->message, bad[i].message);
        g_assert_false(res_report_feed(r, "end 1\n", 6, &again));
        g_assert_cmpstr(again->message, ==, error->message);
        g_assert_false(res_report_check_complete(r, &complete));
        g_assert_cmpstr(complete->message, ==, error->message);
        g_assert_false(res_report_ended(r));
    }
}

/* START, then LINE so often that the limit is reached: the error and how much was kept. */
static void
feed_until_limit(const char *before, const char *line, gsize most, const char *message)
{
    g_autoptr(ResReport) r = res_report_new(NULL, NULL);
    g_autoptr(GError) error = NULL;
    gboolean good = res_report_feed(r, before, strlen(before), NULL);
    gsize n = 0;

    g_assert_true(good);
    for (; good && n <= most; n++)
        good = res_report_feed(r, line, strlen(line), &error);
    g_assert_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_LIMIT);
    g_assert_nonnull(strstr(error->message, message));
    g_assert_cmpuint(res_report_raw(r)->len, <=, BM_REPORT_MAX);
}

static void
test_limits(void)
{
    g_autofree char *filler = g_strnfill(4000, 'x'), *spaces = g_strnfill(BM_LINE_MAX, ' ');
    g_autofree char *text = g_strdup_printf("text %s\n", filler),
                    *part = g_strdup_printf("part %s\n", filler);
    g_autofree char *barely = g_strdup_printf(START "fact a b%.*s", BM_LINE_MAX - 8, spaces);
    g_autoptr(ResReport) r = res_report_new(NULL, NULL);
    g_autoptr(GError) error = NULL;

    /* A line that never ends is refused as soon as it is too long. */
    g_assert_false(res_report_feed(r, barely, strlen(barely), &error));
    g_assert_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_LIMIT);
    feed_until_limit(START, spaces, 1, "longer than 4096 bytes");
    feed_until_limit(START, "fact a b\n", 4097, "facts");
    feed_until_limit(START, "barrier ready\n", 200, "barriers");
    feed_until_limit(START "begin w\n", "batch invalid 1 0 measure 1 1\n", 100001, "batches");
    feed_until_limit(START "begin w\n", text, 100, "the output of workload w is longer");
    feed_until_limit(START "begin w\n", part, 100, "the output of workload w is longer");
    feed_until_limit(START "begin w\nfile f\n", text, 2200, "f of workload w is longer");
}

/* As much as the guest may send, of bytes that are no text: it is taken. */
static void
test_binary_output(void)
{
    g_autoptr(GString) line = g_string_new("text ");
    g_autoptr(ResReport) r = res_report_new(NULL, NULL);
    g_autoptr(GError) error = NULL;

    for (gsize i = 0; i < 1023; i++)
        g_string_append(line, "%FF");
    g_string_append_c(line, '\n');
    g_assert_true(res_report_feed(r, START "begin w\n", strlen(START "begin w\n"), NULL));
    for (gsize i = 0; i < BM_OUTPUT_MAX / 1024; i++) {
        res_report_feed(r, line->str, line->len, &error);
        g_assert_no_error(error);
    }
}

static void
test_longest_line(void)
{
    g_autofree char *filler = g_strnfill(BM_LINE_MAX - 1 - 7, 'x');
    g_autofree char *text = g_strdup_printf(START "fact a %s\nend 2\n", filler);
    g_autoptr(ResReport) r = res_report_new(NULL, NULL);
    g_autoptr(GError) error = NULL;

    g_assert_true(res_report_feed(r, text, strlen(text), &error));
    g_assert_true(res_report_check_complete(r, &error));
    g_assert_cmpstr(res_report_fact(r, "a"), ==, filler);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/whole", test_whole);
    g_test_add_func("/report/truncated", test_truncated);
    g_test_add_func("/report/truncated-says-where", test_truncated_says_where);
    g_test_add_func("/report/fail", test_fail);
    g_test_add_func("/report/bad", test_bad);
    g_test_add_func("/report/limits", test_limits);
    g_test_add_func("/report/binary-output", test_binary_output);
    g_test_add_func("/report/longest-line", test_longest_line);
    return g_test_run();
}
