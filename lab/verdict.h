/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What a set of runs says: summaries per cell, and the profile's expectations judged. From records
 * alone. */
#include <glib.h>

#include "lab/expect.h"
#include "results/compare.h"
#include "results/record.h"

typedef struct {
    char *name;           /* of the cell */
    GPtrArray *records;   /* ResRecord *, all of them, in order; borrowed */
    GPtrArray *summaries; /* ResSummary *: over those that are done */
    unsigned int done;
} LabVerdictCell;

typedef struct {
    char *name, *text;
    LabExpectResult *result; /* NULL: could not be evaluated, ERROR says why */
    char *error;
} LabVerdictExpectation;

typedef struct {
    GPtrArray *records; /* ResRecord *, by id; borrowed */
    GPtrArray *retried; /* ResRecord *: infra, and the same boot was tried again later; not among
                         * the records; borrowed */
    GPtrArray *cells;   /* LabVerdictCell *, in the profile's order */
    GPtrArray *expectations;                          /* LabVerdictExpectation * */
    unsigned int outcomes[RES_OUTCOME_CANCELLED + 1]; /* how many runs ended so */
} LabVerdict;

/* RECORDS (ResRecord *, at least one) of one set; they must outlive the verdict. */
LabVerdict *lab_verdict_new(const GPtrArray *records);
void lab_verdict_free(LabVerdict *v);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabVerdict, lab_verdict_free)

/* Exit codes of nohzlab. */
enum {
    LAB_EXIT_HELD = 0,     /* every expectation holds, every run gave its figures */
    LAB_EXIT_NOT_HELD = 1, /* an expectation failed or can't be told, or a guest failed */
    LAB_EXIT_CANNOT = 2,   /* could not run: usage, profile, this machine */
    LAB_EXIT_SKIPPED = 77, /* every run was skipped */
    LAB_EXIT_CANCELLED = 130,
};
int lab_verdict_exit_code(const LabVerdict *v);
/* The verdict in one sentence. g_free. */
char *lab_verdict_sentence(const LabVerdict *v);

/* For people: head, table of metrics, expectations, reference figures, failures, sentence. ALL:
 * every metric, not only those that expectations name. COLOR: with terminal colours. g_free. */
char *lab_verdict_text(const LabVerdict *v, gboolean all, gboolean color);
/* {"set", "records", "retried", "summaries", "expectations", "verdict", "exit_code"}, ended by a
 * newline. g_free. */
char *lab_verdict_json(const LabVerdict *v, GError **error);
