/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/image.h"

G_DEFINE_QUARK(img_error, img_error)

gboolean
img_error_is_kernels(const GError *error)
{
    return error->domain == IMG_ERROR && error->code != IMG_ERROR_IO;
}

int
img_error_from_errno(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR ? IMG_ERROR_NOT_FOUND : IMG_ERROR_IO;
}

static gboolean
fail_errno(const char *path, int errnum, GError **error)
{
    g_set_error(error, IMG_ERROR, img_error_from_errno(errnum), "%s: %s", path, g_strerror(errnum));
    return FALSE;
}

/* O_NONBLOCK: opening a FIFO must not wait for its writer before it can be refused. */
static int
open_regular(const char *path, struct stat *st, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        fail_errno(path, errno, error);
        return -1;
    }
    if (fstat(fd, st) < 0) {
        fail_errno(path, errno, error);
        close(fd);
        return -1;
    }
    if (!S_ISREG(st->st_mode)) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: not a regular file", path);
        close(fd);
        return -1;
    }
    return fd;
}

static gssize
read_full(int fd, guint8 *buffer, gsize bytes)
{
    gsize done = 0;

    while (done < bytes) {
        gssize n = read(fd, buffer + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (gsize)n;
    }
    return (gssize)done;
}

static gboolean
same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* BEFORE describes the file as it was opened. The probe for one more byte finds growth that a
 * coarse mtime hides. */
static gboolean
check_unchanged(int fd, const char *path, const struct stat *before, gsize got, GError **error)
{
    struct stat after;
    guint8 more;

    gssize extra = read_full(fd, &more, 1);
    if (extra < 0 || fstat(fd, &after) < 0)
        return fail_errno(path, errno, error);
    if (extra == 0 && got == (gsize)before->st_size && after.st_size == before->st_size &&
        same_time(after.st_mtim, before->st_mtim) && same_time(after.st_ctim, before->st_ctim))
        return TRUE;
    g_set_error(error, IMG_ERROR, IMG_ERROR_IO,
                "%s: changed while it was read (size %" G_GINT64_FORMAT
                " bytes when opened, %s%zu could be read)",
                path, (gint64)before->st_size, extra > 0 ? "more than " : "", got);
    return FALSE;
}

static GBytes *
read_fd(int fd, const char *path, const struct stat *st, gsize max_bytes, gboolean whole,
        GError **error)
{
    gsize want = (guint64)st->st_size > max_bytes ? max_bytes : (gsize)st->st_size;
    g_autofree guint8 *buffer = g_try_malloc(MAX(want, 1));

    if (!buffer) {
        fail_errno(path, ENOMEM, error);
        return NULL;
    }
    gssize got = read_full(fd, buffer, want);
    if (got < 0) {
        fail_errno(path, errno, error);
        return NULL;
    }
    if (whole && !check_unchanged(fd, path, st, (gsize)got, error))
        return NULL;
    return g_bytes_new_take(g_steal_pointer(&buffer), (gsize)got);
}

GBytes *
img_file_read(const char *path, gsize max_bytes, GError **error)
{
    struct stat st;
    int fd = open_regular(path, &st, error);

    if (fd < 0)
        return NULL;
    if ((guint64)st.st_size > max_bytes) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_LIMIT,
                    "%s: %" G_GINT64_FORMAT " bytes, at most %zu are allowed here", path,
                    (gint64)st.st_size, max_bytes);
        close(fd);
        return NULL;
    }
    GBytes *bytes = read_fd(fd, path, &st, max_bytes, TRUE, error);
    close(fd);
    return bytes;
}

GBytes *
img_file_read_head(const char *path, gsize max_bytes, guint64 *file_bytes, GError **error)
{
    struct stat st;
    int fd = open_regular(path, &st, error);

    if (fd < 0)
        return NULL;
    GBytes *bytes = read_fd(fd, path, &st, max_bytes, FALSE, error);
    close(fd);
    *file_bytes = (guint64)st.st_size;
    return bytes;
}
