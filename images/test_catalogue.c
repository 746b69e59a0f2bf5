/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that are kept: from packages, from files, found again, removed. */
#include "images/catalogue.h"
#include "images/deb.h"
#include "images/test_archive.h"

#define RELEASE "6.1.2-lab"
#define CONFIG "CONFIG_NO_HZ_FULL=y\n# CONFIG_KVM_AMD is not set\nCONFIG_VIRTIO_PCI=m\n"

typedef struct {
    const char *name;
    const void *data;
    gsize size;
    const char *link; /* a symbolic link instead */
} Member;

static void
write_members(struct archive *a, const Member *members, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, members[i].name);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_filetype(e, members[i].link ? AE_IFLNK : AE_IFREG);
        if (members[i].link)
            archive_entry_set_symlink(e, members[i].link);
        else
            archive_entry_set_size(e, (gint64)members[i].size);
        g_assert_cmpint(archive_write_header(a, e), ==, ARCHIVE_OK);
        if (!members[i].link)
            g_assert_cmpint(archive_write_data(a, members[i].data, members[i].size), ==,
                            members[i].size);
        archive_entry_free(e);
    }
    g_assert_cmpint(archive_write_close(a), ==, ARCHIVE_OK);
    archive_write_free(a);
}

/* A package with these files, as dpkg-deb would make it. */
static char *
make_deb(const char *dir, const char *name, const Member *members, gsize n)
{
    g_autofree char *tar = g_build_filename(dir, "data", NULL);
    char *deb = g_build_filename(dir, name, NULL);
    g_autofree char *data = NULL;
    gsize size = 0;

    struct archive *a = archive_write_new();
    archive_write_set_format_ustar(a);
    archive_write_add_filter_xz(a);
    g_assert_cmpint(archive_write_open_filename(a, tar), ==, ARCHIVE_OK);
    write_members(a, members, n);
    g_assert_true(g_file_get_contents(tar, &data, &size, NULL));

    struct archive *outer = archive_write_new();
    archive_write_set_format_ar_svr4(outer);
    g_assert_cmpint(archive_write_open_filename(outer, deb), ==, ARCHIVE_OK);
    const Member parts[] = {{"debian-binary", "2.0\n", 4, NULL}, {"data.tar.xz", data, size, NULL}};
    write_members(outer, parts, G_N_ELEMENTS(parts));
    return deb;
}

/* IMAGE is where the image lies in the package. */
static char *
kernel_deb(const char *dir, const char *image, const char *modules)
{
    g_autoptr(GByteArray) k = test_bzimage(RELEASE " (me@here) #1");
    g_autofree char *order = g_strconcat(modules, "/" RELEASE "/modules.order", NULL);
    g_autofree char *builtin = g_strconcat(modules, "/" RELEASE "/modules.builtin", NULL);
    g_autofree char *link = g_strconcat(modules, "/" RELEASE "/build", NULL);
    g_autofree char *config = g_strconcat(modules, "/" RELEASE "/config", NULL);
    const Member members[] = {
        {image, k->data, k->len, NULL},
        {order, "", 0, NULL},
        {builtin, "", 0, NULL},
        {link, NULL, 0, "/etc"},
        {config, CONFIG, sizeof CONFIG - 1, NULL},
        {"./boot/../../escaped", "x", 1, NULL},
        {"./etc/passwd", "x", 1, NULL},
    };

    return make_deb(dir, "k.deb", members, G_N_ELEMENTS(members));
}

static ImgEntry *
add(const char *dir, const char *spec)
{
    g_autofree char *kernels = g_build_filename(dir, "kernels", NULL);
    g_autoptr(GError) error = NULL;
    ImgEntry *e = img_catalogue_add(kernels, spec, dir, &error);

    g_assert_no_error(error);
    return e;
}

static void
check_package(const char *image, const char *modules)
{
    g_autoptr(TestDir) dir = test_dir_new();
    g_autofree char *deb = kernel_deb(dir, image, modules);
    g_autofree char *spec = g_strconcat("deb:", deb, NULL);
    g_autofree char *kernels = g_build_filename(dir, "kernels", NULL);
    g_autofree char *escaped = g_build_filename(dir, "escaped", NULL);
    g_autoptr(GError) error = NULL;

    g_autoptr(ImgEntry) e = add(dir, spec);
    g_assert_cmpstr(e->kernel->release, ==, RELEASE);
    g_assert_cmpstr(e->source, ==, "k.deb");
    g_assert_nonnull(e->kernel->modules_dir);
    g_autofree char *dep = g_build_filename(e->kernel->modules_dir, "modules.dep", NULL);
    g_autofree char *link = g_build_filename(e->kernel->modules_dir, "build", NULL);
    g_assert_true(g_file_test(dep, G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
    g_assert_false(g_file_test(escaped, G_FILE_TEST_EXISTS));

    /* Once more: the same one. */
    g_autoptr(ImgEntry) again = add(dir, spec);
    g_assert_cmpstr(again->id, ==, e->id);
    g_autoptr(GPtrArray) all = img_catalogue_list(kernels);
    g_assert_cmpuint(all->len, ==, 1);

    g_autofree char *name = g_strdup_printf("kernel:%.6s", e->id);
    g_autoptr(ImgKernel) found = img_catalogue_find(kernels, name, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(found->path, ==, e->kernel->path);

    g_autoptr(GArray) needs = img_kernel_needs(found);
    for (guint i = 0; i < needs->len; i++) {
        const ImgNeed *n = &g_array_index(needs, ImgNeed, i);
        g_assert_cmpint(n->have, ==,
                        g_str_equal(n->option, "CONFIG_NO_HZ_FULL") ||
                            g_str_equal(n->option, "CONFIG_VIRTIO_PCI"));
    }
    g_assert_true(img_catalogue_remove(kernels, e->id, &error));
    g_assert_false(img_catalogue_remove(kernels, e->id, &error));
    test_error_says(error, IMG_ERROR, IMG_ERROR_NOT_FOUND, e->id, NULL);
    g_autoptr(GDir) left = g_dir_open(kernels, 0, NULL);
    g_assert_cmpstr(g_dir_read_name(left), ==, ".lock");
    g_assert_null(g_dir_read_name(left));
}

static void
test_package(void)
{
    check_package("./boot/vmlinuz-" RELEASE, "./lib/modules");
}

/* Debian's since 7.x. */
static void
test_package_usr(void)
{
    check_package("./usr/lib/modules/" RELEASE "/vmlinuz", "./usr/lib/modules");
}

static void
refused(const char *dir, const char *spec, int code, const char *word)
{
    g_autofree char *kernels = g_build_filename(dir, "kernels", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_null(img_catalogue_add(kernels, spec, dir, &error));
    test_error_says(error, IMG_ERROR, code, word, NULL);
    g_autoptr(GPtrArray) all = img_catalogue_list(kernels);
    g_assert_cmpuint(all->len, ==, 0);
}

static void
test_refused(void)
{
    g_autoptr(TestDir) dir = test_dir_new();
    const Member nothing[] = {{"./usr/share/doc/x", "x", 1, NULL}};
    const Member text[] = {{"./boot/vmlinuz-1", "no kernel", 9, NULL}};
    g_autofree char *a = make_deb(dir, "a.deb", nothing, 1);
    g_autofree char *b = make_deb(dir, "b.deb", text, 1);
    g_autofree char *c = kernel_deb(dir, "./boot/vmlinuz-" RELEASE, "./lib/modules");
    g_autofree char *bytes = NULL;
    gsize size = 0;

    g_assert_true(g_file_get_contents(c, &bytes, &size, NULL));
    g_free(test_write(dir, "cut.deb", bytes, size / 2));
    test_write_text(dir, "text.deb", "no package");
    const struct {
        const char *name;
        const char *word;
    } cases[] = {{"a.deb", "no /boot/vmlinuz-*"},
                 {"b.deb", "vmlinuz-1"},
                 {"cut.deb", "not a whole Debian package"},
                 {"text.deb", "not a whole Debian package"},
                 {"none.deb", "none.deb"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *spec = g_strdup_printf("deb:%s/%s", dir, cases[i].name);
        refused(dir, spec, IMG_ERROR_INVALID, cases[i].word);
    }
}

/* What a killed process left is not listed, and goes with the next addition. */
static void
test_leftover(void)
{
    g_autoptr(TestDir) dir = test_dir_new();
    g_autoptr(GByteArray) k = test_bzimage(RELEASE " (me@here) #1");

    test_write_array(dir, "kernels/.new-abc/boot/vmlinuz-x", k);
    test_write_array(dir, "vmlinuz", k);
    g_autofree char *kernels = g_build_filename(dir, "kernels", NULL);
    g_autofree char *left = g_build_filename(kernels, ".new-abc", NULL);
    g_autoptr(GPtrArray) none = img_catalogue_list(kernels);
    g_assert_cmpuint(none->len, ==, 0);
    g_autofree char *spec = g_strdup_printf("path:%s/vmlinuz", dir);
    g_autoptr(ImgEntry) e = add(dir, spec);
    g_assert_cmpstr(e->origin, ==, spec);
    g_assert_false(g_file_test(left, G_FILE_TEST_EXISTS));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/catalogue/package", test_package);
    g_test_add_func("/catalogue/package-usr", test_package_usr);
    g_test_add_func("/catalogue/refused", test_refused);
    g_test_add_func("/catalogue/leftover", test_leftover);
    return g_test_run();
}
