/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading and writing one knob. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/knob_private.h"
#include "host/quote.h"

#define MAX_FILE_BYTES 8192

static int
fail_errno(GError **error, const char *path, const char *what, int why)
{
    HostKnobError code = why == ENOENT || why == ENOTDIR || why == ENODEV ? HOST_KNOB_ERROR_GONE
                         : why == ELOOP || why == EXDEV                   ? HOST_KNOB_ERROR_PATH
                                                                          : HOST_KNOB_ERROR_REFUSED;
    g_set_error(error, HOST_KNOB_ERROR, code, "%s: can't be %s: %s", path, what, g_strerror(why));
    return -1;
}

/* -1 with ERROR when PATH is no knob, or no regular file. */
static int
knob_open(const HostRoot *root, const char *path, guint64 flags, GError **error)
{
    struct open_how how = {.flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    struct stat st;

    if (host_knob_kind(path) == HOST_KNOB_NONE) {
        g_autofree char *shown = host_quote(path, 200);
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_PATH,
                    "%s: not one of the files nohzlab sets", shown);
        return -1;
    }
    int fd = (int)syscall(SYS_openat2, host_root_fd(root), path + 1, &how, sizeof(how));
    if (fd < 0)
        return fail_errno(error, path, "opened", errno);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_PATH, "%s: not a regular file", path);
    return -1;
}

char *
host_knob_read(const HostRoot *root, const char *path, GError **error)
{
    char text[MAX_FILE_BYTES + 1];
    int fd = knob_open(root, path, O_RDONLY, error);

    if (fd < 0)
        return NULL;
    ssize_t n;
    do
        n = read(fd, text, MAX_FILE_BYTES);
    while (n < 0 && errno == EINTR);
    int why = errno;
    close(fd);
    if (n < 0) {
        fail_errno(error, path, "read", why);
        return NULL;
    }
    text[n] = '\0';
    char *value = host_knob_value(host_knob_kind(path), text);
    if (!value) {
        g_autofree char *shown = host_quote(text, 80);
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_VALUE,
                    "%s: has \"%s\", which can't be understood, so it could not be put back", path,
                    shown);
    }
    return value;
}

/* A file on disk stands for a kernel's only in a folder that stands for a machine. What it had
 * before is longer, maybe: line ends cover the rest in the same write, then it is cut. */
static gboolean
is_on_disk(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && fs.f_type != SYSFS_MAGIC && fs.f_type != PROC_SUPER_MAGIC;
}

gboolean
host_knob_write(const HostRoot *root, const char *path, const char *value, GError **error)
{
    int fd = knob_open(root, path, O_WRONLY, error);
    if (fd < 0)
        return FALSE;

    g_autoptr(GString) text = g_string_new(value);
    struct stat st = {0};
    gboolean on_disk = is_on_disk(fd);
    g_string_append_c(text, '\n');
    gsize len = text->len;
    if (on_disk && fstat(fd, &st) == 0)
        while ((off_t)text->len < st.st_size && text->len < MAX_FILE_BYTES)
            g_string_append_c(text, '\n');
    ssize_t n;
    do
        n = write(fd, text->str, text->len);
    while (n < 0 && errno == EINTR);
    int why = errno;
    if (n == (ssize_t)text->len && on_disk && text->len > len && ftruncate(fd, (off_t)len) != 0)
        n = -1, why = errno;
    close(fd);
    if (n == (ssize_t)text->len)
        return TRUE;
    fail_errno(error, path, "written", n < 0 ? why : EIO);
    return FALSE;
}
