/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/interrupts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which column of the first line is headed "CPU<cpu>"? Offline CPUs have none. */
static bool
column_find(const char *text, unsigned int cpu, size_t *column)
{
    char heading[32];
    size_t n = 0;

    snprintf(heading, sizeof heading, "CPU%u", cpu);
    for (;;) {
        size_t len;

        text += strspn(text, " ");
        len = strcspn(text, " \n");
        if (len == 0)
            return false;
        if (len == strlen(heading) && memcmp(text, heading, len) == 0) {
            *column = n;
            return true;
        }
        text += len;
        n++;
    }
}

bool
bm_interrupts_parse(const char *text, unsigned int cpu, unsigned long *count)
{
    size_t column;
    const char *row;

    if (!column_find(text, cpu, &column))
        return false;
    row = strstr(text, "LOC:");
    if (row == NULL)
        return false;
    row += strlen("LOC:");
    for (size_t i = 0;; i++) {
        char *end;

        row += strspn(row, " ");
        if (*row < '0' || *row > '9')
            return false;
        *count = strtoul(row, &end, 10);
        if (i == column)
            return true;
        row = end;
    }
}

static size_t
read_all(BmInterrupts *i)
{
    size_t len = 0;
    ssize_t n;

    if (lseek(i->fd, 0, SEEK_SET) != 0)
        return 0;
    while (len < i->cap - 1 && (n = read(i->fd, i->text + len, i->cap - 1 - len)) > 0)
        len += (size_t)n;
    i->text[len] = '\0';
    return len;
}

bool
bm_interrupts_open(BmInterrupts *i, unsigned int cpu)
{
    *i = (BmInterrupts){.cpu = cpu, .fd = open("/proc/interrupts", O_RDONLY | O_CLOEXEC)};
    if (i->fd < 0)
        return false;
    for (i->cap = 32 * 1024;; i->cap *= 2) {
        char *grown = realloc(i->text, i->cap);

        if (grown == NULL)
            return false;
        i->text = grown;
        if (read_all(i) < i->cap / 2)
            return true;
    }
}

bool
bm_interrupts_loc(BmInterrupts *i, unsigned long *count)
{
    return read_all(i) > 0 && bm_interrupts_parse(i->text, i->cpu, count);
}
