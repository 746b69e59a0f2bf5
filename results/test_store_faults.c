/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes wrong around a store: damaged indexes, full disks, folders that are none. */
#include <signal.h>
#include <sys/resource.h>

#include "results/test_store_util.h"

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
test_corrupt_at_open(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_corrupt_while_open(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_newer_index(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_bad_root(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
mount_small(StoreFixture *f, const char *options)
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
test_disk_full(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_file_limit(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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
test_read_only(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
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

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/store-faults/corrupt-at-open", StoreFixture, NULL, setup, test_corrupt_at_open,
               teardown);
    g_test_add("/store-faults/corrupt-while-open", StoreFixture, NULL, setup,
               test_corrupt_while_open, teardown);
    g_test_add("/store-faults/newer-index", StoreFixture, NULL, setup, test_newer_index, teardown);
    g_test_add("/store-faults/bad-root", StoreFixture, NULL, setup, test_bad_root, teardown);
    g_test_add("/store-faults/disk-full", StoreFixture, NULL, setup, test_disk_full, teardown);
    g_test_add("/store-faults/file-limit", StoreFixture, NULL, setup, test_file_limit, teardown);
    g_test_add("/store-faults/read-only", StoreFixture, NULL, setup, test_read_only, teardown);
    return g_test_run();
}
