/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/own_lines.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "guest/report.h"
#include "guest/word.h"

static bool
batch_ok(char **words, size_t n)
{
    unsigned long number;

    return n == 7 && bm_name_ok(words[1], BM_NAME_MAX) &&
           bm_number_parse(words[2], BM_CPU_MAX, &number) &&
           bm_number_parse(words[3], UINT_MAX, &number) &&
           (strcmp(words[4], "warmup") == 0 || strcmp(words[4], "measure") == 0) &&
           bm_number_parse(words[5], ULONG_MAX, &number) &&
           bm_number_parse(words[6], ULONG_MAX, &number);
}

static bool
loc_ok(char **words, size_t n, const char *workload)
{
    char prefix[BM_NAME_MAX + 8];
    size_t len = (size_t)snprintf(prefix, sizeof prefix, "loc.%s.", workload);
    char *cpu, *dot;
    unsigned long number;

    if (n != 3 || len >= sizeof prefix || strncmp(words[1], prefix, len) != 0)
        return false;
    cpu = words[1] + len;
    dot = strchr(cpu, '.');
    if (dot == NULL || (strcmp(dot, ".before") != 0 && strcmp(dot, ".after") != 0))
        return false;
    *dot = '\0';
    return bm_number_parse(cpu, BM_CPU_MAX, &number) &&
           bm_number_parse(words[2], ULONG_MAX, &number);
}

bool
bm_own_line_ok(const char *line, const char *workload)
{
    char copy[512], *words[7];
    size_t len = strlen(line), n;

    if (len >= sizeof copy)
        return false;
    memcpy(copy, line, len + 1);
    n = bm_words_split(copy, words, sizeof words / sizeof words[0]);
    if (n == 0)
        return false;
    if (strcmp(words[0], "batch") == 0)
        return batch_ok(words, n);
    if (strcmp(words[0], "value") == 0)
        return n == 3 && bm_name_ok(words[1], BM_NAME_MAX) && bm_figure_ok(words[2]);
    return strcmp(words[0], "fact") == 0 && loc_ok(words, n, workload);
}
