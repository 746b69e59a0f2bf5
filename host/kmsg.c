/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/kmsg.h"

#include <string.h>

#include "host/cmdline.h"

/* Behind OPEN, characters of SET and CLOSE, or P itself when that isn't what is there. */
static const char *
skip_group(const char *p, char open, const char *set, char close)
{
    if (*p != open)
        return p;
    gsize n = strspn(p + 1, set);
    return n && p[n + 1] == close ? p + n + 2 : p;
}

static const char *
skip_blank(const char *p)
{
    return p + strspn(p, " \t");
}

const char *
host_kmsg_text(const char *line)
{
    const char *p = skip_group(line, '<', "0123456789", '>');
    const char *after_time = skip_group(skip_blank(p), '[', " .0123456789", ']');
    if (after_time == skip_blank(p))
        return after_time;
    return skip_blank(skip_group(skip_blank(after_time), '[', " TC0123456789", ']'));
}

gboolean
host_kmsg_is_unknown_param(const char *line, const char *name)
{
    static const char prefix[] = "Unknown kernel command line parameters \"";
    const char *text = host_kmsg_text(line);
    if (!g_str_has_prefix(text, prefix))
        return FALSE;
    const char *list = text + strlen(prefix);
    const char *end = strrchr(list, '"');
    g_autofree char *names = end ? g_strndup(list, (gsize)(end - list)) : g_strdup(list);
    g_autoptr(GPtrArray) params = host_cmdline_split(names, NULL);
    g_autoptr(GPtrArray) values = host_cmdline_values(params, name);
    return values->len > 0;
}
