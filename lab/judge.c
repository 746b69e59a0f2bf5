/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/judge_private.h"

#include <string.h>

#include "host/isolation.h"
#include "host/quote.h"
#include "lab/checks.h"
#include "lab/exit_cost.h"

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

    /* DETAIL and the arguments may be the record's own. */
    va_start(args, format);
    g_autofree char *old_message = record->message, *old_detail = record->detail;
    record->message = g_strdup_vprintf(format, args);
    record->detail = g_strdup(detail);
    va_end(args);
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
    g_autoptr(GPtrArray) checks =
        host_isolation_compare(&view, machine->nohz_full, machine->domain, machine->rcu_nocbs);

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
            !lab_judge_syscall_loop(machine, report, w, r, record))
            return FALSE;
        if (g_str_equal(w->type, "cyclictest") && !lab_judge_cyclictest(w, r, record, files))
            return FALSE;
        if (*w->trace && !lab_judge_trace(w, r, record))
            return FALSE;
        if (g_str_equal(w->type, LAB_EXIT_COST) && !lab_judge_exit_cost(w, r, record))
            return FALSE;
    }
    record->outcome = RES_OUTCOME_DONE;
    return TRUE;
}
