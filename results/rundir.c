/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TMP_PREFIX ".tmp-"
#define RECORD "record.json"

/* Always FALSE; takes errno as it is. */
static gboolean
folder_fail(GError **error, int code, const char *folder, const char *name, const char *what)
{
    int saved = errno;
    g_set_error(error, RES_STORE_ERROR, code, "%s%s%s: %s: %s", folder, name[0] != '\0' ? "/" : "",
                name, what, g_strerror(saved));
    return FALSE;
}

static gboolean
write_all(int fd, const char *bytes, gsize len)
{
    while (len > 0) {
        gssize n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return FALSE;
        }
        bytes += n;
        len -= (gsize)n;
    }
    return TRUE;
}

static gboolean
write_file(const char *folder, int folder_fd, const char *name, const char *bytes, gsize len,
           GError **error)
{
    int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0) {
        return folder_fail(error, RES_STORE_ERROR_FOLDER, folder, name, "cannot create");
    }
    gboolean ok = write_all(fd, bytes, len) && fsync(fd) == 0;
    if (!ok) {
        folder_fail(error, RES_STORE_ERROR_FOLDER, folder, name, "cannot write");
    }
    /* some file systems tell of a full disk only here */
    if (close(fd) != 0 && ok) {
        ok = folder_fail(error, RES_STORE_ERROR_FOLDER, folder, name, "cannot write");
    }
    return ok;
}

static gboolean
write_files(const char *folder, int fd, const char *json, GHashTable *files, GError **error)
{
    GHashTableIter iter;
    gpointer name, content;
    if (!write_file(folder, fd, RECORD, json, strlen(json), error)) {
        return FALSE;
    }
    g_hash_table_iter_init(&iter, files);
    while (g_hash_table_iter_next(&iter, &name, &content)) {
        gsize len = 0;
        const char *bytes = g_bytes_get_data(content, &len);
        if (!write_file(folder, fd, name, bytes, len, error)) {
            return FALSE;
        }
    }
    return fsync(fd) == 0 ? TRUE
                          : folder_fail(error, RES_STORE_ERROR_FOLDER, folder, "", "cannot write");
}

char *
res_rundir_write(const char *runs, const char *id, const char *json, GHashTable *files,
                 GError **error)
{
    g_autofree char *tmp = g_strdup_printf("%s/" TMP_PREFIX "%s-%d", runs, id, (int)getpid());
    res_rundir_remove(tmp); /* of an earlier process with our number */
    if (mkdir(tmp, 0755) != 0) {
        folder_fail(error, RES_STORE_ERROR_FOLDER, tmp, "", "cannot create");
        return NULL;
    }
    int fd = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    gboolean ok = fd >= 0 ? write_files(tmp, fd, json, files, error)
                          : folder_fail(error, RES_STORE_ERROR_FOLDER, tmp, "", "cannot open");
    if (fd >= 0) {
        close(fd);
    }
    if (!ok) {
        res_rundir_remove(tmp);
        return NULL;
    }
    return g_steal_pointer(&tmp);
}

static gboolean
sync_folder(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gboolean ok = fd >= 0 && fsync(fd) == 0;
    if (!ok) {
        folder_fail(error, RES_STORE_ERROR_FOLDER, path, "", "cannot write");
    }
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

gboolean
res_rundir_publish(const char *runs, const char *tmp, const char *id, GError **error)
{
    g_autofree char *path = g_build_filename(runs, id, NULL);
    /* A rename never replaces a folder that has anything in it, so two processes can't both win. */
    if (rename(tmp, path) != 0) {
        int code = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR
                       ? RES_STORE_ERROR_EXISTS
                       : RES_STORE_ERROR_FOLDER;
        return folder_fail(error, code, runs, id, "cannot give a run its name");
    }
    if (!sync_folder(runs, error)) {
        res_rundir_unpublish(runs, tmp, id);
        return FALSE;
    }
    return TRUE;
}

void
res_rundir_unpublish(const char *runs, const char *tmp, const char *id)
{
    g_autofree char *path = g_build_filename(runs, id, NULL);
    if (rename(path, tmp) == 0) {
        sync_folder(runs, NULL);
    }
}

void
res_rundir_remove(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        unlink(file);
    }
    rmdir(path);
}

/* .tmp-ID-PID: 0 when there is no number at the end. */
static pid_t
tmp_owner(const char *name)
{
    const char *dash = strrchr(name, '-');
    guint64 pid = 0;
    if (dash == NULL || !g_ascii_string_to_unsigned(dash + 1, 10, 1, G_MAXINT, &pid, NULL)) {
        return 0;
    }
    return (pid_t)pid;
}

void
res_rundir_sweep(const char *runs, gboolean all)
{
    g_autoptr(GDir) dir = g_dir_open(runs, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        if (!g_str_has_prefix(name, TMP_PREFIX)) {
            continue;
        }
        pid_t owner = tmp_owner(name);
        if (all || (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH)) {
            g_autofree char *path = g_build_filename(runs, name, NULL);
            res_rundir_remove(path);
        }
    }
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *
res_rundir_ids(const char *runs, GPtrArray *skipped, GError **error)
{
    g_autoptr(GError) dir_error = NULL;
    g_autoptr(GDir) dir = g_dir_open(runs, 0, &dir_error);
    const char *name;
    if (dir == NULL) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_FOLDER, "%s", dir_error->message);
        return NULL;
    }
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    while ((name = g_dir_read_name(dir)) != NULL) {
        if (res_id_valid(name)) {
            g_ptr_array_add(ids, g_strdup(name));
        } else if (skipped != NULL && !g_str_has_prefix(name, TMP_PREFIX)) {
            g_autofree char *shown = g_filename_display_name(name);
            g_ptr_array_add(skipped, g_strdup_printf("%s/%s: the name is not a run's id "
                                                     "([0-9a-z-]+)",
                                                     runs, shown));
        }
    }
    g_ptr_array_sort(ids, compare_names);
    return g_steal_pointer(&ids);
}

gboolean
res_rundir_exists(const char *runs, const char *id)
{
    g_autofree char *path = g_build_filename(runs, id, NULL);
    struct stat st;
    return lstat(path, &st) == 0;
}

/* Reads a regular file that is no link (nothing in a run's folder leads elsewhere) and not too
 * long. */
static char *
read_file(int fd, const char *path, gsize max, gsize *len, GError **error)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID, "%s: not a regular file",
                    path);
        return NULL;
    }
    if (st.st_size < 0 || (gsize)st.st_size > max) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID,
                    "%s: longer than the %" G_GSIZE_FORMAT " bytes it may have", path, max);
        return NULL;
    }
    g_autofree char *text = g_malloc((gsize)st.st_size + 1);
    gsize got = 0;
    while (got < (gsize)st.st_size) {
        gssize n = read(fd, text + got, (gsize)st.st_size - got);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            folder_fail(error, RES_STORE_ERROR_FOLDER, path, "", "cannot read");
            return NULL;
        }
        if (n == 0) {
            break;
        }
        got += (gsize)n;
    }
    text[got] = '\0';
    *len = got;
    return g_steal_pointer(&text);
}

char *
res_rundir_read_file(const char *runs, const char *id, const char *name, gsize max, gsize *len,
                     GError **error)
{
    g_autofree char *path = g_build_filename(runs, id, name, NULL);
    g_autofree char *folder = g_build_filename(runs, id, NULL);
    int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder_fd < 0) {
        folder_fail(error, errno == ENOENT ? RES_STORE_ERROR_NOT_FOUND : RES_STORE_ERROR_FOLDER,
                    folder, "", "cannot open");
        return NULL;
    }
    int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        folder_fail(error, RES_STORE_ERROR_FOLDER, path, "", "cannot open");
    }
    close(folder_fd);
    if (fd < 0) {
        return NULL;
    }
    char *text = read_file(fd, path, max, len, error);
    close(fd);
    return text;
}

ResRecord *
res_rundir_read(const char *runs, const char *id, GError **error)
{
    gsize len = 0;
    g_autofree char *path = g_build_filename(runs, id, RECORD, NULL);
    g_autofree char *text = res_rundir_read_file(runs, id, RECORD, RES_RECORD_MAX, &len, error);
    if (text == NULL) {
        return NULL;
    }
    g_autoptr(GError) bad = NULL;
    g_autoptr(ResRecord) r = res_record_from_json(text, (gssize)len, &bad);
    if (r == NULL) {
        g_set_error(error, RES_STORE_ERROR,
                    g_error_matches(bad, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED)
                        ? RES_STORE_ERROR_NEWER
                        : RES_STORE_ERROR_INVALID,
                    "%s: %s", path, bad->message);
        return NULL;
    }
    if (!g_str_equal(r->id, id)) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID,
                    "%s: holds the record of \"%s\"", path, r->id);
        return NULL;
    }
    return g_steal_pointer(&r);
}
