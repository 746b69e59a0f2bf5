/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cyclictest's command line, as cyclictest(8) of rt-tests 1.5 to 2.10 describes it. The JSON holds
 * it as words joined by single spaces, quotes gone, so an empty word shows as two spaces.
 */
#include <string.h>

#include "results/cyclictest_private.h"

/* Short options whose value is a must: the rest of the word, or the next one. */
#define VALUED "bcdDFhHilopPTOyCIfg"
/* Short options that may have one: only digits or a list in the next word count as such. */
#define OPTIONAL "aAt"

static const struct {
    const char *name;
    char option;
} long_options[] = {
    {"breaktrace", 'b'}, {"clock", 'c'},     {"distance", 'd'}, {"duration", 'D'}, {"fifo", 'F'},
    {"histogram", 'h'},  {"histofall", 'H'}, {"histfall", 'H'}, {"interval", 'i'}, {"loops", 'l'},
    {"nsecs", 'N'},      {"oscope", 'o'},    {"priority", 'p'},
};

static gint64
number_of(const char *text)
{
    guint64 value = 0;
    const char *digits = text != NULL ? text : "";
    gsize len = strspn(digits, "0123456789");
    g_autofree char *head = g_strndup(digits, len);
    return g_ascii_string_to_unsigned(head, 10, 0, G_MAXINT64, &value, NULL) ? (gint64)value : -1;
}

static gboolean
is_empty_value(const char *value)
{
    return value == NULL || value[0] == '\0' || g_str_equal(value, "''") ||
           g_str_equal(value, "\"\"");
}

static void
take(ResCyclictestArgs *args, char option, const char *value)
{
    switch (option) {
    case 'N':
        args->nsecs = TRUE;
        break;
    case 'h':
    case 'H':
        args->histogram_empty = is_empty_value(value);
        args->histogram = !args->histogram_empty && number_of(value) > 0;
        break;
    case 'b':
        args->break_raw = number_of(value);
        break;
    case 'l':
        args->loops = number_of(value);
        break;
    case 'p':
        args->priority = number_of(value);
        break;
    default:
        break;
    }
}

/* The value in the word behind AT, which it moves on; NULL when there is none. An empty word is a
 * value when an option or nothing follows; otherwise it is just a second space. */
static const char *
next_value(char **words, gsize *at)
{
    const char *next = words[*at + 1];
    if (next == NULL || (next[0] == '-' && !g_ascii_isdigit(next[1]))) {
        return NULL;
    }
    (*at)++;
    if (next[0] == '\0' && words[*at + 1] != NULL && words[*at + 1][0] != '-' &&
        words[*at + 1][0] != '\0') {
        next = words[++*at];
    }
    return next;
}

static void
take_long(ResCyclictestArgs *args, char **words, gsize *at)
{
    const char *word = words[*at] + 2;
    const char *equals = strchr(word, '=');
    gsize len = equals != NULL ? (gsize)(equals - word) : strlen(word);
    for (gsize i = 0; i < G_N_ELEMENTS(long_options); i++) {
        if (strlen(long_options[i].name) != len || strncmp(long_options[i].name, word, len) != 0) {
            continue;
        }
        char option = long_options[i].option;
        const char *value = equals != NULL                   ? equals + 1
                            : strchr(VALUED, option) != NULL ? next_value(words, at)
                                                             : NULL;
        take(args, option, value);
        return;
    }
}

/* A word of short options: flags, then at most one with a value. */
static void
take_short(ResCyclictestArgs *args, char **words, gsize *at)
{
    for (const char *c = words[*at] + 1; *c != '\0'; c++) {
        if (strchr(VALUED, *c) != NULL) {
            char option = *c;
            take(args, option, c[1] != '\0' ? c + 1 : next_value(words, at));
            return;
        }
        if (strchr(OPTIONAL, *c) != NULL) {
            return;
        }
        take(args, *c, NULL);
    }
}

void
res_cyclictest_args_parse(ResCyclictestArgs *args, const char *cmdline)
{
    *args = (ResCyclictestArgs){.break_raw = -1, .loops = -1, .priority = -1};
    g_auto(GStrv) words = g_strsplit(cmdline, " ", -1);
    args->known = words[0] != NULL && words[0][0] != '\0';
    args->tool = args->known ? g_path_get_basename(words[0]) : g_strdup("");
    for (gsize i = 1; args->known && words[i] != NULL; i++) {
        if (g_str_equal(words[i], "--")) {
            return;
        }
        if (g_str_has_prefix(words[i], "--")) {
            take_long(args, words, &i);
        } else if (words[i][0] == '-') {
            take_short(args, words, &i);
        }
    }
}

void
res_cyclictest_args_clear(ResCyclictestArgs *args)
{
    g_clear_pointer(&args->tool, g_free);
}
