/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cpumask.h"

#include <string.h>

#define GROUP_BITS 32

/* One group of at most 8 hex digits; FALSE when it is none. */
static gboolean
parse_group(const char *text, guint64 *bits)
{
    gsize digits = strspn(text, "0123456789abcdefABCDEF");

    return digits == strlen(text) && digits <= GROUP_BITS / 4 &&
           g_ascii_string_to_unsigned(text, 16, 0, G_MAXUINT32, bits, NULL);
}

HostCpuset *
host_cpumask_parse(const char *text)
{
    g_autofree char *copy = g_strstrip(g_strdup(text));
    g_auto(GStrv) groups = g_strsplit(copy, ",", (HOST_CPULIST_MAX_CPU + 1) / GROUP_BITS + 1);
    guint n = g_strv_length(groups);
    g_autoptr(HostCpuset) set = hwloc_bitmap_alloc();

    if (n == 0 || n > (HOST_CPULIST_MAX_CPU + 1) / GROUP_BITS)
        return NULL;
    for (guint i = 0; i < n; i++) {
        guint64 bits;
        if (!parse_group(groups[n - 1 - i], &bits))
            return NULL;
        for (guint bit = 0; bit < GROUP_BITS; bit++)
            if (bits & (1ull << bit))
                hwloc_bitmap_set(set, i * GROUP_BITS + bit);
    }
    return g_steal_pointer(&set);
}

char *
host_cpumask_format(const HostCpuset *set)
{
    GString *text = g_string_new(NULL);
    int last = host_cpuset_last(set);

    for (int group = MAX(last, 0) / GROUP_BITS; group >= 0; group--) {
        guint32 bits = 0;
        for (int bit = 0; bit < GROUP_BITS; bit++)
            if (hwloc_bitmap_isset(set, (unsigned int)(group * GROUP_BITS + bit)))
                bits |= 1u << bit;
        g_string_append_printf(text, text->len ? ",%08x" : "%x", bits);
    }
    return g_string_free(text, FALSE);
}
