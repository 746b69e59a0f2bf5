/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Kernels kept below a folder of the lab's, each known by the hash of its image, config and
 * modules, with where it came from:
 *
 *   DIR/ID/boot/vmlinuz-RELEASE, boot/config-RELEASE, lib/modules/RELEASE/..., origin
 *
 * ID is the first 16 digits of that hash (SHA-256). An entry is made under another name and then
 * renamed, so it is whole or not there; one process adds at a time.
 */
#include "images/image.h"

typedef struct {
    char *id;
    char *origin; /* as it was asked for: "debian:6.12" */
    char *source; /* what that was: the package's file name, or the image's path */
    ImgKernel *kernel;
    guint64 bytes;
} ImgEntry;
void img_entry_free(ImgEntry *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImgEntry, img_entry_free)

/*
 * SPEC: "debian:VERSION" (downloaded from this machine's mirror, any suite), "deb:FILE",
 * "path:FILE[,modules=DIR]" or any other that img_kernel_find knows (copied). What is there already
 * is found again. LISTS: folder for apt's lists. Takes seconds to minutes: for worker threads.
 */
ImgEntry *img_catalogue_add(const char *dir, const char *spec, const char *lists, GError **error);
/* ImgEntry *, by release, newest first. Broken entries are left out. */
GPtrArray *img_catalogue_list(const char *dir);
/* NAME: an ID or its beginning, or an origin. IMG_ERROR_NOT_FOUND: none, or more than one. */
gboolean img_catalogue_remove(const char *dir, const char *name, GError **error);

/*
 * Any kernel a profile may name: what img_kernel_find knows, and "kernel:ID"; "debian:SERIES" that
 * is not installed is looked for in the catalogue, newest first.
 */
ImgKernel *img_catalogue_find(const char *dir, const char *spec, GError **error);

/* What the lab wants of a kernel. */
typedef struct {
    const char *option; /* "CONFIG_NO_HZ_FULL" */
    const char *why;
    gboolean needed; /* without it nothing runs; else some profiles don't */
    gboolean have;
} ImgNeed;
/* By K's config. NULL when the config is not known. ImgNeed elements. */
GArray *img_kernel_needs(const ImgKernel *k);
