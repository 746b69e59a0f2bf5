/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The lab host as a run wants it (host.tune): what of its partition can be had without a reboot is
 * set before the guest is made and put back when it is gone. The journal of it lies in the
 * session's folder, so that the next session puts back what a killed one left (lab/session.h).
 */
#include <glib.h>

#include "lab/profile.h"
#include "lab/session.h"
#include "results/record.h"

typedef struct LabTuning LabTuning;

/*
 * Sets it for PARAMS, whose host lists name this machine's CPUs (lab_platform_settle). What was
 * changed goes into RECORD's environment ("host.tuned.PATH"), what the kernel refused into its
 * notes. On an error all is as before; HOST_KNOB_ERROR_BUSY: another nohzlab has this machine.
 */
LabTuning *lab_tuning_apply(LabSession *session, const LabParams *params, ResRecord *record,
                            GError **error);
/* Puts all back and frees T. RECORD gets a note for each setting that is not as it was: changed by
 * somebody else meanwhile, gone, or not to be written (its journal stays then). */
void lab_tuning_undo(LabTuning *t, ResRecord *record);
