/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run while its guest is there: what it says, how long it may take, and how it can end. */
#include "lab/run_private.h"

#include <string.h>

#include "lab/hot.h"
#include "lab/judge.h"

#define DRAIN_MS 2000   /* for what QEMU wrote before it went */
#define PANIC_GRACE_S 3 /* for the rest of a panic's text */

static void
fail_panic(LabRun *run)
{
    const char *panic = lab_console_panic(run->console);

    if (run->step == LAB_STEP_BOOT)
        lab_run_fail(
            run, RES_OUTCOME_BOOT, "panic",
            "the guest's kernel panicked while booting: \"%s\". The whole text is in console.log",
            panic);
    else
        lab_run_fail(run, RES_OUTCOME_GUEST, "panic",
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
        lab_run_fail(run, RES_OUTCOME_INFRA, LAB_INFRA_QEMU, "QEMU ended by itself");
    else if (run->end == HOST_GUEST_DESTROYED)
        lab_run_fail(run, RES_OUTCOME_INFRA, "destroyed", "somebody else ended the guest");
    else if (lab_console_complaint(run->console))
        lab_run_fail(run, RES_OUTCOME_GUEST, "init", "the guest could not go on: %s",
                     lab_console_complaint(run->console));
    else if (run->step == LAB_STEP_BOOT)
        lab_run_fail(run, RES_OUTCOME_BOOT, "stopped",
                     "the guest stopped before it was ready; its last line on the console: \"%s\"",
                     last);
    else if (!res_report_check_complete(run->report, &error))
        lab_run_fail(run, RES_OUTCOME_INCOMPLETE, "report",
                     "the guest stopped in the middle of its report: %s", error->message);
}

/* What the plugin said went to QEMU's log. */
static void
record_hot(LabRun *run)
{
    g_autofree char *log = lab_run_qemu_log(run);

    lab_hot_record(run->params, log, run->record, run->files);
}

void
lab_run_judge(LabRun *run)
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
    if (lab_hot_wanted(run->params))
        record_hot(run);
}

static gboolean
on_drained(gpointer data)
{
    LabRun *run = data;

    run->timer = 0;
    if (!res_report_ended(run->report))
        fail_early_stop(run);
    lab_run_finish(run);
    return G_SOURCE_REMOVE;
}

/* Once the domain and both its channels are at their end, nothing more can come. */
static void
maybe_drained(LabRun *run)
{
    if (run->ending || !run->stopped)
        return;
    if (run->console_closed && run->report_closed) {
        lab_run_timer(run, 0, NULL);
        on_drained(run);
    } else {
        lab_run_timer(run, DRAIN_MS, on_drained);
    }
}

void
lab_run_on_stopped(HostGuest *guest G_GNUC_UNUSED, HostGuestEnd end, gpointer data)
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

void
lab_run_on_console(const char *bytes, gsize len, gpointer data)
{
    LabRun *run = data;
    gboolean known = lab_console_panic(run->console) != NULL;

    if (len == 0) {
        run->console_closed = TRUE;
        lab_run_reap(run);
        maybe_drained(run);
        return;
    }
    lab_console_feed(run->console, bytes, len);
    /* A panicked guest that does not reboot would only end by a timeout. */
    if (!known && lab_console_panic(run->console) && !run->ending && !run->stopped)
        lab_run_timer(run, PANIC_GRACE_S * 1000, on_panic_grace);
}

void
lab_run_on_stall(const char *where, gpointer data)
{
    lab_run_fail(data, RES_OUTCOME_INFRA, LAB_INFRA_STALLED,
                 "the emulator stalled: %s. Boxes under clock icount do that now and then when "
                 "their guest boots; another boot may come through",
                 where);
}

static gboolean
on_measure_timeout(gpointer data)
{
    LabRun *run = data;

    run->timer = 0;
    lab_run_fail(
        run, RES_OUTCOME_GUEST, "timeout",
        "%s%s did not end in time (its timeout, on this machine's clock): raise it, or make "
        "the workload shorter",
        run->workload ? "workload " : "the guest's report", run->workload ? run->workload : "");
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
    lab_run_timer(run, (w ? w->timeout_s : run->params->boot_timeout_s) * 1000, on_measure_timeout);
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
        lab_run_fail_error(run, error);
    return run->load != NULL;
}

void
lab_run_on_barrier(const char *name, gpointer data)
{
    LabRun *run = data;
    g_autofree char *go = g_strdup_printf("go %s\n", name);

    if (run->ending)
        return;
    if (g_str_equal(name, "ready")) {
        measure_timer(run, NULL);
        lab_run_enter(run, LAB_STEP_MEASURE, NULL);
    } else if (g_str_has_prefix(name, "begin:")) {
        const LabWorkload *w = params_workload(run->params, name + strlen("begin:"));
        g_free(run->workload);
        run->workload = w ? g_strdup(w->name) : NULL;
        measure_timer(run, w);
        lab_run_enter(run, LAB_STEP_MEASURE, run->workload);
        if (w && !load_begin(run, w))
            return;
        if (w && w->observe && run->observe)
            lab_observe_begin(run->observe, w->name);
    } else if (g_str_has_prefix(name, "end:")) {
        if (run->observe)
            lab_observe_end(run->observe);
        g_clear_pointer(&run->load, lab_load_stop);
        g_clear_pointer(&run->workload, g_free);
        measure_timer(run, NULL);
    } else if (run->observe) {
        lab_observe_barrier(run->observe, name);
    }
    /* lab_machine_barriers: at the last one every guest waits until its report was read. */
    if (run->params->clock == LAB_CLOCK_WALL || g_str_equal(name, "end"))
        host_channel_send(run->report_channel, go);
}

void
lab_run_on_report(const char *bytes, gsize len, gpointer data)
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
        lab_run_fail(run, RES_OUTCOME_GUEST, "report",
                     "the guest's report is not to be trusted: %s", error->message);
        return;
    }
    /* All that is wanted of it has come: its powering off would only take time. */
    if (res_report_ended(run->report))
        lab_run_finish(run);
}

gboolean
lab_run_on_boot_timeout(gpointer data)
{
    LabRun *run = data;
    g_autofree char *last = lab_console_last_line(run->console);

    run->timer = 0;
    if (lab_console_panic(run->console))
        fail_panic(run);
    else if (lab_console_bytes(run->console) == 0)
        lab_run_fail(
            run, RES_OUTCOME_BOOT, "no-console",
            "nothing came from the guest's console within %" G_GUINT64_FORMAT
            " s: is %s a kernel for this machine, and is console=ttyS0 on its command line?%s",
            run->params->boot_timeout_s, run->image->kernel->path,
            run->params->platform == LAB_PLATFORM_METAL
                ? " Or this machine's KVM can't run a kernel (nohzlab doctor): platform bare "
                  "does without"
                : "");
    else
        lab_run_fail(run, RES_OUTCOME_BOOT, "timeout",
                     "the guest was not ready within %" G_GUINT64_FORMAT
                     " s (guest.boot_timeout); its last line on the console: \"%s\"",
                     run->params->boot_timeout_s, last);
    return G_SOURCE_REMOVE;
}
