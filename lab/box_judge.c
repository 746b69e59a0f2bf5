/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a box's report makes of the run's record. */
#include <string.h>

#include "host/isolation.h"
#include "lab/box.h"
#include "lab/bundle.h"
#include "lab/judge.h"

#define INSIDE "box-" /* evidence and details of the other side */
#define IN_THE_BOX "in the box: "
#define BUNDLE_FILE "bundle.json"
#define EXIT_SKIPPED 77 /* lab/verdict.h: everything was skipped */

static const ResWorkload *
box_workload(const ResReport *report)
{
    const GPtrArray *all = res_report_workloads(report);

    return all->len == 1 ? all->pdata[0] : NULL;
}

static const ResFile *
box_file(const ResWorkload *w, const char *name)
{
    for (guint i = 0; i < w->files->len; i++) {
        const ResFile *f = w->files->pdata[i];
        if (g_str_equal(f->name, name) && !f->cut)
            return f;
    }
    return NULL;
}

/* What nohzlab in the box said last; PID 1's own notes are not its words. g_free. */
static char *
last_words(const ResWorkload *w)
{
    g_auto(GStrv) lines = g_strsplit(w->output->str, "\n", -1);

    for (guint i = g_strv_length(lines); i > 0; i--) {
        const char *line = g_strstrip(lines[i - 1]);
        if (*line && !g_str_has_prefix(line, "nohzlab: cannot collect"))
            return g_strdup(line);
    }
    return g_strdup("it printed nothing");
}

static void
take_facts(const ResReport *report, ResRecord *record)
{
    static const char *const keys[] = {
        "kernel.release",  "kernel.version", "cmdline",   "cpus.online", "sysfs.isolated",
        "sysfs.nohz_full", "sysfs.realtime", "pid1.cpus", "tsc_khz",     "clocksource.current",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *name = g_strconcat("box.", keys[i], NULL);
        lab_record_env(record, name, res_report_fact(report, keys[i]));
    }
}

/* The partition of the lab host, which the profile's host keys ask for. */
static gboolean
check_isolation(const LabMachine *m, const ResReport *report, ResRecord *record)
{
    HostKernelView view = {
        .cmdline = res_report_fact(report, "cmdline"),
        .sysfs_nohz_full = res_report_fact(report, "sysfs.nohz_full"),
        .sysfs_isolated = res_report_fact(report, "sysfs.isolated"),
        .kmsg = res_report_facts(report, "kmsg"),
        .ncpus = m->vcpus,
    };
    g_autoptr(GPtrArray) checks =
        host_isolation_compare(&view, m->nohz_full, m->domain, m->rcu_nocbs);
    const HostIsolationCheck *failed = NULL;

    for (guint i = 0; i < checks->len; i++) {
        const HostIsolationCheck *c = checks->pdata[i];
        g_autofree char *key = g_strdup_printf("box.effective.%s", c->parameter);
        lab_record_env(record, key, c->effective);
        failed = failed || c->ok ? failed : c;
    }
    if (!failed)
        return TRUE;
    g_autofree char *detail = g_strconcat(INSIDE, failed->parameter, NULL);
    lab_record_fail(record, RES_OUTCOME_ISOLATION, detail,
                    "%s of the lab host in the box: requested %s, in force %s. %s",
                    failed->parameter, failed->requested, failed->effective,
                    failed->message ? failed->message : "");
    return FALSE;
}

static void
keep_capabilities(const LabImage *image, const char *cache_dir, const ResWorkload *w)
{
    g_autofree char *name = lab_box_capabilities_name();
    const ResFile *f = box_file(w, name);

    if (f)
        lab_box_image_keep(image, cache_dir, f->content->str, f->content->len);
}

/* "host." and "qemu." are now the lab host's in the box: what this machine said of itself and of
 * the box's own emulator gets other names. */
static void
set_aside(ResRecord *record)
{
    g_autoptr(GHashTable) moved = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    GHashTableIter iter;
    gpointer key, value;

    g_hash_table_iter_init(&iter, record->environment);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const char *name = key;
        gboolean host = g_str_has_prefix(name, "host.");
        if (!host && !g_str_has_prefix(name, "qemu."))
            continue;
        g_hash_table_insert(
            moved,
            g_strconcat(!host || g_str_has_prefix(name, "host.thread.") ? "box." : "machine.",
                        name + (host ? strlen("host.") : 0), NULL),
            g_strdup(value));
        g_hash_table_iter_remove(&iter);
    }
    g_hash_table_iter_init(&iter, moved);
    while (g_hash_table_iter_next(&iter, &key, &value))
        lab_record_env(record, key, value);
}

/* Only where the inner kernel's file came from this machine knows better than the box. */
static void
take_environment(const ResRecord *inner, ResRecord *record)
{
    GHashTableIter iter;
    gpointer key, value;

    set_aside(record);
    g_hash_table_iter_init(&iter, inner->environment);
    while (g_hash_table_iter_next(&iter, &key, &value))
        if (!g_str_equal(key, "kernel.path"))
            lab_record_env(record, key, value);
}

static void
take_files(const LabBundleRun *run, GHashTable *files)
{
    GHashTableIter iter;
    gpointer name, bytes;

    g_hash_table_iter_init(&iter, run->files);
    while (g_hash_table_iter_next(&iter, &name, &bytes))
        g_hash_table_insert(files, g_strconcat(INSIDE, name, NULL), g_bytes_ref(bytes));
}

/* By the wall durations are the emulator's; counts are the kernels'. */
static gboolean
is_duration(const char *unit)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "ticks", "insns", "1/s", NULL};
    return g_strv_contains(units, unit);
}

/* A nanosecond of virtual time, and a tick of the TSC (1 GHz), is an instruction. */
static const char *
unit_of(const ResMetric *m, ResFidelity fidelity)
{
    gboolean counted = fidelity == RES_FIDELITY_INSTRUCTIONS &&
                       (g_str_equal(m->unit, "ns") || g_str_equal(m->unit, "ticks"));
    return counted ? "insns" : m->unit;
}

static void
take_metrics(const ResRecord *inner, ResRecord *record)
{
    for (guint i = 0; i < inner->metrics->len; i++) {
        const ResMetric *m = inner->metrics->pdata[i];
        g_autofree char *evidence = g_strconcat(INSIDE, m->evidence, NULL);
        const char *unit = unit_of(m, record->fidelity);
        ResFidelity fidelity = is_duration(unit) && record->fidelity == RES_FIDELITY_EVENTS
                                   ? RES_FIDELITY_FUNCTIONAL
                                   : record->fidelity;
        g_ptr_array_add(record->metrics,
                        res_metric_new(m->name, unit, m->direction, fidelity, m->value, m->min,
                                       m->max, m->samples, evidence));
    }
}

/*
 * Boxes under icount stall now and then (lab/stall.h), some with all their CPUs idle: a wake-up got
 * lost, and virtual time jumps to whatever comes next, which is a timeout.
 */
static gboolean
is_emulators_fault(const ResRecord *inner, const ResRecord *record)
{
    return record->fidelity == RES_FIDELITY_INSTRUCTIONS && inner->detail &&
           g_str_equal(inner->detail, "timeout") &&
           (inner->outcome == RES_OUTCOME_BOOT || inner->outcome == RES_OUTCOME_GUEST);
}

static gboolean
take_run(const LabBundleRun *run, ResRecord *record, GHashTable *files)
{
    const ResRecord *inner = run->record;

    take_environment(inner, record);
    take_files(run, files);
    for (guint i = 0; i < inner->notes->len; i++)
        g_ptr_array_add(record->notes, g_strdup(inner->notes->pdata[i]));
    if (is_emulators_fault(inner, record)) {
        lab_record_fail(record, RES_OUTCOME_INFRA, INSIDE "stalled",
                        IN_THE_BOX "%s. Under clock icount that can't be told from the emulator's "
                                   "own stall, so nothing is held against the guest",
                        inner->message);
        return FALSE;
    }
    if (inner->outcome != RES_OUTCOME_DONE) {
        lab_record_fail(record, inner->outcome, inner->detail,
                        IN_THE_BOX "%s (its files are those named " INSIDE "...)", inner->message);
        return FALSE;
    }
    take_metrics(inner, record);
    record->outcome = RES_OUTCOME_DONE;
    return TRUE;
}

static gboolean
fail_without_record(const ResWorkload *w, ResRecord *record)
{
    g_autofree char *words = last_words(w);

    if (w->status == 124)
        lab_record_fail(
            record, RES_OUTCOME_INFRA, INSIDE "timeout",
            "the lab host in the box did not finish in time (guest.boot_timeout and the "
            "workloads' timeouts decide how long it may take); its last words: %s",
            words);
    else if (w->status == EXIT_SKIPPED)
        lab_record_fail(record, RES_OUTCOME_SKIP, INSIDE "skip", IN_THE_BOX "%s", words);
    else
        lab_record_fail(record, RES_OUTCOME_INFRA, INSIDE "run",
                        "nohzlab in the box ended with status %d and left no record: %s", w->status,
                        words);
    return FALSE;
}

gboolean
lab_box_judge(const LabBox *b, const LabImage *image, const char *cache_dir,
              const ResReport *report, ResRecord *record, GHashTable *files)
{
    const ResWorkload *w = box_workload(report);
    g_autoptr(GError) error = NULL;

    take_facts(report, record);
    if (!w) {
        lab_record_fail(record, RES_OUTCOME_INCOMPLETE, INSIDE "report",
                        "the box reported on no run");
        return FALSE;
    }
    if (w->output->len)
        g_hash_table_insert(files, g_strdup(INSIDE "output.txt"),
                            g_bytes_new(w->output->str, w->output->len));
    keep_capabilities(image, cache_dir, w);
    if (!check_isolation(lab_box_machine(b), report, record))
        return FALSE;
    const ResFile *bundle = box_file(w, BUNDLE_FILE);
    if (!bundle)
        return fail_without_record(w, record);
    g_autoptr(GPtrArray) runs = lab_bundle_read(bundle->content->str, bundle->content->len, &error);
    if (runs && runs->len == 0)
        return fail_without_record(w, record);
    if (runs)
        return take_run(runs->pdata[0], record, files);
    lab_record_fail(record, RES_OUTCOME_INCOMPLETE, INSIDE "bundle",
                    "what the box left of its run can't be read: %s", error->message);
    return FALSE;
}

void
lab_box_blame(ResRecord *record)
{
    ResOutcome outcome = record->outcome;

    if (outcome == RES_OUTCOME_DONE || outcome == RES_OUTCOME_CANCELLED || !record->detail ||
        g_str_has_prefix(record->message, IN_THE_BOX) || g_str_has_prefix(record->detail, INSIDE))
        return;
    /* A lab host that stalls or lacks KVM is this lab's trouble; one that panics is the kernel's.
     */
    if (outcome == RES_OUTCOME_GUEST &&
        (g_str_equal(record->detail, "timeout") || g_str_equal(record->detail, "init")))
        outcome = RES_OUTCOME_INFRA;
    g_autofree char *detail =
        g_strconcat(INSIDE, *record->detail ? record->detail : "failed", NULL);
    g_autofree char *message =
        g_strconcat("the emulated lab host, not the guest in it: ", record->message, NULL);
    lab_record_fail(record, outcome, detail, "%s", message);
}
