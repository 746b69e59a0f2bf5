/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Bisects a series of kernels by a metric of a profile: builds and boots what results/bisect.h asks
 * for, and keeps a journal of it. */
#include "lab/bisect_series.h"
#include "lab/session.h"
#include "results/bisect.h"

typedef struct {
    const char *profile;         /* file */
    const char *const *settings; /* "section.key=value", NULL-terminated, or NULL */
    GPtrArray *series;           /* LabSeriesState * */
    const char *metric;          /* "WORKLOAD.NAME" */
    ResBisectOptions options;
    gboolean again; /* forget what the journal knows */
    /* LINE is one of what was done, for a person; may be NULL. */
    void (*tell)(const char *line, gpointer data);
    gpointer data;
} LabBisectConfig;

typedef struct LabBisect LabBisect;

/* Checks all that can be checked before a boot, and takes in the journal. SESSION may be NULL for
 * one that only looks. CONFIG is copied, what it points to is not. */
LabBisect *lab_bisect_new(LabSession *session, const char *state_dir, const LabBisectConfig *config,
                          GError **error);
void lab_bisect_free(LabBisect *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabBisect, lab_bisect_free)

/* Runs to the end. FALSE: this machine kept it from going on, or it was cancelled; the same again
 * goes on from there. */
gboolean lab_bisect_execute(LabBisect *b, GError **error);
/* From a signal's source while it runs. */
void lab_bisect_cancel(LabBisect *b);

/* What came of it. */
typedef struct {
    ResBisectNext end; /* BOOT: not done yet */
    const char *unit;  /* "" before the first boot of this process */
    unsigned int states, builds, boots, skipped;
} LabBisectResult;
LabBisectResult lab_bisect_result(const LabBisect *b);
const ResBisect *lab_bisect_decisions(const LabBisect *b);
/* Why STATE was skipped, or NULL. */
const char *lab_bisect_why(const LabBisect *b, unsigned int state);

/* For people, and as JSON; both ended by a newline. g_free. */
char *lab_bisect_text(const LabBisect *b, const LabBisectConfig *config);
char *lab_bisect_json(const LabBisect *b, const LabBisectConfig *config);
