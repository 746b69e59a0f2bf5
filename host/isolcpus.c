/* SPDX-License-Identifier: GPL-2.0-or-later */
/* isolcpus= as housekeeping_isolcpus_setup() in kernel/sched/isolation.c reads it (5.8 and newer:
 * older ones drop the parameter at the first unknown flag). */
#include "host/cmdline.h"

#include <string.h>

#include "host/quote.h"

#define MAX_WARNINGS 16

static const struct {
    const char *name;
    HostIsolFlags flag;
} known_flags[] = {
    {"domain", HOST_ISOL_DOMAIN},
    {"nohz", HOST_ISOL_NOHZ},
    {"managed_irq", HOST_ISOL_MANAGED_IRQ},
};

void
host_isolcpus_free(HostIsolcpus *i)
{
    if (!i)
        return;
    hwloc_bitmap_free(i->cpus);
    g_ptr_array_unref(i->warnings);
    g_free(i->refused);
    g_free(i);
}

static HostIsolFlags
find_flag(const char *text, gsize len)
{
    for (gsize i = 0; i < G_N_ELEMENTS(known_flags); i++)
        if (len == strlen(known_flags[i].name) && !strncmp(text, known_flags[i].name, len))
            return known_flags[i].flag;
    return 0;
}

/* The first character no flag may hold, or '\0'. */
static char
illegal_char(const char *flag, gsize len)
{
    for (gsize i = 0; i < len; i++)
        if (!g_ascii_isalpha(flag[i]) && flag[i] != '_')
            return flag[i];
    return '\0';
}

/* Reads the flags and returns where the list starts, or NULL with `refused` set. */
static const char *
parse_flags(HostIsolcpus *result, const char *value)
{
    const char *p = value;
    while (g_ascii_isalpha(*p)) {
        gsize len = strcspn(p, ",");
        g_autofree char *flag = g_strndup(p, MIN(len, 40));
        g_autofree char *shown = host_quote(flag, 40);
        char illegal = illegal_char(p, len);
        if (illegal) {
            char one[2] = {illegal, '\0'};
            g_autofree char *what = host_quote(one, 1);
            result->refused =
                g_strdup_printf("the flag `%s` holds `%s`, and flags are letters and `_` "
                                "only: the kernel drops the whole parameter",
                                shown, what);
            return NULL;
        }
        HostIsolFlags known = find_flag(p, len);
        if (!p[len]) {
            /* Without its comma the kernel takes even a known flag for an unknown one, and steps
             * past the end of the value: what it then reads is not defined. */
            result->refused = g_strdup_printf(
                "no CPU list after the flag `%s`%s", shown,
                known ? "" : " (leading letters are a flag, so `all` or `N` can't come first)");
            return NULL;
        }
        result->flags |= known;
        if (!known && result->warnings->len < MAX_WARNINGS)
            g_ptr_array_add(
                result->warnings,
                g_strdup_printf("the kernel skips the unknown flag `%s`; it knows domain, "
                                "nohz and managed_irq",
                                shown));
        p += len + 1;
    }
    return p;
}

static void
parse(HostIsolcpus *result, const char *value, unsigned int ncpus)
{
    if (!value) {
        result->refused = g_strdup("no value");
        return;
    }
    const char *list = parse_flags(result, value);
    if (!list)
        return;
    if (!result->flags)
        result->flags = HOST_ISOL_DOMAIN;

    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) cpus =
        host_cpulist_parse(list, HOST_CPULIST_KERNEL, ncpus, result->warnings, &error);
    if (!cpus) {
        result->refused = g_strdup(error->message);
        return;
    }
    if (hwloc_bitmap_iszero(cpus)) {
        result->refused = g_strdup("no CPU in the list");
        return;
    }
    result->cpus = g_steal_pointer(&cpus);
}

HostIsolcpus *
host_isolcpus_parse(const char *value, unsigned int ncpus)
{
    HostIsolcpus *result = g_new0(HostIsolcpus, 1);
    result->warnings = g_ptr_array_new_with_free_func(g_free);
    parse(result, value, ncpus);
    if (!result->cpus)
        result->flags = 0;
    return result;
}
