/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* [check]: preconditions of a profile, looked at before anything is booted. */
#include <glib.h>

#include "lab/profile.h"
#include "lab/session.h"

/*
 * TRUE when they could be looked at; *UNMET then is NULL, or the reason why the runs are to be
 * skipped (g_free): what was asked for, and what is there. guest.* keys are looked at after the
 * boot (lab/judge.h), not here.
 */
gboolean lab_checks_met(const LabParams *params, LabSession *session, char **unmet, GError **error);

/* TRUE when VALUE is one of ALTERNATIVES ("tsc|kvm-clock"), whatever the case. */
gboolean lab_check_one_of(const char *alternatives, const char *value);
