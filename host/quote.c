/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/quote.h"

#include <string.h>

char *
host_quote(const char *text, gsize max_bytes)
{
    if (!text)
        return g_strdup("");
    gsize len = strnlen(text, max_bytes + 1);
    gboolean cut = len > max_bytes;
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)MIN(len, max_bytes));
    for (char *p = valid; *p; p++)
        if (g_ascii_iscntrl(*p))
            *p = *p == '\t' ? ' ' : '?';
    return g_strconcat(valid, cut ? "..." : "", NULL);
}
