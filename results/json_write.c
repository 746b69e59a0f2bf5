/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/json_write.h"

#include <math.h>
#include <string.h>

#include "results/escape.h"
#include "results/json.h"

void
res_json_string(JsonBuilder *b, const char *name, const char *value)
{
    json_builder_set_member_name(b, name);
    if (value != NULL) {
        g_autofree char *valid = g_utf8_make_valid(value, -1);
        json_builder_add_string_value(b, valid);
    } else {
        json_builder_add_null_value(b);
    }
}

void
res_json_whole(JsonBuilder *b, const char *name, gint64 value)
{
    json_builder_set_member_name(b, name);
    json_builder_add_int_value(b, value);
}

void
res_json_number(JsonBuilder *b, const char *name, double value)
{
    json_builder_set_member_name(b, name);
    if (isfinite(value)) {
        json_builder_add_double_value(b, value);
    } else {
        json_builder_add_null_value(b);
    }
}

/* Such characters stand in strings only: outside, JSON is ASCII. The generator escapes those below
 * U+0020 and leaves the rest raw. */
static char *
escape(const char *text, gboolean script)
{
    GString *out = g_string_sized_new(strlen(text) + 16);
    for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (script && c == '\n') {
            p += strspn(p + 1, " "); /* indentation: strings hold no raw newline */
            continue;
        }
        if ((c < 0x20) || !((script && c == '<') || (c >= 0x7f && res_unprintable(c)))) {
            g_string_append_unichar(out, c);
        } else if (c > 0xffff) {
            g_string_append_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                                   0xdc00 + ((c - 0x10000) & 0x3ff));
        } else {
            g_string_append_printf(out, "\\u%04x", c);
        }
    }
    return g_string_free(out, FALSE);
}

char *
res_json_finish(JsonBuilder *b)
{
    g_autoptr(JsonNode) root = json_builder_get_root(b);
    g_autofree char *text = res_json_text(root);
    return escape(text, FALSE);
}

char *
res_json_finish_script(JsonBuilder *b)
{
    g_autoptr(JsonNode) root = json_builder_get_root(b);
    g_autofree char *text = res_json_text(root);
    return escape(text, TRUE);
}
