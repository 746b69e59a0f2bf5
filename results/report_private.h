/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What report.c (bytes to lines) and report_lines.c (what a line says) share. */
#include "results/report.h"

struct ResReport {
    ResReportBarrier barrier;
    gpointer barrier_data;

    GString *raw;
    gsize line_start; /* in raw: what is after it is not a whole line yet */
    guint64 lines;    /* whole lines read */
    GError *error;    /* the first; nothing is read after it */
    gboolean started, ended;
    char *failure;
    guint n_facts, n_barriers;

    GHashTable *facts;   /* char * -> GPtrArray * of char * */
    GPtrArray *no_facts; /* always empty */
    GPtrArray *workloads;
    ResWorkload *open;     /* between its begin and done */
    ResFile *file;         /* the file that text lines belong to; NULL: the output */
    gboolean closed;       /* the file or output was cut: no more text may come */
    GString *pieces;       /* `part`s of a line that has not ended yet */
    GStringChunk *strings; /* loop names: few, and each batch points to one */
};

/* Take in LINE (without its newline), which is changed. FALSE: it is against the format. */
gboolean res_report_take_line(ResReport *r, char *line, GError **error);
void res_report_workload_free(gpointer workload);
/* Sets a RES_REPORT_ERROR_FORMAT error; returns FALSE. */
gboolean res_report_wrong(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
