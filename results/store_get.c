/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what a person types to records. */
#include <string.h>

#include "results/hist.h"
#include "results/rundir.h"
#include "results/store_private.h"

#define CANDIDATES_SHOWN 5

/* "a, b, c": for an error. */
static char *
candidates(const GPtrArray *a, const GPtrArray *b)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const GPtrArray *both[] = {a, b};
    guint shown = 0;
    for (gsize k = 0; k < G_N_ELEMENTS(both); k++) {
        for (guint i = 0; i < both[k]->len && shown < CANDIDATES_SHOWN; i++, shown++) {
            g_string_append_printf(text, "%s%s", shown > 0 ? ", " : "",
                                   (const char *)g_ptr_array_index(both[k], i));
        }
    }
    if (a->len + b->len > CANDIDATES_SHOWN) {
        g_string_append(text, ", ...");
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
not_found(const ResStore *s, const char *what, GError **error)
{
    g_autofree char *shown = g_utf8_make_valid(what, -1);
    g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_NOT_FOUND, "no run or set \"%s\" in %s",
                shown, s->root);
}

/* The newest run's id (SET: its set's). */
static char *
newest(ResStore *s, gboolean set, GError **error)
{
    g_autoptr(GPtrArray) ids = res_store_ask(s, RES_STORE_NEWEST, NULL, 0, error);
    if (ids == NULL) {
        return NULL;
    }
    if (ids->len == 0) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_NOT_FOUND, "no runs in %s yet",
                    s->root);
        return NULL;
    }
    return g_strdup(g_ptr_array_index(ids, set ? 1 : 0));
}

ResRecord *
res_store_get(ResStore *s, const char *id, GError **error)
{
    g_autofree char *found = NULL;
    if (g_strcmp0(id, "last") == 0) {
        found = newest(s, FALSE, error);
        return found != NULL ? res_rundir_read(s->runs, found, error) : NULL;
    }
    if (!res_id_valid(id)) {
        not_found(s, id != NULL ? id : "", error);
        return NULL;
    }
    if (res_rundir_exists(s->runs, id)) {
        return res_rundir_read(s->runs, id, error);
    }
    g_autoptr(GPtrArray) none = g_ptr_array_new();
    g_autoptr(GPtrArray) ids = res_store_ask(s, RES_STORE_RUNS, id, CANDIDATES_SHOWN + 1, error);
    if (ids == NULL) {
        return NULL;
    }
    if (ids->len == 0) {
        not_found(s, id, error);
        return NULL;
    }
    if (ids->len > 1) {
        g_autofree char *list = candidates(ids, none);
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_AMBIGUOUS,
                    "\"%s\" is the beginning of several runs: %s", id, list);
        return NULL;
    }
    return res_rundir_read(s->runs, g_ptr_array_index(ids, 0), error);
}

static GPtrArray *
read_runs(ResStore *s, const GPtrArray *ids, GError **error)
{
    g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    for (guint i = 0; i < ids->len; i++) {
        ResRecord *r = res_rundir_read(s->runs, g_ptr_array_index(ids, i), error);
        if (r == NULL) {
            return NULL;
        }
        g_ptr_array_add(records, r);
    }
    return g_steal_pointer(&records);
}

/* A whole id of a set comes first, then one of a run, then beginnings. A beginning of one set and
 * of runs of just that set means the set. */
static GPtrArray *
resolve(ResStore *s, const char *what, GError **error)
{
    g_autoptr(GPtrArray) exact = res_store_ask(s, RES_STORE_SET_RUNS, what, 0, error);
    if (exact == NULL || exact->len > 0) {
        return g_steal_pointer(&exact);
    }
    g_autoptr(GPtrArray) runs = res_store_ask(s, RES_STORE_RUNS, what, 0, error);
    if (runs == NULL) {
        return NULL;
    }
    if (runs->len == 1 || (runs->len > 1 && g_str_equal(g_ptr_array_index(runs, 0), what))) {
        g_ptr_array_set_size(runs, 1);
        if (g_str_equal(g_ptr_array_index(runs, 0), what)) {
            return g_steal_pointer(&runs);
        }
    }
    g_autoptr(GPtrArray) sets = res_store_ask(s, RES_STORE_SETS, what, CANDIDATES_SHOWN + 1, error);
    if (sets == NULL) {
        return NULL;
    }
    if (sets->len == 0 && runs->len == 1) {
        return g_steal_pointer(&runs);
    }
    if (sets->len == 1) {
        g_autoptr(GPtrArray) members =
            res_store_ask(s, RES_STORE_SET_RUNS, g_ptr_array_index(sets, 0), 0, error);
        gboolean covered = members != NULL;
        for (guint i = 0; covered && i < runs->len; i++) {
            covered = g_ptr_array_find_with_equal_func(members, g_ptr_array_index(runs, i),
                                                       g_str_equal, NULL);
        }
        if (members == NULL || covered) {
            return g_steal_pointer(&members);
        }
    }
    if (sets->len == 0 && runs->len == 0) {
        not_found(s, what, error);
        return NULL;
    }
    g_autofree char *list = candidates(sets, runs);
    g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_AMBIGUOUS,
                "\"%s\" is the beginning of several sets or runs: %s", what, list);
    return NULL;
}

GPtrArray *
res_store_get_set(ResStore *s, const char *what, GError **error)
{
    g_autofree char *set = NULL;
    if (g_strcmp0(what, "last") == 0) {
        set = newest(s, TRUE, error);
        if (set == NULL) {
            return NULL;
        }
        what = set;
    }
    if (!res_id_valid(what)) {
        not_found(s, what != NULL ? what : "", error);
        return NULL;
    }
    g_autoptr(GPtrArray) ids = resolve(s, what, error);
    return ids != NULL ? read_runs(s, ids, error) : NULL;
}

GPtrArray *
res_store_hists(ResStore *s, const ResRecord *r, const char *workload, GError **error)
{
    g_autofree char *name = g_strconcat(workload, RES_HIST_SUFFIX, NULL);
    if (!g_ptr_array_find_with_equal_func(r->evidence, name, g_str_equal, NULL)) {
        return NULL;
    }
    gsize len = 0;
    g_autofree char *text =
        res_rundir_read_file(s->runs, r->id, name, RES_HIST_BYTES_MAX, &len, error);
    GPtrArray *hists = text != NULL ? res_hist_from_json(text, len, error) : NULL;
    if (text != NULL && hists == NULL) {
        g_prefix_error(error, "run %s: %s: ", r->id, name);
    }
    return hists;
}
