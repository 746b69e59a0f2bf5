/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/store.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    char *root;
    gboolean mounted;
} Fixture;

static void
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

static void
setup(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    f->root = g_dir_make_tmp("nohzlab-store-XXXXXX", NULL);
    g_assert_nonnull(f->root);
}

static void
teardown(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    if (f->mounted) {
        umount2(f->root, MNT_DETACH);
    }
    remove_tree(f->root);
    g_free(f->root);
}

static ResRecord *
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

static gboolean
put_sized(ResStore *s, const ResRecord *r, gsize size, GError **error)
{
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    g_hash_table_insert(files, g_strdup("report.txt"), g_bytes_new_take(g_malloc0(size), size));
    return res_store_put(s, r, files, error);
}

static void
put_ok(ResStore *s, const char *id, const char *set, gint64 started_us)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ResRecord) r = make_record(id, set, started_us);
    g_assert_true(put_sized(s, r, 10, &error));
    g_assert_no_error(error);
}

static ResStore *
open_ok(const char *root)
{
    g_autoptr(GError) error = NULL;
    ResStore *s = res_store_open(root, &error);
    g_assert_no_error(error);
    g_assert_nonnull(s);
    return s;
}

static char *
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

static void
assert_list(ResStore *s, const char *want)
{
    g_autofree char *got = listed(s, NULL, 0);
    g_assert_cmpstr(got, ==, want);
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in a folder, for "nothing is left". */
static char *
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

static void
index_sql(const char *root, const char *sql)
{
    g_autofree char *path = g_build_filename(root, "index.sqlite", NULL);
    sqlite3 *db = NULL;
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
}

static void
test_put_get(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    put_ok(s, "r1", "s1", 100);
    put_ok(s, "r2", "s1", 300);
    put_ok(s, "q3", "s2", 200);
    assert_list(s, "r2 q3 r1");
    g_autofree char *two = listed(s, "smoke", 2);
    g_assert_cmpstr(two, ==, "r2 q3");
    g_autofree char *none = listed(s, "other", 0);
    g_assert_cmpstr(none, ==, "");

    g_autoptr(GPtrArray) rows = res_store_list(s, NULL, 1, &error);
    const ResIndexRow *row = g_ptr_array_index(rows, 0);
    g_assert_cmpstr(row->set, ==, "s1");
    g_assert_cmpstr(row->profile, ==, "smoke");
    g_assert_cmpstr(row->cell, ==, "variant=none");
    g_assert_cmpstr(row->outcome, ==, "done");
    g_assert_cmpstr(row->detail, ==, "");
    g_assert_cmpstr(row->platform, ==, "bare");
    g_assert_cmpstr(row->clock, ==, "icount");
    g_assert_cmpstr(row->fidelity, ==, "instructions");
    g_assert_cmpstr(row->kernel, ==, "6.1.0");
    g_assert_cmpint(row->started_us, ==, 300);
    g_assert_cmpint(row->ended_us, ==, 301);

    g_autoptr(ResRecord) r = res_store_get(s, "q", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(r->id, ==, "q3");
    g_assert_cmpfloat(res_record_metric(r, "a.b")->value, ==, 228.2);
    g_autoptr(ResRecord) last = res_store_get(s, "last", &error);
    g_assert_cmpstr(last->id, ==, "r2");
    g_autofree char *dir = res_store_run_dir(s, "q3");
    g_autofree char *file = g_build_filename(dir, "report.txt", NULL);
    g_assert_true(g_file_test(file, G_FILE_TEST_IS_REGULAR));
    g_autofree char *left = names_in(f->root, "runs");
    g_assert_cmpstr(left, ==, "q3 r1 r2 ");
}

static void
assert_get_fails(ResStore *s, const char *id, int code)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(res_store_get(s, id, &error));
    g_assert_error(error, RES_STORE_ERROR, code);
    g_clear_error(&error);
    g_assert_null(res_store_get_set(s, id, &error));
    g_assert_error(error, RES_STORE_ERROR, code);
}

static void
test_resolve(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    assert_get_fails(s, "last", RES_STORE_ERROR_NOT_FOUND);
    put_ok(s, "a-2", "a-0", 100);
    put_ok(s, "a-1", "a-0", 200);
    put_ok(s, "b-1", "c-0", 300);
    assert_get_fails(s, "x", RES_STORE_ERROR_NOT_FOUND);
    assert_get_fails(s, "", RES_STORE_ERROR_NOT_FOUND);
    assert_get_fails(s, "../runs/a-1", RES_STORE_ERROR_NOT_FOUND);
    assert_get_fails(s, "%", RES_STORE_ERROR_NOT_FOUND);
    static const struct {
        const char *what, *first;
        guint n;
    } cases[] = {{"a-0", "a-1", 2}, {"a", "a-1", 2}, {"a-2", "a-2", 1},
                 {"b", "b-1", 1},   {"c", "b-1", 1}, {"last", "b-1", 1}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GPtrArray) set = res_store_get_set(s, cases[i].what, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(set->len, ==, cases[i].n);
        g_assert_cmpstr(((ResRecord *)g_ptr_array_index(set, 0))->id, ==, cases[i].first);
    }
    put_ok(s, "a-3", "c-1", 400);
    g_assert_null(res_store_get(s, "a", &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_AMBIGUOUS);
    g_assert_nonnull(strstr(error->message, "a-1, a-2, a-3"));
    g_clear_error(&error);
    g_assert_null(res_store_get_set(s, "c", &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_AMBIGUOUS);
    g_clear_error(&error);
    /* the set a-0 and a run of another set begin so */
    g_assert_null(res_store_get_set(s, "a", &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_AMBIGUOUS);
}

static void
test_put_refused(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    put_ok(s, "r1", "s1", 100);
    g_autoptr(ResRecord) other = make_record("r1", "s2", 200);
    g_assert_false(put_sized(s, other, 10, &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_EXISTS);
    g_clear_error(&error);
    g_autoptr(ResRecord) back = res_store_get(s, "r1", &error);
    g_assert_cmpstr(back->set, ==, "s1");

    g_autoptr(ResRecord) r = make_record("r2", "s1", 100);
    g_assert_false(res_store_put(s, r, NULL, &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID);
    g_assert_nonnull(strstr(error->message, "report.txt"));
    g_clear_error(&error);
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    g_hash_table_insert(files, g_strdup("report.txt"), g_bytes_new_static("", 0));
    g_hash_table_insert(files, g_strdup("../../x"), g_bytes_new_static("", 0));
    g_assert_false(res_store_put(s, r, files, &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID);
    g_clear_error(&error);
    g_autofree char *left = names_in(f->root, "runs");
    g_assert_cmpstr(left, ==, "r1 ");
}

static void
test_new_id(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autofree char *last = g_strdup("");
    for (int i = 0; i < 100; i++) {
        g_autofree char *id = res_store_new_id(s);
        g_assert_true(g_regex_match_simple("^[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$", id, 0, 0));
        g_assert_true(res_id_valid(id));
        g_assert_cmpstr(id, >, last);
        g_free(last);
        last = g_steal_pointer(&id);
    }
}

static void
test_leftovers(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    res_store_free(open_ok(f->root));
    g_autofree char *tmp = g_build_filename(f->root, "runs", ".tmp-r9-99999999", NULL);
    g_autofree char *file = g_build_filename(tmp, "record.json", NULL);
    g_assert_cmpint(g_mkdir(tmp, 0755), ==, 0);
    g_assert_true(g_file_set_contents(file, "{", 1, NULL));
    g_autoptr(ResStore) s = open_ok(f->root);
    g_assert_false(g_file_test(tmp, G_FILE_TEST_EXISTS));
    assert_list(s, "");
}

/* A process that dies in the middle of writing: what is found is either a whole run or none. */
static void
test_killed(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    res_store_free(open_ok(f->root));
    pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (child == 0) {
        g_autoptr(ResStore) s = res_store_open(f->root, NULL);
        for (int i = 0; s != NULL; i++) {
            g_autofree char *id = g_strdup_printf("r%06d", i);
            g_autoptr(ResRecord) r = make_record(id, "s", i);
            put_sized(s, r, 100000, NULL);
        }
        _exit(1);
    }
    g_usleep(150000);
    g_assert_cmpint(kill(child, SIGKILL), ==, 0);
    g_assert_cmpint(waitpid(child, NULL, 0), ==, child);

    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) rows = res_store_list(s, NULL, 0, &error);
    g_assert_no_error(error);
    g_autofree char *names = names_in(f->root, "runs");
    g_assert_null(strstr(names, ".tmp"));
    g_auto(GStrv) folders = g_strsplit(names, " ", -1);
    g_assert_cmpuint(rows->len, ==, g_strv_length(folders) - 1);
    for (guint i = 0; i < rows->len; i++) {
        const ResIndexRow *row = g_ptr_array_index(rows, i);
        g_autoptr(ResRecord) r = res_store_get(s, row->id, &error);
        g_assert_no_error(error);
    }
    put_ok(s, "after", "s", 1);
}

static void
test_two_processes(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    enum { CHILDREN = 3, RUNS = 15 };
    pid_t children[CHILDREN];
    for (int c = 0; c < CHILDREN; c++) {
        children[c] = fork();
        g_assert_cmpint(children[c], >=, 0);
        if (children[c] == 0) {
            g_autoptr(ResStore) s = res_store_open(f->root, NULL);
            gboolean ok = s != NULL;
            for (int i = 0; ok && i < RUNS; i++) {
                g_autofree char *id = g_strdup_printf("r-%d-%02d", c, i);
                g_autoptr(ResRecord) r = make_record(id, "s", i);
                ok = put_sized(s, r, 10, NULL);
            }
            _exit(ok ? 0 : 1);
        }
    }
    for (int c = 0; c < CHILDREN; c++) {
        int status = 0;
        g_assert_cmpint(waitpid(children[c], &status, 0), ==, children[c]);
        g_assert_cmpint(status, ==, 0);
    }
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GPtrArray) rows = res_store_list(s, NULL, 0, NULL);
    g_assert_cmpuint(rows->len, ==, CHILDREN * RUNS);
}

/* All at once for one id: exactly one wins, and its record is the one that stays. */
static void
test_same_id(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) a = open_ok(f->root);
    g_autoptr(ResStore) b = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    put_ok(a, "r1", "s-a", 1);
    g_autoptr(ResRecord) r = make_record("r1", "s-b", 2);
    g_assert_false(put_sized(b, r, 5, &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_EXISTS);
    assert_list(b, "r1");
}

static void
write_index(const char *root, const char *bytes, gsize len)
{
    g_autofree char *path = g_build_filename(root, "index.sqlite", NULL);
    g_autofree char *wal = g_strconcat(path, "-wal", NULL);
    g_unlink(wal);
    g_assert_true(g_file_set_contents(path, bytes, (gssize)len, NULL));
}

static void
assert_moved_aside(const char *root)
{
    g_autofree char *names = names_in(root, "");
    g_assert_nonnull(strstr(names, "index.sqlite.corrupt-"));
}

static void
test_corrupt_at_open(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    ResStore *s = open_ok(f->root);
    for (int i = 0; i < 40; i++) {
        g_autofree char *id = g_strdup_printf("r%03d", i);
        put_ok(s, id, "s1", i);
    }
    g_autofree char *before = listed(s, NULL, 0);
    res_store_free(s);

    /* not a database at all */
    write_index(f->root, "this is not a database, however long it may be", 46);
    s = open_ok(f->root);
    assert_list(s, before);
    res_store_free(s);
    assert_moved_aside(f->root);

    /* a database with a damaged page */
    g_autofree char *path = g_build_filename(f->root, "index.sqlite", NULL);
    g_autofree char *bytes = NULL;
    gsize len = 0;
    g_assert_true(g_file_get_contents(path, &bytes, &len, NULL));
    g_assert_cmpuint(len, >, 8192);
    memset(bytes + 4096, 0xa5, 4096);
    write_index(f->root, bytes, len);
    s = open_ok(f->root);
    assert_list(s, before);
    res_store_free(s);

    /* a sound database that is not ours */
    index_sql(f->root, "DROP TABLE runs; CREATE TABLE cats (name TEXT)");
    s = open_ok(f->root);
    assert_list(s, before);
    res_store_free(s);

    /* cut short */
    g_assert_cmpint(truncate(path, 5000), ==, 0);
    s = open_ok(f->root);
    assert_list(s, before);
    put_ok(s, "z", "s1", 1000);
    res_store_free(s);
}

static void
test_corrupt_while_open(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    put_ok(s, "r1", "s1", 1);
    put_ok(s, "r2", "s1", 2);
    index_sql(f->root, "DROP TABLE runs");
    assert_list(s, "r2 r1");
    assert_moved_aside(f->root);
    index_sql(f->root, "DROP TABLE runs");
    put_ok(s, "r3", "s1", 3);
    assert_list(s, "r3 r2 r1");
    index_sql(f->root, "DROP TABLE runs");
    unsigned int count = 0;
    g_autoptr(GError) error = NULL;
    g_assert_true(res_store_reindex(s, &count, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(count, ==, 3);

    /* gone, or replaced by another process */
    g_autofree char *path = g_build_filename(f->root, "index.sqlite", NULL);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_autofree char *wal = g_strconcat(path, "-wal", NULL);
    g_unlink(wal);
    assert_list(s, "r3 r2 r1");
}

static void
test_newer_index(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    res_store_free(open_ok(f->root));
    index_sql(f->root, "PRAGMA user_version = 999");
    g_autoptr(GError) error = NULL;
    g_assert_null(res_store_open(f->root, &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_NEWER);
    g_assert_nonnull(strstr(error->message, "999"));
    index_sql(f->root, "PRAGMA user_version = 1");
    res_store_free(open_ok(f->root));
}

static void
test_reindex(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    put_ok(s, "r1", "s1", 1);
    put_ok(s, "r2", "s1", 2);
    put_ok(s, "r3", "s1", 3);
    index_sql(f->root, "DELETE FROM runs WHERE id = 'r1'"); /* a folder without a row */
    g_autofree char *gone = res_store_run_dir(s, "r2");     /* a row without a folder */
    remove_tree(gone);
    g_autofree char *bad_dir = res_store_run_dir(s, "bad");
    g_autofree char *bad = g_build_filename(bad_dir, "record.json", NULL);
    g_assert_cmpint(g_mkdir(bad_dir, 0755), ==, 0);
    g_assert_true(g_file_set_contents(bad, "{}", 2, NULL));
    g_autofree char *odd = res_store_run_dir(s, "Not A Run");
    g_assert_cmpint(g_mkdir(odd, 0755), ==, 0);
    g_autofree char *copy_dir = res_store_run_dir(s, "copy"); /* a copy under another name */
    g_autofree char *copy = g_build_filename(copy_dir, "record.json", NULL);
    g_autofree char *r1 = g_build_filename(f->root, "runs", "r1", "record.json", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(r1, &text, NULL, NULL));
    g_assert_cmpint(g_mkdir(copy_dir, 0755), ==, 0);
    g_assert_true(g_file_set_contents(copy, text, -1, NULL));
    assert_list(s, "r3 r2");

    unsigned int count = 0;
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    g_assert_true(res_store_reindex(s, &count, skipped, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(count, ==, 2);
    assert_list(s, "r3 r1");
    g_assert_cmpuint(skipped->len, ==, 3);
    g_assert_nonnull(strstr(g_ptr_array_index(skipped, 0), "Not A Run"));
    g_assert_nonnull(strstr(g_ptr_array_index(skipped, 1), "bad/record.json: record: schema"));
    g_assert_nonnull(strstr(g_ptr_array_index(skipped, 2), "holds the record of \"r1\""));
    g_assert_true(g_file_test(bad, G_FILE_TEST_EXISTS));

    /* opening notices by itself */
    index_sql(f->root, "DELETE FROM runs");
    g_autoptr(ResStore) again = open_ok(f->root);
    assert_list(again, "r3 r1");
}

static void
test_links(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    put_ok(s, "r1", "s1", 1);
    g_autofree char *target = res_store_run_dir(s, "r1");
    g_autofree char *link = res_store_run_dir(s, "r2");
    g_assert_cmpint(symlink(target, link), ==, 0);
    g_assert_null(res_store_get(s, "r2", &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_FOLDER);
    g_clear_error(&error);
    g_autoptr(ResRecord) r = make_record("r2", "s1", 1);
    g_assert_false(put_sized(s, r, 1, &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_EXISTS);
}

static void
test_bad_root(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *file = g_build_filename(f->root, "file", NULL);
    g_autofree char *below = g_build_filename(file, "deeper", NULL);
    g_assert_true(g_file_set_contents(file, "x", 1, NULL));
    const char *roots[] = {file, below, "/proc/nohzlab"};
    for (gsize i = 0; i < G_N_ELEMENTS(roots); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(res_store_open(roots[i], &error));
        g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_FOLDER);
        g_assert_nonnull(strstr(error->message, roots[i]));
    }
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "x");
}

/* A small tmpfs over the root; FALSE (and skipped) where mounting is not permitted. */
static gboolean
mount_small(Fixture *f, const char *options)
{
    if (mount("tmpfs", f->root, "tmpfs", 0, options) != 0) {
        g_autofree char *why = g_strdup_printf("cannot mount a tmpfs: %s", g_strerror(errno));
        g_test_skip(why);
        return FALSE;
    }
    f->mounted = TRUE;
    return TRUE;
}

static void
test_disk_full(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    if (!mount_small(f, "size=1m")) {
        return;
    }
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    put_ok(s, "r1", "s1", 1);
    g_autoptr(ResRecord) big = make_record("r2", "s1", 2);
    g_assert_false(put_sized(s, big, 2 << 20, &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_FOLDER);
    g_assert_nonnull(strstr(error->message, g_strerror(ENOSPC)));
    g_clear_error(&error);
    g_autofree char *left = names_in(f->root, "runs");
    g_assert_cmpstr(left, ==, "r1 ");
    assert_list(s, "r1");
    put_ok(s, "r3", "s1", 3);
    assert_list(s, "r3 r1");

    /* down to the last block, whichever write it is that fails */
    for (int i = 0; i < 300 && error == NULL; i++) {
        g_autofree char *id = g_strdup_printf("x%03d", i);
        g_autoptr(ResRecord) r = make_record(id, "s2", 10 + i);
        put_sized(s, r, 9000, &error);
    }
    g_assert_nonnull(error);
    g_autofree char *full = names_in(f->root, "runs");
    g_assert_null(strstr(full, ".tmp"));
    g_auto(GStrv) folders = g_strsplit(full, " ", -1);
    g_autoptr(GPtrArray) rows = res_store_list(s, NULL, 0, NULL);
    g_assert_nonnull(rows);
    g_assert_cmpuint(rows->len, ==, g_strv_length(folders) - 1);
}

static void
test_file_limit(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    put_ok(s, "r1", "s1", 1);
    struct rlimit old, small;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &old), ==, 0);
    small = old;
    small.rlim_cur = 1 << 20;
    signal(SIGXFSZ, SIG_IGN);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
    g_autoptr(ResRecord) r = make_record("r2", "s1", 2);
    gboolean ok = put_sized(s, r, 2 << 20, &error);
    setrlimit(RLIMIT_FSIZE, &old);
    g_assert_false(ok);
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_FOLDER);
    g_assert_nonnull(strstr(error->message, g_strerror(EFBIG)));
    g_autofree char *left = names_in(f->root, "runs");
    g_assert_cmpstr(left, ==, "r1 ");
    assert_list(s, "r1");
}

static void
test_read_only(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    if (!mount_small(f, "size=1m")) {
        return;
    }
    ResStore *s = open_ok(f->root);
    put_ok(s, "r1", "s1", 1);
    res_store_free(s);
    g_assert_cmpint(mount(NULL, f->root, NULL, MS_REMOUNT | MS_RDONLY, NULL), ==, 0);
    g_autoptr(GError) error = NULL;
    g_assert_null(res_store_open(f->root, &error));
    g_assert_error(error, RES_STORE_ERROR, RES_STORE_ERROR_FOLDER);
    g_assert_nonnull(strstr(error->message, f->root));
    g_assert_nonnull(strstr(error->message, g_strerror(EROFS)));
}

/* What a listing costs must not grow into a sort or a scan of all rows. */
static void
test_list_uses_index(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    static const char *const queries[] = {
        "EXPLAIN QUERY PLAN SELECT * FROM runs ORDER BY started_us DESC, id DESC LIMIT 20",
        "EXPLAIN QUERY PLAN SELECT * FROM runs WHERE profile = 'x' "
        "ORDER BY started_us DESC, id DESC LIMIT 20",
        "EXPLAIN QUERY PLAN SELECT id FROM runs WHERE set_id = 'x' ORDER BY id"};
    static const char *const uses[] = {"runs_by_start", "runs_by_profile", "runs_by_set"};
    res_store_free(open_ok(f->root));
    g_autofree char *path = g_build_filename(f->root, "index.sqlite", NULL);
    sqlite3 *db = NULL;
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    for (gsize i = 0; i < G_N_ELEMENTS(queries); i++) {
        sqlite3_stmt *stmt = NULL;
        g_assert_cmpint(sqlite3_prepare_v2(db, queries[i], -1, &stmt, NULL), ==, SQLITE_OK);
        unsigned int lines = 0;
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *detail = (const char *)sqlite3_column_text(stmt, 3);
            g_assert_nonnull(strstr(detail, uses[i]));
            g_assert_null(strstr(detail, "TEMP B-TREE"));
            lines++;
        }
        g_assert_cmpuint(lines, ==, 1);
        sqlite3_finalize(stmt);
    }
    sqlite3_close(db);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name, func) g_test_add("/store/" name, Fixture, NULL, setup, func, teardown)
    ADD("put-get", test_put_get);
    ADD("resolve", test_resolve);
    ADD("put-refused", test_put_refused);
    ADD("new-id", test_new_id);
    ADD("leftovers", test_leftovers);
    ADD("killed", test_killed);
    ADD("two-processes", test_two_processes);
    ADD("same-id", test_same_id);
    ADD("corrupt-at-open", test_corrupt_at_open);
    ADD("corrupt-while-open", test_corrupt_while_open);
    ADD("newer-index", test_newer_index);
    ADD("reindex", test_reindex);
    ADD("links", test_links);
    ADD("bad-root", test_bad_root);
    ADD("disk-full", test_disk_full);
    ADD("file-limit", test_file_limit);
    ADD("read-only", test_read_only);
    ADD("list-uses-index", test_list_uses_index);
    return g_test_run();
}
