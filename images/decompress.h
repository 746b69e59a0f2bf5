/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
#include <glib.h>

/*
 * The content of a kernel module STORED under HOST_PATH, decompressed as the end of the name NAME
 * says (.ko.gz, .ko.xz, .ko.zst; a plain .ko is returned as it is), and NAME without that end in
 * PLAIN_NAME. In-process: no decompressor is run. IMG_ERROR_INVALID: damaged, cut short or an
 * unknown compression; IMG_ERROR_LIMIT: more than MAX_BYTES, whatever the compressed file claims.
 */
GBytes *img_decompress(GBytes *stored, const char *host_path, gsize max_bytes, const char *name,
                       char **plain_name, GError **error);
