/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/text.h"

#include <math.h>
#include <string.h>

#define LONGEST_S 3.6e9 /* a million hours */

/* Control characters, and those that reorder or end a line (bidirectional overrides, U+2028). */
static gboolean
drives_terminal(gunichar c)
{
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        return TRUE;
    default:
        return FALSE;
    }
}

char *
lab_printable(const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    GString *out = g_string_new(NULL);

    for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        g_string_append_unichar(out, drives_terminal(c) ? '?' : c);
    }
    g_free(valid);
    return g_string_free(out, FALSE);
}

char *
lab_figure(double value)
{
    double size = fabs(value);

    if (value == 0)
        return g_strdup("0");
    /* Too small for the eight digits below, too large to be read. */
    if (!isfinite(value) || size < 1e-5 || size >= 1e18)
        return g_strdup_printf("%.4g", value);
    /* After rounding to four digits, or 9.9996 would get one too many. */
    g_autofree char *rounded = g_strdup_printf("%.3e", size);
    int before = (int)g_ascii_strtoll(strchr(rounded, 'e') + 1, NULL, 10) + 1;
    return g_strdup_printf("%.*f", CLAMP(4 - before, 0, 8), value);
}

char *
lab_duration(double seconds)
{
    /* Also where it is not a number. */
    guint64 s = seconds > 0 ? (guint64)(MIN(seconds, LONGEST_S) + 0.5) : 0;

    if (s >= 3600)
        return g_strdup_printf("%" G_GUINT64_FORMAT ":%02u:%02u", s / 3600, (guint)(s / 60 % 60),
                               (guint)(s % 60));
    return g_strdup_printf("%u:%02u", (guint)(s / 60), (guint)(s % 60));
}
