/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/judge.h"

#include <math.h>
#include <string.h>

#include "host/isolation.h"
#include "host/quote.h"
#include "lab/checks.h"
#include "results/compare.h"
#include "results/cyclictest.h"

#define TICKS_UNKNOWN_BELOW                                                                        \
    3.0 /* ticks that HZ=100 would have given: with fewer, nothing is proven */
#define TICKS_ALLOWED_PER_S 5.0 /* a stopped tick leaves at most a few events a second */
#define SLOWEST_HZ 100.0
#define QUANTILE_SAMPLES_BEYOND 5
#define CLOCK_NAME_BYTES 40

const char *
lab_platform_name(LabPlatform p)
{
    static const char *const names[] = {"auto", "metal", "box", "bare"};
    return names[p];
}

const char *
lab_clock_name(LabClock c)
{
    return c == LAB_CLOCK_ICOUNT ? "icount" : "wall";
}

ResFidelity
lab_fidelity(LabPlatform platform, LabClock clock)
{
    if (clock == LAB_CLOCK_ICOUNT)
        return RES_FIDELITY_INSTRUCTIONS;
    if (platform == LAB_PLATFORM_METAL)
        return RES_FIDELITY_TIME;
    return platform == LAB_PLATFORM_BOX ? RES_FIDELITY_EVENTS : RES_FIDELITY_FUNCTIONAL;
}

void
lab_record_fail(ResRecord *record, ResOutcome outcome, const char *detail, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_free(record->message);
    record->message = g_strdup_vprintf(format, args);
    va_end(args);
    g_free(record->detail);
    record->detail = g_strdup(detail);
    record->outcome = outcome;
    g_ptr_array_set_size(record->metrics, 0);
}

void
lab_record_env(ResRecord *record, const char *key, const char *value)
{
    if (value)
        g_hash_table_insert(record->environment, g_strdup(key), g_strdup(value));
}

static const ResWorkload *
find_result(const ResReport *report, const char *name)
{
    const GPtrArray *all = res_report_workloads(report);

    for (guint i = 0; i < all->len; i++) {
        const ResWorkload *w = all->pdata[i];
        if (g_str_equal(w->name, name))
            return w;
    }
    return NULL;
}

/* What the guest said of itself. */
static void
take_environment(const ResReport *report, ResRecord *record)
{
    static const struct {
        const char *fact, *key;
    } taken[] = {
        {"kernel.release", "guest.kernel.release"},
        {"kernel.version", "guest.kernel.version"},
        {"cmdline", "guest.cmdline"},
        {"cpus.possible", "guest.cpus.possible"},
        {"cpus.online", "guest.cpus.online"},
        {"sysfs.isolated", "guest.isolated"},
        {"sysfs.nohz_full", "guest.nohz_full"},
        {"clocksource.current", "guest.clocksource"},
        {"tsc_khz", "guest.tsc_khz"},
    };
    GHashTableIter iter;
    gpointer key, values;

    for (gsize i = 0; i < G_N_ELEMENTS(taken); i++)
        lab_record_env(record, taken[i].key, res_report_fact(report, taken[i].fact));
    g_hash_table_iter_init(&iter, res_report_all_facts(report));
    while (g_hash_table_iter_next(&iter, &key, &values)) {
        if (g_str_has_prefix(key, "vulnerability.")) {
            g_autofree char *name = g_strconcat("guest.", key, NULL);
            lab_record_env(record, name, res_report_fact(report, key));
        }
    }
}

/* WORKLOAD-NAME, since two workloads may leave files of one name. */
static void
take_files(const ResReport *report, GHashTable *files)
{
    const GPtrArray *all = res_report_workloads(report);

    for (guint i = 0; i < all->len; i++) {
        const ResWorkload *w = all->pdata[i];
        for (guint k = 0; k < w->files->len; k++) {
            const ResFile *f = w->files->pdata[k];
            g_hash_table_insert(files, g_strdup_printf("%s-%s", w->name, f->name),
                                g_bytes_new(f->content->str, f->content->len));
        }
        if (w->output->len)
            g_hash_table_insert(files, g_strdup_printf("%s-output.txt", w->name),
                                g_bytes_new(w->output->str, w->output->len));
    }
}

/* The last line of a program's output, for a message. */
static char *
last_output_line(const ResWorkload *w)
{
    g_autofree char *text = g_strdup(w->output->str);
    g_strchomp(text);
    const char *newline = strrchr(text, '\n');
    return g_strescape(newline ? newline + 1 : text, NULL);
}

/* Instructions repeat, so where they don't something else was measured. Durations never quite do:
 * then it is said. */
static gboolean
note_unsteady(const LabWorkload *w, ResRecord *record)
{
    g_autofree char *text =
        g_strdup_printf("workload %s came to no steady state in its warm-up (%" G_GUINT64_FORMAT
                        " batches): raise its warmup, or look for what else runs on CPU %u",
                        w->name, w->warmup, lab_workload_cpu(w));

    if (record->fidelity == RES_FIDELITY_INSTRUCTIONS) {
        lab_record_fail(record, RES_OUTCOME_GUEST, "unsteady", "%s", text);
        return FALSE;
    }
    g_ptr_array_add(record->notes, g_steal_pointer(&text));
    return TRUE;
}

static gboolean
check_workloads(const LabParams *params, const ResReport *report, ResRecord *record)
{
    for (guint i = 0; i < params->workloads->len; i++) {
        const LabWorkload *w = params->workloads->pdata[i];
        const ResWorkload *r = find_result(report, w->name);
        double *steady;
        if (!r || r->status < 0) {
            lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "workload",
                            "the report does not hold workload %s: see report.txt", w->name);
            return FALSE;
        }
        if (r->status == 124) {
            lab_record_fail(record, RES_OUTCOME_GUEST, "timeout",
                            "workload %s did not end within %" G_GUINT64_FORMAT
                            " s of guest time: raise its timeout, or make it shorter",
                            w->name, w->timeout_s);
            return FALSE;
        }
        if (r->status != 0) {
            g_autofree char *line = last_output_line(r);
            lab_record_fail(record, RES_OUTCOME_GUEST, "status",
                            "workload %s ended with status %d%s%s%s", w->name, r->status,
                            *line ? "; its last words: \"" : "; it printed nothing", line,
                            *line ? "\" (all of them in its output file)" : "");
            return FALSE;
        }
        steady = g_hash_table_lookup(r->values, "steady");
        if (steady && *steady == 0 && !note_unsteady(w, record))
            return FALSE;
    }
    return TRUE;
}

static gboolean
check_isolation(const LabMachine *machine, const ResReport *report, ResRecord *record)
{
    HostKernelView view = {
        .cmdline = res_report_fact(report, "cmdline"),
        .sysfs_nohz_full = res_report_fact(report, "sysfs.nohz_full"),
        .sysfs_isolated = res_report_fact(report, "sysfs.isolated"),
        .kmsg = res_report_facts(report, "kmsg"),
        .ncpus = machine->vcpus,
    };
    g_autoptr(GPtrArray) checks = host_isolation_compare(
        &view, hwloc_bitmap_iszero(machine->nohz_full) ? NULL : machine->nohz_full,
        hwloc_bitmap_iszero(machine->domain) ? NULL : machine->domain,
        hwloc_bitmap_iszero(machine->rcu_nocbs) ? NULL : machine->rcu_nocbs);

    for (guint i = 0; i < checks->len; i++) {
        const HostIsolationCheck *c = checks->pdata[i];
        g_autofree char *key = g_strdup_printf("guest.effective.%s", c->parameter);
        lab_record_env(record, key, c->effective);
    }
    for (guint i = 0; i < checks->len; i++) {
        const HostIsolationCheck *c = checks->pdata[i];
        if (!c->ok) {
            lab_record_fail(record, RES_OUTCOME_ISOLATION, c->parameter,
                            "%s in the guest: requested %s, in force %s. %s", c->parameter,
                            c->requested, c->effective, c->message ? c->message : "");
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
check_clock(const ResReport *report, ResRecord *record)
{
    const char *name = res_report_fact(report, "clocksource.current");
    g_autofree char *problem =
        host_clock_problem(name ? name : "", res_report_facts(report, "kmsg"));

    if (!problem)
        return TRUE;
    /* Emulated in wall time nothing is claimed of any number, whatever the clock. */
    if (record->fidelity == RES_FIDELITY_FUNCTIONAL) {
        g_ptr_array_add(record->notes, g_strdup_printf("the guest's clock: %s", problem));
        return TRUE;
    }
    g_autofree char *detail = host_quote(name ? name : "unknown", CLOCK_NAME_BYTES);
    lab_record_fail(record, RES_OUTCOME_CLOCK, detail,
                    "the guest's clock can't carry latencies: %s", problem);
    return FALSE;
}

/* [check] guest.clocksource: a precondition, which only the guest can tell. */
static gboolean
check_preconditions(const LabParams *params, const ResReport *report, ResRecord *record)
{
    for (guint i = 0; i < params->checks->len; i++) {
        const LabSetting *c = params->checks->pdata[i];
        const char *have = res_report_fact(report, "clocksource.current");
        if (g_str_equal(c->key, "guest.clocksource") &&
            !(have && lab_check_one_of(c->value, have))) {
            g_autofree char *shown = host_quote(have ? have : "unknown", CLOCK_NAME_BYTES);
            lab_record_fail(record, RES_OUTCOME_SKIP, "guest.clocksource",
                            "the guest's clocksource is %s, the profile wants %s", shown, c->value);
            return FALSE;
        }
    }
    return TRUE;
}

static void
add_metric(ResRecord *record, const char *workload, const char *what, const char *unit,
           ResDirection direction, const double value[3], guint64 samples, const char *evidence)
{
    g_autofree char *name = g_strdup_printf("%s.%s", workload, what);
    g_ptr_array_add(record->metrics,
                    res_metric_new(name, unit, direction, record->fidelity, value[0], value[1],
                                   value[2], samples, evidence));
}

/* Local timer interrupts on the workload's CPU while it was measured: FALSE when the guest did not
 * say. */
static gboolean
timer_interrupts(const ResReport *report, const LabWorkload *w, guint64 *count)
{
    guint64 before, after;
    unsigned int cpu = lab_workload_cpu(w);
    g_autofree char *key_before = g_strdup_printf("loc.%s.%u.before", w->name, cpu);
    g_autofree char *key_after = g_strdup_printf("loc.%s.%u.after", w->name, cpu);
    const char *text_before = res_report_fact(report, key_before);
    const char *text_after = res_report_fact(report, key_after);

    if (!text_before || !text_after ||
        !g_ascii_string_to_unsigned(text_before, 10, 0, G_MAXUINT64, &before, NULL) ||
        !g_ascii_string_to_unsigned(text_after, 10, before, G_MAXUINT64, &after, NULL))
        return FALSE;
    *count = after - before;
    return TRUE;
}

/* A nohz_full CPU that is busy with one task must have no tick: proven by counting, not by the
 * command line. */
static gboolean
check_tick(const LabMachine *machine, const ResReport *report, const LabWorkload *w,
           const ResWorkload *r, ResRecord *record)
{
    unsigned int cpu = lab_workload_cpu(w);
    const double *ns = g_hash_table_lookup(r->values, "measured_ns");
    guint64 count;

    if (!ns || !timer_interrupts(report, w, &count)) {
        g_ptr_array_add(
            record->notes,
            g_strdup_printf("%s: the guest gave no timer interrupt counts, so whether the tick was "
                            "stopped on CPU %u is unproven",
                            w->name, cpu));
        return TRUE;
    }
    double seconds = *ns / 1e9;
    const double value[3] = {count, count, count};
    add_metric(record, w->name, "timer_interrupts", "count", RES_NO_DIRECTION, value, 1,
               "report.txt");
    if (!hwloc_bitmap_isset(machine->nohz_full, cpu))
        return TRUE;
    if (count > 2 + TICKS_ALLOWED_PER_S * seconds) {
        lab_record_fail(
            record, RES_OUTCOME_ISOLATION, "tick",
            "CPU %u is in nohz_full=, yet its tick was not stopped while %s ran: %" G_GUINT64_FORMAT
            " local timer interrupts in %.3f s. Something else was runnable there, or held the "
            "tick "
            "(a POSIX CPU timer, perf, an unstable clock)",
            cpu, w->name, count, seconds);
        return FALSE;
    }
    if (seconds * SLOWEST_HZ < TICKS_UNKNOWN_BELOW)
        g_ptr_array_add(
            record->notes,
            g_strdup_printf("%s: measured for %.1f ms only, too short to prove that the "
                            "tick was stopped: raise batches",
                            w->name, seconds * 1e3));
    return TRUE;
}

static int
by_value(gconstpointer a, gconstpointer b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static gboolean
judge_syscall_loop(const LabMachine *machine, const ResReport *report, const LabWorkload *w,
                   const ResWorkload *r, ResRecord *record)
{
    g_autoptr(GArray) per_call = g_array_new(FALSE, FALSE, sizeof(double));

    if (!check_tick(machine, report, w, r, record))
        return FALSE;
    for (guint i = 0; i < r->batches->len; i++) {
        const ResBatch *b = &g_array_index(r->batches, ResBatch, i);
        double value = b->calls ? (double)b->ticks / b->calls : 0;
        if (b->measured && b->cpu != lab_workload_cpu(w)) {
            lab_record_fail(record, RES_OUTCOME_ISOLATION, "placement",
                            "workload %s ran on CPU %u, not on CPU %u", w->name, b->cpu,
                            lab_workload_cpu(w));
            return FALSE;
        }
        if (b->measured)
            g_array_append_val(per_call, value);
    }
    if (per_call->len != w->batches) {
        lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "batches",
                        "workload %s: %u measured batches in the report, %" G_GUINT64_FORMAT
                        " asked for",
                        w->name, per_call->len, w->batches);
        return FALSE;
    }
    g_array_sort(per_call, by_value);
    const double *all = (const double *)per_call->data;
    const double value[3] = {res_median(all, per_call->len), all[0], all[per_call->len - 1]};
    /* Under icount with shift=0 the TSC counts instructions; otherwise it counts its own ticks. */
    const char *unit = record->fidelity == RES_FIDELITY_INSTRUCTIONS ? "insns" : "ticks";
    add_metric(record, w->name, "per_call", unit, RES_LOWER_IS_BETTER, value, per_call->len,
               "report.txt");
    return TRUE;
}

/* The worst of the threads for each figure: a partition is as good as its worst CPU. */
static void
add_cyclictest_metrics(const LabWorkload *w, const ResCyclictest *c, const char *evidence,
                       ResRecord *record)
{
    const char *unit = record->fidelity == RES_FIDELITY_INSTRUCTIONS ? "insns" : "ns";
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}};
    gint64 min = G_MAXINT64, max = G_MININT64;
    double mean = -INFINITY;
    guint64 cycles = 0;

    for (guint i = 0; i < c->threads->len; i++) {
        const ResCyclictestThread *t = c->threads->pdata[i];
        min = MIN(min, t->min_ns);
        max = MAX(max, t->max_ns);
        mean = MAX(mean, t->mean_ns);
        cycles += t->cycles;
    }
    const double lowest[3] = {min, min, min}, highest[3] = {max, max, max},
                 middle[3] = {mean, min, max};
    add_metric(record, w->name, "min", unit, RES_LOWER_IS_BETTER, lowest, cycles, evidence);
    add_metric(record, w->name, "mean", unit, RES_LOWER_IS_BETTER, middle, cycles, evidence);
    add_metric(record, w->name, "max", unit, RES_LOWER_IS_BETTER, highest, cycles, evidence);

    for (gsize k = 0; k < G_N_ELEMENTS(quantiles); k++) {
        gint64 worst = G_MININT64;
        gboolean known = c->threads->len > 0;
        for (guint i = 0; i < c->threads->len; i++) {
            const ResCyclictestThread *t = c->threads->pdata[i];
            gint64 at = 0;
            known &= res_cyclictest_quantile(t, quantiles[k].q, &at);
            worst = MAX(worst, at);
        }
        const double value[3] = {worst, min, max};
        /* A quantile with fewer samples beyond it is no more than one of the largest values. */
        if ((double)cycles / MAX(c->threads->len, 1) * (1 - quantiles[k].q) <
            QUANTILE_SAMPLES_BEYOND)
            continue;
        if (known)
            add_metric(record, w->name, quantiles[k].name, unit, RES_LOWER_IS_BETTER, value, cycles,
                       evidence);
        else if (w->histogram_us)
            g_ptr_array_add(record->notes,
                            g_strdup_printf("%s.%s lies beyond the histogram (%" G_GUINT64_FORMAT
                                            " us): raise histogram to see it",
                                            w->name, quantiles[k].name, w->histogram_us));
    }
}

static ResOutcome
cyclictest_outcome(const GError *error)
{
    return g_error_matches(error, RES_CYCLICTEST_ERROR, RES_CYCLICTEST_ERROR_CLOCK)
               ? RES_OUTCOME_CLOCK
               : RES_OUTCOME_INCOMPLETE;
}

static gboolean
judge_cyclictest(const LabWorkload *w, const ResWorkload *r, ResRecord *record)
{
    g_autoptr(GError) error = NULL;
    const ResFile *file = NULL;

    for (guint i = 0; i < r->files->len; i++) {
        const ResFile *f = r->files->pdata[i];
        if (g_str_equal(f->name, LAB_GUEST_CYCLICTEST_JSON))
            file = f;
    }
    if (!file || file->cut) {
        lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "cyclictest", "workload %s: its JSON %s",
                        w->name,
                        file ? "was too large to be sent whole" : "is missing from the report");
        return FALSE;
    }
    g_autoptr(ResCyclictest) c =
        res_cyclictest_parse(file->content->str, file->content->len, &error);
    if (!c) {
        lab_record_fail(record, cyclictest_outcome(error), "cyclictest", "workload %s: %s", w->name,
                        error->message);
        return FALSE;
    }
    for (guint i = 0; i < c->notes->len; i++)
        g_ptr_array_add(record->notes,
                        g_strdup_printf("%s: %s", w->name, (char *)c->notes->pdata[i]));
    guint expected = w->cpu >= 0 ? 1 : 0;
    if (c->broken || !c->unit_known || c->threads->len == 0 ||
        (expected && c->threads->len != expected)) {
        lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "cyclictest", "workload %s: %s", w->name,
                        c->broken        ? "stopped by its break threshold"
                        : !c->unit_known ? "the unit of its figures is unknown"
                                         : "unexpected number of threads");
        return FALSE;
    }
    for (guint i = 0; i < c->threads->len; i++) {
        const ResCyclictestThread *t = c->threads->pdata[i];
        /* Without an affinity other threads go on until the first has done its loops. */
        if (i == 0 && t->cycles < w->loops) {
            lab_record_fail(record, RES_OUTCOME_INCOMPLETE, "cyclictest",
                            "workload %s: thread %u did %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " cycles",
                            w->name, t->thread, t->cycles, w->loops);
            return FALSE;
        }
    }
    g_autofree char *evidence = g_strdup_printf("%s-%s", w->name, LAB_GUEST_CYCLICTEST_JSON);
    lab_record_env(record, "rt-tests.version", c->version);
    add_cyclictest_metrics(w, c, evidence, record);
    return TRUE;
}

gboolean
lab_judge(const LabParams *params, const LabMachine *machine, const ResReport *report,
          ResRecord *record, GHashTable *files)
{
    take_environment(report, record);
    take_files(report, files);
    if (!check_workloads(params, report, record) || !check_isolation(machine, report, record) ||
        !check_preconditions(params, report, record) || !check_clock(report, record))
        return FALSE;
    for (guint i = 0; i < params->workloads->len; i++) {
        const LabWorkload *w = params->workloads->pdata[i];
        const ResWorkload *r = find_result(report, w->name);
        if (g_str_equal(w->type, "syscall-loop") &&
            !judge_syscall_loop(machine, report, w, r, record))
            return FALSE;
        if (g_str_equal(w->type, "cyclictest") && !judge_cyclictest(w, r, record))
            return FALSE;
    }
    record->outcome = RES_OUTCOME_DONE;
    return TRUE;
}
