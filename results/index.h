/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Inside results/ only: ROOT/index.sqlite. It repeats what the records say, so whatever is wrong
 * with it is cured by building it anew; what needs the records (building) is the store's business.
 */
#include "results/store.h"

#define RES_INDEX_VERSION 2

/* results/schema.sql */
extern const char res_index_schema[];

typedef struct ResIndex ResIndex;

#define RES_INDEX_ERROR (res_index_error_quark())
GQuark res_index_error_quark(void);
typedef enum {
    RES_INDEX_ERROR_CORRUPT, /* not a database, damaged, or not of our shape: move aside and build
                                anew */
    RES_INDEX_ERROR_NEWER,
    RES_INDEX_ERROR_SQLITE, /* everything else */
} ResIndexError;

/* Opens or creates PATH, checks it whole and brings it to RES_INDEX_VERSION. */
ResIndex *res_index_open(const char *path, GError **error);
void res_index_free(ResIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResIndex, res_index_free)

/* begin takes the write lock at once (waiting for other processes), so that what follows can't be
 * refused it. */
gboolean res_index_begin(ResIndex *index, GError **error);
gboolean res_index_commit(ResIndex *index, GError **error);
void res_index_rollback(ResIndex *index);

gboolean res_index_insert(ResIndex *index, const ResRecord *r,
                          GError **error); /* a known id: replaced */
gboolean res_index_remove(ResIndex *index, const char *id, GError **error);
gboolean res_index_clear(ResIndex *index, GError **error);

/* As res_store_list(). */
GPtrArray *res_index_list(ResIndex *index, const char *profile, unsigned int limit, GError **error);
/* Ids, ascending, at most LIMIT (0: all): of runs whose id starts with PREFIX; of sets likewise; of
 * a set's runs. */
GPtrArray *res_index_runs(ResIndex *index, const char *prefix, unsigned int limit, GError **error);
GPtrArray *res_index_sets(ResIndex *index, const char *prefix, unsigned int limit, GError **error);
GPtrArray *res_index_set_runs(ResIndex *index, const char *set, GError **error);
/* The newest run's id and its set's; none: one empty array, no error. */
GPtrArray *res_index_newest(ResIndex *index, GError **error);
/* As res_store_series() and res_store_metrics(). */
GPtrArray *res_index_series(ResIndex *index, const char *metric, const char *profile,
                            GError **error);
GPtrArray *res_index_metrics(ResIndex *index, GError **error);
