/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One INI file. GKeyFile takes it apart; a scan of the lines before that knows where each key
 * stands, and refuses what GKeyFile takes in silence: repeated keys, groups that continue an
 * earlier one, `;` comments.
 */
#include <string.h>

#include "guest/report.h"
#include "lab/profile_private.h"

/* In one file: */
#define SECTIONS_MAX 1000
#define EXPECTS_MAX 1000
#define NAME_MAX_BYTES 256 /* of a section's title or a key */

typedef struct {
    const char *file;
    int line;
    const LabSection *section; /* NULL before the first */
    GHashTable *seen;          /* "section" or "section\nkey" -> line */
    GString *clean;            /* what GKeyFile gets */
    LabLayer *layer;
    guint workloads;
} Scan;

static void G_GNUC_PRINTF(4, 5)
    scan_error(const Scan *s, GError **error, LabProfileError code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    lab_error_at(error, code, s->file, s->line, "%s", message);
}

/* Names that become part of addresses, metrics, cell names and the job's text. */
static gboolean
name_valid(const char *name, const char *extra)
{
    if (!g_ascii_isalnum(*name) || strlen(name) > 64)
        return FALSE;
    for (const char *p = name; *p; p++)
        if (!g_ascii_isalnum(*p) && !strchr(extra, *p))
            return FALSE;
    return TRUE;
}

/* "[workload  X ]" is "workload X"; FALSE for sections there are not. */
static gboolean
section_name(const Scan *s, const char *raw, char **name, GError **error)
{
    static const char *const plain[] = {"main",  "matrix", "host",    "guest",
                                        "check", "expect", "relevant"};
    static const char *const titled[] = {"variant", "workload", "reference"};
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    gsize n = strcspn(raw, " \t");
    g_autofree char *word = g_strndup(raw, n);
    g_autofree char *title = g_strstrip(g_strdup(raw + n));

    for (gsize i = 0; i < G_N_ELEMENTS(plain); i++) {
        g_ptr_array_add(known, (gpointer)plain[i]);
        if (strcmp(word, plain[i]) != 0)
            continue;
        if (*title) {
            scan_error(s, error, LAB_PROFILE_ERROR_KEY, "[%s]: [%s] has no name after it", raw,
                       word);
            return FALSE;
        }
        *name = g_steal_pointer(&word);
        return TRUE;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(titled); i++) {
        g_ptr_array_add(known, (gpointer)titled[i]);
        if (strcmp(word, titled[i]) != 0)
            continue;
        if (!*title) {
            scan_error(s, error, LAB_PROFILE_ERROR_KEY, "[%s] needs a name: [%s NAME]", word, word);
            return FALSE;
        }
        gboolean ok = i == 2 || name_valid(title, i == 0 ? "._+-" : "_-");
        if (!ok || (i == 1 && !g_ascii_isalpha(*title))) {
            scan_error(s, error, LAB_PROFILE_ERROR_KEY,
                       "[%s]: a %s's name is up to 64 letters, digits, %s", raw, word,
                       i == 0 ? "`.', `_', `+', `-'" : "`_', `-', and starts with a letter");
            return FALSE;
        }
        *name = g_strconcat(word, " ", title, NULL);
        return TRUE;
    }
    g_autofree char *hint = lab_near_hint(word, known);
    scan_error(s, error, LAB_PROFILE_ERROR_KEY,
               "unknown section [%s]%s; there are main, matrix, variant NAME, host, guest, "
               "workload NAME, check, expect, relevant, reference TITLE",
               raw, hint);
    return FALSE;
}

/* Remembers WHAT as met in this line; FALSE when it was met before. */
static gboolean
first_time(const Scan *s, const char *what, const char *shown, GError **error)
{
    int line = GPOINTER_TO_INT(g_hash_table_lookup(s->seen, what));

    if (line > 0) {
        scan_error(s, error, LAB_PROFILE_ERROR_SYNTAX, "%s stands a second time; first in line %d",
                   shown, line);
        return FALSE;
    }
    g_hash_table_insert(s->seen, g_strdup(what), GINT_TO_POINTER(s->line));
    return TRUE;
}

static gboolean
scan_section(Scan *s, const char *text, GError **error)
{
    const char *close = strchr(text, ']');

    if (!close || close[1 + strspn(close + 1, " \t")]) {
        g_autofree char *shown = lab_shorten(text);
        scan_error(s, error, LAB_PROFILE_ERROR_SYNTAX, "`%s': a section is one [NAME] alone",
                   shown);
        return FALSE;
    }
    g_autofree char *raw = g_strstrip(g_strndup(text + 1, close - text - 1));
    if (strlen(raw) > NAME_MAX_BYTES) {
        g_autofree char *start = lab_shorten(raw);
        scan_error(s, error, LAB_PROFILE_ERROR_KEY, "[%s]: longer than any section's name", start);
        return FALSE;
    }
    g_autofree char *name = NULL;
    if (!section_name(s, raw, &name, error))
        return FALSE;
    g_autofree char *shown = g_strdup_printf("[%s]", name);
    if (!first_time(s, name, shown, error))
        return FALSE;
    LabSection *section = g_new0(LabSection, 1);
    section->name = g_steal_pointer(&name);
    section->file = g_strdup(s->file);
    section->line = s->line;
    g_ptr_array_add(s->layer->sections, section);
    s->section = section;
    s->workloads += lab_workload_name(section->name) != NULL;
    if (s->workloads > BM_WORKLOADS_MAX) {
        scan_error(s, error, LAB_PROFILE_ERROR_VALUE, "more than %d workloads", BM_WORKLOADS_MAX);
        return FALSE;
    }
    if (s->layer->sections->len > SECTIONS_MAX) {
        scan_error(s, error, LAB_PROFILE_ERROR_VALUE, "more than %d sections", SECTIONS_MAX);
        return FALSE;
    }
    g_string_append_printf(s->clean, "[%s]\n", section->name);
    return TRUE;
}

/* Where a ` ; text` or ` # text` starts behind VALUE, outside double quotes; NULL when there is
 * none. */
static const char *
trailing_comment(const char *value)
{
    gboolean quoted = FALSE;

    for (const char *p = value; *p; p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (!quoted && (*p == ';' || *p == '#') && (p == value || g_ascii_isspace(p[-1])))
            return p;
    }
    return NULL;
}

/* Free text may hold anything. */
static gboolean
is_prose(const char *section, const char *key)
{
    return g_str_has_prefix(section, "reference ") ||
           (strcmp(section, "main") == 0 && strcmp(key, "summary") == 0);
}

static gboolean
value_allowed(const Scan *s, const char *key, const char *value, GError **error)
{
    if (strlen(value) > LAB_PROFILE_VALUE_MAX) {
        scan_error(s, error, LAB_PROFILE_ERROR_VALUE, "the value of %s is longer than %d bytes",
                   key, LAB_PROFILE_VALUE_MAX);
        return FALSE;
    }
    const char *comment = is_prose(s->section->name, key) ? NULL : trailing_comment(value);
    if (comment) {
        g_autofree char *shown = lab_shorten(comment);
        scan_error(s, error, LAB_PROFILE_ERROR_SYNTAX,
                   "`%s' behind a value is not a comment: comments are lines of their own that "
                   "start with #",
                   shown);
        return FALSE;
    }
    return TRUE;
}

static gboolean
expectation_name(const char *text)
{
    if (!g_ascii_isalpha(*text))
        return FALSE;
    for (; *text; text++)
        if (!g_ascii_isalnum(*text) && *text != '_' && *text != '-')
            return FALSE;
    return TRUE;
}

/* LINE holds blanks before TEXT, so columns are those of the file. */
static gboolean
scan_expectation(Scan *s, const char *line, const char *text, GError **error)
{
    const char *equals = strchr(text, '=');
    g_autofree char *key = equals ? g_strchomp(g_strndup(text, equals - text)) : g_strdup("");
    gboolean named = expectation_name(key);
    const char *expression = named ? equals + 1 : text;

    expression += strspn(expression, " \t");
    if (!value_allowed(s, named ? key : "an expectation", expression, error))
        return FALSE;
    if (named) {
        g_autofree char *id = g_strconcat(s->section->name, "\n", key, NULL);
        if (!first_time(s, id, key, error))
            return FALSE;
    }
    if (s->layer->expects->len >= EXPECTS_MAX) {
        scan_error(s, error, LAB_PROFILE_ERROR_VALUE, "more than %d expectations", EXPECTS_MAX);
        return FALSE;
    }
    LabExpectLine *e = g_new0(LabExpectLine, 1);
    e->public.name = g_steal_pointer(&key);
    e->public.text = g_strchomp(g_strdup(expression));
    e->public.file = g_strdup(s->file);
    e->public.line = s->line;
    e->named = named;
    e->column = (int)g_utf8_strlen(line, expression - line) + 1;
    g_ptr_array_add(s->layer->expects, e);
    return TRUE;
}

static gboolean
scan_pair(Scan *s, const char *text, GError **error)
{
    const char *equals = strchr(text, '=');
    g_autofree char *start = lab_shorten(text);

    if (!s->section) {
        scan_error(s, error, LAB_PROFILE_ERROR_SYNTAX,
                   "`%s' stands before the first [section]; is it a profile?", start);
        return FALSE;
    }
    if (!equals || equals == text) {
        scan_error(s, error, LAB_PROFILE_ERROR_SYNTAX,
                   "`%s' is none of `key = value', [section], # comment", start);
        return FALSE;
    }
    g_autofree char *key = g_strchomp(g_strndup(text, equals - text));
    if (strlen(key) > NAME_MAX_BYTES) {
        scan_error(s, error, LAB_PROFILE_ERROR_KEY, "`%s': longer than any key", start);
        return FALSE;
    }
    if (strpbrk(key, "[]")) {
        scan_error(s, error, LAB_PROFILE_ERROR_KEY, "[%s] `%s': no key has brackets",
                   s->section->name, start);
        return FALSE;
    }
    g_autofree char *id = g_strconcat(s->section->name, "\n", key, NULL);
    g_autofree char *shown = g_strdup_printf("[%s] %s", s->section->name, key);
    if (!first_time(s, id, shown, error) ||
        !value_allowed(s, key, equals + 1 + strspn(equals + 1, " \t"), error))
        return FALSE;
    g_ptr_array_add(s->layer->settings,
                    lab_setting_new(s->section->name, key, "", s->file, s->line));
    g_string_append_printf(s->clean, "%s\n", text);
    return TRUE;
}

static gboolean
scan_line(Scan *s, const char *line, GError **error)
{
    const char *text = line + strspn(line, " \t");

    for (const char *p = line; *p; p++) {
        if (g_ascii_iscntrl(*p) && *p != '\t') {
            scan_error(s, error, LAB_PROFILE_ERROR_SYNTAX, "control character 0x%02x", (guchar)*p);
            return FALSE;
        }
    }
    if (!*text || *text == '#')
        return TRUE;
    if (*text == ';') {
        scan_error(s, error, LAB_PROFILE_ERROR_SYNTAX, "comments start with #, not with ;");
        return FALSE;
    }
    if (*text == '[')
        return scan_section(s, text, error);
    if (s->section && strcmp(s->section->name, "expect") == 0)
        return scan_expectation(s, line, text, error);
    return scan_pair(s, text, error);
}

static gboolean
text_allowed(const char *text, gsize len, const char *file, GError **error)
{
    const char *end = NULL;

    if (len > LAB_PROFILE_BYTES_MAX) {
        lab_error_at(error, LAB_PROFILE_ERROR_IO, file, 0, "larger than %d bytes: no profile",
                     LAB_PROFILE_BYTES_MAX);
        return FALSE;
    }
    gboolean binary = memchr(text, 0, len) != NULL;
    if (!binary && g_utf8_validate_len(text, len, &end))
        return TRUE;
    int line = 1;
    const char *bad = binary ? memchr(text, 0, len) : end;
    for (const char *p = text; p < bad; p++)
        line += *p == '\n';
    lab_error_at(error, LAB_PROFILE_ERROR_SYNTAX, file, line,
                 binary ? "a NUL byte: this is no text file" : "not UTF-8");
    return FALSE;
}

/* GKeyFile's values, raw: a backslash in a kernel command line stays one. */
static gboolean
take_values(Scan *s, GError **error)
{
    g_autoptr(GKeyFile) ini = g_key_file_new();
    g_autoptr(GError) inner = NULL;

    if (s->clean->len > 0 && !g_key_file_load_from_data(ini, s->clean->str, s->clean->len,
                                                        G_KEY_FILE_KEEP_TRANSLATIONS, &inner)) {
        lab_error_at(error, LAB_PROFILE_ERROR_SYNTAX, s->file, 0, "%s", inner->message);
        return FALSE;
    }
    for (guint i = 0; i < s->layer->settings->len; i++) {
        LabSetting *setting = g_ptr_array_index(s->layer->settings, i);
        char *value = g_key_file_get_value(ini, setting->section, setting->key, &inner);
        if (!value) {
            lab_error_at(error, LAB_PROFILE_ERROR_SYNTAX, s->file, setting->line, "%s",
                         inner->message);
            return FALSE;
        }
        g_free(setting->value);
        setting->value = g_strstrip(value);
    }
    return TRUE;
}

LabLayer *
lab_ini_parse(const char *text, gsize len, const char *file, GError **error)
{
    if (!text_allowed(text, len, file, error))
        return NULL;
    g_autoptr(LabLayer) layer = lab_layer_new();
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) clean = g_string_new(NULL);
    Scan s = {.file = file, .seen = seen, .clean = clean, .layer = layer};
    const char *end = text + len;

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        text += 3;
    while (text < end) {
        const char *newline = memchr(text, '\n', end - text);
        gsize n = (newline ? newline : end) - text;
        g_autofree char *line = g_strndup(text, n);
        if (n > 0 && line[n - 1] == '\r')
            line[n - 1] = '\0';
        s.line++;
        if (!scan_line(&s, line, error))
            return NULL;
        text += newline ? n + 1 : n;
    }
    if (!take_values(&s, error))
        return NULL;
    return g_steal_pointer(&layer);
}
