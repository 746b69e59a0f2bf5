/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/escape.h"

#include <math.h>
#include <string.h>

gboolean
res_unprintable(gunichar c)
{
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        return TRUE;
    default:
        return (c & 0xfffe) == 0xfffe;
    }
}

char *
res_printable(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text != NULL ? text : "", -1);
    GString *out = g_string_sized_new(strlen(valid));
    for (const char *p = valid; *p != '\0'; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        g_string_append_unichar(out, res_unprintable(c) ? '?' : c);
    }
    return g_string_free(out, FALSE);
}

void
res_markup(GString *out, const char *text)
{
    g_autofree char *plain = res_printable(text);
    for (const char *p = plain; *p != '\0'; p++) {
        switch (*p) {
        case '&':
            g_string_append(out, "&amp;");
            break;
        case '<':
            g_string_append(out, "&lt;");
            break;
        case '>':
            g_string_append(out, "&gt;");
            break;
        case '"':
            g_string_append(out, "&quot;");
            break;
        case '\'':
            g_string_append(out, "&#39;");
            break;
        default:
            g_string_append_c(out, *p);
        }
    }
}

char *
res_identifier(const char *text)
{
    GString *out = g_string_new(NULL);
    for (const char *p = text; *p != '\0'; p++) {
        gboolean good = g_ascii_isalpha(*p) || (g_ascii_isdigit(*p) && out->len > 0);
        g_string_append_c(out, good ? *p : '_');
    }
    if (out->len == 0) {
        g_string_append_c(out, '_');
    }
    return g_string_free(out, FALSE);
}

char *
res_figure(double value)
{
    double size = fabs(value);
    if (!(size > 0)) {
        return g_strdup(isnan(value) ? "nan" : "0");
    }
    /* Too small for the eight digits below, too large to be read. */
    if (!isfinite(value) || size < 1e-5 || size >= 1e18) {
        return g_strdup_printf("%.4g", value);
    }
    /* After rounding to four digits, or 9.9996 would get one too many. */
    g_autofree char *rounded = g_strdup_printf("%.3e", size);
    int before = (int)g_ascii_strtoll(strchr(rounded, 'e') + 1, NULL, 10) + 1;
    return g_strdup_printf("%.*f", CLAMP(4 - before, 0, 8), value);
}

char *
res_utc(gint64 us)
{
    g_autoptr(GDateTime) t = g_date_time_new_from_unix_utc(us / G_USEC_PER_SEC);
    /* Of records, which may say anything: beyond the year 9999 there is no such text. */
    return t != NULL ? g_date_time_format(t, "%Y-%m-%dT%H:%M:%SZ") : g_strdup("unknown");
}
