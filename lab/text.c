/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/text.h"

#include "results/escape.h"

#define LONGEST_S 3.6e9 /* a million hours */

char *
lab_printable(const char *text)
{
    return res_printable(text);
}

char *
lab_figure(double value)
{
    return res_figure(value);
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
