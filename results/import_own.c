/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of another nohzlab, into this one's store. */
#include "results/import.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All evidence of a run. */
#define EVIDENCE_MAX (32 * 1024 * 1024)

gboolean
res_import_is_record(ResSource *source)
{
    gsize len = 0;
    const char *head = res_source_head(source, &len, NULL);
    if (head == NULL) {
        return FALSE;
    }
    static const char *const keys[] = {"\"boot\"", "\"cell\"", "\"clock\""};
    gsize found = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
        found += g_strstr_len(head, (gssize)len, keys[i]) != NULL;
    }
    return head[strspn(head, " \t\r\n")] == '{' && found == G_N_ELEMENTS(keys);
}

static ResRecord *
read_record(ResSource *source, const char *path, GError **error)
{
    guint64 size = res_source_size(source);
    if (size > RES_RECORD_MAX) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID,
                    "%s: longer than the %d bytes a record may have", path, RES_RECORD_MAX);
        return NULL;
    }
    g_autofree char *text = g_malloc(size + 1);
    gsize len = 0;
    gssize n = 0;
    while (len < size && (n = res_source_read(source, text + len, size - len, error)) > 0) {
        len += (gsize)n;
    }
    ResRecord *r = n < 0 ? NULL : res_record_from_json(text, (gssize)len, error);
    if (r == NULL) {
        g_prefix_error(error, "%s: ", path);
    }
    return r;
}

static GBytes *
read_evidence(int folder, const char *where, const char *name, gsize *room, GError **error)
{
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    gboolean ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    g_autofree char *bytes = NULL;
    gsize len = 0;
    if (ok && (gsize)st.st_size <= *room) {
        bytes = g_malloc((gsize)st.st_size + 1);
        gssize n = 1;
        while (len < (gsize)st.st_size && n > 0) {
            n = read(fd, bytes + len, (gsize)st.st_size - len);
            len += n > 0 ? (gsize)n : 0;
        }
        ok = len == (gsize)st.st_size;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (!ok) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID,
                    "%s: its record names the evidence %s, which is not there as a readable file: "
                    "copy the run's whole folder",
                    where, name);
        return NULL;
    }
    if (bytes == NULL) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID,
                    "%s: its evidence has more than %d MiB", where, EVIDENCE_MAX / 1024 / 1024);
        return NULL;
    }
    *room -= len;
    return g_bytes_new_take(g_steal_pointer(&bytes), len);
}

/* All evidence of R in FOLDER, by name. */
static GHashTable *
read_files(const ResRecord *r, const char *folder, GError **error)
{
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    gsize room = EVIDENCE_MAX;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gboolean ok = TRUE;
    for (guint i = 0; ok && i < r->evidence->len; i++) {
        const char *name = g_ptr_array_index(r->evidence, i);
        GBytes *bytes = read_evidence(fd, folder, name, &room, error);
        ok = bytes != NULL;
        if (ok) {
            g_hash_table_insert(files, g_strdup(name), bytes);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return ok ? g_steal_pointer(&files) : NULL;
}

static gboolean
same(const ResRecord *a, GHashTable *files, const ResRecord *b, const char *folder)
{
    g_autofree char *left = res_record_to_json(a, NULL), *right = res_record_to_json(b, NULL);
    if (left == NULL || g_strcmp0(left, right) != 0) {
        return FALSE;
    }
    g_autoptr(GHashTable) other = read_files(b, folder, NULL);
    GHashTableIter iter;
    gpointer name, bytes;
    g_hash_table_iter_init(&iter, files);
    while (other != NULL && g_hash_table_iter_next(&iter, &name, &bytes)) {
        GBytes *mine = g_hash_table_lookup(other, name);
        if (mine == NULL || !g_bytes_equal(mine, bytes)) {
            return FALSE;
        }
    }
    return other != NULL;
}

ResRecord *
res_import_own(ResStore *store, ResSource *source, const char *path, gboolean *already,
               GError **error)
{
    *already = FALSE;
    g_autofree char *folder = g_path_get_dirname(path);
    g_autoptr(ResRecord) r = read_record(source, path, error);
    g_autoptr(GHashTable) files = r != NULL ? read_files(r, folder, error) : NULL;
    if (files == NULL) {
        return NULL;
    }
    g_autofree char *ours = res_store_run_dir(store, r->id);
    if (g_file_test(ours, G_FILE_TEST_EXISTS)) {
        g_autoptr(ResRecord) there = res_store_get(store, r->id, error);
        if (there == NULL) {
            return NULL;
        }
        if (!same(r, files, there, ours)) {
            g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_EXISTS,
                        "%s: the store has another run of the id %s, with different content. One "
                        "of the two was changed, or two labs share their ids: neither is taken "
                        "for the other",
                        path, r->id);
            return NULL;
        }
        *already = TRUE;
        return g_steal_pointer(&r);
    }
    return res_store_put(store, r, files, error) ? g_steal_pointer(&r) : NULL;
}
