/* SPDX-License-Identifier: GPL-2.0-or-later */
/* testanything.org/tap-version-14-specification.html */
#include <json-glib/json-glib.h>

#include "results/escape.h"
#include "results/export.h"
#include "results/export_points.h"
#include "results/json.h"

/* A description: "#" would begin a directive, "\" an escape. */
static void
add_description(GString *out, const char *text)
{
    g_autofree char *plain = res_printable(text);
    for (const char *p = plain; *p != '\0'; p++) {
        if (*p == '#' || *p == '\\') {
            g_string_append_c(out, '\\');
        }
        g_string_append_c(out, *p);
    }
}

/* YAML takes JSON's strings for its own double-quoted ones. */
static void
add_yaml(GString *out, const char *key, const char *value)
{
    g_autofree char *plain = res_printable(value);
    g_autoptr(JsonNode) node = json_node_new(JSON_NODE_VALUE);
    json_node_set_string(node, plain);
    g_autofree char *quoted = g_strchomp(res_json_text(node));
    g_string_append_printf(out, "  %s: %s\n", key, quoted);
}

static void
add_point(GString *out, guint number, const char *suite, const ResPoint *point)
{
    gboolean bad = point->state == RES_POINT_FAILED || point->state == RES_POINT_ERROR;
    g_string_append_printf(out, "%s %u - ", bad ? "not ok" : "ok", number);
    add_description(out, suite);
    g_string_append(out, ": ");
    add_description(out, point->name);
    if (point->state == RES_POINT_SKIPPED) {
        g_string_append(out, " # SKIP ");
        add_description(out, point->type);
    }
    g_string_append_c(out, '\n');
    if (point->message[0] == '\0' && !bad) {
        return;
    }
    g_string_append(out, "  ---\n");
    add_yaml(out, "verdict", point->type);
    add_yaml(out, "message", point->message);
    if (point->seconds > 0) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        g_string_append_printf(out, "  duration_ms: %s\n",
                               g_ascii_formatd(text, sizeof text, "%.0f", point->seconds * 1e3));
    }
    g_string_append(out, "  ...\n");
}

char *
res_export_tap(const ResPage *p)
{
    g_autoptr(GPtrArray) suites = res_points_new(p);
    GString *out = g_string_new("TAP version 14\n");
    guint all = 0, number = 0;

    for (guint i = 0; i < suites->len; i++) {
        all += ((const ResPointSuite *)g_ptr_array_index(suites, i))->points->len;
    }
    g_string_append_printf(out, "1..%u\n", all);
    for (guint i = 0; i < suites->len; i++) {
        const ResPointSuite *s = g_ptr_array_index(suites, i);
        for (guint k = 0; k < s->points->len; k++) {
            add_point(out, ++number, s->name, g_ptr_array_index(s->points, k));
        }
    }
    return g_string_free(out, FALSE);
}
