/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside the judge: the figures of one workload, W, from what the guest sent of it, R. FALSE when
 * RECORD was made a failure. */
#include "lab/judge.h"

gboolean lab_judge_syscall_loop(const LabMachine *machine, const ResReport *report,
                                const LabWorkload *w, const ResWorkload *r, ResRecord *record);
gboolean lab_judge_cyclictest(const LabWorkload *w, const ResWorkload *r, ResRecord *record);
