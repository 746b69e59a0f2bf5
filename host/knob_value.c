/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files are knobs, and what their values mean. */
#include <string.h>

#include "host/cpumask.h"
#include "host/knobs.h"

G_DEFINE_QUARK(host - knob - error - quark, host_knob_error)

#define MAX_VALUE_BYTES 8192

/* `#` stands for a number. */
static const struct {
    const char *pattern;
    HostKnobKind kind;
} knobs[] = {
    {"/proc/irq/default_smp_affinity", HOST_KNOB_MASK},
    {"/proc/irq/#/smp_affinity_list", HOST_KNOB_LIST},
    {"/proc/sys/kernel/timer_migration", HOST_KNOB_NUMBER},
    {"/proc/sys/kernel/nmi_watchdog", HOST_KNOB_NUMBER},
    {"/proc/sys/kernel/watchdog_cpumask", HOST_KNOB_LIST},
    {"/sys/devices/virtual/workqueue/cpumask", HOST_KNOB_MASK},
    {"/sys/devices/system/cpu/cpufreq/policy#/scaling_governor", HOST_KNOB_WORD},
    {"/sys/kernel/mm/transparent_hugepage/enabled", HOST_KNOB_CHOICE},
    {"/sys/kernel/mm/ksm/run", HOST_KNOB_NUMBER},
    {"/sys/module/kvm/parameters/halt_poll_ns", HOST_KNOB_NUMBER},
};

static gboolean
matches(const char *pattern, const char *path)
{
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*path++ != *pattern)
                return FALSE;
            continue;
        }
        gsize digits = strspn(path, "0123456789");
        if (digits == 0 || digits > 9)
            return FALSE;
        path += digits;
    }
    return !*path;
}

HostKnobKind
host_knob_kind(const char *path)
{
    for (gsize i = 0; i < G_N_ELEMENTS(knobs); i++)
        if (matches(knobs[i].pattern, path))
            return knobs[i].kind;
    return HOST_KNOB_NONE;
}

/* The word in brackets; text without any is a word of its own. */
static char *
chosen(const char *text)
{
    const char *open = strchr(text, '[');
    const char *close = open ? strchr(open, ']') : NULL;

    return open && close ? g_strndup(open + 1, (gsize)(close - open - 1)) : g_strdup(text);
}

static gboolean
is_word(const char *text)
{
    return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_-+")] == '\0';
}

static HostCpuset *
parse_set(HostKnobKind kind, const char *text)
{
    return kind == HOST_KNOB_MASK ? host_cpumask_parse(text)
                                  : host_cpulist_parse(text, HOST_CPULIST_KERNEL, 0, NULL, NULL);
}

char *
host_knob_value(HostKnobKind kind, const char *text)
{
    g_autofree char *value = g_strstrip(g_strndup(text, MAX_VALUE_BYTES));
    g_autoptr(HostCpuset) set = NULL;
    gint64 number;

    switch (kind) {
    case HOST_KNOB_NONE:
        return NULL;
    case HOST_KNOB_NUMBER:
        return g_ascii_string_to_signed(value, 10, G_MININT64, G_MAXINT64, &number, NULL)
                   ? g_steal_pointer(&value)
                   : NULL;
    case HOST_KNOB_LIST:
    case HOST_KNOB_MASK:
        set = parse_set(kind, value);
        /* The kernel takes no empty set in any of these. */
        return set && !hwloc_bitmap_iszero(set) ? g_steal_pointer(&value) : NULL;
    case HOST_KNOB_WORD:
        return is_word(value) ? g_steal_pointer(&value) : NULL;
    case HOST_KNOB_CHOICE: {
        g_autofree char *word = chosen(value);
        return is_word(word) ? g_steal_pointer(&word) : NULL;
    }
    }
    return NULL;
}

gboolean
host_knob_values_equal(HostKnobKind kind, const char *a, const char *b)
{
    g_autofree char *x = host_knob_value(kind, a);
    g_autofree char *y = host_knob_value(kind, b);

    if (!x || !y)
        return FALSE;
    if (kind == HOST_KNOB_NUMBER)
        return g_ascii_strtoll(x, NULL, 10) == g_ascii_strtoll(y, NULL, 10);
    if (kind != HOST_KNOB_LIST && kind != HOST_KNOB_MASK)
        return !strcmp(x, y);
    g_autoptr(HostCpuset) set_x = parse_set(kind, x);
    g_autoptr(HostCpuset) set_y = parse_set(kind, y);
    return hwloc_bitmap_isequal(set_x, set_y);
}
