/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/expect_lex.h"

#include <math.h>

#include "lab/expect.h"

int
lab_lex_column(const LabLexer *r, const char *where)
{
    return (int)g_utf8_strlen(r->text, where - r->text) + 1;
}

void
lab_lex_blanks(LabLexer *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

void
lab_lex_fail(LabLexer *r, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    *r->column = lab_lex_column(r, r->at);
    g_set_error_literal(error, LAB_EXPECT_ERROR, LAB_EXPECT_ERROR_SYNTAX, message);
}

/* "expected WHAT, found ..." at the reader's position. */
void
lab_lex_fail_expected(LabLexer *r, GError **error, const char *what)
{
    if (!*r->at) {
        lab_lex_fail(r, error, "expected %s, found the end", what);
        return;
    }
    g_autofree char *found = g_utf8_substring(r->at, 0, MIN(g_utf8_strlen(r->at, -1), 16));
    lab_lex_fail(r, error, "expected %s, found `%s'", what, found);
}

static gboolean
name_char(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '-';
}

/* Words of name characters, with dots between them: `..` of a range is never part of a name. */
gsize
lab_lex_name(const char *p)
{
    gsize n = 0;

    if (!g_ascii_isalpha(*p) && *p != '_')
        return 0;
    while (name_char(p[n]) || (p[n] == '.' && name_char(p[n + 1])))
        n++;
    return n;
}

static gsize
digits(const char *p)
{
    gsize n = 0;
    while (g_ascii_isdigit(p[n]))
        n++;
    return n;
}

gboolean
lab_lex_number(LabLexer *r, double *number, GError **error)
{
    const char *p = r->at;
    gsize n = digits(p);

    if (n == 0) {
        lab_lex_fail_expected(r, error, "a number");
        return FALSE;
    }
    if (p[n] == '.' && g_ascii_isdigit(p[n + 1]))
        n += 1 + digits(p + n + 1);
    if (p[n] == 'e' || p[n] == 'E') {
        gsize sign = p[n + 1] == '+' || p[n + 1] == '-';
        gsize power = digits(p + n + 1 + sign);
        if (power > 0)
            n += 1 + sign + power;
    }
    g_autofree char *text = g_strndup(p, n);
    *number = g_ascii_strtod(text, NULL);
    if (!isfinite(*number)) {
        lab_lex_fail(r, error, "%s is too large for a number", text);
        return FALSE;
    }
    r->at = p + n;
    if (*r->at == '%') {
        *number /= 100;
        r->at++;
    } else if (g_ascii_isalpha(*r->at)) {
        lab_lex_fail(r, error, "a number has no unit here (it is in the metric's own unit)");
        return FALSE;
    }
    return TRUE;
}
