/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index's figures by series. */
#include "results/facts.h"
#include "results/index_private.h"

/* The id of the row that FIND finds after ADD saw to it that there is one: both take TEXTS. 0 on an
 * error. */
static gint64
row_id(ResIndex *index, ResSql add, ResSql find, const char *const *texts, gsize n, GError **error)
{
    gint64 id = 0;
    sqlite3_stmt *stmt = index->prepared[find];
    for (gsize i = 0; i < n; i++) {
        res_index_bind(index->prepared[add], (int)i + 1, texts[i]);
        res_index_bind(stmt, (int)i + 1, texts[i]);
    }
    if (res_index_run(index, add, "cannot add a series", error)) {
        int rc = sqlite3_step(stmt);
        id = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
        if (rc != SQLITE_ROW) {
            res_index_fail(index, rc, "cannot find a series", error);
        }
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return id;
}

/* Counted instructions are the same on every machine; other figures are the machine's. */
static const char *
host_of(const ResRecord *r)
{
    return r->fidelity == RES_FIDELITY_INSTRUCTIONS
               ? ""
               : g_hash_table_lookup(r->environment, "host.name");
}

static gboolean
add_point(ResIndex *index, const ResRecord *r, const ResMetric *m, gint64 context, GError **error)
{
    const char *const texts[] = {m->name,
                                 r->profile,
                                 r->cell,
                                 host_of(r),
                                 r->platform,
                                 r->clock,
                                 res_fidelity_name(m->fidelity),
                                 m->unit,
                                 res_direction_name(m->direction)};
    gint64 series =
        row_id(index, RES_SQL_SERIES_ADD, RES_SQL_SERIES_ID, texts, G_N_ELEMENTS(texts), error);
    if (series == 0) {
        return FALSE;
    }
    sqlite3_stmt *stmt = index->prepared[RES_SQL_POINT_ADD];
    sqlite3_bind_int64(stmt, 1, series);
    sqlite3_bind_int64(stmt, 2, r->started_us);
    res_index_bind(stmt, 3, r->id);
    res_index_bind(stmt, 4, r->set);
    sqlite3_bind_int64(stmt, 5, context);
    sqlite3_bind_double(stmt, 6, m->value);
    return res_index_run(index, RES_SQL_POINT_ADD, "cannot add a figure", error);
}

gboolean
res_index_points_add(ResIndex *index, const ResRecord *r, GError **error)
{
    res_index_bind(index->prepared[RES_SQL_POINTS_REMOVE], 1, r->id);
    if (!res_index_run(index, RES_SQL_POINTS_REMOVE, "cannot remove figures", error)) {
        return FALSE;
    }
    if (r->outcome != RES_OUTCOME_DONE || r->metrics->len == 0) {
        return TRUE;
    }
    g_autofree char *facts = res_facts_of(r);
    const char *const texts[] = {facts};
    gint64 context = row_id(index, RES_SQL_CONTEXT_ADD, RES_SQL_CONTEXT_ID, texts, 1, error);
    gboolean ok = context != 0;
    for (guint i = 0; ok && i < r->metrics->len; i++) {
        ok = add_point(index, r, g_ptr_array_index(r->metrics, i), context, error);
    }
    return ok;
}

static ResSeries *
read_series(sqlite3_stmt *stmt)
{
    ResSeries *s = res_series_new();
    char **texts[] = {&s->metric, &s->profile, &s->cell, &s->host, &s->platform, &s->clock};
    int at = 1;
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        *texts[i] = g_strdup((const char *)sqlite3_column_text(stmt, at++));
    }
    res_fidelity_parse((const char *)sqlite3_column_text(stmt, at++), &s->fidelity);
    s->unit = g_strdup((const char *)sqlite3_column_text(stmt, at++));
    res_direction_parse((const char *)sqlite3_column_text(stmt, at), &s->direction);
    return s;
}

GPtrArray *
res_index_series(ResIndex *index, const char *metric, const char *profile, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)res_series_free);
    sqlite3_stmt *stmt = index->prepared[RES_SQL_HISTORY];
    ResSeries *s = NULL;
    gint64 last = 0;
    int rc;
    res_index_bind(stmt, 1, metric);
    res_index_bind(stmt, 2, profile);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (s == NULL || sqlite3_column_int64(stmt, 0) != last) {
            last = sqlite3_column_int64(stmt, 0);
            s = read_series(stmt);
            g_ptr_array_add(all, s);
        }
        res_series_add(s, sqlite3_column_int64(stmt, 10),
                       (const char *)sqlite3_column_text(stmt, 11),
                       (const char *)sqlite3_column_text(stmt, 12), sqlite3_column_double(stmt, 13),
                       (const char *)sqlite3_column_text(stmt, 15));
    }
    if (rc != SQLITE_DONE) {
        res_index_fail(index, rc, "cannot read", error);
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return rc == SQLITE_DONE ? g_steal_pointer(&all) : NULL;
}
