/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* A metric over time: its figure of every done run of one cell. */
#include "results/metric.h"

typedef struct {
    gint64 started_us;
    char *run, *set;
    double value;
    const char *facts; /* of the series: see res_series_facts() */
} ResSeriesPoint;

typedef struct {
    char *metric, *profile, *cell;
    char *host; /* the machine, where the figures depend on it; "" where they don't, or unknown */
    char *platform, *clock, *unit;
    ResFidelity fidelity;
    ResDirection direction;
    GArray *points;    /* ResSeriesPoint, by time */
    GHashTable *texts; /* what `facts` of the points point to */
} ResSeries;

ResSeries *res_series_new(void);
void res_series_free(ResSeries *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResSeries, res_series_free)
/* Takes a point in; its texts are copied. */
void res_series_add(ResSeries *s, gint64 started_us, const char *run, const char *set, double value,
                    const char *facts);
