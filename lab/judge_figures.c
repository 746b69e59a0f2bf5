/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of workloads, from their part of the report. */
#include <math.h>
#include <string.h>

#include "guest/report.h"
#include "lab/judge_private.h"
#include "results/compare.h"

#define TICKS_UNKNOWN_BELOW                                                                        \
    3.0 /* ticks that HZ=100 would have given: with fewer, nothing is proven */
#define TICKS_ALLOWED_PER_S 5.0 /* a stopped tick leaves at most a few events a second */
#define SLOWEST_HZ 100.0

ResMetric *
lab_judge_add_metric(ResRecord *record, const char *workload, const char *what, const char *unit,
                     ResDirection direction, const double value[3], guint64 samples,
                     const char *evidence)
{
    g_autofree char *name = g_strdup_printf("%s.%s", workload, what);
    ResMetric *m = res_metric_new(name, unit, direction, record->fidelity, value[0], value[1],
                                  value[2], samples, evidence);
    g_ptr_array_add(record->metrics, m);
    return m;
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
    lab_judge_add_metric(record, w->name, "timer_interrupts", "count", RES_NO_DIRECTION, value, 1,
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

int
lab_judge_by_value(gconstpointer a, gconstpointer b)
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
        if (g_str_equal(b->loop, BM_TRACE_LOOP))
            continue;
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
    g_array_sort(per_call, lab_judge_by_value);
    const double *all = (const double *)per_call->data;
    const double value[3] = {res_median(all, per_call->len), all[0], all[per_call->len - 1]};
    /* Under icount with shift=0 the TSC counts instructions; otherwise it counts its own ticks. */
    const char *unit = record->fidelity == RES_FIDELITY_INSTRUCTIONS ? "insns" : "ticks";
    lab_judge_add_metric(record, w->name, "per_call", unit, RES_LOWER_IS_BETTER, value,
                         per_call->len, "report.txt");
    return TRUE;
}
