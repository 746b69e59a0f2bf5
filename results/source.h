/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Where a result is read from: a file, read once and in pieces, of which a checksum and a bounded
 * copy are taken on the way.
 */
#include <gio/gio.h>

/* What is kept of a file: all of it up to this size. Of a larger one a gzip'd copy, when that is at
 * most as large; otherwise only its checksum, length and name. */
#define RES_SOURCE_KEEP_MAX (16 * 1024 * 1024)
/* How far one can look ahead. */
#define RES_SOURCE_HEAD (64 * 1024)

typedef struct ResSource ResSource;

/* Opens a regular file. All else (folders, pipes, devices) is an error that names PATH, as is every
 * failure below (G_IO_ERROR). */
ResSource *res_source_open(const char *path, GError **error);
/* TEXT is borrowed; nothing is kept or summed up of it. */
ResSource *res_source_from_memory(const char *text, gsize len);
void res_source_free(ResSource *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResSource, res_source_free)

/* The next up to LEN bytes; 0 at the end, -1 on an error. */
gssize res_source_read(ResSource *s, char *buffer, gsize len, GError **error);
/* The first up to RES_SOURCE_HEAD bytes, of which the next read still gives all. NULL on an error.
 */
const char *res_source_head(ResSource *s, gsize *len, GError **error);
/* Of the whole file, in bytes. */
guint64 res_source_size(const ResSource *s);

/* What is left of the file is read. *SHA256 (to g_free) gets the checksum; *KEPT the copy, or NULL,
 * and *GZIPPED tells that it is a compressed one. A file that changed while it was read is an
 * error. */
gboolean res_source_finish(ResSource *s, char **sha256, GBytes **kept, gboolean *gzipped,
                           GError **error);
