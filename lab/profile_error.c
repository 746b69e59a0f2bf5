/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "lab/profile_private.h"

G_DEFINE_QUARK(lab - profile - error - quark, lab_profile_error)

/* Values are quoted in messages up to this many characters. */
#define SHOWN_MAX 80
#define WARNINGS_MAX 100
/* Longer words are not compared: the cost is the product of both lengths. */
#define WORD_MAX 64

void
lab_error_at(GError **error, LabProfileError code, const char *file, int line, const char *format,
             ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    if (line > 0)
        g_set_error(error, LAB_PROFILE_ERROR, code, "%s:%d: %s", file, line, message);
    else
        g_set_error(error, LAB_PROFILE_ERROR, code, "%s: %s", file, message);
}

char *
lab_shorten(const char *text)
{
    if (g_utf8_strlen(text, -1) <= SHOWN_MAX)
        return g_strdup(text);
    g_autofree char *start = g_utf8_substring(text, 0, SHOWN_MAX);
    return g_strconcat(start, "...", NULL);
}

char *
lab_setting_where(const LabSetting *s)
{
    g_autofree char *value = lab_shorten(s->value);

    if (strcmp(s->file, LAB_SET_FILE) == 0) {
        g_autofree char *address = *s->section ? lab_address(s->section, s->key) : g_strdup(s->key);
        return g_strdup_printf("--set \"%s=%s\"", address, value);
    }
    return g_strdup_printf("%s:%d: [%s] %s = %s", s->file, s->line, s->section, s->key, value);
}

void
lab_error_setting(GError **error, LabProfileError code, const LabSetting *s, const char *format,
                  ...)
{
    g_autofree char *where = lab_setting_where(s);
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, LAB_PROFILE_ERROR, code, "%s: %s", where, message);
}

void
lab_warn(LabProfile *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    if (p->warnings->len >= WARNINGS_MAX || g_hash_table_contains(p->warned, message))
        return;
    g_hash_table_add(p->warned, message);
    g_ptr_array_add(p->warnings, g_steal_pointer(&message));
}

/* Edit distance: insertions, deletions, substitutions; `-` and `_` are alike. */
static guint
distance(const char *a, const char *b)
{
    gsize na = strlen(a), nb = strlen(b);
    guint row[WORD_MAX + 1];

    for (gsize j = 0; j <= nb; j++)
        row[j] = j;
    for (gsize i = 1; i <= na; i++) {
        guint diagonal = row[0];
        row[0] = i;
        for (gsize j = 1; j <= nb; j++) {
            char ca = a[i - 1] == '-' ? '_' : g_ascii_tolower(a[i - 1]);
            char cb = b[j - 1] == '-' ? '_' : g_ascii_tolower(b[j - 1]);
            guint best = MIN(row[j], row[j - 1]) + 1;
            best = MIN(best, diagonal + (ca != cb));
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[nb];
}

char *
lab_near_hint(const char *word, const GPtrArray *names)
{
    const char *nearest = NULL;
    gsize n = strlen(word);
    /* A third of the word may be wrong; more is no misspelling. */
    guint best = MAX(2, n / 3) + 1;

    if (n <= WORD_MAX) {
        for (guint i = 0; i < names->len; i++) {
            const char *name = g_ptr_array_index(names, i);
            guint d = strlen(name) <= WORD_MAX ? distance(word, name) : G_MAXUINT;
            if (d < best && d < n) {
                best = d;
                nearest = name;
            }
        }
    }
    return nearest ? g_strdup_printf(" (did you mean `%s'?)", nearest) : g_strdup("");
}
