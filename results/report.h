/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Reads a guest's report (guest/report-format.md) as it arrives. The guest is not trusted: lines,
 * totals and counts are bounded, every word is checked, memory stays below a few times
 * BM_REPORT_MAX.
 */
#include <glib.h>

typedef struct {
    char *loop;       /* "invalid", "stat", ...; belongs to the report */
    unsigned int cpu; /* vCPU */
    unsigned int index;
    gboolean measured; /* FALSE: warm-up */
    guint64 calls;
    guint64 ticks; /* of the TSC */
} ResBatch;

typedef struct {
    char *name;       /* last path component, checked: [A-Za-z0-9._-]+, no leading dot */
    GString *content; /* lines, each ended by \n; any byte may be in it */
    gboolean cut;     /* longer than the guest sends */
} ResFile;

typedef struct {
    char *name;
    GArray *batches;    /* ResBatch */
    GPtrArray *files;   /* ResFile * */
    GHashTable *values; /* char * -> double * */
    GString *output;    /* what the program printed, and PID 1's notes: bounded, valid UTF-8 */
    gboolean output_cut;
    int status; /* exit status; -1 while not done */
} ResWorkload;

typedef struct ResReport ResReport;

/* Called for each `barrier NAME`, so that the owner can act and answer. */
typedef void (*ResReportBarrier)(const char *name, gpointer data);

ResReport *res_report_new(ResReportBarrier barrier, gpointer data);
void res_report_free(ResReport *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResReport, res_report_free)

/*
 * Feed LEN bytes. FALSE on the first thing that is against the format, with the line number and
 * what was wrong; what came before stays readable, and further calls fail the same way.
 */
gboolean res_report_feed(ResReport *r, const char *bytes, gsize len, GError **error);

#define RES_REPORT_ERROR (res_report_error_quark())
GQuark res_report_error_quark(void);
typedef enum {
    RES_REPORT_ERROR_FORMAT,    /* against the format */
    RES_REPORT_ERROR_LIMIT,     /* a line, a count or the whole is too large */
    RES_REPORT_ERROR_TRUNCATED, /* from res_report_check_complete: the end is missing */
} ResReportError;

/* TRUE once `end` was read and its line count was right; otherwise FALSE with the reason. */
gboolean res_report_check_complete(const ResReport *r, GError **error);
gboolean res_report_ended(const ResReport *r);

/* The guest's own `fail` message, or NULL. */
const char *res_report_failure(const ResReport *r);
/* The last value of a fact, or NULL when the guest did not send it. */
const char *res_report_fact(const ResReport *r, const char *key);
/* All values of a repeated fact, in order (never NULL; elements belong to the report). */
const GPtrArray *res_report_facts(const ResReport *r, const char *key);
/* All facts: char * -> GPtrArray * of char *. */
GHashTable *res_report_all_facts(const ResReport *r);
const GPtrArray *res_report_workloads(const ResReport *r); /* ResWorkload * */
/* Everything that was read, as it came, for the run's folder (bounded by BM_REPORT_MAX). */
const GString *res_report_raw(const ResReport *r);
