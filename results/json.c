/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/json.h"

#include <string.h>

#define WHOLE_DIGITS_MAX 18 /* so many always fit 63 bits */

typedef struct {
    const char *text;
    gsize len;
    gsize at;
    unsigned int line;
    gboolean wide;
    unsigned int values; /* an upper bound: every value follows a comma or an opening */
    gsize depth;
    char open[RES_JSON_DEPTH_MAX];
} Scan;

/* Leaves at behind the closing quote. FALSE with *REASON; NULL there means the end is missing. */
static gboolean
scan_string(Scan *s, char **reason)
{
    for (s->at++; s->at < s->len; s->at++) {
        unsigned char c = (unsigned char)s->text[s->at];
        if (c == '"') {
            s->at++;
            return TRUE;
        }
        if (c < 0x20) {
            *reason = g_strdup_printf("line %u: a control character (0x%02x) inside a string",
                                      s->line, c);
            return FALSE;
        }
        if (c != '\\') {
            continue;
        }
        s->at++;
        if (s->len - s->at >= 5 && memcmp(s->text + s->at, "u0000", 5) == 0) {
            *reason = g_strdup_printf("line %u: \\u0000 inside a string", s->line);
            return FALSE;
        }
    }
    return FALSE;
}

static gboolean
scan_bracket(Scan *s, char c, char **reason)
{
    if (c == '{' || c == '[') {
        if (s->depth == RES_JSON_DEPTH_MAX) {
            *reason =
                g_strdup_printf("line %u: nested deeper than %d", s->line, RES_JSON_DEPTH_MAX);
            return FALSE;
        }
        s->open[s->depth++] = c == '{' ? '}' : ']';
        return TRUE;
    }
    if (s->depth == 0 || s->open[s->depth - 1] != c) {
        *reason = g_strdup_printf("line %u: \"%c\" closes nothing", s->line, c);
        return FALSE;
    }
    s->depth--;
    return TRUE;
}

/* json-glib would read 010 as octal and 0x10 as hexadecimal, and wraps integers beyond 64 bits. */
static gboolean
scan_number(Scan *s, char **reason)
{
    gsize start = s->at + (s->text[s->at] == '-');
    gsize digits = 0;
    while (start + digits < s->len && g_ascii_isdigit(s->text[start + digits])) {
        digits++;
    }
    gsize end = start + digits;
    gboolean whole = end == s->len || strchr(".eE", s->text[end]) == NULL;
    while (end < s->len && (g_ascii_isalnum(s->text[end]) || strchr("+-.", s->text[end]) != NULL) &&
           s->text[end] != '\0') {
        end++;
    }
    g_autofree char *rest = g_strndup(s->text + start, MIN(end - start, 40));
    if (digits == 0 || (digits > 1 && s->text[start] == '0') || (whole && end != start + digits)) {
        *reason = g_strdup_printf("line %u: \"%s\" is not a number", s->line, rest);
        return FALSE;
    }
    if (whole && digits > WHOLE_DIGITS_MAX && !s->wide) {
        *reason = g_strdup_printf("line %u: the whole number %s is out of range", s->line, rest);
        return FALSE;
    }
    s->at = end;
    return TRUE;
}

/* Walks the text once with constant memory: what passes here is bounded for the real parser. */
static ResJsonState
scan_all(Scan *s, char **reason)
{
    gboolean closed = FALSE;
    while (s->at < s->len) {
        char c = s->text[s->at];
        if (c == '\n') {
            s->line++;
        }
        if (strchr(" \t\r\n", c) != NULL && c != '\0') {
            s->at++;
            continue;
        }
        if (closed || (s->depth == 0 && c != '{')) {
            *reason = closed ? g_strdup_printf("line %u: text after the end of the object", s->line)
                             : g_strdup_printf("line %u: not a JSON object", s->line);
            return RES_JSON_BAD;
        }
        if (c == '"') {
            if (!scan_string(s, reason)) {
                return *reason != NULL ? RES_JSON_BAD : RES_JSON_CUT;
            }
            continue;
        }
        if (strchr("{}[],:", c) != NULL && c != '\0') {
            if (strchr(",{[", c) != NULL && ++s->values > RES_JSON_VALUES_MAX) {
                *reason =
                    g_strdup_printf("line %u: more than %d values", s->line, RES_JSON_VALUES_MAX);
                return RES_JSON_BAD;
            }
            if (c != ',' && c != ':' && !scan_bracket(s, c, reason)) {
                return RES_JSON_BAD;
            }
            closed = s->depth == 0;
        } else if (g_ascii_isdigit(c) || c == '-') {
            if (!scan_number(s, reason)) {
                return RES_JSON_BAD;
            }
            continue;
        } else if (!g_ascii_isalpha(c)) {
            *reason =
                g_strdup_printf("line %u: character 0x%02x is not JSON", s->line, (unsigned char)c);
            return RES_JSON_BAD;
        }
        s->at++;
    }
    return closed ? RES_JSON_OK : RES_JSON_CUT;
}

typedef struct {
    GHashTable *sizes; /* JsonObject * -> members seen so far */
    char *duplicate;
} Members;

/* json-glib keeps the last of two equal keys; then the object has not grown. */
static void
on_member(JsonParser *parser G_GNUC_UNUSED, JsonObject *object, const char *name, gpointer data)
{
    Members *members = data;
    guint seen = GPOINTER_TO_UINT(g_hash_table_lookup(members->sizes, object));
    if (json_object_get_size(object) != seen + 1 && members->duplicate == NULL) {
        members->duplicate = g_strdup(name);
    }
    g_hash_table_insert(members->sizes, object, GUINT_TO_POINTER(json_object_get_size(object)));
}

JsonNode *
res_json_parse(const char *text, gsize len, gsize max, gboolean wide, ResJsonState *state,
               char **reason)
{
    *state = RES_JSON_BAD;
    *reason = NULL;
    if (len > max) {
        *reason = g_strdup_printf(
            "%" G_GSIZE_FORMAT " bytes, more than the %" G_GSIZE_FORMAT " read here", len, max);
        return NULL;
    }
    Scan s = {.text = text, .len = len, .line = 1, .wide = wide};
    *state = scan_all(&s, reason);
    if (*state == RES_JSON_CUT) {
        *reason = g_strdup_printf("ends at line %u inside the JSON object", s.line);
        return NULL;
    }
    if (*state == RES_JSON_BAD) {
        return NULL;
    }
    *state = RES_JSON_BAD;
    if (!g_utf8_validate_len(text, len, NULL)) {
        *reason = g_strdup("not UTF-8");
        return NULL;
    }
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GHashTable) sizes = g_hash_table_new(NULL, NULL);
    Members members = {.sizes = sizes};
    g_autoptr(GError) parse_error = NULL;
    g_signal_connect(parser, "object-member", G_CALLBACK(on_member), &members);
    gboolean ok = json_parser_load_from_data(parser, text, (gssize)len, &parse_error);
    g_autofree char *duplicate = members.duplicate;
    if (!ok) {
        /* json-glib quotes what it stumbled over, valid text or not */
        g_autofree char *message = g_utf8_make_valid(parse_error->message, -1);
        *reason = g_strdup_printf("line %u: %s", json_parser_get_current_line(parser), message);
        return NULL;
    }
    if (duplicate != NULL) {
        *reason = g_strdup_printf("key \"%s\" is there twice", duplicate);
        return NULL;
    }
    JsonNode *root = json_parser_steal_root(parser);
    if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root)) {
        g_clear_pointer(&root, json_node_unref);
        *reason = g_strdup("not a JSON object");
        return NULL;
    }
    *state = RES_JSON_OK;
    return root;
}

/* What json-glib 1.6 writes that no JSON reader takes: 1e+20 as "1e+20.0", and the control
 * character 0x1f in a string as it is. */
static GString *
fix_text(const GString *text)
{
    GString *out = g_string_sized_new(text->len);
    gboolean quoted = FALSE, exponent = FALSE;
    for (gsize at = 0; at < text->len; at++) {
        char c = text->str[at];
        if (quoted && c == '\\') {
            g_string_append_c(out, c);
            c = text->str[++at];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (quoted && c == 0x1f) {
            g_string_append(out, "\\u001f");
            continue;
        } else if (!quoted && c == 'e') {
            exponent = TRUE; /* true and false have no digits behind */
        } else if (!quoted && exponent && c == '.') {
            at++;
            continue;
        } else if (!g_ascii_isdigit(c) && c != '+' && c != '-') {
            exponent = FALSE;
        }
        g_string_append_c(out, c);
    }
    return out;
}

char *
res_json_text(JsonNode *root)
{
    g_autoptr(JsonGenerator) generator = json_generator_new();
    g_autoptr(GString) text = g_string_new(NULL);
    json_generator_set_pretty(generator, TRUE);
    json_generator_set_root(generator, root);
    json_generator_to_gstring(generator, text);
    GString *fixed = fix_text(text);
    g_string_append_c(fixed, '\n');
    return g_string_free(fixed, FALSE);
}

JsonNode *
res_json_value(JsonObject *o, const char *key, GType type)
{
    JsonNode *node = json_object_get_member(o, key);
    return node != NULL && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type
               ? node
               : NULL;
}

const char *
res_json_get_string(JsonObject *o, const char *key)
{
    JsonNode *node = res_json_value(o, key, G_TYPE_STRING);
    const char *text = node != NULL ? json_node_get_string(node) : NULL;
    return text != NULL && g_utf8_validate(text, -1, NULL) ? text : NULL;
}
