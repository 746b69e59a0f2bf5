/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/index_private.h"

#include <stdlib.h>
#include <string.h>

/* How long a process waits for another one's write. Writes take milliseconds; rebuilding takes
 * longer. */
#define BUSY_TIMEOUT_MS 20000

#define ROW_COLUMNS                                                                                \
    "id, set_id, profile, cell, outcome, detail, platform, clock, fidelity, kernel, boot, "        \
    "started_us, ended_us"
#define SERIES_COLUMNS "metric, profile, cell, host, platform, clock, fidelity, unit, direction"
/* '{' is the byte behind 'z', the last one an id may have: prefixes become ranges, which use the
 * index. */
static const char *const statements[RES_SQL_N] = {
    [RES_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [RES_SQL_COMMIT] = "COMMIT",
    [RES_SQL_ROLLBACK] = "ROLLBACK",
    [RES_SQL_INSERT] = "INSERT OR REPLACE INTO runs (" ROW_COLUMNS ") VALUES "
                       "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    [RES_SQL_REMOVE] = "DELETE FROM runs WHERE id = ?1",
    [RES_SQL_CLEAR] = "DELETE FROM runs",
    [RES_SQL_LIST] = "SELECT " ROW_COLUMNS " FROM runs ORDER BY started_us DESC, id DESC LIMIT ?1",
    [RES_SQL_LIST_PROFILE] = "SELECT " ROW_COLUMNS " FROM runs WHERE profile = ?2 "
                             "ORDER BY started_us DESC, id DESC LIMIT ?1",
    [RES_SQL_RUNS] = "SELECT id FROM runs WHERE id >= ?2 AND id < ?2 || '{' ORDER BY id LIMIT ?1",
    [RES_SQL_SETS] = "SELECT DISTINCT set_id FROM runs WHERE set_id >= ?2 AND set_id < ?2 || '{' "
                     "ORDER BY set_id LIMIT ?1",
    [RES_SQL_SET_RUNS] = "SELECT id FROM runs WHERE set_id = ?2 ORDER BY id LIMIT ?1",
    [RES_SQL_NEWEST] = "SELECT id, set_id FROM runs ORDER BY started_us DESC, id DESC LIMIT ?1",
    [RES_SQL_SERIES_ADD] = "INSERT OR IGNORE INTO series (" SERIES_COLUMNS ") "
                           "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [RES_SQL_SERIES_ID] = "SELECT id FROM series WHERE (" SERIES_COLUMNS ") = "
                          "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [RES_SQL_CONTEXT_ADD] = "INSERT OR IGNORE INTO contexts (facts) VALUES (?1)",
    [RES_SQL_CONTEXT_ID] = "SELECT id FROM contexts WHERE facts = ?1",
    [RES_SQL_POINT_ADD] = "INSERT OR REPLACE INTO points (series_id, started_us, run_id, set_id, "
                          "context_id, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [RES_SQL_POINTS_REMOVE] = "DELETE FROM points WHERE run_id = ?1",
    [RES_SQL_POINTS_CLEAR] = "DELETE FROM points",
    [RES_SQL_HISTORY] =
        "SELECT s.id, " SERIES_COLUMNS ", p.started_us, p.run_id, p.set_id, "
        "p.value, c.id, c.facts FROM series s "
        "JOIN points p ON p.series_id = s.id JOIN contexts c ON c.id = p.context_id "
        "WHERE s.metric = ?1 AND (?2 = '' OR s.profile = ?2) "
        "ORDER BY " SERIES_COLUMNS ", p.started_us, p.run_id",
    [RES_SQL_METRICS] = "SELECT DISTINCT metric FROM series ORDER BY metric LIMIT ?1",
};

GQuark
res_index_error_quark(void)
{
    return g_quark_from_static_string("res-index-error");
}

/* Always FALSE. A statement that does not fit (SQLITE_ERROR) means tables that are not ours: as bad
 * as damage. */
gboolean
res_index_fail(const ResIndex *index, int rc, const char *what, GError **error)
{
    int code = RES_INDEX_ERROR_SQLITE;
    int primary = rc & 0xff;
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_ERROR ||
        primary == SQLITE_MISMATCH || primary == SQLITE_CONSTRAINT) {
        code = RES_INDEX_ERROR_CORRUPT;
    }
    g_set_error(error, RES_INDEX_ERROR, code, "%s: %s: %s", index->path, what,
                index->db != NULL ? sqlite3_errmsg(index->db) : sqlite3_errstr(rc));
    return FALSE;
}

/* Runs every statement of SQL (LEN bytes), dropping what they return. */
static gboolean
run_script(ResIndex *index, const char *sql, gsize len, GError **error)
{
    const char *end = sql + len;
    while (sql < end) {
        sqlite3_stmt *stmt = NULL;
        int rc = sqlite3_prepare_v2(index->db, sql, (int)(end - sql), &stmt, &sql);
        if (rc != SQLITE_OK) {
            return res_index_fail(index, rc, "cannot prepare", error);
        }
        while (stmt != NULL && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        }
        sqlite3_finalize(stmt);
        if (stmt != NULL && rc != SQLITE_DONE) {
            return res_index_fail(index, rc, "cannot set up", error);
        }
        if (stmt == NULL) {
            break; /* only comments were left */
        }
    }
    return TRUE;
}

/* The one text or number that SQL returns, as text; "" for none. */
static gboolean
ask(ResIndex *index, const char *sql, char **answer, GError **error)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(index->db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(stmt);
    }
    if (rc == SQLITE_ROW) {
        *answer = g_strdup((const char *)sqlite3_column_text(stmt, 0));
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        res_index_fail(index, rc, sql, error);
    }
    sqlite3_finalize(stmt);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
        *answer = *answer != NULL ? *answer : g_strdup("");
        return TRUE;
    }
    return FALSE;
}

static gboolean
read_version(ResIndex *index, int *version, GError **error)
{
    g_autofree char *text = NULL;
    if (!ask(index, "PRAGMA user_version", &text, error)) {
        return FALSE;
    }
    *version = atoi(text);
    return TRUE;
}

/* The section of results/schema.sql that leads to VERSION; sections end where the next one starts.
 */
static const char *
schema_section(int version, gsize *len)
{
    g_autofree char *mark = g_strdup_printf("-- version %d\n", version);
    const char *start = strstr(res_index_schema, mark);
    if (start == NULL) {
        return NULL;
    }
    start += strlen(mark);
    const char *end = strstr(start, "-- version ");
    *len = end != NULL ? (gsize)(end - start) : strlen(start);
    return start;
}

/* Asks for the version again under the write lock: another process may have been faster. */
static gboolean
migrate(ResIndex *index, GError **error)
{
    int version = 0;
    if (!run_script(index, "BEGIN IMMEDIATE", strlen("BEGIN IMMEDIATE"), error)) {
        return FALSE;
    }
    gboolean ok = read_version(index, &version, error);
    while (ok && version < RES_INDEX_VERSION) {
        gsize len = 0;
        const char *section = schema_section(++version, &len);
        g_assert(section != NULL);
        g_autofree char *stamp = g_strdup_printf("PRAGMA user_version = %d", version);
        ok = run_script(index, section, len, error) &&
             run_script(index, stamp, strlen(stamp), error);
    }
    ok = ok && run_script(index, "COMMIT", strlen("COMMIT"), error);
    if (!ok && sqlite3_get_autocommit(index->db) == 0) {
        run_script(index, "ROLLBACK", strlen("ROLLBACK"), NULL);
    }
    return ok;
}

static gboolean
check_whole(ResIndex *index, GError **error)
{
    g_autofree char *answer = NULL;
    if (!ask(index, "PRAGMA quick_check(1)", &answer, error)) {
        return FALSE;
    }
    if (!g_str_equal(answer, "ok")) {
        g_set_error(error, RES_INDEX_ERROR, RES_INDEX_ERROR_CORRUPT, "%s: %s", index->path, answer);
        return FALSE;
    }
    return TRUE;
}

ResIndex *
res_index_open(const char *path, GError **error)
{
    g_autoptr(ResIndex) index = g_new0(ResIndex, 1);
    index->path = g_strdup(path);
    int rc = sqlite3_open_v2(path, &index->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc != SQLITE_OK) {
        res_index_fail(index, rc, "cannot open", error);
        return NULL;
    }
    sqlite3_extended_result_codes(index->db, 1);
    sqlite3_busy_timeout(index->db, BUSY_TIMEOUT_MS);
    int version = 0;
    if (!read_version(index, &version, error)) {
        return NULL;
    }
    if (version > RES_INDEX_VERSION) {
        g_set_error(
            error, RES_INDEX_ERROR, RES_INDEX_ERROR_NEWER,
            "%s: version %d is newer than %d, the newest known here: use a newer nohzlab, or "
            "move the file away (it is built anew from the records)",
            path, version, RES_INDEX_VERSION);
        return NULL;
    }
    /* WAL: readers don't wait for a writer. Where the file system can't, SQLite stays with its
     * journal. NORMAL: a power cut may lose the last rows, which the next open puts back from the
     * records. */
    static const char setup[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;";
    if (!run_script(index, setup, strlen(setup), error) || !check_whole(index, error) ||
        !migrate(index, error)) {
        return NULL;
    }
    for (int i = 0; i < RES_SQL_N; i++) {
        rc = sqlite3_prepare_v3(index->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                                &index->prepared[i], NULL);
        if (rc != SQLITE_OK) {
            res_index_fail(index, rc, "tables are not as they should be", error);
            return NULL;
        }
    }
    return g_steal_pointer(&index);
}

void
res_index_free(ResIndex *index)
{
    if (index == NULL) {
        return;
    }
    for (int i = 0; i < RES_SQL_N; i++) {
        sqlite3_finalize(index->prepared[i]);
    }
    sqlite3_close(index->db);
    g_free(index->path);
    g_free(index);
}

/* Steps a prepared statement that returns no rows, and readies it for the next time. */
gboolean
res_index_run(ResIndex *index, ResSql which, const char *what, GError **error)
{
    sqlite3_stmt *stmt = index->prepared[which];
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_DONE) {
        res_index_fail(index, rc, what, error);
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return rc == SQLITE_DONE;
}

gboolean
res_index_begin(ResIndex *index, GError **error)
{
    return res_index_run(index, RES_SQL_BEGIN, "cannot start a change", error);
}

gboolean
res_index_commit(ResIndex *index, GError **error)
{
    return res_index_run(index, RES_SQL_COMMIT, "cannot finish a change", error);
}

void
res_index_rollback(ResIndex *index)
{
    /* SQLite has rolled back by itself after some errors (disk full) */
    if (sqlite3_get_autocommit(index->db) == 0) {
        res_index_run(index, RES_SQL_ROLLBACK, "cannot roll back", NULL);
    }
}

void
res_index_bind(sqlite3_stmt *stmt, int at, const char *text)
{
    sqlite3_bind_text(stmt, at, text != NULL ? text : "", -1, SQLITE_TRANSIENT);
}

gboolean
res_index_insert(ResIndex *index, const ResRecord *r, GError **error)
{
    const char *texts[] = {r->id,
                           r->set,
                           r->profile,
                           r->cell,
                           res_outcome_name(r->outcome),
                           r->detail,
                           r->platform,
                           r->clock,
                           res_fidelity_name(r->fidelity),
                           g_hash_table_lookup(r->environment, "kernel.release")};
    sqlite3_stmt *stmt = index->prepared[RES_SQL_INSERT];
    int at = 1;
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        res_index_bind(stmt, at++, texts[i]);
    }
    sqlite3_bind_int64(stmt, at++, r->boot);
    sqlite3_bind_int64(stmt, at++, r->started_us);
    sqlite3_bind_int64(stmt, at++, r->ended_us);
    return res_index_run(index, RES_SQL_INSERT, "cannot add a run", error) &&
           res_index_points_add(index, r, error);
}

gboolean
res_index_remove(ResIndex *index, const char *id, GError **error)
{
    res_index_bind(index->prepared[RES_SQL_REMOVE], 1, id);
    res_index_bind(index->prepared[RES_SQL_POINTS_REMOVE], 1, id);
    return res_index_run(index, RES_SQL_POINTS_REMOVE, "cannot remove figures", error) &&
           res_index_run(index, RES_SQL_REMOVE, "cannot remove a run", error);
}

gboolean
res_index_clear(ResIndex *index, GError **error)
{
    return res_index_run(index, RES_SQL_POINTS_CLEAR, "cannot empty the index", error) &&
           res_index_run(index, RES_SQL_CLEAR, "cannot empty the index", error);
}

static char *
column_dup(sqlite3_stmt *stmt, int at)
{
    const char *text = (const char *)sqlite3_column_text(stmt, at);
    return g_strdup(text != NULL ? text : "");
}

static ResIndexRow *
read_row(sqlite3_stmt *stmt)
{
    ResIndexRow *row = g_new0(ResIndexRow, 1);
    char **texts[] = {&row->id,     &row->set,      &row->profile, &row->cell,     &row->outcome,
                      &row->detail, &row->platform, &row->clock,   &row->fidelity, &row->kernel};
    int at = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        *texts[i] = column_dup(stmt, at++);
    }
    row->boot = (unsigned int)sqlite3_column_int64(stmt, at++);
    row->started_us = sqlite3_column_int64(stmt, at++);
    row->ended_us = sqlite3_column_int64(stmt, at++);
    return row;
}

void
res_index_row_free(ResIndexRow *row)
{
    if (row == NULL) {
        return;
    }
    char *texts[] = {row->id,     row->set,      row->profile, row->cell,     row->outcome,
                     row->detail, row->platform, row->clock,   row->fidelity, row->kernel};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_free(texts[i]);
    }
    g_free(row);
}

/* Binds LIMIT (0: all) and TEXT and collects the rows: ResIndexRow, or every column as a string. */
static GPtrArray *
collect(ResIndex *index, ResSql which, const char *text, unsigned int limit, gboolean rows,
        GError **error)
{
    sqlite3_stmt *stmt = index->prepared[which];
    g_autoptr(GPtrArray) found =
        g_ptr_array_new_with_free_func(rows ? (GDestroyNotify)res_index_row_free : g_free);
    int rc;
    sqlite3_bind_int64(stmt, 1, limit > 0 ? (sqlite3_int64)limit : -1);
    if (text != NULL) {
        res_index_bind(stmt, 2, text);
    }
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (rows) {
            g_ptr_array_add(found, read_row(stmt));
            continue;
        }
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            g_ptr_array_add(found, column_dup(stmt, i));
        }
    }
    if (rc != SQLITE_DONE) {
        res_index_fail(index, rc, "cannot read", error);
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return rc == SQLITE_DONE ? g_steal_pointer(&found) : NULL;
}

GPtrArray *
res_index_list(ResIndex *index, const char *profile, unsigned int limit, GError **error)
{
    return collect(index, profile != NULL ? RES_SQL_LIST_PROFILE : RES_SQL_LIST, profile, limit,
                   TRUE, error);
}

GPtrArray *
res_index_runs(ResIndex *index, const char *prefix, unsigned int limit, GError **error)
{
    return collect(index, RES_SQL_RUNS, prefix, limit, FALSE, error);
}

GPtrArray *
res_index_sets(ResIndex *index, const char *prefix, unsigned int limit, GError **error)
{
    return collect(index, RES_SQL_SETS, prefix, limit, FALSE, error);
}

GPtrArray *
res_index_set_runs(ResIndex *index, const char *set, GError **error)
{
    return collect(index, RES_SQL_SET_RUNS, set, 0, FALSE, error);
}

GPtrArray *
res_index_newest(ResIndex *index, GError **error)
{
    return collect(index, RES_SQL_NEWEST, NULL, 1, FALSE, error);
}

GPtrArray *
res_index_metrics(ResIndex *index, GError **error)
{
    return collect(index, RES_SQL_METRICS, NULL, 0, FALSE, error);
}
