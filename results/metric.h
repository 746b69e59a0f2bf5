/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* A metric: one number of one run, with all that is needed not to misuse it. */
#include <glib.h>

/* What a number may be used for; see README, "What a number may be used for". Ordered by name only:
 * metrics of different fidelity are never compared. */
typedef enum {
    RES_FIDELITY_TIME,
    RES_FIDELITY_INSTRUCTIONS,
    RES_FIDELITY_EVENTS,
    RES_FIDELITY_FUNCTIONAL,
} ResFidelity;

typedef enum { RES_LOWER_IS_BETTER, RES_HIGHER_IS_BETTER, RES_NO_DIRECTION } ResDirection;

typedef struct {
    char *name; /* "invalid.per_call": workload, dot, what */
    char *unit; /* "insns", "ns", "count", "1" */
    ResDirection direction;
    ResFidelity fidelity;
    double value;      /* the run's figure: finite, never NaN */
    double min, max;   /* over the samples behind it */
    guint64 samples;   /* how many samples (batches, cycles) stand behind value */
    gboolean censored; /* value is a lower bound: the figure lies from there to max */
    char *evidence;    /* name of the file in the run's folder it was read from */
} ResMetric;

ResMetric *res_metric_new(const char *name, const char *unit, ResDirection direction,
                          ResFidelity fidelity, double value, double min, double max,
                          guint64 samples, const char *evidence);
void res_metric_free(ResMetric *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResMetric, res_metric_free)

const char *res_fidelity_name(ResFidelity f); /* "time", "instructions", ... */
gboolean res_fidelity_parse(const char *name, ResFidelity *f);
const char *res_direction_name(ResDirection d); /* "lower", "higher", "none" */
gboolean res_direction_parse(const char *name, ResDirection *d);
