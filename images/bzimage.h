/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The header of an x86 bzImage: Documentation/arch/x86/boot.rst in the kernel. */
#include <glib.h>

typedef struct {
    char *release; /* uname -r: printable, without `/`, fit for a file name */
    char *version; /* the whole text: release, builder, uname -v */
} ImgBzimage;
void img_bzimage_free(ImgBzimage *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImgBzimage, img_bzimage_free)

/* The header, the real-mode code and the version text lie in the first (255 + 1) sectors. */
#define IMG_BZIMAGE_HEAD_BYTES ((gsize)256 * 512)

/*
 * HEAD holds the first HEAD_BYTES (IMG_BZIMAGE_HEAD_BYTES, or all if the file is shorter) of a file
 * of FILE_BYTES called NAME. Errors are IMG_ERROR_INVALID and say what the file is when it is no
 * 64-bit x86 kernel.
 */
ImgBzimage *img_bzimage_parse(const guint8 *head, gsize head_bytes, guint64 file_bytes,
                              const char *name, GError **error);
