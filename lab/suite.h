/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* All runs of a profile: expanded, scheduled side by side where the clock allows, recorded one by
 * one. */
#include <gio/gio.h>

#include "lab/profile.h"
#include "lab/run.h"
#include "lab/session.h"

typedef struct LabSuite LabSuite;

typedef struct {
    unsigned int total, finished, failed;
    gint64 started_us; /* monotonic */
    double expected_s; /* from the start to the end, by the runs of this set, before the first by
                        * earlier ones of the profile; -1: not known */
} LabSuiteState;

typedef struct {
    /* Images are being prepared (KERNEL), before any run. */
    void (*preparing)(const char *kernel, gpointer data);
    void (*step)(const LabSuiteState *state, const LabRun *run, LabStep step, const char *what,
                 gpointer data);
    void (*recorded)(const LabSuiteState *state, const LabRun *run, const ResRecord *record,
                     gpointer data);
    /* A precondition of [check] that CELL does not meet: none of its runs is made. */
    void (*skipped)(const LabSuiteState *state, const LabCell *cell, const char *reason,
                    gpointer data);
} LabSuiteEvents;

LabSuite *lab_suite_new(LabSession *session, const LabProfile *profile,
                        const LabSuiteEvents *events, gpointer data);
void lab_suite_free(LabSuite *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabSuite, lab_suite_free)

/*
 * Runs LOOP until all runs are recorded, lab_suite_cancel was called and every guest is gone, or a
 * run could not be made (infra): then no new one is started. A boot whose emulator died or stalled
 * is tried three times. A kernel that can't be had is left out while there are others, and every
 * record of the set has a note of it. FALSE with ERROR when something kept runs from being made or
 * recorded (also after a cancel: G_IO_ERROR_ CANCELLED). Boots go round the cells in turn, so that
 * a drift of the machine does not become a difference between cells.
 */
gboolean lab_suite_execute(LabSuite *s, GError **error);
void lab_suite_cancel(LabSuite *s);

const char *lab_suite_set(const LabSuite *s);
/* ResRecord * of this set, in the order of their end; belongs to the suite. */
const GPtrArray *lab_suite_records(const LabSuite *s);
unsigned int lab_suite_total(const LabSuite *s);
