/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Platform box: an emulated lab host (a guest of this machine, its CPU an AMD with SVM, emulated)
 * in which real KVM runs the guest of the profile. The box is driven like any guest: a job, a
 * report; its one workload is this very nohzlab, which runs the same cell on platform metal there
 * and leaves its record and evidence in one file.
 */
#include <gio/gio.h>

#include "lab/box_image.h"
#include "lab/machine.h"
#include "lab/profile.h"
#include "results/record.h"
#include "results/report.h"

typedef struct LabBox LabBox;

/* CELL, and nothing of IMAGE, must outlive it. IMAGE is from lab_box_image_prepare. An error means
 * that the cell was not checked or that libvirt's files are not where they should be. */
LabBox *lab_box_new(const LabCell *cell, const LabImage *image, GError **error);
void lab_box_free(LabBox *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabBox, lab_box_free)

/*
 * The box as a machine and as parameters, for all that starts, watches and bounds a guest: vCPUs,
 * command line and job are the lab host's, its one workload is "box" with the time the inner run
 * may take. Both stay B's.
 */
const LabParams *lab_box_params(const LabBox *b);
const LabMachine *lab_box_machine(const LabBox *b);
/* Completes what lab_machine_domain made of these two: the CPU. */
void lab_box_domain(const LabBox *b, HostDomainSpec *spec);

/* The profile the inner nohzlab runs: for `plan` and the evidence. B's. */
const char *lab_box_profile(const LabBox *b);

/*
 * From the box's complete report to the run's outcome, instead of lab_judge. Takes over outcome,
 * detail, message (which then says that it happened inside the box), notes, metrics and environment
 * of the inner run's record, and its files as "box-NAME"; metrics keep their names and get RECORD's
 * fidelity, durations the fidelity "functional": an emulated CPU's time is no time. What the box
 * itself said is in the environment as "box.KEY". Without an inner record RECORD fails as guest or
 * infra, with nohzlab's last words. What libvirt learned is kept in CACHE_DIR for the next box.
 */
gboolean lab_box_judge(const LabBox *b, const LabImage *image, const char *cache_dir,
                       const ResReport *report, ResRecord *record, GHashTable *files);

/* Says of a failure of the box itself (it did not boot, panicked, hung, broke its report) that it
 * was the lab host's, not the guest's: detail "box-...". To be called when the run failed before
 * lab_box_judge. */
void lab_box_blame(ResRecord *record);
