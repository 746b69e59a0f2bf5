/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "images/elf_closure.h"
#include "images/file.h"
#include "images/image.h"
#include "images/modules.h"
#include "images/tree.h"

#define DEFAULT_LIMIT_BYTES ((gsize)15 << 20)
/* GLib's arrays count with 32 bits, and so does the archive's format. */
#define MAX_LIMIT_BYTES ((gsize)1 << 30)

void
img_initramfs_free(ImgInitramfs *i)
{
    if (!i)
        return;
    g_free(i->path);
    g_free(i->sha256);
    g_free(i);
}

/* Device numbers: the kernel's Documentation/admin-guide/devices.txt. */
static gboolean
add_base(ImgTree *t, GError **error)
{
    static const struct {
        const char *path;
        guint mode;
    } dirs[] = {{"/dev", 0755}, {"/proc", 0755}, {"/run", 0755}, {"/sys", 0755}, {"/tmp", 01777}};
    static const struct {
        const char *path;
        guint mode, major, minor;
    } devices[] = {
        {"/dev/console", 0600, 5, 1},
        {"/dev/kmsg", 0644, 1, 11},
        {"/dev/null", 0666, 1, 3},
        {"/dev/ttyS0", 0600, 4, 64},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(dirs); i++)
        if (!img_tree_add_dir(t, dirs[i].path, dirs[i].mode, error))
            return FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(devices); i++)
        if (!img_tree_add_device(t, devices[i].path, devices[i].mode, devices[i].major,
                                 devices[i].minor, error))
            return FALSE;
    return TRUE;
}

/* In an error about the size of one file, say what the size is too much for. */
static void
explain_limit(const char *guest_path, GError **error)
{
    if (error && g_error_matches(*error, IMG_ERROR, IMG_ERROR_LIMIT))
        g_prefix_error(error, "no room left in the initramfs for what %s needs: ", guest_path);
}

static gboolean
add_spec_file(ImgTree *t, const ImgFile *f, GError **error)
{
    g_autoptr(GBytes) content = img_file_read(f->host_path, img_tree_left(t), error);

    if (!content) {
        explain_limit(f->guest_path, error);
        return FALSE;
    }
    return img_tree_add_file(t, f->guest_path, f->mode, content, f->host_path, error);
}

/* All files first: a library that is among them already, the same to the byte, is not added again.
 */
static gboolean
add_files(ImgTree *t, const GPtrArray *files, GError **error)
{
    g_autoptr(ImgClosure) closure = img_closure_new("", error);
    if (!closure)
        return FALSE;
    for (guint i = 0; i < files->len; i++)
        if (!add_spec_file(t, files->pdata[i], error))
            return FALSE;
    for (guint i = 0; i < files->len; i++) {
        const ImgFile *f = files->pdata[i];
        if (!img_closure_add(closure, f->host_path, f->guest_path,
                             img_tree_lookup(t, f->guest_path), img_tree_left(t), error)) {
            explain_limit(f->guest_path, error);
            return FALSE;
        }
    }
    const GPtrArray *libraries = img_closure_libraries(closure);
    for (guint i = 0; i < libraries->len; i++) {
        const ImgLibrary *l = libraries->pdata[i];
        GBytes *there = img_tree_lookup(t, l->guest_path);
        if (there && g_bytes_equal(there, l->content))
            continue;
        if (!img_tree_add_file(t, l->guest_path, 0755, l->content, l->host_path, error)) {
            g_prefix_error(error, "%s, needed by %s: ", l->host_path, l->wanted_by);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
add_modules(ImgTree *t, const ImgInitramfsSpec *spec, GError **error)
{
    g_autoptr(GPtrArray) modules =
        img_modules_load(spec->kernel, spec->modules, img_tree_left(t), error);
    if (!modules) {
        explain_limit("the list of modules", error);
        return FALSE;
    }

    g_autoptr(GString) list = g_string_new(NULL);
    for (guint i = 0; i < modules->len; i++) {
        const ImgModule *m = modules->pdata[i];
        if (!img_tree_add_file(t, m->guest_path, 0644, m->content, m->host_path, error))
            return FALSE;
        g_string_append_printf(list, "%s\n", m->guest_path);
    }
    g_autoptr(GBytes) content = g_string_free_to_bytes(g_steal_pointer(&list));
    return img_tree_add_file(t, "/modules", 0644, content, "the list of modules", error);
}

static GBytes *
make_archive(const ImgInitramfsSpec *spec, GError **error)
{
    gsize limit = spec->limit ? spec->limit : DEFAULT_LIMIT_BYTES;

    if (limit > MAX_LIMIT_BYTES) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "initramfs limit of %zu bytes: at most %zu can be", limit, MAX_LIMIT_BYTES);
        return NULL;
    }
    g_autoptr(ImgTree) t = img_tree_new(limit);
    if (!add_base(t, error) || (spec->files && !add_files(t, spec->files, error)) ||
        !add_modules(t, spec, error))
        return NULL;
    return img_tree_archive(t, error);
}

/* A cached image is used only when it is what would be written, to the byte. */
static gboolean
is_cached(const char *path, GBytes *archive)
{
    if (g_file_test(path, G_FILE_TEST_IS_SYMLINK))
        return FALSE;
    g_autoptr(GBytes) there = img_file_read(path, g_bytes_get_size(archive), NULL);
    return there && g_bytes_equal(there, archive);
}

/* Temporary name, fsync, rename, fsync of the folder: GLib does it, and removes what it could not
 * finish. */
static gboolean
store(const char *cache_dir, const char *path, GBytes *archive, GError **error)
{
    g_autoptr(GError) reason = NULL;
    gsize size;
    const char *data = g_bytes_get_data(archive, &size);

    if (g_mkdir_with_parents(cache_dir, 0755) < 0) {
        int errnum = errno;
        g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "cache folder %s: %s", cache_dir,
                    g_strerror(errnum));
        return FALSE;
    }
    if (g_file_set_contents_full(path, data, (gssize)size,
                                 G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0644,
                                 &reason))
        return TRUE;
    g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "%s", reason->message);
    return FALSE;
}

/*
 * The image's name is the hash of its content, and its content is a function of what goes in, so
 * one hash is both: everything that goes in is read and hashed anyway, and the archive around it
 * costs one copy in memory.
 */
ImgInitramfs *
img_initramfs_build(const ImgInitramfsSpec *spec, const char *cache_dir, GError **error)
{
    g_autoptr(GBytes) archive = make_archive(spec, error);
    if (!archive)
        return NULL;

    g_autoptr(ImgInitramfs) i = g_new0(ImgInitramfs, 1);
    i->sha256 = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, archive);
    i->bytes = g_bytes_get_size(archive);
    i->path = g_strdup_printf("%s/initramfs-%s.cpio", cache_dir, i->sha256);
    i->reused = is_cached(i->path, archive);
    if (!i->reused && !store(cache_dir, i->path, archive, error))
        return NULL;
    return g_steal_pointer(&i);
}
