/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/text.h"

#include <math.h>

char *
lab_printable(const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    GString *out = g_string_new(NULL);

    for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        g_string_append_unichar(out, g_unichar_iscntrl(c) ? '?' : c);
    }
    g_free(valid);
    return g_string_free(out, FALSE);
}

char *
lab_figure(double value)
{
    if (value == 0 || !isfinite(value))
        return g_strdup_printf("%g", value);
    int before = (int)floor(log10(fabs(value))) + 1;
    return g_strdup_printf("%.*f", CLAMP(4 - before, 0, 8), value);
}

char *
lab_duration(double seconds)
{
    guint64 s = seconds < 0 ? 0 : (guint64)(seconds + 0.5);

    if (s >= 3600)
        return g_strdup_printf("%" G_GUINT64_FORMAT ":%02u:%02u", s / 3600, (guint)(s / 60 % 60),
                               (guint)(s % 60));
    return g_strdup_printf("%u:%02u", (guint)(s / 60), (guint)(s % 60));
}
