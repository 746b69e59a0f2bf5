/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GZIP_LEVEL 1 /* 1 GiB in seconds rather than in half a minute */

struct ResSource {
    char *path;
    int fd;           /* -1: from memory */
    const char *text; /* from memory */
    guint64 size, done;
    GByteArray *head; /* looked at, not yet read */
    GChecksum *sum;
    GByteArray *kept; /* NULL: it would be too much */
    GConverter *gzip; /* NULL: kept as it is */
};

static gboolean
source_fail(const ResSource *s, const char *what, GError **error)
{
    int saved = errno;
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(saved), "%s: %s: %s", s->path, what,
                g_strerror(saved));
    return FALSE;
}

static ResSource *
source_new(const char *path, guint64 size)
{
    ResSource *s = g_new0(ResSource, 1);
    s->path = g_strdup(path);
    s->fd = -1;
    s->size = size;
    s->head = g_byte_array_new();
    return s;
}

ResSource *
res_source_open(const char *path, GError **error)
{
    g_autoptr(ResSource) s = source_new(path, 0);
    struct stat st;
    /* so that opening a pipe nobody writes to does not wait */
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &st) != 0) {
        source_fail(s, "cannot open", error);
        return NULL;
    }
    if (!S_ISREG(st.st_mode)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s: %s, not a file", path,
                    S_ISDIR(st.st_mode) ? "a folder" : "a pipe or a device");
        return NULL;
    }
    s->size = (guint64)st.st_size;
    s->sum = g_checksum_new(G_CHECKSUM_SHA256);
    if (s->size > RES_SOURCE_KEEP_MAX) {
        s->gzip = G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, GZIP_LEVEL));
        s->kept = g_byte_array_new();
    } else {
        s->kept = g_byte_array_sized_new((guint)s->size);
    }
    return g_steal_pointer(&s);
}

ResSource *
res_source_from_memory(const char *text, gsize len)
{
    ResSource *s = source_new("(memory)", len);
    s->text = text;
    return s;
}

void
res_source_free(ResSource *s)
{
    if (s == NULL) {
        return;
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
    g_free(s->path);
    g_byte_array_unref(s->head);
    g_clear_pointer(&s->sum, g_checksum_free);
    g_clear_pointer(&s->kept, g_byte_array_unref);
    g_clear_object(&s->gzip);
    g_free(s);
}

guint64
res_source_size(const ResSource *s)
{
    return s->size;
}

static void
keep(ResSource *s, const char *bytes, gsize len, GConverterFlags flags)
{
    guint8 out[16384];
    gsize in = 0;
    GConverterResult result = G_CONVERTER_CONVERTED;
    while (s->kept != NULL && s->gzip != NULL && result != G_CONVERTER_FINISHED &&
           (in < len || flags != G_CONVERTER_NO_FLAGS)) {
        gsize read = 0, written = 0;
        result = g_converter_convert(s->gzip, bytes + in, len - in, out, sizeof out, flags, &read,
                                     &written, NULL);
        in += read;
        g_byte_array_append(s->kept, out, (guint)written);
        /* a compressor does not fail on good calls; should it, no copy is better than half a one */
        if (result == G_CONVERTER_ERROR || s->kept->len > RES_SOURCE_KEEP_MAX) {
            g_clear_pointer(&s->kept, g_byte_array_unref);
        }
    }
    if (s->kept != NULL && s->gzip == NULL) {
        if (s->kept->len + len > RES_SOURCE_KEEP_MAX) {
            g_clear_pointer(&s->kept, g_byte_array_unref); /* it grew: finishing tells */
            return;
        }
        g_byte_array_append(s->kept, (const guint8 *)bytes, (guint)len);
    }
}

static gssize
read_more(ResSource *s, char *buffer, gsize len, GError **error)
{
    gssize n = -1;
    if (s->text != NULL || s->fd < 0) {
        n = (gssize)MIN(len, s->size - s->done);
        memcpy(buffer, s->text + s->done, (gsize)n);
        s->done += (guint64)n;
        return n;
    }
    do {
        n = read(s->fd, buffer, len);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        source_fail(s, "cannot read", error);
        return -1;
    }
    s->done += (guint64)n;
    g_checksum_update(s->sum, (const guchar *)buffer, n);
    keep(s, buffer, (gsize)n, G_CONVERTER_NO_FLAGS);
    return n;
}

gssize
res_source_read(ResSource *s, char *buffer, gsize len, GError **error)
{
    if (s->head->len == 0) {
        return read_more(s, buffer, len, error);
    }
    gsize n = MIN(len, s->head->len);
    memcpy(buffer, s->head->data, n);
    g_byte_array_remove_range(s->head, 0, (guint)n);
    return (gssize)n;
}

const char *
res_source_head(ResSource *s, gsize *len, GError **error)
{
    gssize n = 1;
    while (s->head->len < RES_SOURCE_HEAD && n > 0) {
        char buffer[4096];
        n = read_more(s, buffer, MIN(sizeof buffer, RES_SOURCE_HEAD - s->head->len), error);
        if (n < 0) {
            return NULL;
        }
        g_byte_array_append(s->head, (const guint8 *)buffer, (guint)n);
    }
    *len = s->head->len;
    return s->head->len > 0 ? (const char *)s->head->data : "";
}

gboolean
res_source_finish(ResSource *s, char **sha256, GBytes **kept, gboolean *gzipped, GError **error)
{
    g_autofree char *buffer = g_malloc(RES_SOURCE_HEAD);
    gssize n;
    while ((n = read_more(s, buffer, RES_SOURCE_HEAD, error)) > 0) {
    }
    if (n < 0) {
        return FALSE;
    }
    if (s->done != s->size) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_WRONG_ETAG,
                    "%s: had %" G_GUINT64_FORMAT " bytes when it was opened and %" G_GUINT64_FORMAT
                    " when it was read: still being written?",
                    s->path, s->size, s->done);
        return FALSE;
    }
    keep(s, "", 0, G_CONVERTER_INPUT_AT_END);
    *gzipped = s->gzip != NULL;
    *sha256 = g_strdup(g_checksum_get_string(s->sum));
    *kept = s->kept != NULL ? g_byte_array_free_to_bytes(g_steal_pointer(&s->kept)) : NULL;
    return TRUE;
}
