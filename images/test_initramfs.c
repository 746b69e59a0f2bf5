/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/time.h>
#include <unistd.h>

#include "images/image.h"
#include "images/test_archive.h"

static void
file_free(gpointer data)
{
    ImgFile *f = data;

    g_free(f->host_path);
    g_free(f->guest_path);
    g_free(f);
}

static void
add_file(GPtrArray *files, const char *host_path, const char *guest_path, guint mode)
{
    ImgFile *f = g_new0(ImgFile, 1);

    f->host_path = g_strdup(host_path);
    f->guest_path = g_strdup(guest_path);
    f->mode = mode;
    g_ptr_array_add(files, f);
}

/* Two plain files and two modules in ROOT, and a cache folder that is not there yet. */
typedef struct {
    char *root;
    char *cache;
    ImgKernel kernel;
    ImgInitramfsSpec spec;
} Fixture;

static const char *const two_modules[] = {"b", NULL};

static void
add_spec_file(Fixture *f, const char *name, const char *text, const char *guest_path, guint mode)
{
    g_autofree char *path = test_write(f->root, name, text, strlen(text));
    add_file(f->spec.files, path, guest_path, mode);
}

static void
set_up(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GByteArray) module = test_module("6.1.0-lab");

    f->root = test_dir_new();
    f->cache = g_build_filename(f->root, "cache", "deep", NULL);
    test_write_array(f->root, "modules/k/a.ko", module);
    test_write_array(f->root, "modules/k/b.ko", module);
    test_write_text(f->root, "modules/modules.dep", "k/b.ko: k/a.ko\nk/a.ko:\n");
    f->kernel = (ImgKernel){
        .release = (char *)"6.1.0-lab",
        .modules_dir = g_build_filename(f->root, "modules", NULL),
    };
    f->spec = (ImgInitramfsSpec){
        .kernel = &f->kernel,
        .modules = two_modules,
        .files = g_ptr_array_new_with_free_func(file_free),
    };
    add_spec_file(f, "init", "#!/bin/sh\n", "/init", 0755);
    add_spec_file(f, "data", "odd size.", "/opt/lab/d\xc3\xa4ta", 0640);
}

static void
tear_down(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_ptr_array_unref(f->spec.files);
    g_free(f->kernel.modules_dir);
    g_free(f->cache);
    test_dir_free(f->root);
}

static ImgInitramfs *
build(const Fixture *f)
{
    g_autoptr(GError) error = NULL;
    ImgInitramfs *i = img_initramfs_build(&f->spec, f->cache, &error);

    g_assert_no_error(error);
    g_assert_nonnull(i);
    return i;
}

static void
assert_fails(const Fixture *f, int code, const char *a, const char *b)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgInitramfs) i = img_initramfs_build(&f->spec, f->cache, &error);

    g_assert_null(i);
    test_error_says(error, IMG_ERROR, code, a, b, NULL);
}

/* Nothing but images under their names is in the cache. */
static guint
count_cached(const Fixture *f)
{
    g_autoptr(GDir) dir = g_dir_open(f->cache, 0, NULL);
    const char *name;
    guint count = 0;

    while (dir && (name = g_dir_read_name(dir))) {
        g_assert_true(g_str_has_prefix(name, "initramfs-") && g_str_has_suffix(name, ".cpio"));
        count++;
    }
    return count;
}

static void
test_content(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    static const char paths[] = "dev dev/console dev/kmsg dev/null dev/ttyS0 init lib lib/modules "
                                "lib/modules/6.1.0-lab lib/modules/6.1.0-lab/k "
                                "lib/modules/6.1.0-lab/k/a.ko lib/modules/6.1.0-lab/k/b.ko modules "
                                "opt opt/lab opt/lab/d\xc3\xa4ta proc run sys tmp";
    g_autoptr(ImgInitramfs) i = build(f);
    g_autoptr(GPtrArray) entries = test_archive_read(i->path);
    g_auto(GStrv) expected = g_strsplit(paths, " ", -1);

    g_assert_cmpuint(entries->len, ==, g_strv_length(expected));
    for (guint n = 0; n < entries->len; n++) {
        const TestEntry *e = entries->pdata[n];
        g_assert_cmpstr(e->path, ==, expected[n]);
        g_assert_cmpint(e->mtime, ==, 0);
        g_assert_cmpint(e->uid, ==, 0);
        g_assert_cmpint(e->gid, ==, 0);
        g_assert_cmpint(e->nlink, ==, 1);
        g_assert_cmpint(e->ino, ==, n + 1);
    }
    test_assert_entry(entries, "dev/console", S_IFCHR | 0600, "5:1");
    test_assert_entry(entries, "dev/null", S_IFCHR | 0666, "1:3");
    test_assert_entry(entries, "dev/kmsg", S_IFCHR | 0644, "1:11");
    test_assert_entry(entries, "dev/ttyS0", S_IFCHR | 0600, "4:64");
    test_assert_entry(entries, "tmp", S_IFDIR | 01777, "");
    test_assert_entry(entries, "proc", S_IFDIR | 0755, "");
    test_assert_entry(entries, "init", S_IFREG | 0755, "#!/bin/sh\n");
    test_assert_entry(entries, "opt/lab/d\xc3\xa4ta", S_IFREG | 0640, "odd size.");
    test_assert_entry(entries, "modules", S_IFREG | 0644,
                      "/lib/modules/6.1.0-lab/k/a.ko\n/lib/modules/6.1.0-lab/k/b.ko\n");

    g_autofree char *bytes = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(i->path, &bytes, &size, NULL));
    g_autofree char *sha256 = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (guint8 *)bytes, size);
    g_assert_cmpstr(sha256, ==, i->sha256);
    g_assert_cmpuint(size, ==, i->bytes);
    g_assert_nonnull(strstr(i->path, i->sha256));
}

/* Another folder, other times, another umask, another order of the same files: the same bytes. */
static void
test_reproducible(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(ImgInitramfs) first = build(f);
    const ImgFile *file = f->spec.files->pdata[0];
    const struct timeval past[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};

    g_assert_false(first->reused);
    g_assert_cmpint(utimes(file->host_path, past), ==, 0);
    g_assert_cmpint(chmod(file->host_path, 0400), ==, 0);
    gpointer moved = g_ptr_array_steal_index(f->spec.files, 0);
    g_ptr_array_add(f->spec.files, moved);
    g_free(f->cache);
    f->cache = g_build_filename(f->root, "elsewhere", NULL);
    mode_t before = umask(0077);
    g_autoptr(ImgInitramfs) second = build(f);
    umask(before);
    g_assert_false(second->reused);
    g_assert_cmpstr(first->sha256, ==, second->sha256);
    g_assert_cmpstr(first->path, !=, second->path);

    g_autofree char *a = NULL, *b = NULL;
    gsize size_a, size_b;
    g_assert_true(g_file_get_contents(first->path, &a, &size_a, NULL));
    g_assert_true(g_file_get_contents(second->path, &b, &size_b, NULL));
    g_assert_cmpmem(a, size_a, b, size_b);
}

/* What goes in decides on the name: content, mode, path, modules. */
static void
test_changes(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    ImgFile *file = f->spec.files->pdata[1];

    for (guint step = 0; step < 5; step++) {
        if (step == 1)
            g_assert_true(g_file_set_contents(file->host_path, "odd Size.", -1, NULL));
        else if (step == 2)
            file->mode = 0600;
        else if (step == 3)
            memcpy(strrchr(file->guest_path, '/'), "/e", 2);
        else if (step == 4)
            f->spec.modules = NULL;
        g_autoptr(ImgInitramfs) i = build(f);
        g_assert_true(g_hash_table_add(seen, g_strdup(i->sha256)));
        g_assert_cmpuint(count_cached(f), ==, step + 1);
    }
}

static void
test_cache(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(ImgInitramfs) first = build(f);
    g_autoptr(ImgInitramfs) again = build(f);

    g_assert_true(again->reused);
    g_assert_cmpstr(first->path, ==, again->path);

    /* A flipped byte, a cut, a longer file, an empty one, a link to the right content: built anew.
     */
    for (guint damage = 0; damage < 5; damage++) {
        g_autofree char *good = NULL;
        g_autofree char *copy = g_strconcat(f->root, "/copy", NULL);
        gsize size;
        g_assert_true(g_file_get_contents(first->path, &good, &size, NULL));
        g_autofree char *bad = g_malloc0(size + 1);
        memcpy(bad, good, size);
        bad[size / 2] ^= damage == 0;
        const gsize sizes[] = {size, size - 1, size + 1, 0, size};
        g_assert_true(g_file_set_contents(first->path, bad, (gssize)sizes[damage], NULL));
        if (damage == 4) {
            g_assert_cmpint(g_rename(first->path, copy), ==, 0);
            g_assert_cmpint(symlink(copy, first->path), ==, 0);
        }

        g_autoptr(ImgInitramfs) rebuilt = build(f);
        g_assert_false(rebuilt->reused);
        g_assert_cmpstr(rebuilt->path, ==, first->path);
        g_assert_false(g_file_test(rebuilt->path, G_FILE_TEST_IS_SYMLINK));
        g_autofree char *now = NULL;
        gsize now_size;
        g_assert_true(g_file_get_contents(rebuilt->path, &now, &now_size, NULL));
        g_assert_cmpmem(now, now_size, good, size);
    }
    g_assert_cmpuint(count_cached(f), ==, 1);
}

static void
test_cache_unusable(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(ImgInitramfs) first = build(f);

    g_assert_cmpint(g_remove(first->path), ==, 0);
    g_assert_cmpint(g_mkdir(first->path, 0755), ==, 0);
    assert_fails(f, IMG_ERROR_IO, first->sha256, "");
    g_assert_cmpuint(count_cached(f), ==, 1); /* no temporary file is left */

    g_free(f->cache);
    f->cache = g_build_filename(f->root, "init", NULL); /* a file */
    assert_fails(f, IMG_ERROR_IO, "cache folder", "/init");
}

static gpointer
build_thread(gpointer data)
{
    return build(data);
}

static void
test_two_builders(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    for (guint round = 0; round < 10; round++) {
        GThread *other = g_thread_new("builder", build_thread, f);
        g_autoptr(ImgInitramfs) mine = build(f);
        g_autoptr(ImgInitramfs) theirs = g_thread_join(other);
        g_assert_cmpstr(mine->path, ==, theirs->path);
        g_assert_cmpuint(count_cached(f), ==, 1);
        g_autoptr(ImgInitramfs) check = build(f);
        g_assert_true(check->reused);
        g_assert_cmpint(g_remove(mine->path), ==, 0);
    }
}

static void
test_paths(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autofree char *long_name = g_strnfill(300, 'x');
    g_autofree char *too_long = g_strconcat("/", long_name, NULL);
    const struct {
        const char *path, *says;
    } cases[] = {
        {"init", "must be absolute"},
        {"", "must be absolute"},
        {"/", "must be absolute"},
        {"/a/../etc", "'..'"},
        {"/a//b", "'//'"},
        {"/a/./b", "'.'"},
        {"/a/", "ending '/'"},
        {"/a\nb", "control character"},
        {too_long, "255 bytes"},
        {"/init", "/init already"},
        {"/modules", "the list of modules"},
        {"/dev/null", "a device of every image"},
        {"/proc", "a folder of every image"},
        {"/init/below", "/init already"},
        {"/opt", "already"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        add_spec_file(f, "extra", "extra", cases[i].path, 0644);
        assert_fails(f, IMG_ERROR_INVALID, "guest path", cases[i].says);
        g_ptr_array_set_size(f->spec.files, 2);
    }
    add_spec_file(f, "extra", "extra", "/extra", S_IFREG | 0644);
    assert_fails(f, IMG_ERROR_INVALID, "/extra", "permission bits");
    g_assert_cmpuint(count_cached(f), ==, 0);
}

static void
test_host_files(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autofree char *fifo = g_build_filename(f->root, "fifo", NULL);
    const struct {
        const char *path;
        int code;
        const char *says;
    } cases[] = {
        {"/no/such/file", IMG_ERROR_NOT_FOUND, "No such file"},
        {f->root, IMG_ERROR_INVALID, "not a regular file"},
        {"/dev/zero", IMG_ERROR_INVALID, "not a regular file"},
        {fifo, IMG_ERROR_INVALID, "not a regular file"},
        /* Grows while it is read: it has no size, yet content. */
        {"/proc/self/status", IMG_ERROR_IO, "changed while it was read"},
        /* Shrinks: says it has a page, and holds a line. */
        {"/sys/kernel/mm/transparent_hugepage/enabled", IMG_ERROR_IO, "changed while it was read"},
    };

    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        if (g_str_has_prefix(cases[i].path, "/sys") &&
            !g_file_test(cases[i].path, G_FILE_TEST_EXISTS))
            continue;
        add_file(f->spec.files, cases[i].path, "/extra", 0644);
        assert_fails(f, cases[i].code, cases[i].path, cases[i].says);
        g_ptr_array_set_size(f->spec.files, 2);
    }
    g_assert_cmpuint(count_cached(f), ==, 0);
}

static void
test_limit(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(ImgInitramfs) i = build(f);

    /* The archive is as large as reckoned, to the byte: one less and it does not fit. */
    f->spec.limit = i->bytes;
    g_autoptr(ImgInitramfs) exact = build(f);
    g_assert_cmpstr(exact->sha256, ==, i->sha256);
    f->spec.limit = i->bytes - 1;
    assert_fails(f, IMG_ERROR_LIMIT, "/modules", "largest so far: ");
    f->spec.limit = 1;
    assert_fails(f, IMG_ERROR_LIMIT, "limit of 1 bytes", "/dev");
    f->spec.limit = 2000;
    assert_fails(f, IMG_ERROR_LIMIT, "k/a.ko", "modules");

    f->spec.limit = 0;
    g_autofree char *big = test_write(f->root, "big", "", 0);
    g_assert_cmpint(truncate(big, 15 << 20), ==, 0);
    add_file(f->spec.files, big, "/big", 0644);
    assert_fails(f, IMG_ERROR_LIMIT, "/big", "15728640 bytes");
    f->spec.limit = (gsize)4 << 30;
    assert_fails(f, IMG_ERROR_INVALID, "limit", "at most");
}

static void
test_no_modules(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    static const char *const unknown[] = {"nosuch", NULL};

    f->spec.modules = unknown;
    assert_fails(f, IMG_ERROR_NOT_FOUND, "nosuch", "6.1.0-lab");
    f->spec.kernel = NULL;
    assert_fails(f, IMG_ERROR_INVALID, "nosuch", "no kernel");
    f->spec.modules = NULL;
    g_ptr_array_set_size(f->spec.files, 0);
    g_autoptr(ImgInitramfs) i = build(f);
    g_autoptr(GPtrArray) entries = test_archive_read(i->path);
    test_assert_entry(entries, "modules", S_IFREG | 0644, "");
    g_assert_cmpuint(entries->len, ==, 10);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, set_up, function, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("/images/initramfs/content", test_content);
    ADD("/images/initramfs/reproducible", test_reproducible);
    ADD("/images/initramfs/changes", test_changes);
    ADD("/images/initramfs/cache", test_cache);
    ADD("/images/initramfs/cache-unusable", test_cache_unusable);
    ADD("/images/initramfs/two-builders", test_two_builders);
    ADD("/images/initramfs/paths", test_paths);
    ADD("/images/initramfs/host-files", test_host_files);
    ADD("/images/initramfs/limit", test_limit);
    ADD("/images/initramfs/no-modules", test_no_modules);
    return g_test_run();
}
