/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run_private.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/reaper.h"
#include "host/threads.h"
#include "lab/files.h"
#include "lab/judge.h"
#include "lab/platform.h"
#include "lab/run_record.h"

const char *
lab_step_name(LabStep s)
{
    static const char *const names[] = {"start", "boot", "measure", "end", "done"};
    return names[s];
}

/* QEMU ends, or has ended: its channels closed. Until on_destroyed. */
void
lab_run_reap(LabRun *run)
{
    if (!run->reaping)
        host_reaper_hold();
    run->reaping = TRUE;
}

/* For tests of what a kill -9 leaves: this process ends here. */
static void
maybe_die(const char *step)
{
    if (g_strcmp0(g_getenv("NOHZLAB_DIE_AT"), step) == 0)
        kill(getpid(), SIGKILL);
}

void
lab_run_enter(LabRun *run, LabStep step, const char *what)
{
    maybe_die(lab_step_name(step));
    g_debug("%s: %s%s%s", run->name ? run->name : run->record->id, lab_step_name(step),
            what ? " " : "", what ? what : "");
    if (step == LAB_STEP_END)
        lab_run_reap(run);
    run->step = step;
    run->progress(run, step, what, run->data);
}

void
lab_run_timer(LabRun *run, guint ms, GSourceFunc func)
{
    if (run->timer)
        g_source_remove(run->timer);
    run->timer = ms ? g_timeout_add(ms, func, run) : 0;
}

/* The first failure stands; what follows from it is not one of its own. */
void
lab_run_fail(LabRun *run, ResOutcome outcome, const char *detail, const char *format, ...)
{
    va_list args;

    if (run->ending)
        return;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    lab_record_fail(run->record, outcome, detail, "%s", message);
    lab_run_finish(run);
}

void
lab_run_fail_error(LabRun *run, const GError *error)
{
    gboolean isolation = g_error_matches(error, HOST_ERROR, HOST_ERROR_ISOLATION);

    lab_run_fail(run, isolation ? RES_OUTCOME_ISOLATION : RES_OUTCOME_INFRA, isolation ? "pin" : "",
                 "%s", error->message);
}

/* --- start --- */

static void
note_threads(LabRun *run)
{
    const GPtrArray *threads = host_guest_threads(run->guest);

    for (guint i = 0; threads && i < threads->len; i++) {
        const HostThread *t = threads->pdata[i];
        g_autofree char *list = t->allowed ? host_cpulist_format(t->allowed) : g_strdup("unknown");
        g_autofree char *key = g_strdup_printf("host.thread.%u.%s", i, t->name);
        lab_record_env(run->record, key, list);
    }
}

static void
on_started(GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
    LabRun *run = data;
    g_autoptr(GError) error = NULL;
    gboolean ok = host_guest_start_finish(run->guest, result, &error);

    run->starting = FALSE;
    host_reaper_release();
    note_threads(run);
    if (run->cancelled) {
        lab_run_finish(run);
        return;
    }
    /* Before the guest runs: setting this up interrupts every CPU. */
    if (ok && lab_observe_wanted(run->params)) {
        run->observe = lab_observe_new(run->name + strlen("nohzlab-"), run->params, run->machine,
                                       host_guest_threads(run->guest), &error);
        ok = run->observe != NULL;
    }
    if (!ok || !host_guest_resume(run->guest, &error)) {
        lab_run_fail_error(run, error);
        return;
    }
    /* Its registers take no instruction of it; by the wall none was ever seen to stall. */
    if (run->box && run->params->clock == LAB_CLOCK_ICOUNT)
        run->stall = lab_stall_watch(run->guest, lab_run_on_stall, run);
    lab_run_timer(run, run->params->boot_timeout_s * 1000, lab_run_on_boot_timeout);
    lab_run_enter(run, LAB_STEP_BOOT, NULL);
}

static gboolean
write_job(LabRun *run, const char *path, GError **error)
{
    if (g_mkdir(run->dir, 0755) != 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't make %s: %s", run->dir,
                    g_strerror(errno));
        return FALSE;
    }
    return g_file_set_contents_full(path, run->machine->job, -1, G_FILE_SET_CONTENTS_NONE, 0644,
                                    error);
}

static gboolean
run_set_up(LabRun *run, HostDomainSpec *spec, GError **error)
{
    run->name = lab_session_guest_name(run->session, error);
    if (!run->name)
        return FALSE;
    run->dir = g_build_filename(lab_session_run_dir(run->session), run->name, NULL);
    g_autofree char *job = g_build_filename(run->dir, "job", NULL);
    g_autofree char *console = g_build_filename(run->dir, "console", NULL);
    g_autofree char *report = g_build_filename(run->dir, "report", NULL);
    if (!write_job(run, job, error))
        return FALSE;
    run->console_channel =
        host_channel_listen(console, HOST_QEMU_USER, lab_run_on_console, run, error);
    if (!run->console_channel)
        return FALSE;
    run->report_channel =
        host_channel_listen(report, HOST_QEMU_USER, lab_run_on_report, run, error);
    if (!run->report_channel)
        return FALSE;

    *spec = lab_machine_domain(run->machine, run->params, run->boot);
    if (run->box)
        lab_box_domain(run->box, spec);
    spec->name = run->name;
    spec->emulator = lab_platform_qemu(run->cell->params, run->session);
    spec->kernel = run->image->kernel_path;
    spec->initrd = run->image->initrd_path;
    spec->job_path = job;
    spec->console_path = console;
    spec->report_path = report;
    run->xml = host_domain_xml(spec, error);
    return run->xml != NULL;
}

static gboolean
choose_machine(LabRun *run, GError **error)
{
    if (run->params->platform == LAB_PLATFORM_BOX) {
        run->box = lab_box_new(run->cell, run->image, error);
        if (!run->box)
            return FALSE;
        run->params = lab_box_params(run->box);
        run->machine = lab_box_machine(run->box);
    } else {
        run->machine = run->own_machine = lab_machine_new(run->params, error);
    }
    return run->machine != NULL;
}

static gboolean
tune_host(LabRun *run, GError **error)
{
    if (run->params->platform != LAB_PLATFORM_METAL || !run->params->tune)
        return TRUE;
    run->tuning = lab_tuning_apply(run->session, run->params, run->record, error);
    maybe_die("tuned");
    return run->tuning != NULL;
}

void
lab_run_start(LabRun *run)
{
    g_autoptr(GError) error = NULL;
    HostDomainSpec spec;

    run->record->started_us = g_get_real_time();
    lab_run_enter(run, LAB_STEP_START, NULL);
    if (!choose_machine(run, &error) || !tune_host(run, &error) ||
        !run_set_up(run, &spec, &error)) {
        lab_run_fail_error(run, error);
        return;
    }
    run->guest = host_guest_new(lab_session_conn(run->session), run->name, run->xml,
                                lab_run_on_stopped, run);
    run->starting = TRUE;
    host_reaper_hold();
    host_guest_start(run->guest, &spec, on_started, run);
}

/* --- end --- */

char *
lab_run_qemu_log(const LabRun *run)
{
    if (!run->name || !host_conn_embedded(lab_session_conn(run->session)))
        return NULL;
    return g_strdup_printf("%s/libvirt/log/qemu/%s.log", lab_session_run_dir(run->session),
                           run->name);
}

static void
collect_evidence(LabRun *run)
{
    g_autofree char *log = lab_run_qemu_log(run);
    LabRunEvidence evidence = {
        .console = lab_console_text(run->console),
        .report = res_report_raw(run->report),
        .job = run->machine ? run->machine->job : NULL,
        .xml = run->xml,
        .qemu_log_path = log,
    };
    lab_run_record_evidence(run->record, run->files, &evidence);
}

/* QEMU ended by itself: with what, and its last words. */
static void
explain_qemu_end(LabRun *run, const char *end)
{
    GBytes *log = g_hash_table_lookup(run->files, "qemu.log");
    g_autoptr(LabConsole) lines = lab_console_new();
    gsize len = 0;
    const char *bytes = log ? g_bytes_get_data(log, &len) : NULL;

    lab_console_feed(lines, bytes, len);
    g_autofree char *last = lab_console_last_line(lines);
    g_autofree char *message =
        g_strdup_printf("%s (%s); the last line of qemu.log: \"%s\"", run->record->message,
                        end ? end : "how is not known", last);
    lab_record_fail(run->record, run->record->outcome, run->record->detail, "%s", message);
}

gboolean
lab_run_worth_retrying(const ResRecord *record)
{
    return record->outcome == RES_OUTCOME_INFRA &&
           (g_str_has_suffix(record->detail, LAB_INFRA_QEMU) ||
            g_str_has_suffix(record->detail, LAB_INFRA_STALLED));
}

static gboolean
tell_done(gpointer data)
{
    LabRun *run = data;

    lab_run_enter(run, LAB_STEP_DONE, NULL);
    run->done(run, run->record, run->files, run->data);
    return G_SOURCE_REMOVE;
}

static void
on_destroyed(GObject *source G_GNUC_UNUSED, GAsyncResult *result G_GNUC_UNUSED, gpointer data)
{
    LabRun *run = data;

    if (run->reaping)
        host_reaper_release();
    run->reaping = FALSE;
    g_autofree char *end = run->guest ? host_guest_end_text(run->guest) : NULL;
    g_clear_pointer(&run->guest, host_guest_free);
    if (!run->cancelled && run->record->outcome == RES_OUTCOME_DONE)
        lab_run_judge(run);
    if (run->box && !run->cancelled)
        lab_box_blame(run->record); /* not of what went well, or went wrong inside */
    if (run->cancelled)
        lab_record_fail(run->record, RES_OUTCOME_CANCELLED, "", "cancelled");
    g_clear_pointer(&run->load, lab_load_stop);
    g_clear_pointer(&run->observe, lab_observe_free);
    if (run->tuning)
        lab_tuning_undo(g_steal_pointer(&run->tuning), run->record);
    collect_evidence(run);
    if (run->stopped && run->end == HOST_GUEST_FAILED &&
        run->record->outcome == RES_OUTCOME_INFRA &&
        g_str_has_suffix(run->record->detail, LAB_INFRA_QEMU))
        explain_qemu_end(run, end);
    g_clear_pointer(&run->console_channel, host_channel_free);
    g_clear_pointer(&run->report_channel, host_channel_free);
    if (run->dir)
        lab_remove_tree(run->dir);
    run->record->ended_us = g_get_real_time();
    g_idle_add(tell_done, run);
}

void
lab_run_finish(LabRun *run)
{
    if (run->ending || run->starting)
        return;
    run->ending = TRUE;
    lab_run_timer(run, 0, NULL);
    g_clear_pointer(&run->stall, lab_stall_free);
    if (run->step != LAB_STEP_END)
        lab_run_enter(run, LAB_STEP_END, NULL);
    if (run->guest)
        host_guest_destroy(run->guest, on_destroyed, run);
    else
        on_destroyed(NULL, NULL, run);
}

void
lab_run_cancel(LabRun *run)
{
    if (run->ending)
        return;
    run->cancelled = TRUE;
    lab_run_finish(run); /* while it is being started, its own end calls this again */
}

/* --- made and gone --- */

LabRun *
lab_run_new(LabSession *session, const LabProfile *profile, const LabCell *cell, unsigned int boot,
            const char *set, const LabImage *image, LabRunProgress progress, LabRunDone done,
            gpointer data)
{
    LabRun *run = g_new0(LabRun, 1);

    run->session = session;
    run->cell = cell;
    run->params = cell->params;
    run->boot = boot;
    run->image = image;
    run->progress = progress;
    run->done = done;
    run->data = data;
    run->console = lab_console_new();
    run->report = res_report_new(lab_run_on_barrier, run);
    run->files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);

    run->record = lab_run_record_new(session, profile, cell, boot, set, image);
    return run;
}

void
lab_run_free(LabRun *run)
{
    if (!run)
        return;
    lab_run_timer(run, 0, NULL);
    g_clear_pointer(&run->own_machine, lab_machine_free);
    g_clear_pointer(&run->box, lab_box_free);
    lab_console_free(run->console);
    res_report_free(run->report);
    res_record_free(run->record);
    g_hash_table_unref(run->files);
    g_free(run->workload);
    g_free(run->name);
    g_free(run->dir);
    g_free(run->xml);
    g_free(run);
}

const LabCell *
lab_run_cell(const LabRun *run)
{
    return run->cell;
}

unsigned int
lab_run_boot(const LabRun *run)
{
    return run->boot;
}
