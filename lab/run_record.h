/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What a run's record holds before its guest has said anything, and the files that are kept of
 * every run. */
#include <gio/gio.h>

#include "lab/prepare.h"
#include "lab/profile.h"
#include "lab/session.h"
#include "results/record.h"

/* A record with its identity, parameters (the profile's expectations and reference figures among
 * them, so that it can be judged again without the profile, which may change) and environment; its
 * outcome is "done" until something fails. */
ResRecord *lab_run_record_new(LabSession *session, const LabProfile *profile, const LabCell *cell,
                              unsigned int boot, const char *set, const LabImage *image);

typedef struct {
    GBytes *console; /* taken over */
    const GString *report;
    const char *job, *xml;     /* or NULL */
    const char *qemu_log_path; /* or NULL */
} LabRunEvidence;
/* Adds them to FILES (char * name -> GBytes *), and the names of all FILES to RECORD's evidence.
 * Empty ones are left out. */
void lab_run_record_evidence(ResRecord *record, GHashTable *files, const LabRunEvidence *e);
