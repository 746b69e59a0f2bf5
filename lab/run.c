/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run.h"

#include "lab/run_record.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "host/channel.h"
#include "host/error.h"
#include "host/guest.h"
#include "host/reaper.h"
#include "host/threads.h"
#include "lab/box.h"
#include "lab/console.h"
#include "lab/files.h"
#include "lab/judge.h"
#include "lab/load.h"
#include "lab/machine.h"
#include "lab/observe.h"
#include "results/report.h"

#define POWER_OFF_S 20  /* from the report's end to the domain's */
#define DRAIN_MS 2000   /* for what QEMU wrote before it went */
#define PANIC_GRACE_S 3 /* for the rest of a panic's text */

struct LabRun {
    LabSession *session;
    const LabCell *cell;
    unsigned int boot;
    const LabImage *image;
    LabRunProgress progress;
    LabRunDone done;
    gpointer data;

    LabStep step;
    LabBox *box; /* platform box: what is driven is the lab host, not the cell's guest */
    const LabParams *params;   /* of what is driven */
    const LabMachine *machine; /* of what is driven */
    LabMachine *own_machine;   /* NULL in a box */
    char *name, *dir, *xml;
    HostChannel *console_channel, *report_channel;
    LabConsole *console;
    ResReport *report;
    HostGuest *guest;
    guint timer;         /* of the current step */
    LabLoad *load;       /* of the current workload, or NULL */
    LabObserve *observe; /* NULL: nothing is watched */
    gboolean starting, resumed, reaping, ending, stopped, console_closed, report_closed, cancelled;
    HostGuestEnd end;
    char *workload; /* the current one */

    ResRecord *record;
    GHashTable *files;
};

static void run_end(LabRun *run);

const char *
lab_step_name(LabStep s)
{
    static const char *const names[] = {"start", "boot", "measure", "end", "done"};
    return names[s];
}

/* QEMU ends, or has ended: its channels closed. Until on_destroyed. */
static void
reap(LabRun *run)
{
    if (!run->reaping)
        host_reaper_hold();
    run->reaping = TRUE;
}

static void
enter(LabRun *run, LabStep step, const char *what)
{
    g_debug("%s: %s%s%s", run->name ? run->name : run->record->id, lab_step_name(step),
            what ? " " : "", what ? what : "");
    if (step == LAB_STEP_END)
        reap(run);
    run->step = step;
    run->progress(run, step, what, run->data);
}

static void
timer_set(LabRun *run, guint ms, GSourceFunc func)
{
    if (run->timer)
        g_source_remove(run->timer);
    run->timer = ms ? g_timeout_add(ms, func, run) : 0;
}

/* The first failure stands; what follows from it is not one of its own. */
static G_GNUC_PRINTF(4, 5) void run_fail(LabRun *run, ResOutcome outcome, const char *detail,
                                         const char *format, ...)
{
    va_list args;

    if (run->ending)
        return;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    lab_record_fail(run->record, outcome, detail, "%s", message);
    run_end(run);
}

static void
run_fail_error(LabRun *run, const GError *error)
{
    gboolean isolation = g_error_matches(error, HOST_ERROR, HOST_ERROR_ISOLATION);

    run_fail(run, isolation ? RES_OUTCOME_ISOLATION : RES_OUTCOME_INFRA, isolation ? "pin" : "",
             "%s", error->message);
}

/* --- the guest's end --- */

static void
fail_panic(LabRun *run)
{
    const char *panic = lab_console_panic(run->console);

    if (run->step == LAB_STEP_BOOT)
        run_fail(
            run, RES_OUTCOME_BOOT, "panic",
            "the guest's kernel panicked while booting: \"%s\". The whole text is in console.log",
            panic);
    else
        run_fail(run, RES_OUTCOME_GUEST, "panic",
                 "the guest's kernel panicked%s%s: \"%s\". The whole text is in console.log",
                 run->workload ? " during " : "", run->workload ? run->workload : "", panic);
}

/* The domain went before its time: say what its console and its report tell about it. */
static void
fail_early_stop(LabRun *run)
{
    g_autofree char *last = lab_console_last_line(run->console);
    g_autoptr(GError) error = NULL;

    if (lab_console_panic(run->console))
        fail_panic(run);
    else if (run->end == HOST_GUEST_FAILED)
        run_fail(run, RES_OUTCOME_INFRA, "qemu",
                 "QEMU ended by itself (killed, out of memory?): see qemu.log");
    else if (run->end == HOST_GUEST_DESTROYED)
        run_fail(run, RES_OUTCOME_INFRA, "destroyed", "somebody else ended the guest");
    else if (lab_console_complaint(run->console))
        run_fail(run, RES_OUTCOME_GUEST, "init", "the guest could not go on: %s",
                 lab_console_complaint(run->console));
    else if (run->step == LAB_STEP_BOOT)
        run_fail(run, RES_OUTCOME_BOOT, "stopped",
                 "the guest stopped before it was ready; its last line on the console: \"%s\"",
                 last);
    else if (!res_report_check_complete(run->report, &error))
        run_fail(run, RES_OUTCOME_INCOMPLETE, "report",
                 "the guest stopped in the middle of its report: %s", error->message);
}

static void
judge(LabRun *run)
{
    g_autoptr(GError) error = NULL;
    const char *failure = res_report_failure(run->report);

    if (!res_report_check_complete(run->report, &error))
        lab_record_fail(run->record, RES_OUTCOME_INCOMPLETE, "report", "%s", error->message);
    else if (failure)
        lab_record_fail(run->record, RES_OUTCOME_GUEST, "init", "the guest could not go on: %s",
                        failure);
    else if (run->box)
        lab_box_judge(run->box, run->image, lab_session_cache_dir(run->session), run->report,
                      run->record, run->files);
    else if (lab_judge(run->params, run->machine, run->report, run->record, run->files) &&
             run->observe)
        lab_observe_record(run->observe, run->record, run->files);
}

static gboolean
on_drained(gpointer data)
{
    LabRun *run = data;

    run->timer = 0;
    if (!res_report_ended(run->report))
        fail_early_stop(run);
    run_end(run);
    return G_SOURCE_REMOVE;
}

/* Once the domain and both its channels are at their end, nothing more can come. */
static void
maybe_drained(LabRun *run)
{
    if (run->ending || !run->stopped)
        return;
    if (run->console_closed && run->report_closed) {
        timer_set(run, 0, NULL);
        on_drained(run);
    } else {
        timer_set(run, DRAIN_MS, on_drained);
    }
}

static void
on_stopped(HostGuest *guest G_GNUC_UNUSED, HostGuestEnd end, gpointer data)
{
    LabRun *run = data;

    run->stopped = TRUE;
    run->end = end;
    maybe_drained(run);
}

/* --- the guest's words --- */

static gboolean
on_panic_grace(gpointer data)
{
    LabRun *run = data;

    run->timer = 0;
    fail_panic(run);
    return G_SOURCE_REMOVE;
}

static void
on_console(const char *bytes, gsize len, gpointer data)
{
    LabRun *run = data;
    gboolean known = lab_console_panic(run->console) != NULL;

    if (len == 0) {
        run->console_closed = TRUE;
        reap(run);
        maybe_drained(run);
        return;
    }
    lab_console_feed(run->console, bytes, len);
    /* A panicked guest that does not reboot would only end by a timeout. */
    if (!known && lab_console_panic(run->console) && !run->ending && !run->stopped)
        timer_set(run, PANIC_GRACE_S * 1000, on_panic_grace);
}

static gboolean
on_power_off_timeout(gpointer data)
{
    LabRun *run = data;

    run->timer = 0;
    g_ptr_array_add(
        run->record->notes,
        g_strdup_printf("the guest did not power off within %d s after its report", POWER_OFF_S));
    run_end(run);
    return G_SOURCE_REMOVE;
}

static gboolean
on_measure_timeout(gpointer data)
{
    LabRun *run = data;

    run->timer = 0;
    run_fail(run, RES_OUTCOME_GUEST, "timeout",
             "%s%s did not end in time (its timeout, on this machine's clock): raise it, or make "
             "the workload shorter",
             run->workload ? "workload " : "the guest's report",
             run->workload ? run->workload : "");
    return G_SOURCE_REMOVE;
}

static const LabWorkload *
params_workload(const LabParams *params, const char *name)
{
    for (guint i = 0; i < params->workloads->len; i++) {
        const LabWorkload *w = params->workloads->pdata[i];
        if (g_str_equal(w->name, name))
            return w;
    }
    return NULL;
}

/* The guest's own clock may stand still or be slow, so this machine's bounds every step as well. */
static void
measure_timer(LabRun *run, const LabWorkload *w)
{
    /* Between workloads the guest only sends what it has. */
    timer_set(run, (w ? w->timeout_s : run->params->boot_timeout_s) * 1000, on_measure_timeout);
}

/* Before the guest goes on from its barrier. */
static gboolean
load_begin(LabRun *run, const LabWorkload *w)
{
    g_autoptr(GError) error = NULL;

    if (run->params->platform != LAB_PLATFORM_METAL || g_str_equal(w->host_load, "none"))
        return TRUE;
    g_autoptr(HostCpuset) cpus =
        host_cpulist_parse(run->params->host.housekeeping, HOST_CPULIST_TOOL, 0, NULL, &error);
    run->load = cpus ? lab_load_start(cpus, &error) : NULL;
    if (!run->load)
        run_fail_error(run, error);
    return run->load != NULL;
}

static void
on_barrier(const char *name, gpointer data)
{
    LabRun *run = data;
    g_autofree char *go = g_strdup_printf("go %s\n", name);

    if (run->ending)
        return;
    if (g_str_equal(name, "ready")) {
        measure_timer(run, NULL);
        enter(run, LAB_STEP_MEASURE, NULL);
    } else if (g_str_has_prefix(name, "begin:")) {
        const LabWorkload *w = params_workload(run->params, name + strlen("begin:"));
        g_free(run->workload);
        run->workload = w ? g_strdup(w->name) : NULL;
        measure_timer(run, w);
        enter(run, LAB_STEP_MEASURE, run->workload);
        if (w && !load_begin(run, w))
            return;
        if (w && run->observe)
            lab_observe_begin(run->observe, w->name);
    } else if (g_str_has_prefix(name, "end:")) {
        if (run->observe)
            lab_observe_end(run->observe);
        g_clear_pointer(&run->load, lab_load_stop);
        g_clear_pointer(&run->workload, g_free);
        measure_timer(run, NULL);
    }
    if (run->params->clock == LAB_CLOCK_WALL)
        host_channel_send(run->report_channel, go);
}

static void
on_report(const char *bytes, gsize len, gpointer data)
{
    LabRun *run = data;
    g_autoptr(GError) error = NULL;

    if (len == 0) {
        run->report_closed = TRUE;
        maybe_drained(run);
        return;
    }
    if (run->ending || res_report_ended(run->report))
        return;
    if (!res_report_feed(run->report, bytes, len, &error)) {
        run_fail(run, RES_OUTCOME_GUEST, "report", "the guest's report is not to be trusted: %s",
                 error->message);
        return;
    }
    if (res_report_ended(run->report) && !run->stopped) {
        timer_set(run, POWER_OFF_S * 1000, on_power_off_timeout);
        enter(run, LAB_STEP_END, NULL);
    }
}

/* --- start --- */

static gboolean
on_boot_timeout(gpointer data)
{
    LabRun *run = data;
    g_autofree char *last = lab_console_last_line(run->console);

    run->timer = 0;
    if (lab_console_panic(run->console))
        fail_panic(run);
    else if (lab_console_bytes(run->console) == 0)
        run_fail(run, RES_OUTCOME_BOOT, "no-console",
                 "nothing came from the guest's console within %" G_GUINT64_FORMAT
                 " s: is %s a kernel for this machine, and is console=ttyS0 on its command line?%s",
                 run->params->boot_timeout_s, run->image->kernel->path,
                 run->params->platform == LAB_PLATFORM_METAL
                     ? " Or this machine's KVM can't run a kernel (nohzlab doctor): platform bare "
                       "does without"
                     : "");
    else
        run_fail(run, RES_OUTCOME_BOOT, "timeout",
                 "the guest was not ready within %" G_GUINT64_FORMAT
                 " s (guest.boot_timeout); its last line on the console: \"%s\"",
                 run->params->boot_timeout_s, last);
    return G_SOURCE_REMOVE;
}

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
        run_end(run);
        return;
    }
    /* Before the guest runs: setting this up interrupts every CPU. */
    if (ok && lab_observe_wanted(run->params)) {
        run->observe = lab_observe_new(run->name + strlen("nohzlab-"), run->params, run->machine,
                                       host_guest_threads(run->guest), &error);
        ok = run->observe != NULL;
    }
    if (!ok || !host_guest_resume(run->guest, &error)) {
        run_fail_error(run, error);
        return;
    }
    run->resumed = TRUE;
    timer_set(run, run->params->boot_timeout_s * 1000, on_boot_timeout);
    enter(run, LAB_STEP_BOOT, NULL);
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
    HostConn *conn = lab_session_conn(run->session);

    run->name = lab_session_guest_name(run->session, error);
    if (!run->name)
        return FALSE;
    run->dir = g_build_filename(lab_session_run_dir(run->session), run->name, NULL);
    g_autofree char *job = g_build_filename(run->dir, "job", NULL);
    g_autofree char *console = g_build_filename(run->dir, "console", NULL);
    g_autofree char *report = g_build_filename(run->dir, "report", NULL);
    if (!write_job(run, job, error))
        return FALSE;
    run->console_channel = host_channel_listen(console, HOST_QEMU_USER, on_console, run, error);
    if (!run->console_channel)
        return FALSE;
    run->report_channel = host_channel_listen(report, HOST_QEMU_USER, on_report, run, error);
    if (!run->report_channel)
        return FALSE;

    *spec = lab_machine_domain(run->machine, run->params, run->boot);
    if (run->box)
        lab_box_domain(run->box, spec);
    spec->name = run->name;
    spec->emulator = host_conn_embedded(conn) ? HOST_QEMU : NULL;
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

void
lab_run_start(LabRun *run)
{
    g_autoptr(GError) error = NULL;
    HostDomainSpec spec;

    run->record->started_us = g_get_real_time();
    enter(run, LAB_STEP_START, NULL);
    if (!choose_machine(run, &error) || !run_set_up(run, &spec, &error)) {
        run_fail_error(run, error);
        return;
    }
    run->guest =
        host_guest_new(lab_session_conn(run->session), run->name, run->xml, on_stopped, run);
    run->starting = TRUE;
    host_reaper_hold();
    host_guest_start(run->guest, &spec, on_started, run);
}

/* --- end --- */

static void
collect_evidence(LabRun *run)
{
    g_autofree char *log = NULL;

    /* QEMU's own output, which libvirt keeps in the embedded driver's root. */
    if (run->name && host_conn_embedded(lab_session_conn(run->session)))
        log = g_strdup_printf("%s/libvirt/log/qemu/%s.log", lab_session_run_dir(run->session),
                              run->name);
    LabRunEvidence evidence = {
        .console = lab_console_text(run->console),
        .report = res_report_raw(run->report),
        .job = run->machine ? run->machine->job : NULL,
        .xml = run->xml,
        .qemu_log_path = log,
    };
    lab_run_record_evidence(run->record, run->files, &evidence);
}

static gboolean
tell_done(gpointer data)
{
    LabRun *run = data;

    enter(run, LAB_STEP_DONE, NULL);
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
    g_clear_pointer(&run->guest, host_guest_free);
    if (!run->cancelled && run->record->outcome == RES_OUTCOME_DONE)
        judge(run);
    if (run->box && !run->cancelled)
        lab_box_blame(run->record); /* not of what went well, or went wrong inside */
    if (run->cancelled)
        lab_record_fail(run->record, RES_OUTCOME_CANCELLED, "", "cancelled");
    g_clear_pointer(&run->load, lab_load_stop);
    g_clear_pointer(&run->observe, lab_observe_free);
    collect_evidence(run);
    g_clear_pointer(&run->console_channel, host_channel_free);
    g_clear_pointer(&run->report_channel, host_channel_free);
    if (run->dir)
        lab_remove_tree(run->dir);
    run->record->ended_us = g_get_real_time();
    g_idle_add(tell_done, run);
}

static void
run_end(LabRun *run)
{
    if (run->ending || run->starting)
        return;
    run->ending = TRUE;
    timer_set(run, 0, NULL);
    if (run->step != LAB_STEP_END)
        enter(run, LAB_STEP_END, NULL);
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
    run_end(run); /* while it is being started, its own end calls this again */
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
    run->report = res_report_new(on_barrier, run);
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
    timer_set(run, 0, NULL);
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
