/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/text.h"

#include <string.h>

#include "results/cyclictest_private.h"

#define LINE_MAX_BYTES (256 * 1024) /* a histogram's row for all threads fits */
#define SHOWN_MAX 100               /* bytes of a line in a message */

typedef struct {
    ResSource *source;
    GString *line;
    unsigned int number;
    gboolean too_long; /* the line was cut */
    char buffer[64 * 1024];
    gsize at, filled;
} Lines;

typedef struct {
    GRegex *clock, *host, *seconds, *syslog, *command;
} Patterns;

/* What a terminal takes as a command (ESC [ ... letter, ESC ] ... BEL, ESC and a letter), other
 * control characters, and all that a carriage return had overwritten go. */
static char *
strip_controls(char *line)
{
    gsize len = strlen(line);
    while (len > 0 && line[len - 1] == '\r') {
        line[--len] = '\0';
    }
    char *last = strrchr(line, '\r');
    line = last != NULL ? last + 1 : line;
    char *to = line;
    for (const char *c = line; *c != '\0'; c++) {
        if (*c == '\033' && c[1] == '[') {
            c += 2 + strspn(c + 2, "0123456789;:<=>? !\"#$%&'()*+,-./");
        } else if (*c == '\033' && c[1] == ']') {
            c += strcspn(c, "\a");
        } else if (*c == '\033') {
            c += c[1] != '\0';
        } else if (*c == '\t' || !g_ascii_iscntrl(*c)) {
            *to++ = *c;
        }
        if (*c == '\0') {
            break;
        }
    }
    *to = '\0';
    return line;
}

static GRegex *
compile(const char *pattern)
{
    return g_regex_new(pattern, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, NULL);
}

static const Patterns *
patterns(void)
{
    static Patterns p;
    static gsize ready;
    if (g_once_init_enter(&ready)) {
        /* ISO 8601 (GitHub, GitLab with its stream's mark, docker, Jenkins) */
        p.clock = compile("^\\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}"
                          "(?:[.,][0-9]{1,9})?(?:Z| ?[+-][0-9]{2}:?[0-9]{2})?\\]?"
                          "(?: [0-9]{2}[OE]\\+?)?(?:[ \\t]|$)");
        p.host = compile("^[^ ]+ [^ ]+\\[[0-9]+\\]: "); /* journald, after its time */
        p.seconds = compile("^(?:\\[ *[0-9]+\\.[0-9]+\\]|\\[?[0-9]{2}:[0-9]{2}:[0-9]{2}"
                            "(?:[.,][0-9]{1,9})?\\]?)(?:[ \\t]|$)");
        p.syslog = compile("^[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [^ ]+ "
                           "[^ :\\[]+(?:\\[[0-9]+\\])?: ");
        /* at the start, after a shell's trace (+ ...) or a prompt that ends in $, # or %, maybe
         * under one of these. What a shell takes as its own ends it. */
        p.command = compile("^(?:\\++ +|[^ ].{0,100}[^ ][$#%] +|\\$ +)?"
                            "(?:(?:sudo|nice|ionice|chrt|taskset|timeout|numactl|stdbuf|env|exec|"
                            "time)(?: +[^ ]+){0,8} +)?"
                            "((?:[^ ]*/)?(?:cyclictest|oslat|rtla +(?:timerlat|osnoise))"
                            "(?: +[^|<>;&]*?)?) *(?:[0-9]?[|<>;&].*)?$");
        g_once_init_leave(&ready, 1);
    }
    return &p;
}

static gboolean
skip_match(const GRegex *regex, char **line)
{
    g_autoptr(GMatchInfo) match = NULL;
    int start = 0, end = 0;
    if (!g_regex_match(regex, *line, 0, &match) ||
        !g_match_info_fetch_pos(match, 0, &start, &end)) {
        return FALSE;
    }
    *line += end;
    return TRUE;
}

char *
res_text_strip(char *line)
{
    const Patterns *p = patterns();
    line = strip_controls(line);
    /* logs of logs have two; a file of a million rows should not run four regexes on each */
    for (int i = 0; i < 3; i++) {
        gboolean bracket = line[0] == '[', digit = g_ascii_isdigit(line[0]);
        gsize n = strnlen(line, 5);
        if (n == 5 && (bracket || (digit && line[4] == '-')) && skip_match(p->clock, &line)) {
            skip_match(p->host, &line);
        } else if (!(n == 5 && (bracket || (digit && line[2] == ':')) &&
                     skip_match(p->seconds, &line)) &&
                   !(n == 5 && g_ascii_isupper(line[0]) && line[3] == ' ' &&
                     skip_match(p->syslog, &line))) {
            break;
        }
    }
    return line;
}

/* FALSE at the end or on an error. */
static gboolean
next_line(Lines *l, GError **error)
{
    g_string_truncate(l->line, 0);
    l->too_long = FALSE;
    l->number++;
    for (;;) {
        if (l->at == l->filled) {
            gssize n = res_source_read(l->source, l->buffer, sizeof l->buffer, error);
            l->at = 0;
            l->filled = n > 0 ? (gsize)n : 0;
            if (n == 0 && l->line->len > 0) {
                res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                 "ends in the middle of line %u", l->number);
            }
            if (n <= 0) {
                l->number--;
                return FALSE;
            }
        }
        const char *from = l->buffer + l->at;
        const char *newline = memchr(from, '\n', l->filled - l->at);
        gsize n = newline != NULL ? (gsize)(newline - from) : l->filled - l->at;
        gsize room = LINE_MAX_BYTES - l->line->len;
        l->too_long |= n > room;
        g_string_append_len(l->line, from, (gssize)MIN(n, room));
        l->at += n + (newline != NULL);
        if (newline != NULL) {
            return TRUE;
        }
    }
}

/* Puts the line's number and text around what a reader said. */
static void
place_error(GError **error, GError *failed, unsigned int number, const char *text)
{
    g_autoptr(GError) owned = failed;
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)strnlen(text, SHOWN_MAX));
    for (char *c = valid; *c != '\0'; c++) {
        *c = g_ascii_iscntrl(*c) ? ' ' : *c;
    }
    g_set_error(error, owned->domain, owned->code, "line %u: %s: \"%s%s\"", number, owned->message,
                valid, strnlen(text, SHOWN_MAX + 1) > SHOWN_MAX ? "..." : "");
}

static const ResTextReader *const readers[] = {&res_cyclictest_text, &res_oslat_text,
                                               &res_rtla_text};

static const ResTextReader *
claimed_by(const char *line)
{
    for (gsize i = 0; i < G_N_ELEMENTS(readers); i++) {
        if (readers[i]->claims(line)) {
            return readers[i];
        }
    }
    return NULL;
}

typedef struct {
    const ResTextReader *reader;
    gpointer state;
    ResLatency *c;
    GPtrArray *commands; /* char *: different ones; more than one of a tool are no help */
} Reading;

static void
note_command(Reading *r, const char *line)
{
    g_autoptr(GMatchInfo) match = NULL;
    if ((strstr(line, "cyclictest") == NULL && strstr(line, "oslat") == NULL &&
         strstr(line, "rtla") == NULL) ||
        r->commands->len > 16 || !g_regex_match(patterns()->command, line, 0, &match)) {
        return;
    }
    g_autofree char *command = g_match_info_fetch(match, 1);
    g_autofree char *valid = g_utf8_make_valid(command, -1);
    if (!g_ptr_array_find_with_equal_func(r->commands, valid, g_str_equal, NULL)) {
        g_ptr_array_add(r->commands, g_steal_pointer(&valid));
    }
}

static gboolean
read_line(Reading *r, const Lines *l, GError **error)
{
    gsize bytes = strlen(l->line->str);
    gboolean binary = bytes != l->line->len;
    char *line = res_text_strip(l->line->str);
    const ResTextReader *claims = claimed_by(line);
    g_autoptr(GError) failed = NULL;

    if (r->reader == NULL && claims != NULL) {
        r->reader = claims;
    }
    if (r->reader == NULL) {
        note_command(r, line);
        return TRUE;
    }
    if (r->state == NULL) {
        r->c = res_latency_new(r->reader->tool);
        r->state = r->reader->start(r->c);
    }
    g_autofree char *shown = g_strndup(line, SHOWN_MAX + 1); /* readers may cut the line up */
    if (claims != NULL && claims != r->reader) {
        res_latency_fail(&failed, RES_LATENCY_ERROR_INCOMPLETE,
                         "output of %s begins; one file holds one run of one tool", claims->tool);
    } else if (binary) {
        res_latency_fail(&failed, RES_LATENCY_ERROR_FORMAT, "a zero byte");
    } else if (l->too_long) {
        res_latency_fail(&failed, RES_LATENCY_ERROR_FORMAT, "longer than 256 KiB");
    } else {
        note_command(r, line);
        r->reader->line(r->state, line, &failed);
    }
    if (failed != NULL) {
        place_error(error, g_steal_pointer(&failed), l->number, shown);
        return FALSE;
    }
    return TRUE;
}

static gboolean
take_command(Reading *r, GError **error)
{
    const char *own = NULL;
    guint n = 0;
    for (guint i = 0; i < r->commands->len; i++) {
        const char *command = g_ptr_array_index(r->commands, i);
        if (strstr(command, r->reader->tool) != NULL) {
            own = command;
            n++;
        }
    }
    if (n > 1) {
        res_latency_note(r->c,
                         "the text shows %u different command lines of %s: which one made "
                         "these figures is not known",
                         n, r->reader->tool);
    }
    if (n == 1 && r->reader == &res_cyclictest_text) {
        return res_cyclictest_set_cmdline_raw(r->c, own, error);
    }
    if (n == 1) {
        g_free(r->c->cmdline);
        r->c->cmdline = g_strdup(own);
    }
    return TRUE;
}

static gboolean
read_all(Reading *r, Lines *l, GError **error)
{
    g_autoptr(GError) failed = NULL;
    while (next_line(l, &failed)) {
        if (!read_line(r, l, error)) {
            return FALSE;
        }
    }
    if (failed != NULL) {
        g_propagate_error(error, g_steal_pointer(&failed));
        return FALSE;
    }
    if (r->state == NULL && r->reader != NULL) {
        r->c = res_latency_new(r->reader->tool);
        r->state = r->reader->start(r->c);
    }
    if (r->reader == NULL) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FOREIGN,
                                "%u lines of text, none of them cyclictest's, oslat's or rtla's",
                                l->number);
    }
    return r->reader->end(r->state, l->number, error) && res_latency_check(r->c, error) &&
           take_command(r, error);
}

ResLatency *
res_text_read(ResSource *source, const ResTextReader *reader, const char **tool, GError **error)
{
    g_autofree Lines *l = g_new0(Lines, 1);
    g_autoptr(GString) line = g_string_new(NULL);
    g_autoptr(GPtrArray) commands = g_ptr_array_new_with_free_func(g_free);
    Reading r = {.reader = reader, .commands = commands};
    l->source = source;
    l->line = line;
    gboolean ok = read_all(&r, l, error);
    if (r.state != NULL) {
        r.reader->free(r.state);
    }
    if (tool != NULL) {
        *tool = r.reader != NULL ? r.reader->tool : NULL;
    }
    if (!ok) {
        g_clear_pointer(&r.c, res_latency_free);
        if (r.reader != NULL) {
            g_prefix_error(error, "%s's output: ", r.reader->tool);
        }
    }
    return r.c;
}
