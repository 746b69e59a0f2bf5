/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What a report of a set of runs shows, gathered once from the records: export_*.c write it for
 * programs, page_*.c as an HTML page. (report.h is another thing: what a guest sends.)
 */
#include "results/compare.h"
#include "results/hist.h"
#include "results/record.h"
#include "results/store.h"

typedef enum {
    RES_CLAIM_HOLDS,
    RES_CLAIM_FAILS,
    RES_CLAIM_CANNOT_TELL,
} ResClaimVerdict;
const char *res_claim_verdict_name(ResClaimVerdict v); /* "holds", "fails", "cannot tell" */

/* An expectation of the profile, judged. */
typedef struct {
    char *name, *text; /* "timers-offloaded", "cyclictest.offloaded_timers >= 40%" */
    ResClaimVerdict verdict;
    char *reason;            /* one sentence */
    double value, low, high; /* of the left side; NaN when it has none */
} ResClaim;

/* The runs of one point of the profile's matrix. */
typedef struct ResPageCell ResPageCell;
struct ResPageCell {
    char *name;           /* "" without a matrix */
    GPtrArray *records;   /* ResRecord *, borrowed */
    GPtrArray *summaries; /* ResSummary *: over those that are done */
    unsigned int done;
    const ResPageCell *partner; /* the cell of the baseline it is compared with, or NULL */
};

/* The latencies of one workload in one cell, from the runs' evidence; all samples of all boots
 * together. Index 0 is the baseline, 1 the subject. */
typedef struct {
    char *workload, *cell;
    ResFidelity fidelity;
    ResHist *hist[2]; /* NULL: none */
    guint boots[2];
} ResPageLatency;

/* A metric over earlier sets of the profile, oldest first. */
typedef struct {
    char *set;
    gint64 started_us;
    double median, min, max;
    guint boots;
    gboolean change; /* the level changed here */
} ResPagePoint;
typedef struct {
    char *metric, *cell, *unit;
    ResFidelity fidelity;
    GArray *points; /* ResPagePoint */
} ResPageHistory;

typedef struct {
    char *version;      /* of nohzlab */
    char *sentence;     /* the verdict on the expectations; given by the owner */
    int exit_code;      /* as nohzlab run gave it; given by the owner */
    GPtrArray *records; /* ResRecord *, by id, at least one: the subject */
    GPtrArray *cells;   /* ResPageCell * */
    GPtrArray *retried; /* ResRecord *: tries of the lab's own that failed and were made again,
                           not among the records; given by the owner, or NULL */
    GPtrArray *claims;  /* ResClaim *, in the profile's order */
    unsigned int outcomes[RES_OUTCOME_CANCELLED + 1];

    GPtrArray *baseline;        /* ResRecord *, or NULL: compared with nothing */
    GPtrArray *baseline_cells;  /* ResPageCell *, or NULL */
    GPtrArray *comparisons;     /* ResComparison *: a is the baseline, b the subject; or NULL */
    ResCompareResult *compared; /* what they belong to; NULL: no baseline, or refused */
    char *refused;              /* why they can't be compared, or NULL */
    unsigned int verdicts[RES_VERDICT_DIFFERENT + 1]; /* of comparisons with a direction */
    /* ResDifference *: a is the baseline, b the subject. Without a baseline a is NULL, and b all
     * values of what is not alike in all runs. */
    GPtrArray *differences;
    GPtrArray *remarks; /* char *: evidence files left out, and why */

    GPtrArray *latencies; /* ResPageLatency *: empty until res_page_load */
    GPtrArray *history;   /* ResPageHistory *: given by the owner, may be empty */
} ResPage;

/* RECORDS and BASELINE (ResRecord *; NULL: none) are kept by reference. OPTIONS are those of
 * res_compare, which may refuse: that is no error, but what the page then says. */
ResPage *res_page_new(GPtrArray *records, GPtrArray *baseline, const ResCompareOptions *options,
                      const char *version);
void res_page_free(ResPage *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResPage, res_page_free)

void res_page_add_claim(ResPage *p, const char *name, const char *text, ResClaimVerdict verdict,
                        const char *reason, double value, double low, double high);

/* Adds an empty history, and a point to it; sets in order of time. */
ResPageHistory *res_page_add_history(ResPage *p, const char *metric, const char *cell,
                                     const char *unit, ResFidelity fidelity);
void res_page_add_point(ResPageHistory *h, const char *set, gint64 started_us, double median,
                        double min, double max, guint boots, gboolean change);

/* Fills latencies from the runs' evidence in STORE, as far as there is some that can be read;
 * files that can't be are named in remarks. */
void res_page_load(ResPage *p, const ResStore *store);

/* The first record of the subject. */
const ResRecord *res_page_first(const ResPage *p);
/* When its first run started and its last one ended. */
void res_page_span(const ResPage *p, gint64 *started_us, gint64 *ended_us);
/* "Worse: 2 of 14 metrics ...": the comparison in one sentence; NULL without a baseline. g_free. */
char *res_page_comparison_sentence(const ResPage *p);
/* VALUE, or "unknown" where a record has "": it failed before it knew, or was not told. */
const char *res_page_known(const char *value);
/* "variant=none, boot 2", "boot 0": a run of P for people. g_free. */
char *res_page_run_name(const ResRecord *r);
