/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/files.h"

#include <errno.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <stdio.h>

static int
remove_entry(const char *path, const struct stat *st G_GNUC_UNUSED, int type G_GNUC_UNUSED,
             struct FTW *ftw G_GNUC_UNUSED)
{
    remove(path);
    return 0;
}

void
lab_remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

gboolean
lab_copy_file(const char *from, const char *to, GError **error)
{
    g_autoptr(GFile) source = g_file_new_for_path(from);
    g_autoptr(GFile) target = g_file_new_for_path(to);

    if (!g_file_copy(source, target, G_FILE_COPY_OVERWRITE | G_FILE_COPY_TARGET_DEFAULT_PERMS, NULL,
                     NULL, NULL, error))
        return FALSE;
    if (g_chmod(to, 0644) == 0)
        return TRUE;
    int failed = errno;
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(failed), "can't make %s readable: %s", to,
                g_strerror(failed));
    return FALSE;
}

GBytes *
lab_read_file(const char *path, gsize max, GError **error)
{
    g_autoptr(GFile) file = g_file_new_for_path(path);
    GFileType type = g_file_query_file_type(file, G_FILE_QUERY_INFO_NONE, NULL);
    gsize len = 0;

    /* A pipe would keep us waiting. */
    if (type != G_FILE_TYPE_REGULAR && type != G_FILE_TYPE_UNKNOWN) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s: not a plain file", path);
        return NULL;
    }
    g_autoptr(GFileInputStream) in = g_file_read(file, NULL, error);
    if (!in)
        return NULL;
    g_autofree char *text = g_malloc(max + 1);
    if (!g_input_stream_read_all(G_INPUT_STREAM(in), text, max + 1, &len, NULL, error))
        return NULL;
    if (len > max) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: longer than %zu bytes", path,
                    max);
        return NULL;
    }
    return g_bytes_new(text, len);
}
