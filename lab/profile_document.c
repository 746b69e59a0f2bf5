/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of keys for people: as text and as man page source. */
#include <string.h>

#include "lab/profile_private.h"

static const char *
type_text(LabType type)
{
    switch (type) {
    case LAB_TYPE_STRING:
        return "text";
    case LAB_TYPE_UINT:
    case LAB_TYPE_INT:
        return "number";
    case LAB_TYPE_BOOL:
        return "yes or no";
    case LAB_TYPE_TIME_US:
    case LAB_TYPE_TIME_S:
        return "time";
    case LAB_TYPE_SIZE_MIB:
        return "size";
    case LAB_TYPE_CPULIST_KERNEL:
        return "CPU list, kernel";
    case LAB_TYPE_CPULIST_TOOL:
        return "CPU list, tools";
    case LAB_TYPE_CMDLINE:
        return "kernel parameters";
    case LAB_TYPE_ARGV:
        return "command line";
    case LAB_TYPE_FUNCTION:
        return "kernel function";
    case LAB_TYPE_OBSERVE:
        return "list";
    case LAB_TYPE_CHOICE:
    case LAB_TYPE_ENUM:
        return "one of";
    }
    return "";
}

static char *
section_title(const char *section)
{
    return strcmp(section, "workload") == 0 ? g_strdup("[workload NAME]")
                                            : g_strdup_printf("[%s]", section);
}

static char *
values_text(const LabKey *k)
{
    return k->range ? g_strdup_printf("%s %s", type_text(k->type), k->range)
                    : g_strdup(type_text(k->type));
}

/* What stands in for "not given". */
static const char *
initial_text(const LabKey *k)
{
    return !k->initial ? "-" : *k->initial ? k->initial : "empty";
}

static char *
document_text(const LabKey *keys, gsize n)
{
    g_autoptr(GString) out = g_string_new(NULL);
    int key = 0, values = 0, initial = 0;

    for (gsize i = 0; i < n; i++) {
        g_autofree char *v = values_text(&keys[i]);
        key = MAX(key, (int)strlen(keys[i].key));
        values = MAX(values, (int)strlen(v));
        initial = MAX(initial, (int)strlen(initial_text(&keys[i])));
    }
    for (gsize i = 0; i < n; i++) {
        if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0) {
            g_autofree char *title = section_title(keys[i].section);
            g_string_append_printf(out, "%s%s\n", i == 0 ? "" : "\n", title);
        }
        g_autofree char *v = values_text(&keys[i]);
        g_string_append_printf(out, "  %-*s  %-*s  %-*s  %s\n", key, keys[i].key, values, v,
                               initial, initial_text(&keys[i]), keys[i].help);
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* roff reads `-` as a hyphen, `\` as an escape and a leading `.` or `'` as a request. */
static void
append_roff(GString *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        g_string_append(out, "\\&");
    for (; *text; text++) {
        if (*text == '\\')
            g_string_append(out, "\\e");
        else if (*text == '-')
            g_string_append(out, "\\-");
        else
            g_string_append_c(out, *text);
    }
}

static char *
document_man(const LabKey *keys, gsize n)
{
    g_autoptr(GString) out = g_string_new(NULL);

    for (gsize i = 0; i < n; i++) {
        if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0) {
            g_autofree char *title = section_title(keys[i].section);
            g_string_append_printf(out, ".SS %s\n", title);
        }
        g_autofree char *v = values_text(&keys[i]);
        g_string_append(out, ".TP\n.B ");
        append_roff(out, keys[i].key);
        g_string_append(out, "\n(");
        append_roff(out, v);
        if (keys[i].initial) {
            g_string_append(out, "; default: ");
            append_roff(out, initial_text(&keys[i]));
        }
        g_string_append(out, ")\n");
        append_roff(out, keys[i].help);
        g_string_append(out, ".\n");
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

char *
lab_profile_document(gboolean man)
{
    gsize n;
    const LabKey *keys = lab_profile_keys(&n);
    return man ? document_man(keys, n) : document_text(keys, n);
}
