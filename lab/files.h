/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The few file operations GLib does not have. */
#include <gio/gio.h>

/* Removes PATH and all below it, never following a link; what can't be removed stays. */
void lab_remove_tree(const char *path);
/* Copies FROM to TO (mode 0644), on the same file system by reference where that can be had. */
gboolean lab_copy_file(const char *from, const char *to, GError **error);
/* What a plain file of at most MAX bytes holds; G_IO_ERROR_NOT_FOUND when there is none. */
GBytes *lab_read_file(const char *path, gsize max, GError **error);
