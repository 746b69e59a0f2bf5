/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: what the readers of cyclictest's files share. */
#include "results/cyclictest.h"

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

ResCyclictest *res_cyclictest_new(void);
/* Appends the thread of the next number. */
ResCyclictestThread *res_cyclictest_add_thread(ResCyclictest *c);
void res_cyclictest_note(ResCyclictest *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Always FALSE. */
gboolean res_cyclictest_fail(GError **error, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The figures of every thread must make sense, in whatever unit they are. */
gboolean res_cyclictest_check(const ResCyclictest *c, GError **error);
/* Turns raw figures into ns, RESOLUTION_NS each, and checks them. */
gboolean res_cyclictest_scale(ResCyclictest *c, gint64 resolution_ns, GError **error);
/* Holds what ran against what was asked for; the unit is settled. */
gboolean res_cyclictest_apply(ResCyclictest *c, const ResCyclictestArgs *args, GError **error);

ResCyclictest *res_cyclictest_parse_json(const char *text, gsize len, GError **error);
ResCyclictest *res_cyclictest_parse_text(const char *text, gsize len, GError **error);
