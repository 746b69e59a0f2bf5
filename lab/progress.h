/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What is happening now, for a person: one line that is rewritten on a terminal, plain lines
 * elsewhere. On stderr. */
#include "lab/suite.h"

typedef struct LabProgress LabProgress;

LabProgress *lab_progress_new(gboolean quiet);
void lab_progress_free(LabProgress *p);
/* For lab_suite_new, with the progress as data. */
extern const LabSuiteEvents lab_progress_events;
/* Takes the line away, so that something else can be printed. */
void lab_progress_clear(LabProgress *p);
