/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside a run: run.c makes and ends it, run_guest.c has it while the guest is there. */
#include "host/channel.h"
#include "host/guest.h"
#include "lab/box.h"
#include "lab/console.h"
#include "lab/load.h"
#include "lab/machine.h"
#include "lab/observe.h"
#include "lab/run.h"
#include "lab/stall.h"
#include "lab/tuning.h"
#include "results/report.h"

/* Details of infra failures that another try may not meet again. */
#define LAB_INFRA_QEMU "qemu"       /* it ended by itself */
#define LAB_INFRA_STALLED "stalled" /* it runs and gets nowhere */

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
    LabTuning *tuning;   /* of the lab host, or NULL */
    LabLoad *load;       /* of the current workload, or NULL */
    LabObserve *observe; /* NULL: nothing is watched */
    LabStall *stall;     /* NULL: it is not known to stall */
    gboolean starting, reaping, ending, stopped, console_closed, report_closed, cancelled;
    HostGuestEnd end;
    char *workload; /* the current one */

    ResRecord *record;
    GHashTable *files;
};

/* run.c */
void lab_run_enter(LabRun *run, LabStep step, const char *what);
/* The timer of the current step instead of the one before; 0: none. */
void lab_run_timer(LabRun *run, guint ms, GSourceFunc func);
/* QEMU's own output, which libvirt keeps in the embedded driver's root; NULL: not known. g_free. */
char *lab_run_qemu_log(const LabRun *run);
/* QEMU ends, or has ended: it is reaped until the run's end. */
void lab_run_reap(LabRun *run);
/* The first failure stands, and ends the run; what follows from it is not one of its own. */
void lab_run_fail(LabRun *run, ResOutcome outcome, const char *detail, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
void lab_run_fail_error(LabRun *run, const GError *error);
/* Takes the guest away; the record is judged once it is gone. */
void lab_run_finish(LabRun *run);

/* run_guest.c */
void lab_run_on_stall(const char *where, gpointer run);
void lab_run_on_console(const char *bytes, gsize len, gpointer run);
void lab_run_on_report(const char *bytes, gsize len, gpointer run);
void lab_run_on_barrier(const char *name, gpointer run);
void lab_run_on_stopped(HostGuest *guest, HostGuestEnd end, gpointer run);
gboolean lab_run_on_boot_timeout(gpointer run);
/* The outcome of what went well so far: from the report. */
void lab_run_judge(LabRun *run);
