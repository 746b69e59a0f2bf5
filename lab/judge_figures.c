/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of workloads, from their part of the report. */
#include <math.h>
#include <string.h>

#include "lab/judge_private.h"
#include "results/compare.h"
#include "results/cyclictest.h"

#define TICKS_UNKNOWN_BELOW                                                                        \
    3.0 /* ticks that HZ=100 would have given: with fewer, nothing is proven */
#define TICKS_ALLOWED_PER_S 5.0 /* a stopped tick leaves at most a few events a second */
#define SLOWEST_HZ 100.0
#define QUANTILE_SAMPLES_BEYOND 5

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

gboolean
lab_judge_syscall_loop(const LabMachine *machine, const ResReport *report, const LabWorkload *w,
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

gboolean
lab_judge_cyclictest(const LabWorkload *w, const ResWorkload *r, ResRecord *record)
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
