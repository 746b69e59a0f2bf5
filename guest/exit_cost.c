/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flat guest exit-cost: its job, its measuring, its report (guest/report-format.md). */
#include <string.h>

#include "guest/exit_cost_kinds.h"
#include "guest/flat_port.h"
#include "guest/report.h"
#include "guest/word.h"

#define EMPTY_TRIES 4
#define FW_CFG_SELECT 0x510
#define FW_CFG_DATA 0x511
#define FW_CFG_RAM_SIZE 0x03
#define STATUS_NOT_MEASURED 1

/* Xen's public/arch-x86/hvm/start_info.h. */
typedef struct {
    uint32_t magic, version, flags, modules;
    uint64_t module_list, cmdline;
} StartInfo;

typedef struct {
    bool barriers, end_barrier, all, traced;
    char workload[BM_NAME_MAX + 1];
    unsigned long batches;
    bool wanted[BM_EXIT_COUNT];
} Job;

static char job_text[BM_JOB_MAX];
static Job job = {.all = true, .batches = 50};
static uint64_t ticks[BM_EXIT_COUNT][BM_EXIT_BATCHES_MAX + BM_EXIT_WARMUP_MAX];
static uint64_t empty_ticks[BM_EXIT_COUNT];
static const char *why_not[BM_EXIT_COUNT]; /* it was not measured */
static bool port_open;

void flat_main(const StartInfo *info);

static void __attribute__((noreturn)) fail(const char *what, const char *which)
{
    if (port_open) {
        bm_flat_put("fail ");
        bm_flat_put(what);
        bm_flat_put(which);
        bm_flat_put_end();
        bm_flat_port_end();
    } else {
        bm_flat_console("nohzlab: the flat guest could not go on:");
        bm_flat_console(what);
    }
    bm_flat_power_off();
}

static void __attribute__((noreturn)) died(const char *what, uint64_t rip)
{
    char where[17];

    for (unsigned int i = 0; i < 16; i++)
        where[i] = "0123456789abcdef"[rip >> (60 - 4 * i) & 15];
    where[16] = '\0';
    bm_flat_console(what);
    bm_flat_console(where);
    fail("the processor took a trap nobody expected, at ", where);
}

/* --- job --- */

static bool
starts(const char *text, const char *head)
{
    return strlen(text) >= strlen(head) && memcmp(text, head, strlen(head)) == 0;
}

static void
want_kind(const char *name, size_t len)
{
    for (size_t i = 0; i < BM_EXIT_COUNT; i++) {
        if (strlen(bm_exit_kinds[i].name) != len || memcmp(bm_exit_kinds[i].name, name, len) != 0)
            continue;
        job.wanted[i] = true;
        return;
    }
    fail("the job wants a kind of exit that is not known", "");
}

static void
want_kinds(const char *list)
{
    job.all = false;
    while (*list) {
        const char *comma = strchr(list, ',');
        size_t len = comma ? (size_t)(comma - list) : strlen(list);
        want_kind(list, len);
        list += len + (comma != NULL);
    }
}

static void
take_argument(char *word)
{
    static unsigned int n;

    if (!bm_word_decode(word))
        fail("an argument is not well-formed", "");
    if (n++ == 0) /* the program's path */
        return;
    if (starts(word, "--batches=")) {
        if (!bm_number_parse(word + strlen("--batches="), BM_EXIT_BATCHES_MAX, &job.batches) ||
            job.batches == 0)
            fail("the number of batches is out of range", "");
    } else if (starts(word, "--kinds=")) {
        want_kinds(word + strlen("--kinds="));
    } else if (strcmp(word, "--traced") == 0) {
        job.traced = true;
    } else {
        fail("exit-cost has no such argument", "");
    }
}

/* One workload, this one; what only a guest with a system can do is refused. */
static bool
take_line(char *line)
{
    char *words[3];
    size_t n = bm_words_split(line, words, 3);

    if (n == 2 && strcmp(words[0], "barriers") == 0) {
        job.barriers = strcmp(words[1], "host") == 0;
        job.end_barrier = strcmp(words[1], "none") != 0;
    } else if (n == 3 && strcmp(words[0], "workload") == 0 && !job.workload[0] &&
               bm_name_ok(words[1], BM_NAME_MAX)) {
        memcpy(job.workload, words[1], strlen(words[1]) + 1);
    } else if (n == 2 && strcmp(words[0], "argv") == 0) {
        take_argument(words[1]);
    } else if (n == 1 && strcmp(words[0], "done") == 0) {
        return true;
    } else if (!(n == 2 && strcmp(words[0], "cpu") == 0) &&
               !(n == 1 && strcmp(words[0], "end") == 0)) {
        fail("the job holds what a flat guest can't do", "");
    }
    return false;
}

static void
read_job(void)
{
    size_t len = bm_flat_read_job(job_text, sizeof job_text);
    char *line = job_text, *newline;
    bool first = true, done = false;

    if (len == 0)
        fail("there is no job in fw_cfg", "");
    while (!done && (newline = strchr(line, '\n')) != NULL) {
        *newline = '\0';
        if (first && strcmp(line, BM_JOB_MAGIC " 1") != 0)
            fail("the job is not of version 1", "");
        if (!first)
            done = take_line(line);
        first = false;
        line = newline + 1;
    }
    if (!done || !job.workload[0])
        fail("the job was cut short", "");
    for (size_t i = 0; i < BM_EXIT_COUNT; i++)
        job.wanted[i] |= job.all;
}

/* --- measuring --- */

static void
measure(size_t k)
{
    const BmExitKind *kind = &bm_exit_kinds[k];

    why_not[k] = kind->prepare ? kind->prepare() : NULL;
    if (why_not[k])
        return;
    for (size_t i = 0; i < job.batches + kind->warmup; i++)
        ticks[k][i] = bm_exit_batch(kind);
    if (kind->finish)
        kind->finish();
    empty_ticks[k] = UINT64_MAX; /* nothing disturbs it but the host: the least is the loop's own */
    for (size_t i = 0; i < EMPTY_TRIES; i++) {
        uint64_t t = bm_exit_empty_batch(kind->calls);
        empty_ticks[k] = t < empty_ticks[k] ? t : empty_ticks[k];
    }
}

static void
measure_all(void)
{
    bool second = false;

    for (size_t k = 0; k < BM_EXIT_COUNT; k++) {
        if (!job.wanted[k])
            continue;
        if (bm_exit_kinds[k].after_x2apic && !second) {
            bm_exit_second_half();
            second = true;
        }
        measure(k);
    }
}

static void
barrier(const char *name, const char *workload, bool wait)
{
    if (!bm_flat_barrier(name, workload, wait))
        fail("the host's answer to a barrier is not `go` with its name", "");
}

/* Each kind once more, alone between two barriers: not measured, but for the host to look at. */
static void
repeat_for_host(size_t k)
{
    const BmExitKind *kind = &bm_exit_kinds[k];

    if (!job.wanted[k] || why_not[k])
        return;
    if (kind->prepare)
        kind->prepare();
    barrier("kind.", kind->name, job.barriers);
    for (size_t i = 0; i < BM_EXIT_TRACED; i++)
        bm_exit_batch(kind);
    barrier("kind", "", job.barriers);
    if (kind->finish)
        kind->finish();
}

static void
repeat_all(void)
{
    barrier("kind", "", job.barriers);
    for (size_t k = 0; k < BM_EXIT_COUNT; k++)
        repeat_for_host(k);
}

/* --- report --- */

static void
put_fact_number(const char *key, uint64_t number)
{
    bm_flat_put("fact ");
    bm_flat_put(key);
    bm_flat_put(" ");
    bm_flat_put_number(number);
    bm_flat_put_end();
}

static void
put_fact(const char *key, const char *text, size_t len)
{
    char word[BM_LINE_MAX - 64];
    size_t used;

    bm_word_encode(word, sizeof word, text, len, true, &used);
    bm_flat_put("fact ");
    bm_flat_put(key);
    bm_flat_put(" ");
    bm_flat_put(word);
    bm_flat_put_end();
}

static void
put_facts(const StartInfo *info)
{
    const char *cmdline = info->cmdline ? (const char *)info->cmdline : "";

    put_fact("kernel.release", "exit-cost", strlen("exit-cost"));
    put_fact("cmdline", cmdline, strlen(cmdline));
    put_fact("cpus.possible", bm_exit_machine.vcpus > 1 ? "0-1" : "0",
             bm_exit_machine.vcpus > 1 ? 3 : 1);
    put_fact("clocksource.current", "tsc", 3);
    if (bm_exit_machine.tsc_khz)
        put_fact_number("tsc_khz", bm_exit_machine.tsc_khz);
}

static void
put_batch(const char *loop, size_t index, bool measured, unsigned int calls, uint64_t t)
{
    bm_flat_put("batch ");
    bm_flat_put(loop);
    bm_flat_put(" 0 ");
    bm_flat_put_number(index);
    bm_flat_put(measured ? " measure " : " warmup ");
    bm_flat_put_number(calls);
    bm_flat_put(" ");
    bm_flat_put_number(t);
    bm_flat_put_end();
}

static void
put_value(const char *name, const char *point, uint64_t number)
{
    bm_flat_put("value ");
    bm_flat_put(name);
    bm_flat_put(" ");
    bm_flat_put(point);
    bm_flat_put_number(number);
    bm_flat_put_end();
}

static void
put_results(void)
{
    bool missing = false;
    uint64_t per_insn = bm_exit_ticks_per_insn();

    for (size_t k = 0; k < BM_EXIT_COUNT; k++) {
        const BmExitKind *kind = &bm_exit_kinds[k];
        if (!job.wanted[k] || why_not[k])
            continue;
        put_batch(BM_EXIT_EMPTY, k, true, kind->calls, empty_ticks[k]);
        for (size_t i = 0; i < job.batches + kind->warmup; i++)
            put_batch(kind->name, i, i >= kind->warmup, kind->calls, ticks[k][i]);
    }
    put_value("ticks_per_1000_insns", "", per_insn);
    put_value("x2apic", "", bm_exit_machine.cpu.x2apic);
    for (size_t k = 0; k < BM_EXIT_COUNT; k++) {
        if (!job.wanted[k] || !why_not[k])
            continue;
        missing |= !job.all;
        bm_flat_put("text ");
        bm_flat_put(bm_exit_kinds[k].name);
        bm_flat_put(" was not measured: ");
        bm_flat_put(why_not[k]);
        bm_flat_put_end();
    }
    bm_flat_put("done ");
    bm_flat_put(job.workload);
    bm_flat_put(" ");
    bm_flat_put_number(missing ? STATUS_NOT_MEASURED : 0);
    bm_flat_put_end();
}

static void
look_at_machine(void)
{
    uint32_t id[4];

    bm_flat_init(&bm_exit_machine.cpu);
    bm_cpuid(0x40000000, id);
    bm_exit_machine.kvm = memcmp(&id[1], "KVMKVMKVM", 9) == 0;
    bm_exit_machine.vcpus = bm_flat_vcpus();
    bm_outw(FW_CFG_SELECT, FW_CFG_RAM_SIZE);
    bm_ins(FW_CFG_DATA, &bm_exit_machine.memory, sizeof bm_exit_machine.memory);
    bm_exit_machine.tsc_khz = bm_exit_tsc_khz();
    bm_exit_machine.pages =
        (BM_EXIT_BATCHES_MAX + BM_EXIT_WARMUP_MAX + BM_EXIT_TRACED) * 4UL /* of npf */;
}

void
flat_main(const StartInfo *info)
{
    const char *why;

    bm_flat_died = died;
    look_at_machine();
    bm_flat_console("nohzlab exit-cost");
    why = bm_flat_port_open();
    if (why)
        fail(why, "");
    port_open = true;
    bm_flat_put(BM_REPORT_MAGIC " 1");
    bm_flat_put_end();
    read_job();
    put_facts(info);
    barrier("ready", "", job.barriers);
    bm_flat_put("begin ");
    bm_flat_put(job.workload);
    bm_flat_put_end();
    barrier("begin:", job.workload, job.barriers);
    measure_all();
    if (job.traced)
        repeat_all();
    barrier("end:", job.workload, job.barriers);
    put_results();
    barrier("end", "", job.end_barrier);
    bm_flat_port_end();
    bm_flat_power_off();
}
