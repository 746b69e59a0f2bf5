/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest programs' pure parts, on the host. */
#include <glib.h>
#include <string.h>

#include "guest/cpus.h"
#include "guest/interrupts.h"
#include "guest/job.h"
#include "guest/own_lines.h"
#include "guest/steady.h"
#include "guest/trace_line.h"
#include "guest/word.h"

#define START "nohzlab-job 1\n"

static const char whole[] = START "barriers host\n"
                                  "lab-host\n"
                                  "put /etc/a%20b one%0A\n"
                                  "put /etc/a%20b two%0A\n"
                                  "stamp /usr/bin/x 1767225600\n"
                                  "workload first 60\n"
                                  "cpu 1\n"
                                  "trace get_nohz_timer_target\n"
                                  "argv /bin/syscall-loop\n"
                                  "argv two%20words%0A%25\n"
                                  "argv %\n"
                                  "end\n"
                                  "workload second 86400\n"
                                  "argv /usr/bin/cyclictest\n"
                                  "collect /tmp/a.json\n"
                                  "collect /proc/interrupts\n"
                                  "end\n"
                                  "done\n";

/* In a block of just the size promised, so that ASan sees a step beyond it. */
static gboolean
parse(BmJob *job, const char *text, gsize len, char **copy, char *why)
{
    *copy = g_malloc(len + 1);
    memcpy(*copy, text, len);
    return bm_job_parse(job, *copy, len, why, 256);
}

static void
test_job(void)
{
    BmJob job;
    char why[256] = "";
    g_autofree char *copy = NULL;

    g_assert_true(parse(&job, whole, strlen(whole), &copy, why));
    g_assert_true(job.barriers);
    g_assert_true(job.end_barrier);
    g_assert_true(job.lab_host);
    g_assert_cmpuint(job.n_puts, ==, 2);
    g_assert_cmpstr(job.puts[0].path, ==, "/etc/a b");
    g_assert_cmpstr(job.puts[1].text, ==, "two\n");
    g_assert_cmpuint(job.n_stamps, ==, 1);
    g_assert_cmpuint(job.stamps[0].time_s, ==, 1767225600);
    g_assert_cmpuint(job.n_workloads, ==, 2);
    g_assert_cmpstr(job.workloads[0].name, ==, "first");
    g_assert_cmpuint(job.workloads[0].timeout_s, ==, 60);
    g_assert_cmpint(job.workloads[0].cpu, ==, 1);
    g_assert_cmpstr(job.workloads[0].trace, ==, "get_nohz_timer_target");
    g_assert_null(job.workloads[1].trace);
    g_assert_cmpuint(job.workloads[0].n_argv, ==, 3);
    g_assert_cmpstr(job.workloads[0].argv[0], ==, "/bin/syscall-loop");
    g_assert_cmpstr(job.workloads[0].argv[1], ==, "two words\n%");
    g_assert_cmpstr(job.workloads[0].argv[2], ==, "");
    g_assert_null(job.workloads[0].argv[3]);
    g_assert_cmpint(job.workloads[1].cpu, ==, -1);
    g_assert_cmpuint(job.workloads[1].n_collect, ==, 2);
    g_assert_cmpstr(bm_path_name(job.workloads[1].collect[1]), ==, "interrupts");
}

static void
test_job_barriers(void)
{
    static const struct {
        const char *line;
        bool each, last;
    } modes[] = {
        {"", false, false},
        {"barriers none\n", false, false},
        {"barriers end\n", false, true},
        {"barriers host\n", true, true},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
        BmJob job;
        char why[256] = "";
        g_autofree char *copy = NULL;
        g_autofree char *text = g_strconcat(START, modes[i].line, "done\n", NULL);
        g_assert_true(parse(&job, text, strlen(text), &copy, why));
        g_assert_cmpint(job.barriers, ==, modes[i].each);
        g_assert_cmpint(job.end_barrier, ==, modes[i].last);
    }
}

static void
test_job_cut_short(void)
{
    for (gsize len = 0; len < strlen(whole); len++) {
        BmJob job;
        char why[256] = "";
        g_autofree char *copy = NULL;

        g_assert_false(parse(&job, whole, len, &copy, why));
        g_assert_nonnull(strstr(why, "cut short"));
    }
}

static const struct {
    const char *text, *why;
} bad_jobs[] = {
    {"hello\n", "job line 1: expected \"nohzlab-job 1\""},
    {"nohzlab-job 2\n", "job line 1: this guest reads job version 1 only"},
    {START "\n", "job line 2: expected one to three words"},
    {START "barriers  host\n", "job line 2: expected one to three words"},
    {START "barriers maybe\n", "job line 2: expected \"barriers host\""},
    {START "barriers host\nbarriers none\n", "job line 3: barriers is given once"},
    {START "frob\n", "job line 2: expected \"workload\""},
    {START "put /x\n", "job line 2: expected \"put PATH WORD\""},
    {START "put x y\n", "job line 2: a path to put text into"},
    {START "put /x y%\n", "job line 2: the path or the text"},
    {START "stamp /x -1\n", "job line 2: a time is a number"},
    {START "stamp x 1\n", "job line 2: a path to stamp"},
    {START "stamp /x 1 2\n", "job line 2: expected one to three words"},
    {START "lab-host now\n", "job line 2: expected \"lab-host\""},
    {START "lab-host\nlab-host\n", "job line 3: lab-host is given twice"},
    {START "workload a 1\nargv /x\nend\nput /x y\n", "job line 5: lab-host, put and stamp"},
    {START "argv /x\n", "job line 2: expected \"workload\""},
    {START "workload a/b 1\n", "job line 2: a workload's name"},
    {START "workload a 0\n", "job line 2: a timeout"},
    {START "workload a 86401\n", "job line 2: a timeout"},
    {START "workload a 99999999999999999999\n", "job line 2: a timeout"},
    {START "workload a\n", "job line 2: expected \"workload NAME TIMEOUT_S\""},
    {START "workload a 1\nargv x\n", "job line 3: the program's path must be absolute"},
    {START "workload a 1\nargv /x%2\n", "job line 3: the argument is not a well-formed word"},
    {START "workload a 1\nargv /x%00\n", "job line 3: the argument is not a well-formed word"},
    {START "workload a 1\nargv /x%2f\n", "job line 3: the argument is not a well-formed word"},
    {START "workload a 1\nend\n", "job line 3: the workload has no argv"},
    {START "workload a 1\ncpu -1\n", "job line 3: a cpu is a number"},
    {START "workload a 1\ncpu 8192\n", "job line 3: a cpu is a number"},
    {START "workload a 1\ncpu 01\n", "job line 3: a cpu is a number"},
    {START "workload a 1\ncpu 1\ncpu 1\n", "job line 4: cpu is given twice"},
    {START "workload a 1\ncollect x\n", "job line 3: a path to collect"},
    {START "workload a 1\ncollect /tmp/\n", "job line 3: a path to collect"},
    {START "workload a 1\ncollect /tmp/..\n", "job line 3: a path to collect"},
    {START "workload a 1\ncollect /a/x\ncollect /b/x\n", "job line 4: another file"},
    {START "workload a 1\ntrace 1x\n", "job line 3: a function to trace"},
    {START "workload a 1\ntrace *\n", "job line 3: a function to trace"},
    {START "workload a 1\ntrace x:traceoff\n", "job line 3: a function to trace"},
    {START "workload a 1\ntrace x\ntrace y\n", "job line 4: trace is given twice"},
    {START "workload a 1\nworkload b 1\n", "job line 3: expected \"cpu N\""},
    {START "workload a 1\nargv /x\nend\nworkload a 1\n", "job line 5: an earlier workload"},
    {START "workload a 1\nargv /x\nend\nbarriers none\n", "job line 5: barriers is given once"},
    {START "done\ndone\n", "job line 3: nothing may follow"},
    {START "done", "job line 2: the line is cut short"},
};

static void
test_job_bad(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(bad_jobs); i++) {
        BmJob job;
        char why[256] = "";
        g_autofree char *copy = NULL;

        g_assert_false(parse(&job, bad_jobs[i].text, strlen(bad_jobs[i].text), &copy, why));
        if (!g_str_has_prefix(why, bad_jobs[i].why))
            g_error("%s: \"%s\" is not \"%s\"", bad_jobs[i].text, why, bad_jobs[i].why);
    }
}

static void
job_refused(const GString *text, const char *expected)
{
    g_autofree BmJob *job = g_new0(BmJob, 1);
    char why[256] = "";
    g_autofree char *copy = NULL;

    g_assert_false(parse(job, text->str, text->len, &copy, why));
    g_assert_nonnull(strstr(why, expected));
}

static void
test_job_limits(void)
{
    g_autoptr(GString) text = g_string_new(START), many = g_string_new(START "workload a 1\n");

    for (int i = 0; i <= BM_WORKLOADS_MAX; i++)
        g_string_append_printf(text, "workload w%d 1\nargv /x\nend\n", i);
    job_refused(text, "too many workloads");
    for (int i = 0; i <= BM_ARGV_MAX; i++)
        g_string_append(many, "argv /x\n");
    job_refused(many, "too many arguments");
    g_string_assign(many, START "workload a 1\n");
    for (int i = 0; i <= BM_COLLECT_MAX; i++)
        g_string_append_printf(many, "collect /x%d\n", i);
    job_refused(many, "too many files");
    g_string_truncate(many, 0);
    g_string_append_len(many, START "do\0ne\n", strlen(START) + 6);
    job_refused(many, "NUL");
    g_string_set_size(text, BM_JOB_MAX + 1);
    job_refused(text, "longer than 65536");
    g_string_assign(text, START "workload ");
    for (int i = 0; i < BM_LINE_MAX; i++)
        g_string_append_c(text, 'x');
    g_string_append_c(text, '\n');
    job_refused(text, "longer than 4096");
}

/* What does not fit goes on where the first stopped; decoding gives the bytes back. */
static void
test_words(void)
{
    char bytes[256], out[64], all[1024] = "", word[1024];
    size_t used, at = 0;

    for (int i = 0; i < 255; i++)
        bytes[i] = (char)(i + 1);
    while (at < 255) {
        g_assert_cmpuint(bm_word_encode(out, sizeof out, bytes + at, 255 - at, at % 2 == 0, &used),
                         <, sizeof out);
        g_assert_cmpuint(used, >, 0);
        g_strlcat(all, out, sizeof all);
        at += used;
    }
    bm_word_encode(word, sizeof word, bytes, 255, false, &used);
    g_assert_cmpuint(used, ==, 255);
    g_assert_null(strchr(word, ' '));
    g_assert_true(bm_word_decode(word));
    g_assert_cmpmem(word, strlen(word), bytes, 255);
    g_assert_cmpuint(bm_word_encode(out, sizeof out, "", 0, false, &used), ==, 1);
    g_assert_true(bm_word_decode(out));
    g_assert_cmpstr(out, ==, "");
    bm_word_encode(out, 4, "\001\002", 2, false, &used);
    g_assert_cmpstr(out, ==, "%01");
    g_assert_cmpuint(used, ==, 1);
}

static void
test_own_lines(void)
{
    static const struct {
        const char *line;
        gboolean good;
    } lines[] = {
        {"batch invalid 1 0 warmup 200 42613", TRUE},
        {"batch invalid 1 0 measure 200 18446744073709551615", TRUE},
        {"batch invalid 1 0 measure 200 18446744073709551616", FALSE},
        {"batch invalid 1 0 cold 200 42613", FALSE},
        {"batch invalid 1 0 measure 200", FALSE},
        {"batch invalid 1 0 measure 200 42613 1", FALSE},
        {"batch in/valid 1 0 measure 200 1", FALSE},
        {"value steady 1", TRUE},
        {"value x -0.5", TRUE},
        {"value x nan", FALSE},
        {"value x 1e5", FALSE},
        {"value x", FALSE},
        {"value x 000000000000000000000000000000001", FALSE},
        {"fact loc.me.1.before 3", TRUE},
        {"fact loc.me.1.after 3", TRUE},
        {"fact loc.you.1.after 3", FALSE},
        {"fact loc.me.1.during 3", FALSE},
        {"fact loc.me.x.before 3", FALSE},
        {"fact loc.me.1.before x", FALSE},
        {"fact cmdline nohz_full=1", FALSE},
        {"done me 0", FALSE},
        {"end 3", FALSE},
        {"", FALSE},
        {" value x 1", FALSE},
        {"value  x 1", FALSE},
        {"value x 1 ", FALSE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++)
        if (bm_own_line_ok(lines[i].line, "me") != lines[i].good)
            g_error("\"%s\" should be %s", lines[i].line, lines[i].good ? "taken" : "refused");
}

static void
test_steady(void)
{
    static const uint64_t falling[] = {835, 364, 224, 224, 224},
                          steady[] = {900, 1000, 1001, 1002, 1000},
                          drift[] = {100, 100, 100, 110, 110, 110},
                          spikes[] = {100, 900, 100, 100, 100, 900, 100};
    uint64_t scratch[8];

    g_assert_false(bm_steady_run(steady + 1, 3, 2000));
    g_assert_false(bm_steady_run(falling, 5, 2000));
    g_assert_true(bm_steady_run(steady, 5, 2000));
    g_assert_false(bm_steady_run(steady, 5, 1999));
    g_assert_false(bm_steady_halves(drift, 6, 2000, scratch));
    g_assert_true(bm_steady_halves(spikes, 7, 0, scratch));
    g_assert_true(bm_steady_halves(drift, 1, 0, scratch));
}

static void
test_interrupts(void)
{
    static const char text[] =
        "           CPU0       CPU2       CPU10      \n"
        "  0:         11         12         13   IO-APIC   2-edge      timer\n"
        "NMI:          0          0          0   Non-maskable interrupts\n"
        "LOC:       1234       5678         42   Local timer interrupts\n"
        "ERR:          0\n";
    unsigned long count;

    g_assert_true(bm_interrupts_parse(text, 2, &count));
    g_assert_cmpuint(count, ==, 5678);
    g_assert_true(bm_interrupts_parse(text, 10, &count));
    g_assert_cmpuint(count, ==, 42);
    g_assert_false(bm_interrupts_parse(text, 1, &count));
    g_assert_false(bm_interrupts_parse("CPU0\nLOC: \n", 0, &count));
    g_assert_false(bm_interrupts_parse("CPU0 CPU1\nLOC: 1 Local\n", 1, &count));
    g_assert_false(bm_interrupts_parse("CPU0\n", 0, &count));
    g_assert_false(bm_interrupts_parse("", 0, &count));
}

static void
test_cpus(void)
{
    static const char *const bad[] = {
        "x", "1-", "-1", "3-1", "1,", ",1", "8192", "1-3:1/2", "99999999999999999999"};
    BmCpus set = {0};
    char list[64], small[4];

    g_assert_true(bm_cpus_apply(&set, "0-3,8,100-8191", false));
    g_assert_true(bm_cpus_apply(&set, "", true));
    g_assert_true(bm_cpus_apply(&set, "(null)", true));
    g_assert_true(bm_cpus_apply(&set, "1,200-8191", true));
    bm_cpus_print(&set, list, sizeof list);
    g_assert_cmpstr(list, ==, "0,2-3,8,100-199");
    bm_cpus_print(&set, small, sizeof small);
    g_assert_cmpstr(small, ==, "0");
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(bm_cpus_apply(&set, bad[i], false));
    bm_cpus_print(&set, list, sizeof list);
    g_assert_cmpstr(list, ==, "0,2-3,8,100-199");
    g_assert_false(bm_cpus_has(&set, 8192));
}

static void
test_trace_line(void)
{
    static const struct {
        const char *line;
        gboolean ok;
        guint64 ns;
    } cases[] = {
        {"  1.690 us    |  f();\n", TRUE, 1690},
        {"+ 11.850 us   |                  f();", TRUE, 11850},
        {"! 123.4 us    |  f(); /* ret=0x1 */", TRUE, 123400},
        {"$ 1234567.1 us |  f();", TRUE, 1234567100},
        {"  0.000 us    |  f();", TRUE, 0},
        {"  1.690 us    |  g();", FALSE, 0},
        {"  1.690 us    |  f2();", FALSE, 0},
        {"  1.690 us    |  f() {", FALSE, 0},
        {"  1.690 us    |  } /* f */", FALSE, 0},
        {"  1.690 ms    |  f();", FALSE, 0},
        {"              |  f();", FALSE, 0},
        {"  1.690 us", FALSE, 0},
        {"  12345678901234567890.1 us | f();", FALSE, 0},
        {"# tracer: function_graph", FALSE, 0},
        {"", FALSE, 0},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint64_t ns = 0;

        g_test_message("%s", cases[i].line);
        g_assert_cmpint(bm_trace_line(cases[i].line, "f", &ns), ==, cases[i].ok);
        if (cases[i].ok)
            g_assert_cmpuint(ns, ==, cases[i].ns);
    }
}

static void
test_trace_cpumask(void)
{
    char mask[BM_CPUMASK_MAX];

    bm_trace_cpumask(mask, 1);
    g_assert_cmpstr(mask, ==, "2");
    bm_trace_cpumask(mask, 31);
    g_assert_cmpstr(mask, ==, "80000000");
    bm_trace_cpumask(mask, 65);
    g_assert_cmpstr(mask, ==, "2,00000000,00000000");
    bm_trace_cpumask(mask, BM_CPU_MAX);
    g_assert_cmpuint(strlen(mask), <, BM_CPUMASK_MAX - 1);
    g_assert_true(g_str_has_suffix(mask, ",00000000"));
    g_assert_true(bm_trace_function_ok("__acct_update_integrals.isra.0", 64));
    g_assert_false(bm_trace_function_ok("", 64));
    g_assert_false(bm_trace_function_ok("abc", 2));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace/line", test_trace_line);
    g_test_add_func("/trace/cpumask", test_trace_cpumask);
    g_test_add_func("/job/whole", test_job);
    g_test_add_func("/job/cut-short", test_job_cut_short);
    g_test_add_func("/job/barriers", test_job_barriers);
    g_test_add_func("/job/bad", test_job_bad);
    g_test_add_func("/job/limits", test_job_limits);
    g_test_add_func("/words", test_words);
    g_test_add_func("/own-lines", test_own_lines);
    g_test_add_func("/steady", test_steady);
    g_test_add_func("/interrupts", test_interrupts);
    g_test_add_func("/cpus", test_cpus);
    return g_test_run();
}
