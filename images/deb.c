/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/deb.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "images/image.h"

/* Cloud kernels are 30 MiB packed and 120 MiB unpacked, full ones three times that. */
#define DATA_MAX_BYTES ((gint64)1 << 30)
#define FILES_MAX 30000
#define BLOCK (1 << 16)

typedef struct archive Archive;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Archive, archive_read_free)

static gboolean
fail_archive(Archive *a, const char *path, GError **error)
{
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: not a whole Debian package: %s", path,
                archive_error_string(a) ? archive_error_string(a) : "it ends early");
    return FALSE;
}

/* Where a package's file belongs below the folder: "boot/...", "lib/modules/..."; NULL: nowhere. */
static char *
place(const char *name)
{
    while (g_str_has_prefix(name, "./") || *name == '/')
        name += *name == '/' ? 1 : 2;
    if (g_str_has_prefix(name, "usr/lib/modules/"))
        name += strlen("usr/");
    if (!g_str_has_prefix(name, "boot/vmlinuz-") && !g_str_has_prefix(name, "boot/config-") &&
        !g_str_has_prefix(name, "lib/modules/"))
        return NULL;
    g_auto(GStrv) parts = g_strsplit(name, "/", -1);
    for (char **p = parts; *p; p++)
        if (!**p || g_str_equal(*p, "..") || g_str_equal(*p, "."))
            return NULL;
    /* Since 7.x the image lies with its modules. */
    if (g_strv_length(parts) == 4 && g_str_equal(parts[3], "vmlinuz"))
        return g_strconcat("boot/vmlinuz-", parts[2], NULL);
    return g_strdup(name);
}

static gboolean
write_file(Archive *a, const char *path, gint64 *left, const char *deb, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(path);
    g_autofree char *block = g_malloc(BLOCK);
    la_ssize_t n = 0;
    gboolean ok = g_mkdir_with_parents(parent, 0755) == 0;
    int fd = ok ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;

    ok = fd >= 0;
    while (ok && (n = archive_read_data(a, block, BLOCK)) > 0) {
        *left -= n;
        ok = *left >= 0 && write(fd, block, (size_t)n) == n;
    }
    int failed = errno;
    if (fd >= 0 && close(fd) != 0)
        ok = FALSE;
    if (ok && n < 0)
        return fail_archive(a, deb, error);
    if (!ok && *left < 0)
        g_set_error(error, IMG_ERROR, IMG_ERROR_LIMIT, "%s: more than any kernel's files", deb);
    else if (!ok)
        g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "%s: %s", path, g_strerror(failed));
    return ok;
}

static gboolean
unpack_data(Archive *a, const char *deb, const char *into, GError **error)
{
    struct archive_entry *entry;
    gint64 left = DATA_MAX_BYTES;
    unsigned int files = 0;
    int r;

    while ((r = archive_read_next_header(a, &entry)) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname(entry);
        g_autofree char *to = name ? place(name) : NULL;
        if (!to || archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
            continue;
        if (++files > FILES_MAX) {
            g_set_error(error, IMG_ERROR, IMG_ERROR_LIMIT, "%s: more than %d files", deb,
                        FILES_MAX);
            return FALSE;
        }
        g_autofree char *path = g_build_filename(into, to, NULL);
        if (!write_file(a, path, &left, deb, error))
            return FALSE;
    }
    if (r != ARCHIVE_EOF)
        return fail_archive(a, deb, error);
    return TRUE;
}

/* The package's outer archive stands at its data, of which the inner one reads. */
typedef struct {
    Archive *outer;
    char block[BLOCK];
} Nested;

static la_ssize_t
nested_read(Archive *a G_GNUC_UNUSED, void *data, const void **block)
{
    Nested *n = data;

    *block = n->block;
    return archive_read_data(n->outer, n->block, BLOCK);
}

gboolean
img_deb_unpack(const char *path, const char *into, GError **error)
{
    g_autoptr(Archive) outer = archive_read_new();
    struct archive_entry *entry;
    int r;

    archive_read_support_format_ar(outer);
    if (archive_read_open_filename(outer, path, BLOCK) != ARCHIVE_OK)
        return fail_archive(outer, path, error);
    while ((r = archive_read_next_header(outer, &entry)) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname(entry);
        if (!name || !g_str_has_prefix(name, "data.tar"))
            continue;
        g_autoptr(Archive) inner = archive_read_new();
        g_autofree Nested *nested = g_new0(Nested, 1);
        nested->outer = outer;
        archive_read_support_format_tar(inner);
        archive_read_support_filter_all(inner);
        if (archive_read_open(inner, nested, NULL, nested_read, NULL) != ARCHIVE_OK)
            return fail_archive(inner, path, error);
        return unpack_data(inner, path, into, error);
    }
    return fail_archive(outer, path, error);
}
