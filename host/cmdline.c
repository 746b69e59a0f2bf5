/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cmdline.h"

#include <string.h>

#include "host/quote.h"

void
host_param_free(HostParam *p)
{
    if (!p)
        return;
    g_free(p->name);
    g_free(p->value);
    g_free(p);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostParam, host_param_free)

/* The kernel's isspace() is Latin-1's: a no-break space, or the second byte of a UTF-8 `à`, parts
 * tokens too. */
static gboolean
is_space(char c)
{
    return g_ascii_isspace(c) || c == '\v' || (unsigned char)c == 0xa0;
}

static const char *
skip_spaces(const char *p)
{
    while (is_space(*p))
        p++;
    return p;
}

/*
 * Takes the parameter at *TEXT, which is not white space, and moves *TEXT behind it: next_arg(). A
 * `"` at the very start and one right behind the `=` are left out, each with its partner at the
 * very end; all others stay in.
 */
static HostParam *
next_param(const char **text, gboolean *open_quote)
{
    const char *start = *text;
    gboolean in_quote = FALSE;
    gboolean quoted = *start == '"';
    if (quoted) {
        start++;
        in_quote = TRUE;
    }
    const char *equals = NULL;
    const char *end = start;
    for (; *end && (in_quote || !is_space(*end)); end++) {
        /* A `=` in the first place doesn't count. */
        if (*end == '=' && !equals && end > start)
            equals = end;
        if (*end == '"')
            in_quote = !in_quote;
    }
    *open_quote = in_quote;
    *text = *end ? end + 1 : end;

    const char *value = equals ? equals + 1 : NULL;
    gboolean value_quoted = value && value < end && *value == '"';
    if (value_quoted)
        value++;
    if ((quoted || value_quoted) && end > start && end[-1] == '"')
        end--;

    HostParam *p = g_new0(HostParam, 1);
    p->name = g_strndup(start, (gsize)((equals ? equals : end) - start));
    if (value)
        p->value = g_strndup(value, value < end ? (gsize)(end - value) : 0);
    return p;
}

GPtrArray *
host_cmdline_split(const char *text, GPtrArray *warnings)
{
    GPtrArray *params = g_ptr_array_new_with_free_func((GDestroyNotify)host_param_free);
    const char *p = skip_spaces(text ? text : "");
    while (*p) {
        const char *start = p;
        gboolean open_quote;
        g_ptr_array_add(params, next_param(&p, &open_quote));
        if (open_quote && warnings) {
            g_autofree char *quoted = host_quote(start, 60);
            g_ptr_array_add(warnings,
                            g_strdup_printf("open quote: all of `%s`, up to the end of the "
                                            "line, is one parameter",
                                            quoted));
        }
        p = skip_spaces(p);
    }
    return params;
}

static char
dash_to_underscore(char c)
{
    return c == '-' ? '_' : c;
}

gboolean
host_param_name_equal(const char *a, const char *b)
{
    while (*a && dash_to_underscore(*a) == dash_to_underscore(*b)) {
        a++;
        b++;
    }
    return !*a && !*b;
}

guint
host_cmdline_kernel_count(const GPtrArray *params)
{
    for (guint i = 0; i < params->len; i++) {
        const HostParam *p = params->pdata[i];
        if (!p->value && !strcmp(p->name, "--"))
            return i;
    }
    return params->len;
}

GPtrArray *
host_cmdline_values(const GPtrArray *params, const char *name)
{
    GPtrArray *values = g_ptr_array_new();
    guint n = host_cmdline_kernel_count(params);
    for (guint i = 0; i < n; i++) {
        const HostParam *p = params->pdata[i];
        if (host_param_name_equal(p->name, name))
            g_ptr_array_add(values, p->value);
    }
    return values;
}

/* Whether TEXT is one parameter, P, to the kernel; with LAST, its quote may stay open. */
static gboolean
is_param(const char *text, const HostParam *p, gboolean last)
{
    if (!*text || is_space(*text))
        return FALSE;
    gboolean open_quote;
    g_autoptr(HostParam) got = next_param(&text, &open_quote);
    return !*text && (last || !open_quote) && !strcmp(got->name, p->name) &&
           !g_strcmp0(got->value, p->value);
}

/*
 * The ways to write a parameter, the plain one first. A quote inside a value can't be escaped, so
 * which of them gives the parameter back is found by reading them.
 */
static char *
param_text(const HostParam *p, gboolean last)
{
    const char *equals = p->value ? "=" : "";
    const char *value = p->value ? p->value : "";
    static const struct {
        const char *before, *inside, *after;
    } quotes[] = {
        {"", "", ""},   {"", "\"", "\""},   {"\"", "", "\""}, {"", "\"", ""},
        {"\"", "", ""}, {"\"", "\"", "\""}, {"\"", "\"", ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(quotes); i++) {
        g_autofree char *text = g_strconcat(quotes[i].before, p->name, equals, quotes[i].inside,
                                            value, quotes[i].after, NULL);
        if (is_param(text, p, last))
            return g_steal_pointer(&text);
    }
    return NULL;
}

char *
host_cmdline_join(const GPtrArray *params)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint i = 0; i < params->len; i++) {
        g_autofree char *text = param_text(params->pdata[i], i + 1 == params->len);
        if (!text)
            return NULL;
        if (i)
            g_string_append_c(line, ' ');
        g_string_append(line, text);
    }
    return g_string_free(g_steal_pointer(&line), FALSE);
}

gboolean
host_cmdline_equal(const char *a, const char *b)
{
    g_autoptr(GPtrArray) pa = host_cmdline_split(a, NULL);
    g_autoptr(GPtrArray) pb = host_cmdline_split(b, NULL);
    if (pa->len != pb->len)
        return FALSE;
    for (guint i = 0; i < pa->len; i++) {
        const HostParam *x = pa->pdata[i];
        const HostParam *y = pb->pdata[i];
        if (!host_param_name_equal(x->name, y->name) || g_strcmp0(x->value, y->value))
            return FALSE;
    }
    return TRUE;
}
