/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * One run: a fresh boot of one guest, as a state machine on the default GMainContext that never
 * blocks it. Each step ends in one of: done, or a typed failure (results/record.h); only "done"
 * yields metrics.
 */
#include <gio/gio.h>

#include "lab/prepare.h"
#include "lab/profile.h"
#include "lab/session.h"
#include "results/record.h"

typedef enum {
    LAB_STEP_START,   /* domain made, pins proven */
    LAB_STEP_BOOT,    /* until the guest says ready */
    LAB_STEP_MEASURE, /* workloads */
    LAB_STEP_END,     /* domain gone, checks */
    LAB_STEP_DONE,
} LabStep;
const char *lab_step_name(LabStep s); /* "start", "boot", ... */

typedef struct LabRun LabRun;

/* STEP begins; WHAT: the workload of LAB_STEP_MEASURE, or NULL. */
typedef void (*LabRunProgress)(LabRun *run, LabStep step, const char *what, gpointer data);
/* The end of it. RECORD and FILES (char * name -> GBytes *) stay RUN's; free RUN later, not from
 * here. */
typedef void (*LabRunDone)(LabRun *run, ResRecord *record, GHashTable *files, gpointer data);

LabRun *lab_run_new(LabSession *session, const LabProfile *profile, const LabCell *cell,
                    unsigned int boot, const char *set, const LabImage *image,
                    LabRunProgress progress, LabRunDone done, gpointer data);
void lab_run_start(LabRun *run);
/* Ends it soon, as RES_OUTCOME_CANCELLED; DONE comes all the same. */
void lab_run_cancel(LabRun *run);
void lab_run_free(LabRun *run);

/* A death or stall of the emulator, which says nothing of what runs in it: another try is fair. */
gboolean lab_run_worth_retrying(const ResRecord *record);
const LabCell *lab_run_cell(const LabRun *run);
unsigned int lab_run_boot(const LabRun *run);
