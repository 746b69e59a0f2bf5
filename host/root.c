/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_NAMES 65536

struct HostRoot {
    char *path;
    int fd;
    gboolean machine;
};

HostRoot *
host_root_open(const char *path, GError **error)
{
    int fd = open(path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno), "%s: %s", path,
                    g_strerror(errno));
        return NULL;
    }
    HostRoot *r = g_new0(HostRoot, 1);
    struct stat ours = {0}, slash = {0};
    r->fd = fd;
    r->path = g_canonicalize_filename(path ? path : "/", NULL);
    r->machine = fstat(fd, &ours) == 0 && stat("/", &slash) == 0 && ours.st_dev == slash.st_dev &&
                 ours.st_ino == slash.st_ino;
    return r;
}

void
host_root_close(HostRoot *r)
{
    if (!r)
        return;
    close(r->fd);
    g_free(r->path);
    g_free(r);
}

const char *
host_root_path(const HostRoot *r)
{
    return r->machine ? "/" : r->path;
}

gboolean
host_root_is_machine(const HostRoot *r)
{
    return r->machine;
}

int
host_root_fd(const HostRoot *r)
{
    return r->fd;
}

/* O_NONBLOCK (which O_PATH does not go with): a FIFO in a folder that stands for a machine must not
 * hold us up. */
static int
root_openat(const HostRoot *r, const char *path, guint64 flags)
{
    struct open_how how = {.flags = flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK),
                           .resolve = RESOLVE_IN_ROOT};

    return (int)syscall(SYS_openat2, r->fd, path, &how, sizeof(how));
}

static void
set_errno(GError **error, const HostRoot *r, const char *path, int why)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(why), "%s%s%s: %s", host_root_path(r),
                g_str_has_suffix(host_root_path(r), "/") ? "" : "/", path, g_strerror(why));
}

/* Appends all of FD to TEXT: 0, or an errno. */
static int
read_all(int fd, GString *text)
{
    char buffer[16384];

    for (;;) {
        ssize_t n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            return 0;
        if (text->len + (gsize)n > HOST_ROOT_MAX_BYTES)
            return EFBIG;
        g_string_append_len(text, buffer, n);
    }
}

char *
host_root_read(const HostRoot *r, const char *path, gsize *len, GError **error)
{
    int fd = root_openat(r, path, O_RDONLY);
    g_autoptr(GString) text = g_string_new(NULL);
    int why = fd < 0 ? errno : read_all(fd, text);

    if (fd >= 0)
        close(fd);
    if (why) {
        set_errno(error, r, path, why);
        return NULL;
    }
    if (len)
        *len = text->len;
    return g_string_free(g_steal_pointer(&text), FALSE);
}

char *
host_root_line(const HostRoot *r, const char *path)
{
    char *text = host_root_read(r, path, NULL, NULL);

    if (!text)
        return NULL;
    text[strcspn(text, "\n")] = '\0';
    return g_strstrip(text);
}

char *
host_root_linef(const HostRoot *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_autofree char *path = g_strdup_vprintf(format, args);
    va_end(args);
    return host_root_line(r, path);
}

HostCpuset *
host_root_cpulist(const HostRoot *r, const char *path)
{
    g_autofree char *text = host_root_line(r, path);

    return text ? host_cpulist_parse(text, HOST_CPULIST_KERNEL, 0, NULL, NULL) : NULL;
}

static int
by_number_then_name(gconstpointer a, gconstpointer b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    guint64 m, n;
    gboolean x_number = g_ascii_string_to_unsigned(x, 10, 0, G_MAXUINT32, &m, NULL);
    gboolean y_number = g_ascii_string_to_unsigned(y, 10, 0, G_MAXUINT32, &n, NULL);

    if (x_number && y_number)
        return (m > n) - (m < n);
    return x_number != y_number ? y_number - x_number : strcmp(x, y);
}

GPtrArray *
host_root_list(const HostRoot *r, const char *path)
{
    int fd = root_openat(r, path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const struct dirent *entry;
    while (names->len < MAX_NAMES && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            g_ptr_array_add(names, g_strdup(entry->d_name));
    closedir(dir);
    g_ptr_array_sort(names, by_number_then_name);
    return names;
}

gboolean
host_root_exists(const HostRoot *r, const char *path)
{
    int fd = root_openat(r, path, O_PATH);

    if (fd < 0)
        return FALSE;
    close(fd);
    return TRUE;
}
