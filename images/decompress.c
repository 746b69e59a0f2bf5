/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/decompress.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "images/image.h"

#define STEP_BYTES ((gsize)64 << 10)

typedef struct archive ArchiveReader;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveReader, archive_read_free)

typedef struct {
    const char *suffix;
    int (*support)(struct archive *a);
} Compression;

static const Compression compressions[] = {
    {".gz", archive_read_support_filter_gzip},
    {".xz", archive_read_support_filter_xz},
    {".zst", archive_read_support_filter_zstd},
};

static GBytes *
fail_damaged(const char *path, const char *why, GError **error)
{
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: cannot be decompressed: %s", path,
                why ? why : "damaged");
    return NULL;
}

static GBytes *
read_all(ArchiveReader *a, const char *path, gsize max_bytes, GError **error)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autofree guint8 *step = g_malloc(STEP_BYTES);

    for (;;) {
        la_ssize_t n = archive_read_data(a, step, STEP_BYTES);
        if (n < 0)
            return fail_damaged(path, archive_error_string(a), error);
        if (n == 0)
            break;
        if ((gsize)n > max_bytes - out->len) {
            g_set_error(error, IMG_ERROR, IMG_ERROR_LIMIT,
                        "%s: decompresses to more than the %zu bytes allowed here", path,
                        max_bytes);
            return NULL;
        }
        g_byte_array_append(out, step, (guint)n);
    }
    return g_byte_array_free_to_bytes(g_steal_pointer(&out));
}

static GBytes *
decompress(GBytes *stored, const Compression *c, const char *path, gsize max_bytes, GError **error)
{
    gsize size;
    const void *data = g_bytes_get_data(stored, &size);
    g_autoptr(ArchiveReader) a = archive_read_new();
    struct archive_entry *entry;

    /* ARCHIVE_WARN would mean that libarchive was built without the library and runs a program. */
    if (c->support(a) != ARCHIVE_OK)
        return fail_damaged(path, archive_error_string(a), error);
    if (archive_read_support_format_raw(a) != ARCHIVE_OK ||
        archive_read_open_memory(a, data, size) != ARCHIVE_OK ||
        archive_read_next_header(a, &entry) != ARCHIVE_OK)
        return fail_damaged(path, size ? archive_error_string(a) : "empty", error);
    /* Without a filter of its own the raw reader would hand out anything as it is. */
    if (archive_filter_count(a) < 2)
        return fail_damaged(path, "its content is not what its name says", error);
    return read_all(a, path, max_bytes, error);
}

GBytes *
img_decompress(GBytes *stored, const char *host_path, gsize max_bytes, const char *name,
               char **plain_name, GError **error)
{
    if (g_str_has_suffix(name, ".ko")) {
        *plain_name = g_strdup(name);
        return g_bytes_ref(stored);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(compressions); i++) {
        const char *suffix = compressions[i].suffix;
        if (!g_str_has_suffix(name, suffix))
            continue;
        GBytes *content = decompress(stored, &compressions[i], host_path, max_bytes, error);
        if (content)
            *plain_name = g_strndup(name, strlen(name) - strlen(suffix));
        return content;
    }
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                "%s: compressed in an unknown way; known are .ko, .ko.gz, .ko.xz and .ko.zst",
                host_path);
    return NULL;
}
