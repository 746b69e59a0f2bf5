/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A series judged: nights, change points (changes.h), what changed with them, and what people said
 * of them (annotations.h). A night is a set of runs, and its figure the median of its boots.
 */
#include "results/annotations.h"
#include "results/changes.h"
#include "results/series.h"

#define RES_HISTORY_NEAR 3 /* nights by which a change's date may be off */

typedef struct {
    gint64 started_us; /* of the first run */
    const char *set, *facts;
    double value;
    guint boots;
} ResNight;

typedef enum { RES_CHANGE_WORSE, RES_CHANGE_BETTER, RES_CHANGE_OTHER } ResChangeKind;

typedef struct {
    ResChange change; /* its nights are places in ResHistory.nights */
    ResChangeKind kind;
    gboolean fresh; /* established with the newest night: to be reported now, and never again */
    gboolean gone;  /* a regression that a later change took back */
    int back_of;    /* place of the regression that this one takes back, or -1 */
    const ResAnnotation *accepted; /* or NULL */
    GPtrArray *suspects; /* char *: what changed within RES_HISTORY_NEAR nights, that night first */
    char *good, *bad; /* kernels to bisect between, as profiles name them; NULL: none told apart */
} ResHistoryChange;

typedef struct {
    const ResSeries *series;
    GArray *nights;     /* ResNight, by time */
    GPtrArray *changes; /* ResHistoryChange *, by time */
    guint future;       /* runs left out: they start more than a day after now */
    guint unusable;     /* runs left out: their figure is not a finite number */
    guint more;         /* so many more nights until a change can be told; 0: enough */
} ResHistory;

/* SERIES and ANNOTATIONS (ResAnnotation *) must live as long as what is returned. */
ResHistory *res_history_new(const ResSeries *series, const GPtrArray *annotations, gint64 now_us);
void res_history_free(ResHistory *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResHistory, res_history_free)

/* A regression that stands: neither gone nor accepted. */
gboolean res_history_stands(const ResHistoryChange *c);
/* Whether A is about this series; of its night only the day counts. */
gboolean res_history_concerns(const ResHistory *h, const ResAnnotation *a);
