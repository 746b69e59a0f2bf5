/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/report_words.h"

#include <string.h>

#include "results/report.h"

gboolean
res_line_split(char *line, char **words, guint n, gboolean rest)
{
    for (guint i = 0; i < n; i++) {
        char *space = strchr(line, ' ');
        gboolean last = i + 1 == n;

        if (*line == '\0' || (last && rest ? FALSE : *line == ' '))
            return FALSE;
        words[i] = line;
        if (last)
            return rest || space == NULL;
        if (space == NULL)
            return FALSE;
        *space = '\0';
        line = space + 1;
    }
    return FALSE;
}

gboolean
res_word_is_name(const char *word, gsize max)
{
    if (!g_ascii_isalnum(word[0]) || strlen(word) > max)
        return FALSE;
    for (; *word != '\0'; word++)
        if (!g_ascii_isalnum(*word) && strchr("._-", *word) == NULL)
            return FALSE;
    return TRUE;
}

gboolean
res_word_to_number(const char *word, guint64 max, guint64 *number)
{
    return g_ascii_isdigit(word[0]) && g_ascii_string_to_unsigned(word, 10, 0, max, number, NULL);
}

gboolean
res_word_to_figure(const char *word, double *number)
{
    static const char digits[] = "0123456789";
    const char *p = word + (word[0] == '-');
    gsize whole = strspn(p, digits), fraction;

    if (whole == 0 || strlen(word) > 32)
        return FALSE;
    p += whole;
    if (*p == '.') {
        fraction = strspn(p + 1, digits);
        if (fraction == 0)
            return FALSE;
        p += 1 + fraction;
    }
    if (*p != '\0')
        return FALSE;
    *number = g_ascii_strtod(word, NULL);
    return TRUE;
}

/* Upper-case hex only: there is one way to write a byte. */
static int
hex_value(char c)
{
    return c >= 'a' ? -1 : g_ascii_xdigit_value(c);
}

gboolean
res_rest_decode(const char *rest, GString *out, GError **error)
{
    if (strcmp(rest, "%") == 0)
        return TRUE;
    for (; *rest != '\0'; rest++) {
        int high, low;

        if (*rest != '%') {
            g_string_append_c(out, *rest);
            continue;
        }
        high = hex_value(rest[1]);
        low = high < 0 ? -1 : hex_value(rest[2]);
        if (low < 0) {
            g_set_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_FORMAT,
                        "`%.3s`: expected %% and two upper-case hex digits", rest);
            return FALSE;
        }
        g_string_append_c(out, (char)(high * 16 + low));
        rest += 2;
    }
    return TRUE;
}

char *
res_rest_decode_text(const char *rest, GError **error)
{
    g_autoptr(GString) bytes = g_string_new(NULL);

    if (!res_rest_decode(rest, bytes, error))
        return NULL;
    return g_utf8_make_valid(bytes->str, (gssize)bytes->len);
}
