/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <archive.h>
#include <archive_entry.h>

#include "images/image.h"
#include "images/modules.h"
#include "images/test_util.h"

#define PLENTY ((gsize)15 << 20)
#define DIR "lib/modules/6.1.0-lab"

typedef struct {
    char *root;
    ImgKernel kernel;
} Fixture;

static void
set_up(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    f->root = test_dir_new();
    f->kernel = (ImgKernel){
        .path = (char *)"/boot/lab",
        .release = (char *)"6.1.0-lab",
        .modules_dir = g_build_filename(f->root, DIR, NULL),
    };
}

static void
tear_down(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_free(f->kernel.modules_dir);
    test_dir_free(f->root);
}

static void
add_module(Fixture *f, const char *path, const char *release)
{
    g_autoptr(GByteArray) module = test_module(release);
    g_autofree char *name = g_build_filename(DIR, path, NULL);

    test_write_array(f->root, name, module);
}

/* What one compressor makes of a module. */
static GBytes *
compress(GByteArray *content, int (*filter)(struct archive *))
{
    struct archive *a = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    gsize used = 0, room = content->len + 4096;
    g_autofree guint8 *buffer = g_malloc(room);

    g_assert_cmpint(filter(a), ==, ARCHIVE_OK);
    g_assert_cmpint(archive_write_set_format_raw(a), ==, ARCHIVE_OK);
    archive_write_set_bytes_in_last_block(a, 1); /* no padding after the compressed data */
    g_assert_cmpint(archive_write_open_memory(a, buffer, room, &used), ==, ARCHIVE_OK);
    archive_entry_set_filetype(entry, AE_IFREG);
    g_assert_cmpint(archive_write_header(a, entry), ==, ARCHIVE_OK);
    g_assert_cmpint(archive_write_data(a, content->data, content->len), ==, content->len);
    g_assert_cmpint(archive_write_close(a), ==, ARCHIVE_OK);
    archive_write_free(a);
    archive_entry_free(entry);
    return g_bytes_new(buffer, used);
}

static void
add_compressed(Fixture *f, const char *path, int (*filter)(struct archive *))
{
    g_autoptr(GByteArray) module = test_module("6.1.0-lab");
    g_autoptr(GBytes) bytes = compress(module, filter);
    g_autofree char *name = g_build_filename(DIR, path, NULL);

    g_free(test_write(f->root, name, g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes)));
}

static void
assert_order(const GPtrArray *modules, ...)
{
    va_list names;
    const char *name;
    guint i = 0;

    va_start(names, modules);
    while ((name = va_arg(names, const char *))) {
        g_autofree char *path = g_strconcat("/lib/modules/6.1.0-lab/", name, NULL);
        g_assert_cmpuint(i, <, modules->len);
        g_assert_cmpstr(((ImgModule *)modules->pdata[i++])->guest_path, ==, path);
    }
    va_end(names);
    g_assert_cmpuint(i, ==, modules->len);
}

static void
assert_fails(Fixture *f, const char *name, int code, const char *a, const char *b)
{
    const char *const names[] = {name, NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) modules = img_modules_load(&f->kernel, names, PLENTY, &error);

    g_assert_null(modules);
    test_error_says(error, IMG_ERROR, code, a, b, NULL);
}

static void
test_order(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    add_module(f, "k/virtio.ko", "6.1.0-lab");
    add_module(f, "k/ring.ko", "6.1.0-lab");
    add_module(f, "k/virtio-pci.ko", "6.1.0-lab");
    add_module(f, "k/console.ko", "6.1.0-lab");
    test_write_text(f->root, DIR "/modules.dep",
                    "# a comment\n"
                    "k/console.ko: k/virtio.ko k/ring.ko\n"
                    "k/virtio.ko: k/ring.ko\n"
                    "k/ring.ko:\n"
                    "\n"
                    "k/virtio-pci.ko: k/ring.ko k/virtio.ko\n");
    test_write_text(f->root, DIR "/modules.builtin", "kernel/fs/binfmt-elf.ko\n");

    static const char *const names[] = {"virtio_pci", "binfmt_elf", "console", "virtio-pci", NULL};
    g_autoptr(GPtrArray) modules = img_modules_load(&f->kernel, names, PLENTY, &error);
    g_assert_no_error(error);
    assert_order(modules, "k/ring.ko", "k/virtio.ko", "k/virtio-pci.ko", "k/console.ko", NULL);

    g_autoptr(GPtrArray) none = img_modules_load(NULL, NULL, PLENTY, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(none->len, ==, 0);
}

static void
test_compressed(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GByteArray) plain = test_module("6.1.0-lab");

    add_compressed(f, "k/a.ko.xz", archive_write_add_filter_xz);
    add_compressed(f, "k/b.ko.zst", archive_write_add_filter_zstd);
    add_compressed(f, "k/c.ko.gz", archive_write_add_filter_gzip);
    add_module(f, "k/d.ko", "6.1.0-lab");
    test_write_text(f->root, DIR "/modules.dep",
                    "k/a.ko.xz: k/b.ko.zst\nk/b.ko.zst: k/c.ko.gz\nk/c.ko.gz: k/d.ko\nk/d.ko:\n");
    static const char *const names[] = {"a", NULL};
    g_autoptr(GPtrArray) modules = img_modules_load(&f->kernel, names, PLENTY, &error);
    g_assert_no_error(error);
    assert_order(modules, "k/d.ko", "k/c.ko", "k/b.ko", "k/a.ko", NULL);
    for (guint i = 0; i < modules->len; i++) {
        gsize size;
        const void *bytes = g_bytes_get_data(((ImgModule *)modules->pdata[i])->content, &size);
        g_assert_cmpmem(bytes, size, plain->data, plain->len);
    }
}

static void
test_compressed_damaged(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    static const struct {
        const char *name;
        int (*filter)(struct archive *);
    } kinds[] = {
        {"x.ko.xz", archive_write_add_filter_xz},
        {"x.ko.zst", archive_write_add_filter_zstd},
        {"x.ko.gz", archive_write_add_filter_gzip},
    };
    g_autoptr(GByteArray) module = test_module("6.1.0-lab");

    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *dep = g_strconcat(kinds[i].name, ":\n", NULL);
        g_autofree char *path = g_build_filename(DIR, kinds[i].name, NULL);
        g_autoptr(GBytes) good = compress(module, kinds[i].filter);
        gsize size;
        const void *bytes = g_bytes_get_data(good, &size);

        test_write_text(f->root, DIR "/modules.dep", dep);
        g_free(test_write(f->root, path, bytes, size / 2)); /* cut short */
        assert_fails(f, "x", IMG_ERROR_INVALID, kinds[i].name, "");
        g_free(test_write(f->root, path, bytes, 0));
        assert_fails(f, "x", IMG_ERROR_INVALID, kinds[i].name, "empty");
        test_write_text(f->root, path, "not compressed at all");
        assert_fails(f, "x", IMG_ERROR_INVALID, kinds[i].name, "not what its name says");
    }
}

/* A small file that becomes a large one stops at the limit. */
static void
test_bomb(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    static const char *const names[] = {"x", NULL};
    g_autoptr(GByteArray) zeros = g_byte_array_new();
    g_autoptr(GError) error = NULL;

    g_byte_array_set_size(zeros, 1 << 20);
    memset(zeros->data, 0, zeros->len);
    g_autoptr(GBytes) bytes = compress(zeros, archive_write_add_filter_zstd);
    g_free(test_write(f->root, DIR "/x.ko.zst", g_bytes_get_data(bytes, NULL),
                      g_bytes_get_size(bytes)));
    test_write_text(f->root, DIR "/modules.dep", "x.ko.zst:\n");
    g_autoptr(GPtrArray) modules = img_modules_load(&f->kernel, names, 100000, &error);
    g_assert_null(modules);
    test_error_says(error, IMG_ERROR, IMG_ERROR_LIMIT, "x.ko.zst", "100000", NULL);
}

static void
test_missing(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    add_module(f, "a.ko", "6.1.0-lab");
    add_module(f, "old.ko", "6.0.0-lab");
    test_write_text(f->root, DIR "/text.ko", "text");
    test_write_text(f->root, DIR "/modules.dep",
                    "a.ko: gone.ko\nlost.ko:\nold.ko:\ntext.ko:\nx.ko.lz4:\n");
    test_write_text(f->root, DIR "/x.ko.lz4", "text");
    assert_fails(f, "nosuch", IMG_ERROR_NOT_FOUND, "nosuch", "kernel 6.1.0-lab");
    assert_fails(f, "a", IMG_ERROR_NOT_FOUND, "module gone, which a.ko needs", "line 1");
    assert_fails(f, "lost", IMG_ERROR_NOT_FOUND, "lost.ko", "line 2");
    assert_fails(f, "old", IMG_ERROR_INVALID, "6.0.0-lab", "not for 6.1.0-lab");
    assert_fails(f, "text", IMG_ERROR_INVALID, "text.ko", "not a kernel module");
    assert_fails(f, "x", IMG_ERROR_INVALID, "x.ko.lz4", "unknown way");
    assert_fails(f, "", IMG_ERROR_INVALID, "\"\"", "name");
    assert_fails(f, "k/a", IMG_ERROR_INVALID, "k/a", "without path");

    g_clear_pointer(&f->kernel.modules_dir, g_free);
    assert_fails(f, "a", IMG_ERROR_NOT_FOUND, "6.1.0-lab", "no modules folder");
}

static void
test_damaged_list(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GString) chain = g_string_new(NULL);

    add_module(f, "a.ko", "6.1.0-lab");
    test_write_text(f->root, DIR "/modules.dep", "a.ko:\nnonsense\n");
    assert_fails(f, "a", IMG_ERROR_INVALID, "modules.dep", "line 2");
    test_write_text(f->root, DIR "/modules.dep", ": a.ko\n");
    assert_fails(f, "a", IMG_ERROR_INVALID, "modules.dep", "line 1");
    test_write_text(f->root, DIR "/modules.dep", "a.ko: b.ko\nb.ko: a.ko\n");
    assert_fails(f, "a", IMG_ERROR_INVALID, "line 1", "depends on itself");
    test_write_text(f->root, DIR "/modules.dep", "../../../a.ko:\n");
    assert_fails(f, "a", IMG_ERROR_INVALID, "../../../a.ko", "plain path");
    test_write_text(f->root, DIR "/modules.dep", "/etc/a.ko:\n");
    assert_fails(f, "a", IMG_ERROR_INVALID, "/etc/a.ko", "plain path");
    g_free(test_write(f->root, DIR "/modules.dep", "a.ko:\n\0", 7));
    assert_fails(f, "a", IMG_ERROR_INVALID, "modules.dep", "NUL");

    for (guint i = 0; i < 20000; i++)
        g_string_append_printf(chain, "m%u.ko: m%u.ko\n", i, i + 1);
    test_write_text(f->root, DIR "/modules.dep", chain->str);
    assert_fails(f, "m0", IMG_ERROR_INVALID, "modules.dep", "too deep");
}

/* A module file cut at any place is refused or is whole where it counts; it never crashes. */
static void
test_cut_module(Fixture *f, G_GNUC_UNUSED gconstpointer data)
{
    static const char *const names[] = {"a", NULL};
    g_autoptr(GByteArray) module = test_module("6.1.0-lab");

    test_write_text(f->root, DIR "/modules.dep", "a.ko:\n");
    for (gsize size = 0; size < module->len; size += 7) {
        g_autoptr(GError) error = NULL;
        g_free(test_write(f->root, DIR "/a.ko", module->data, size));
        g_autoptr(GPtrArray) modules = img_modules_load(&f->kernel, names, PLENTY, &error);
        g_assert_null(modules);
        g_assert_error(error, IMG_ERROR, IMG_ERROR_INVALID);
    }
}

static void
test_this_machine(void)
{
    static const char *const names[] = {"virtio-pci", "virtio_console", "qemu_fw_cfg", NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgKernel) k = img_kernel_find("", "default", NULL);

    if (!k || !k->modules_dir) {
        g_test_skip("no kernel with modules in /boot");
        return;
    }
    g_autoptr(GPtrArray) modules = img_modules_load(k, names, PLENTY, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < modules->len; i++)
        g_test_message("%s", ((ImgModule *)modules->pdata[i])->guest_path);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, set_up, function, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("/images/modules/order", test_order);
    ADD("/images/modules/compressed", test_compressed);
    ADD("/images/modules/compressed-damaged", test_compressed_damaged);
    ADD("/images/modules/bomb", test_bomb);
    ADD("/images/modules/missing", test_missing);
    ADD("/images/modules/damaged-list", test_damaged_list);
    ADD("/images/modules/cut-module", test_cut_module);
    g_test_add_func("/images/modules/this-machine", test_this_machine);
    return g_test_run();
}
