/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* For tests: what is in an initramfs, read back with libarchive's own reader. */
#include <archive.h>
#include <archive_entry.h>

#include "images/test_util.h"

typedef struct {
    char *path; /* without the leading `/` */
    guint mode; /* type and permissions */
    guint major, minor;
    gint64 mtime, uid, gid, nlink, ino;
    GBytes *content; /* of a regular file */
} TestEntry;

G_GNUC_UNUSED static void
test_entry_free(gpointer data)
{
    TestEntry *e = data;

    g_free(e->path);
    g_bytes_unref(e->content);
    g_free(e);
}

G_GNUC_UNUSED static TestEntry *
test_entry_read(struct archive *a, struct archive_entry *entry)
{
    TestEntry *e = g_new0(TestEntry, 1);
    gsize size = (gsize)archive_entry_size(entry);
    guint8 *data = g_malloc(MAX(size, 1));

    g_assert_cmpint(archive_read_data(a, data, size), ==, size);
    e->path = g_strdup(archive_entry_pathname(entry));
    e->mode = archive_entry_mode(entry);
    e->major = (guint)archive_entry_rdevmajor(entry);
    e->minor = (guint)archive_entry_rdevminor(entry);
    e->mtime = archive_entry_mtime(entry);
    e->uid = archive_entry_uid(entry);
    e->gid = archive_entry_gid(entry);
    e->nlink = archive_entry_nlink(entry);
    e->ino = archive_entry_ino64(entry);
    e->content = g_bytes_new_take(data, size);
    return e;
}

/* TestEntry *, in the order of the archive. */
G_GNUC_UNUSED static GPtrArray *
test_archive_read(const char *path)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func(test_entry_free);
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    int status;

    g_assert_cmpint(archive_read_support_format_cpio(a), ==, ARCHIVE_OK);
    g_assert_cmpint(archive_read_open_filename(a, path, 65536), ==, ARCHIVE_OK);
    while ((status = archive_read_next_header(a, &entry)) == ARCHIVE_OK)
        g_ptr_array_add(entries, test_entry_read(a, entry));
    g_assert_cmpint(status, ==, ARCHIVE_EOF);
    g_assert_cmpint(archive_format(a), ==, ARCHIVE_FORMAT_CPIO_SVR4_NOCRC);
    archive_read_free(a);
    return entries;
}

G_GNUC_UNUSED static const TestEntry *
test_archive_find(const GPtrArray *entries, const char *path)
{
    for (guint i = 0; i < entries->len; i++)
        if (strcmp(((TestEntry *)entries->pdata[i])->path, path) == 0)
            return entries->pdata[i];
    return NULL;
}

/* CONTENT: a device's numbers as MAJOR:MINOR, a file's text. */
G_GNUC_UNUSED static void
test_assert_entry(const GPtrArray *entries, const char *path, guint mode, const char *content)
{
    const TestEntry *e = test_archive_find(entries, path);

    g_assert_nonnull(e);
    g_assert_cmphex(e->mode, ==, mode);
    if ((mode & S_IFMT) == S_IFCHR) {
        g_autofree char *numbers = g_strdup_printf("%u:%u", e->major, e->minor);
        g_assert_cmpstr(numbers, ==, content);
        return;
    }
    gsize size;
    const void *data = g_bytes_get_data(e->content, &size);
    g_assert_cmpmem(data, size, content, strlen(content));
}
