/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: what the readers of result files share. Their messages don't name the tool:
 * who calls a reader puts it in front. */
#include "results/latency.h"

ResLatency *res_latency_new(const char *tool);
/* Appends the thread of the next number; SERIES is a static string. */
ResLatencyThread *res_latency_add_thread(ResLatency *c, const char *series);
/* Appends a bucket to T's, which must be C's thread. */
void res_latency_add_bucket(ResLatency *c, ResLatencyThread *t, gint64 latency, guint64 count);
/* Lets all histograms go, with a note. */
void res_latency_drop_buckets(ResLatency *c);
void res_latency_note(ResLatency *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Keeps VALUE under KEY of the environment, as UTF-8; empty ones are left out. */
void res_latency_env(ResLatency *c, const char *key, const char *value);
/* Always FALSE. */
gboolean res_latency_fail(GError **error, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* A whole decimal number that is all of WORD. One of 2^63 and more (a negative one that wrapped)
 * comes out as that negative one, one beyond 64 bits as the largest or least of all: none is a
 * latency, and the check on figures names thread and CPU. */
gboolean res_latency_number(const char *word, gint64 *value);

/* The figures of every thread must make sense, in whatever unit they are. */
gboolean res_latency_check(const ResLatency *c, GError **error);
/* Turns raw figures into ns, RESOLUTION_NS each, and checks them. */
gboolean res_latency_scale(ResLatency *c, gint64 resolution_ns, GError **error);

/* A reader of a tool's text, line by line. LINE is without newline, prefixes of logs and escape
 * codes, and may be changed. */
typedef struct {
    const char *tool;
    /* This line is of that tool, whatever else is in the file. */
    gboolean (*claims)(const char *line);
    gpointer (*start)(ResLatency *c);
    gboolean (*line)(gpointer reader, char *line, GError **error);
    /* After the last line, which had the number LINES. */
    gboolean (*end)(gpointer reader, unsigned int lines, GError **error);
    void (*free)(gpointer reader);
} ResTextReader;
extern const ResTextReader res_cyclictest_text, res_oslat_text, res_rtla_text;
