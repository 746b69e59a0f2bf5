/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "results/test_store_util.h"

static void
test_put_get(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_resolve(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_put_refused(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_new_id(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_leftovers(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_killed(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_two_processes(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_same_id(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_reindex(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_links(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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

/* What a listing costs must not grow into a sort or a scan of all rows. */
static void
test_list_uses_index(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
    g_test_add("/store/put-get", StoreFixture, NULL, setup, test_put_get, teardown);
    g_test_add("/store/resolve", StoreFixture, NULL, setup, test_resolve, teardown);
    g_test_add("/store/put-refused", StoreFixture, NULL, setup, test_put_refused, teardown);
    g_test_add("/store/new-id", StoreFixture, NULL, setup, test_new_id, teardown);
    g_test_add("/store/leftovers", StoreFixture, NULL, setup, test_leftovers, teardown);
    g_test_add("/store/killed", StoreFixture, NULL, setup, test_killed, teardown);
    g_test_add("/store/two-processes", StoreFixture, NULL, setup, test_two_processes, teardown);
    g_test_add("/store/same-id", StoreFixture, NULL, setup, test_same_id, teardown);
    g_test_add("/store/reindex", StoreFixture, NULL, setup, test_reindex, teardown);
    g_test_add("/store/links", StoreFixture, NULL, setup, test_links, teardown);
    g_test_add("/store/list-uses-index", StoreFixture, NULL, setup, test_list_uses_index, teardown);
    return g_test_run();
}
