/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The files of an initramfs and the archive they make. */
#include <glib.h>

typedef struct ImgTree ImgTree;
/* LIMIT: bytes of the archive. */
ImgTree *img_tree_new(gsize limit);
void img_tree_free(ImgTree *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImgTree, img_tree_free)

/*
 * PATH is absolute and plain (no `.`, `..`, `//`, control characters); missing parents are made.
 * MODE holds permission bits only. ORIGIN says in errors where the content comes from.
 * IMG_ERROR_INVALID: a bad path or mode, or one that is taken; IMG_ERROR_LIMIT: the archive would
 * be over its limit.
 */
gboolean img_tree_add_dir(ImgTree *t, const char *path, guint mode, GError **error);
gboolean img_tree_add_device(ImgTree *t, const char *path, guint mode, guint major, guint minor,
                             GError **error);
gboolean img_tree_add_file(ImgTree *t, const char *path, guint mode, GBytes *content,
                           const char *origin, GError **error);

/* The content of the file PATH, or NULL. */
GBytes *img_tree_lookup(const ImgTree *t, const char *path);
/* How many bytes of archive are left under the limit. */
gsize img_tree_left(const ImgTree *t);

/*
 * The newc archive (the kernel's Documentation/driver-api/early-userspace/buffer-format.rst):
 * sorted by path, owned by root, of time 0, without hard links, so that equal trees are equal
 * bytes.
 */
GBytes *img_tree_archive(const ImgTree *t, GError **error);
