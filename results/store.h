/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The results folder: ROOT/runs/ID/{record.json, evidence...} and ROOT/index.sqlite, which only
 * repeats what the records say and can be rebuilt from them.
 */
#include <gio/gio.h>

#include "results/record.h"
#include "results/series.h"

typedef struct ResStore ResStore;

#define RES_STORE_ERROR (res_store_error_quark())
GQuark res_store_error_quark(void);
typedef enum {
    RES_STORE_ERROR_FOLDER,    /* ROOT can't be made, read or written */
    RES_STORE_ERROR_NEWER,     /* the index is of a newer nohzlab */
    RES_STORE_ERROR_INDEX,     /* SQLite says no (busy for long, disk full) */
    RES_STORE_ERROR_EXISTS,    /* this id is taken */
    RES_STORE_ERROR_INVALID,   /* record and files don't fit each other, or a bad id */
    RES_STORE_ERROR_NOT_FOUND, /* no such run or set */
    RES_STORE_ERROR_AMBIGUOUS, /* a prefix of several */
} ResStoreError;

/* Opens (and creates) ROOT. A folder that can't be written is an error that names it and says why.
 * A corrupt or older index is rebuilt or migrated; a newer one is refused. */
ResStore *res_store_open(const char *root, GError **error);
void res_store_free(ResStore *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResStore, res_store_free)

/* A new id, unique in this store and sortable by time (later calls of one process sort later, also
 * within a second and when the clock steps back): "20261201-015300-4f2a". g_free it. */
char *res_store_new_id(ResStore *s);

/*
 * Writes a run: FILES (char * name -> GBytes *) and the record, all into a temporary folder,
 * fsynced, then renamed to ROOT/runs/ID and added to the index. On any error (disk full included)
 * nothing of the run is left and earlier results are as they were. An existing ID is refused,
 * whatever its content. The names in FILES and the record's list of evidence must be the same.
 */
gboolean res_store_put(ResStore *s, const ResRecord *r, GHashTable *files, GError **error);

/* ID may be a unique prefix, or "last" (the newest run). */
ResRecord *res_store_get(ResStore *s, const char *id, GError **error);
/* All runs of a set, in order of their ids; WHAT is a set id, a run id, a unique prefix of either,
 * or "last" (the newest set). A run id gives that run alone. Never empty without an error. */
GPtrArray *res_store_get_set(ResStore *s, const char *what, GError **error); /* ResRecord * */

typedef struct {
    char *id, *set, *profile, *cell, *outcome, *detail, *platform, *clock, *fidelity, *kernel;
    unsigned int boot;
    gint64 started_us, ended_us;
} ResIndexRow;
void res_index_row_free(ResIndexRow *row);
/* Newest first, from the index; LIMIT 0: all. PROFILE NULL: any. */
GPtrArray *res_store_list(ResStore *s, const char *profile, unsigned int limit, GError **error);

/* The figures of METRIC over all done runs, a series for each
 * profile, cell, host, platform, clock, fidelity, unit and direction, from the index: ResSeries *.
 * PROFILE NULL: any. None: empty. */
GPtrArray *res_store_series(ResStore *s, const char *metric, const char *profile, GError **error);
/* Names of all metrics that any done run had, ascending: char *. */
GPtrArray *res_store_metrics(ResStore *s, GError **error);

/* Throws the index away and rebuilds it. COUNT gets the number of runs; SKIPPED (char *) one line
 * per folder that could not be read, with the reason: those stay on disk untouched. */
gboolean res_store_reindex(ResStore *s, unsigned int *count, GPtrArray *skipped, GError **error);

/* The histograms of WORKLOAD that run R keeps (WORKLOAD-hist.json, hist.h): ResHist *, to be
 * unreffed. NULL when it has none, and with an error when they can't be read. */
GPtrArray *res_store_hists(ResStore *s, const ResRecord *r, const char *workload, GError **error);

const char *res_store_root(const ResStore *s);
/* ROOT/runs/ID; g_free it. */
char *res_store_run_dir(const ResStore *s, const char *id);
