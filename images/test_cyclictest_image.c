/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The image a cyclictest guest boots from, made of this machine's own files: whole, and bootable as
 * far as reading tells. */
#include "images/elf_object.h"
#include "images/image.h"
#include "images/test_archive.h"

#define CYCLICTEST "/usr/bin/cyclictest"

static const char *const module_names[] = {"virtio_pci", "virtio_console", "qemu_fw_cfg", NULL};

/* The image and its entries, or NULL after a skip. */
static GPtrArray *
build_entries(ImgInitramfs **image, const char *cache)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgKernel) kernel = img_kernel_find("", "default", NULL);
    g_autoptr(GPtrArray) files = g_ptr_array_new();
    ImgFile file = {(char *)CYCLICTEST, (char *)CYCLICTEST, 0755};

    if (!g_file_test(CYCLICTEST, G_FILE_TEST_EXISTS)) {
        g_test_skip(CYCLICTEST " is not installed");
        return NULL;
    }
    if (!kernel || !kernel->modules_dir) {
        g_test_skip("no readable kernel with modules in /boot");
        return NULL;
    }
    g_ptr_array_add(files, &file);
    const ImgInitramfsSpec spec = {.kernel = kernel, .modules = module_names, .files = files};
    gint64 start_us = g_get_monotonic_time();
    *image = img_initramfs_build(&spec, cache, &error);
    g_assert_no_error(error);
    g_test_message("%s: %" G_GUINT64_FORMAT " bytes in %.3f s", kernel->release, (*image)->bytes,
                   (double)(g_get_monotonic_time() - start_us) / 1e6);
    return test_archive_read((*image)->path);
}

/* Some file of the image bears this name, in a folder the loader searches (or is the loader
 * itself). */
static gboolean
in_image(const GPtrArray *entries, const char *name)
{
    static const char *const dirs[] = {"lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64",
                                       "usr/lib64", "lib"};

    for (gsize i = 0; i < G_N_ELEMENTS(dirs); i++) {
        g_autofree char *path = g_build_filename(dirs[i], name, NULL);
        if (test_archive_find(entries, path))
            return TRUE;
    }
    return FALSE;
}

static void
test_complete(void)
{
    g_autoptr(TestDir) cache = test_dir_new();
    g_autoptr(ImgInitramfs) image = NULL;
    g_autoptr(GPtrArray) entries = build_entries(&image, cache);
    guint programs = 0, needs = 0;

    for (guint i = 0; entries && i < entries->len; i++) {
        const TestEntry *e = entries->pdata[i];
        g_autoptr(GError) error = NULL;
        if (!img_elf_is(e->content) || g_str_has_suffix(e->path, ".ko"))
            continue;
        g_autoptr(ImgElf) elf = img_elf_parse(e->content, e->path, &error);
        g_assert_no_error(error);
        if (elf->interp) {
            const TestEntry *interp = test_archive_find(entries, elf->interp + 1);
            g_assert_nonnull(interp);
            g_assert_cmphex(interp->mode, ==, S_IFREG | 0755);
            programs++;
        }
        for (guint j = 0; j < elf->needed->len; j++, needs++)
            if (!in_image(entries, elf->needed->pdata[j]))
                g_error("%s needs %s, which is not in the image", e->path,
                        (char *)elf->needed->pdata[j]);
    }
    if (entries) {
        g_assert_cmpuint(programs, >=, 1);
        g_assert_cmpuint(needs, >=, 2);
        g_assert_cmpuint(image->bytes, <=, 15 << 20);
    }
}

/* The image's files are this machine's, to the byte. */
static void
test_same_bytes(void)
{
    g_autoptr(TestDir) cache = test_dir_new();
    g_autoptr(ImgInitramfs) image = NULL;
    g_autoptr(GPtrArray) entries = build_entries(&image, cache);
    guint compared = 0;

    for (guint i = 0; entries && i < entries->len; i++) {
        const TestEntry *e = entries->pdata[i];
        g_autofree char *host_path = g_strconcat("/", e->path, NULL);
        g_autofree char *there = NULL;
        gsize there_size, size;
        const void *data = g_bytes_get_data(e->content, &size);
        if (!S_ISREG(e->mode) || !g_file_get_contents(host_path, &there, &there_size, NULL))
            continue;
        g_assert_cmpmem(data, size, there, there_size);
        compared++;
    }
    if (entries)
        g_assert_cmpuint(compared, >=, 3);
}

static gboolean
is_builtin(const char *list, const char *name)
{
    g_autofree char *pattern = g_strdup_printf("/%s.ko\n", name);
    g_autofree char *text = g_strdelimit(g_strdup(list), "-", '_');

    return strstr(text, pattern) != NULL;
}

/* Each line of /modules is a module of the image; what it depends on comes before it or is built
 * in. */
static void
test_modules_listed(void)
{
    g_autoptr(TestDir) cache = test_dir_new();
    g_autoptr(ImgInitramfs) image = NULL;
    g_autoptr(GPtrArray) entries = build_entries(&image, cache);

    if (!entries)
        return;
    g_autoptr(ImgKernel) kernel = img_kernel_find("", "default", NULL);
    g_autofree char *builtin_path = g_build_filename(kernel->modules_dir, "modules.builtin", NULL);
    g_autofree char *builtin = NULL;
    g_assert_true(g_file_get_contents(builtin_path, &builtin, NULL, NULL));

    gsize size;
    const char *data = g_bytes_get_data(test_archive_find(entries, "modules")->content, &size);
    g_autofree char *text = g_strndup(data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autoptr(GHashTable) before = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; lines[i] && *lines[i]; i++) {
        g_autoptr(GError) error = NULL;
        const TestEntry *e = test_archive_find(entries, lines[i] + 1);
        g_assert_nonnull(e);
        g_autofree char *depends = img_elf_modinfo(e->content, lines[i], "depends", &error);
        g_assert_no_error(error);
        g_auto(GStrv) names = g_strsplit(g_strdelimit(depends, "-", '_'), ",", -1);
        for (guint j = 0; names[j] && *names[j]; j++)
            g_assert_true(g_hash_table_contains(before, names[j]) || is_builtin(builtin, names[j]));
        char *name = g_path_get_basename(lines[i]);
        *strstr(name, ".ko") = 0;
        g_hash_table_add(before, g_strdelimit(name, "-", '_'));
    }
    for (gsize i = 0; module_names[i]; i++)
        g_assert_true(g_hash_table_contains(before, module_names[i]) ||
                      is_builtin(builtin, module_names[i]));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/images/cyclictest/complete", test_complete);
    g_test_add_func("/images/cyclictest/same-bytes", test_same_bytes);
    g_test_add_func("/images/cyclictest/modules-listed", test_modules_listed);
    return g_test_run();
}
