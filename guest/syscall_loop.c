/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what a system call costs on one CPU: batches of a tight loop, first as many as it takes
 * to come to a steady state, then the ones that count. Nothing is written before the last of them.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "guest/cpus.h"
#include "guest/interrupts.h"
#include "guest/loops.h"
#include "guest/report.h"
#include "guest/steady.h"
#include "guest/word.h"

#define BATCHES_MAX 8000 /* of either phase: all lines fit BM_OWN_LINES_MAX */
#define CALLS_MAX 1000000000
#define TOLERANCE_MAX_PPM 1000000

/* The tick of a nohz_full CPU counts as stopped after this long without: 2.5 ticks of the slowest
 * HZ (100). */
#define TICK_STILL_NS 25000000
#define TICK_LOOK_NS                                                                               \
    5000000 /* between two readings of /proc/interrupts, a long system call itself */

/* Nothing may move across it. */
#define MARK_BYTES(...) #__VA_ARGS__
#define MARK(...) __asm__ volatile(".byte " MARK_BYTES(__VA_ARGS__)::: "memory")

static const unsigned long default_calls[BM_LOOPS] = {
    [BM_LOOP_INVALID] = 200,
    [BM_LOOP_STAT] = 20,
    [BM_LOOP_EMPTY] = 20000,
};

typedef struct {
    BmLoop loop;
    unsigned long cpu, calls, batches, max_warmup, tolerance_ppm;
    const char *workload;
} Options;

typedef struct {
    uint64_t *ticks, *scratch; /* warm-up batches, then measured ones */
    size_t n_warmup, n_measured;
    bool steady;
    uint64_t measured_ns;
    BmInterrupts interrupts;
    bool have_loc;
    unsigned long loc_before, loc_after;
} Measurement;

static const struct option long_options[] = {
    {"cpu", required_argument, NULL, 'c'},
    {"calls", required_argument, NULL, 'n'},
    {"batches", required_argument, NULL, 'b'},
    {"max-warmup", required_argument, NULL, 'm'},
    {"tolerance", required_argument, NULL, 't'},
    {"workload", required_argument, NULL, 'w'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "Usage: syscall-loop --cpu N [OPTION...] LOOP\n"
    "Measures the cost of a system call on one CPU, in ticks of the TSC.\n"
    "\n"
    "LOOP is one of\n"
    "  invalid           a system call number that does not exist\n"
    "  stat              stat(\".\")\n"
    "  empty             the loop without a call\n"
    "\n"
    "  --cpu N           run on CPU N, from 0 to 8191\n"
    "  --calls N         calls in a batch (invalid 200, stat 20, empty 20000: about 0.1 ms); a "
    "batch much\n"
    "                    shorter than a tick lets the median leave out those that were "
    "interrupted\n"
    "  --batches N       batches to measure (200, at most 8000)\n"
    "  --max-warmup N    batches after which to measure though it is not steady (2000, at most "
    "10000)\n"
    "  --tolerance PPM   batches agree when they differ by at most this many millionths (2000)\n"
    "  --workload NAME   name for the `loc` facts (left out: $NOHZLAB_WORKLOAD; neither: no such "
    "facts)\n"
    "  --help            this text\n"
    "\n"
    "Steady: 4 batches in a row agree, and on a nohz_full CPU no timer interrupt for 25 ms; and "
    "then the\n"
    "medians of both halves of what was measured agree.\n"
    "Lines of the report (batch, value, fact) go to file descriptor 3 when $NOHZLAB_REPORT_FD is "
    "3,\n"
    "otherwise to standard output.\n"
    "Exit status: 0 measured, 1 could not measure, 2 wrong usage.\n";

static void __attribute__((noreturn, format(printf, 2, 3))) die(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("syscall-loop: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(status);
}

static unsigned long
number_option(const char *name, unsigned long least, unsigned long most)
{
    unsigned long number;

    if (!bm_number_parse(optarg, most, &number) || number < least)
        die(2, "--%s %s: expected a number from %lu to %lu", name, optarg, least, most);
    return number;
}

static Options
options_parse(int argc, char **argv)
{
    Options o = {.cpu = BM_CPU_MAX + 1ul,
                 .batches = 200,
                 .max_warmup = 2000,
                 .tolerance_ppm = 2000,
                 .workload = getenv("NOHZLAB_WORKLOAD")};
    int c;

    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (c == 'c')
            o.cpu = number_option("cpu", 0, BM_CPU_MAX);
        else if (c == 'n')
            o.calls = number_option("calls", 1, CALLS_MAX);
        else if (c == 'b')
            o.batches = number_option("batches", 1, BATCHES_MAX);
        else if (c == 'm')
            o.max_warmup = number_option("max-warmup", 0, BATCHES_MAX);
        else if (c == 't')
            o.tolerance_ppm = number_option("tolerance", 0, TOLERANCE_MAX_PPM);
        else if (c == 'w')
            o.workload = optarg;
        else if (c == 'h')
            exit(fputs(help, stdout) < 0 || fflush(stdout) != 0);
        else
            exit(2);
    }
    if (optind != argc - 1 || !bm_loop_parse(argv[optind], &o.loop))
        die(2, "expected one loop: invalid, stat or empty; see --help");
    if (o.calls == 0)
        o.calls = default_calls[o.loop];
    if (o.cpu > BM_CPU_MAX)
        die(2, "--cpu is missing");
    if (o.workload != NULL && !bm_name_ok(o.workload, BM_NAME_MAX))
        die(2, "a workload's name is of letters, digits, '.', '_' and '-', at most 64");
    return o;
}

static void
pin(unsigned long cpu)
{
    char list[16];
    BmCpus set = {0};

    snprintf(list, sizeof list, "%lu", cpu);
    if (!bm_cpus_apply(&set, list, false) || !bm_cpus_pin(&set))
        die(1, "cannot run on CPU %lu: %s", cpu, strerror(errno));
    if (sched_getcpu() != (int)cpu)
        die(1, "pinned to CPU %lu but running on CPU %d", cpu, sched_getcpu());
}

static uint64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
batch(const Options *o, Measurement *m)
{
    size_t i = m->n_warmup + m->n_measured;

    m->ticks[i] = bm_loop_run(o->loop, o->calls);
    if (m->ticks[i] == 0)
        die(1, "%s: a call did not return what it must", bm_loop_name(o->loop));
}

/* True when a steady state was found. */
static bool
warm_up(const Options *o, Measurement *m)
{
    bool nohz_full = bm_cpus_file_has(BM_SYS_CPU "nohz_full", (unsigned int)o->cpu) && m->have_loc;
    uint64_t now = now_ns(), still_since = now, looked = now;
    unsigned long loc = 0, loc_now = 0;

    while (m->n_warmup < o->max_warmup) {
        batch(o, m);
        m->n_warmup++;
        if (!nohz_full) {
            if (bm_steady_run(m->ticks, m->n_warmup, (unsigned int)o->tolerance_ppm))
                return true;
            continue;
        }
        now = now_ns();
        if (now - looked < TICK_LOOK_NS && m->n_warmup > 1)
            continue;
        looked = now;
        if (!bm_interrupts_loc(&m->interrupts, &loc_now))
            return false;
        if (loc_now != loc || m->n_warmup == 1)
            still_since = now;
        loc = loc_now;
        if (now - still_since >= TICK_STILL_NS &&
            bm_steady_run(m->ticks, m->n_warmup, (unsigned int)o->tolerance_ppm))
            return true;
    }
    return false;
}

static void
measure(const Options *o, Measurement *m)
{
    uint64_t start;
    bool halves;

    m->steady = warm_up(o, m);
    if (m->have_loc)
        m->have_loc = bm_interrupts_loc(&m->interrupts, &m->loc_before);
    start = now_ns();
    MARK(BM_MARK_BEGIN_BYTES);
    for (; m->n_measured < o->batches; m->n_measured++)
        batch(o, m);
    MARK(BM_MARK_END_BYTES);
    m->measured_ns = now_ns() - start;
    if (m->have_loc)
        m->have_loc = bm_interrupts_loc(&m->interrupts, &m->loc_after);
    if (sched_getcpu() != (int)o->cpu)
        die(1, "moved from CPU %lu to CPU %d while measuring", o->cpu, sched_getcpu());
    halves = bm_steady_halves(m->ticks + m->n_warmup, m->n_measured, (unsigned int)o->tolerance_ppm,
                              m->scratch);
    m->steady = m->steady && halves;
}

static void
report(const Options *o, const Measurement *m)
{
    const char *fd = getenv("NOHZLAB_REPORT_FD");
    FILE *out = stdout;

    if (fd != NULL && strcmp(fd, "3") == 0)
        out = fdopen(BM_REPORT_FD, "w");
    if (out == NULL)
        die(1, "file descriptor 3: %s", strerror(errno));
    for (size_t i = 0; i < m->n_warmup + m->n_measured; i++) {
        bool measured = i >= m->n_warmup;

        fprintf(out, "batch %s %lu %zu %s %lu %lu\n", bm_loop_name(o->loop), o->cpu,
                measured ? i - m->n_warmup : i, measured ? "measure" : "warmup", o->calls,
                (unsigned long)m->ticks[i]);
    }
    fprintf(out,
            "value steady %d\nvalue warmup_batches %zu\nvalue measured_batches %zu\nvalue "
            "measured_ns %lu\n",
            m->steady, m->n_warmup, m->n_measured, (unsigned long)m->measured_ns);
    if (m->have_loc && o->workload != NULL)
        fprintf(out, "fact loc.%s.%lu.before %lu\nfact loc.%s.%lu.after %lu\n", o->workload, o->cpu,
                m->loc_before, o->workload, o->cpu, m->loc_after);
    if (fclose(out) != 0)
        die(1, "the report could not be written: %s", strerror(errno));
}

int
main(int argc, char **argv)
{
    Options o = options_parse(argc, argv);
    Measurement m = {0};

    pin(o.cpu);
    m.ticks = calloc(o.max_warmup + o.batches, sizeof *m.ticks);
    m.scratch = calloc(o.batches, sizeof *m.scratch);
    m.have_loc = bm_interrupts_open(&m.interrupts, (unsigned int)o.cpu);
    if (m.ticks == NULL || m.scratch == NULL)
        die(1, "out of memory");
    /* Also brings every page in, so that no fault falls into a batch. */
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        die(1, "mlockall: %s", strerror(errno));
    measure(&o, &m);
    report(&o, &m);
    return 0;
}
