/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Reading what goes into images: regular files only, whole, bounded, and not while they change. */
#include <glib.h>

/*
 * The whole content of the regular file PATH (symbolic links are followed). Errors:
 * IMG_ERROR_NOT_FOUND, IMG_ERROR_INVALID (not a regular file), IMG_ERROR_LIMIT (over MAX_BYTES,
 * nothing is read then), IMG_ERROR_IO (unreadable, or it changed while it was read). All name PATH.
 */
GBytes *img_file_read(const char *path, gsize max_bytes, GError **error);

/*
 * The first bytes of the regular file PATH, at most MAX_BYTES of them, and its size in FILE_BYTES.
 * Errors as above, but for IMG_ERROR_LIMIT.
 */
GBytes *img_file_read_head(const char *path, gsize max_bytes, guint64 *file_bytes, GError **error);

/* ERROR's code when errno is ERRNUM: NOT_FOUND for a missing file or folder, IO for the rest. */
int img_error_from_errno(int errnum);
