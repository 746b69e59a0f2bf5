/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's messages: records of /dev/kmsg (Documentation/ABI/testing/dev-kmsg), or a text file.
 */
#include "host/root.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAX_MESSAGES 200000
/* PRINTK_MESSAGE_MAX of the kernel: no record is longer. */
#define MAX_RECORD_BYTES 8192

/* Bytes outside printable ASCII come as \xNN. In place. */
static void
unescape(char *text)
{
    char *to = text;

    for (const char *p = text; *p; to++) {
        int high = p[0] == '\\' && p[1] == 'x' ? g_ascii_xdigit_value(p[2]) : -1;
        int low = high >= 0 ? g_ascii_xdigit_value(p[3]) : -1;
        if (low >= 0 && high * 16 + low != 0) {
            *to = (char)(high * 16 + low);
            p += 4;
        } else {
            *to = *p++;
        }
    }
    *to = '\0';
}

/* "6,0,123,-;text\n KEY=value\n": the text; *NUMBER is the record's. NULL when it is none. */
static char *
record_text(char *record, guint64 *number)
{
    char *semicolon = strchr(record, ';');
    char *comma = strchr(record, ',');

    if (!semicolon || !comma || comma > semicolon)
        return NULL;
    *number = g_ascii_strtoull(comma + 1, NULL, 10);
    char *text = g_strndup(semicolon + 1, strcspn(semicolon + 1, "\n"));
    unescape(text);
    return text;
}

static GPtrArray *
read_device(gboolean *from_boot)
{
    int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char record[MAX_RECORD_BYTES + 1];

    *from_boot = FALSE;
    if (fd < 0)
        return NULL;
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    while (lines->len < MAX_MESSAGES) {
        ssize_t n = read(fd, record, MAX_RECORD_BYTES);
        /* EPIPE: records were overwritten while we read; it goes on with the oldest one left. */
        if (n < 0 && (errno == EINTR || errno == EPIPE))
            continue;
        if (n <= 0)
            break;
        record[n] = '\0';
        guint64 number = 1;
        char *text = record_text(record, &number);
        if (text && lines->len == 0)
            *from_boot = number == 0;
        if (text)
            g_ptr_array_add(lines, text);
    }
    close(fd);
    return lines;
}

GPtrArray *
host_root_kmsg(const HostRoot *r, gboolean *from_boot)
{
    if (host_root_is_machine(r))
        return read_device(from_boot);
    g_autofree char *text = host_root_read(r, "kmsg", NULL, NULL);
    *from_boot = text != NULL;
    if (!text)
        return NULL;
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) parts = g_strsplit(text, "\n", MAX_MESSAGES);
    for (guint i = 0; parts[i]; i++)
        if (*parts[i])
            g_ptr_array_add(lines, g_strdup(parts[i]));
    return lines;
}
