/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: what the readers of cyclictest's files share. */
#include "results/cyclictest.h"
#include "results/latency_private.h"
#include "results/source.h"

/* What a command line asks for. Numbers: -1 when not said. */
typedef struct {
    gboolean known; /* there was a command line */
    char *tool;     /* program name without folder, "" when not known */
    gboolean nsecs;
    gboolean histogram;       /* -h or -H with a value */
    gboolean histogram_empty; /* ... without one */
    gint64 break_raw;         /* -b, in the unit of the output */
    gint64 loops;
    gint64 priority;
} ResCyclictestArgs;
void res_cyclictest_args_parse(ResCyclictestArgs *args, const char *cmdline);
void res_cyclictest_args_clear(ResCyclictestArgs *args);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ResCyclictestArgs, res_cyclictest_args_clear)

#define RES_CYCLICTEST_NOTE_UNIT                                                                   \
    "text does not say its unit: without the command line it is not known"

/* Holds what ran against what was asked for; the unit is settled. */
gboolean res_cyclictest_apply(ResLatency *c, const ResCyclictestArgs *args, GError **error);

/* res_cyclictest_set_cmdline() without "cyclictest's output" in front of its errors. */
gboolean res_cyclictest_set_cmdline_raw(ResLatency *c, const char *cmdline, GError **error);

/* What --json=FILE of cyclictest and oslat leaves. */
ResLatency *res_cyclictest_read_json(ResSource *source, GError **error);

/*
 * oslat's raw figures into ns: buckets and means are us, or with fractions in the file (UNIT_NS 1)
 * already ns, as minima and maxima then are. The last bucket holds all that was longer, and its
 * averages are told when they can't be right. Checks the figures.
 */
gboolean res_oslat_settle(ResLatency *c, gint64 unit_ns, GError **error);
