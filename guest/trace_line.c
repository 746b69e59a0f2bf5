/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/trace_line.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define US_DIGITS_MAX 12

/* Digits of a fraction of a microsecond; the kernel leaves the last ones out of long figures. */
static const char *
fraction(const char *p, uint64_t *ns)
{
    static const uint64_t weights[] = {100, 10, 1};

    for (size_t i = 0; isdigit((unsigned char)*p); i++, p++)
        if (i < sizeof weights / sizeof weights[0])
            *ns += weights[i] * (uint64_t)(*p - '0');
    return p;
}

bool
bm_trace_line(const char *line, const char *function, uint64_t *ns)
{
    const char *p = line + strspn(line, " +!#*@$"), *bar;
    size_t digits = strspn(p, "0123456789"), name = strlen(function);
    uint64_t us = 0;

    if (digits == 0 || digits > US_DIGITS_MAX || p[digits] != '.')
        return false;
    for (size_t i = 0; i < digits; i++)
        us = us * 10 + (uint64_t)(p[i] - '0');
    *ns = us * 1000;
    p = fraction(p + digits + 1, ns);
    bar = strchr(p, '|');
    if (strncmp(p, " us", 3) != 0 || bar == NULL)
        return false;
    bar += 1 + strspn(bar + 1, " ");
    return strncmp(bar, function, name) == 0 && strncmp(bar + name, "();", 3) == 0;
}

void
bm_trace_cpumask(char *mask, unsigned int cpu)
{
    int n = snprintf(mask, BM_CPUMASK_MAX, "%x", 1u << cpu % 32);

    for (unsigned int word = cpu / 32; word > 0; word--)
        n += snprintf(mask + n, BM_CPUMASK_MAX - (size_t)n, ",00000000");
}

bool
bm_trace_function_ok(const char *name, size_t max)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.");

    return n > 0 && n <= max && name[n] == '\0' && !isdigit((unsigned char)name[0]) &&
           name[0] != '.';
}
