/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside index*.c only: the connection and its statements. */
#include <sqlite3.h>

#include "results/index.h"

typedef enum {
    RES_SQL_BEGIN,
    RES_SQL_COMMIT,
    RES_SQL_ROLLBACK,
    RES_SQL_INSERT,
    RES_SQL_REMOVE,
    RES_SQL_CLEAR,
    RES_SQL_LIST,
    RES_SQL_LIST_PROFILE,
    RES_SQL_RUNS,
    RES_SQL_SETS,
    RES_SQL_SET_RUNS,
    RES_SQL_NEWEST,
    RES_SQL_SERIES_ADD,
    RES_SQL_SERIES_ID,
    RES_SQL_CONTEXT_ADD,
    RES_SQL_CONTEXT_ID,
    RES_SQL_POINT_ADD,
    RES_SQL_POINTS_REMOVE,
    RES_SQL_POINTS_CLEAR,
    RES_SQL_HISTORY,
    RES_SQL_METRICS,
    RES_SQL_N,
} ResSql;

struct ResIndex {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *prepared[RES_SQL_N];
};

/* Always FALSE. A statement that does not fit (SQLITE_ERROR) means tables that are not ours: as bad
 * as damage. */
gboolean res_index_fail(const ResIndex *index, int rc, const char *what, GError **error);
/* Steps a prepared statement that returns no rows, and readies it for the next time. */
gboolean res_index_run(ResIndex *index, ResSql which, const char *what, GError **error);
void res_index_bind(sqlite3_stmt *stmt, int at, const char *text); /* NULL: "" */
/* The figures of R, if it is done. */
gboolean res_index_points_add(ResIndex *index, const ResRecord *r, GError **error);
