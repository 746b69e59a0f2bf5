/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/own_lines.h"

/* Characters a line of N bytes can take on the port, its heads included. */
#define ENCODED_MAX(n) (3 * (n) + 64 + (n) / 100)

void
bm_collect_clear(const BmWorkload *w)
{
    for (size_t i = 0; i < w->n_collect; i++)
        if (strncmp(w->collect[i], "/tmp/", 5) == 0)
            unlink(w->collect[i]);
}

static void __attribute__((format(printf, 2, 3))) note(BmPort *p, const char *format, ...)
{
    char line[BM_NOTES_MAX / (BM_COLLECT_MAX + 2)] = "nohzlab: ";
    size_t n = strlen(line);
    va_list args;

    va_start(args, format);
    vsnprintf(line + n, sizeof line - n, format, args);
    va_end(args);
    bm_port_text(p, line, strlen(line));
}

size_t
bm_collect_own_lines(BmPort *p, const BmWorkload *w, char *bytes, size_t len)
{
    size_t dropped = 0;
    char *line = bytes, *end = bytes + len;

    while (line < end) {
        char *newline = memchr(line, '\n', (size_t)(end - line));

        if (newline == NULL)
            return dropped + 1;
        *newline = '\0';
        if (strlen(line) == (size_t)(newline - line) && bm_own_line_ok(line, w->name) &&
            bm_port_has_room(p, (size_t)(newline - line)))
            bm_port_line(p, "%s", line);
        else
            dropped++;
        line = newline + 1;
    }
    return dropped;
}

/* BYTES line by line. False: the report has no more room. */
static bool
text_send(BmPort *p, const char *bytes, size_t len)
{
    const char *end = bytes + len;

    while (bytes < end) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t n = (size_t)((newline == NULL ? end : newline) - bytes);

        if (!bm_port_has_room(p, ENCODED_MAX(n)))
            return false;
        bm_port_text(p, bytes, n);
        bytes += n + 1;
    }
    return true;
}

/* Returns -1 with errno. O_NONBLOCK: the program may have left a FIFO where a file should be. */
static int
file_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

void
bm_collect_output(BmPort *p, const BmWorkload *w, const char *bytes, size_t len, bool more,
                  size_t dropped)
{
    bool whole = text_send(p, bytes, len);

    if (dropped > 0)
        note(p, "%zu of its report lines were not well-formed or too many, and left out", dropped);
    for (size_t i = 0; i < w->n_collect; i++) {
        int fd = file_open(w->collect[i]);

        if (fd < 0)
            note(p, "cannot collect %.700s: %s", w->collect[i],
                 errno == EINVAL ? "not a regular file" : strerror(errno));
        else
            close(fd);
    }
    if (more || !whole)
        bm_port_line(p, "cut output");
}

static void
file_send(BmPort *p, const char *name, int fd, char *bytes)
{
    size_t len = 0;
    ssize_t n = 0;
    bool whole;

    while (len <= BM_FILE_MAX && (n = read(fd, bytes + len, BM_FILE_MAX + 1 - len)) > 0)
        len += (size_t)n;
    whole = n >= 0 && len <= BM_FILE_MAX;
    bm_port_line(p, "file %s", name);
    if (!text_send(p, bytes, len > BM_FILE_MAX ? BM_FILE_MAX : len) || !whole)
        bm_port_line(p, "cut %s", name);
}

void
bm_collect_files(BmPort *p, const BmWorkload *w)
{
    char *bytes = w->n_collect > 0 ? malloc(BM_FILE_MAX + 1) : NULL;

    for (size_t i = 0; i < w->n_collect; i++) {
        const char *name = bm_path_name(w->collect[i]);
        int fd = file_open(w->collect[i]);

        if (fd < 0)
            continue;
        if (bytes != NULL) {
            file_send(p, name, fd, bytes);
        } else {
            bm_port_line(p, "file %s", name);
            bm_port_line(p, "cut %s", name);
        }
        close(fd);
    }
    free(bytes);
}
