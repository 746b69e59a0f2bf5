/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* For the store's tests: a store in a folder of its own, and runs to put there. */
#include <errno.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "results/store.h"

typedef struct {
    char *root;
    gboolean mounted;
} StoreFixture;

G_GNUC_UNUSED static void
remove_tree(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        remove_tree(child);
    }
    g_remove(path);
}

G_GNUC_UNUSED static void
setup(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
{
    f->root = g_dir_make_tmp("nohzlab-store-XXXXXX", NULL);
    g_assert_nonnull(f->root);
}

G_GNUC_UNUSED static void
teardown(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
{
    if (f->mounted) {
        umount2(f->root, MNT_DETACH);
    }
    remove_tree(f->root);
    g_free(f->root);
}

G_GNUC_UNUSED static ResRecord *
make_record(const char *id, const char *set, gint64 started_us)
{
    ResRecord *r = res_record_new();
    r->id = g_strdup(id);
    r->set = g_strdup(set);
    r->profile = g_strdup("smoke");
    r->cell = g_strdup("variant=none");
    r->started_us = started_us;
    r->ended_us = started_us + 1;
    r->outcome = RES_OUTCOME_DONE;
    r->platform = g_strdup("bare");
    r->clock = g_strdup("icount");
    r->fidelity = RES_FIDELITY_INSTRUCTIONS;
    g_hash_table_insert(r->environment, g_strdup("kernel.release"), g_strdup("6.1.0"));
    g_ptr_array_add(r->evidence, g_strdup("report.txt"));
    g_ptr_array_add(r->metrics,
                    res_metric_new("a.b", "insns", RES_LOWER_IS_BETTER, RES_FIDELITY_INSTRUCTIONS,
                                   228.2, 228.1, 228.4, 9, "report.txt"));
    return r;
}

G_GNUC_UNUSED static gboolean
put_sized(ResStore *s, const ResRecord *r, gsize size, GError **error)
{
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    g_hash_table_insert(files, g_strdup("report.txt"), g_bytes_new_take(g_malloc0(size), size));
    return res_store_put(s, r, files, error);
}

G_GNUC_UNUSED static void
put_ok(ResStore *s, const char *id, const char *set, gint64 started_us)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ResRecord) r = make_record(id, set, started_us);
    g_assert_true(put_sized(s, r, 10, &error));
    g_assert_no_error(error);
}

G_GNUC_UNUSED static ResStore *
open_ok(const char *root)
{
    g_autoptr(GError) error = NULL;
    ResStore *s = res_store_open(root, &error);
    g_assert_no_error(error);
    g_assert_nonnull(s);
    return s;
}

G_GNUC_UNUSED static char *
listed(ResStore *s, const char *profile, unsigned int limit)
{
    g_autoptr(GError) error = NULL;
    GString *text = g_string_new(NULL);
    g_autoptr(GPtrArray) rows = res_store_list(s, profile, limit, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < rows->len; i++) {
        const ResIndexRow *row = g_ptr_array_index(rows, i);
        g_string_append_printf(text, "%s%s", i > 0 ? " " : "", row->id);
    }
    return g_string_free(text, FALSE);
}

G_GNUC_UNUSED static void
assert_list(ResStore *s, const char *want)
{
    g_autofree char *got = listed(s, NULL, 0);
    g_assert_cmpstr(got, ==, want);
}

G_GNUC_UNUSED static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in a folder, for "nothing is left". */
G_GNUC_UNUSED static char *
names_in(const char *root, const char *folder)
{
    g_autofree char *path = g_build_filename(root, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_ptr_array_add(names, g_strdup(name));
    }
    g_ptr_array_sort(names, compare_names);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++) {
        g_string_append_printf(text, "%s ", (char *)g_ptr_array_index(names, i));
    }
    return g_string_free(text, FALSE);
}

G_GNUC_UNUSED static void
index_sql(const char *root, const char *sql)
{
    g_autofree char *path = g_build_filename(root, "index.sqlite", NULL);
    sqlite3 *db = NULL;
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
}
