/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms as a file: written by hand, since one bucket a line keeps it small and readable. */
#include <math.h>
#include <string.h>

#include "results/hist_private.h"
#include "results/json.h"

#define FORMAT "nohzlab-hist"
#define VERSION 1

static void
append_one(GString *out, const ResHist *h)
{
    g_string_append_printf(out,
                           "{\"name\":\"%s\",\"count\":%" G_GUINT64_FORMAT
                           ",\"sum\":%" G_GUINT64_FORMAT ",\"min\":%" G_GINT64_FORMAT
                           ",\"max\":%" G_GINT64_FORMAT ",\"censored\":%" G_GUINT64_FORMAT
                           ",\"limit\":%" G_GINT64_FORMAT ",\"buckets\":[",
                           h->name, h->count, h->sum, h->min, h->max, h->censored, h->limit);
    g_autoptr(GArray) buckets = res_hist_buckets(h);
    for (guint i = 0; i < buckets->len; i++) {
        const ResHistBucket *b = &g_array_index(buckets, ResHistBucket, i);
        g_string_append_printf(out, "%s[%" G_GINT64_FORMAT ",%" G_GUINT64_FORMAT "]",
                               i > 0 ? "," : "", b->low, b->count);
    }
    g_string_append(out, "]}");
}

char *
res_hist_to_json(const GPtrArray *hists)
{
    const ResHist *first = g_ptr_array_index(hists, 0);
    GString *out = g_string_new(NULL);
    g_string_append_printf(out,
                           "{\"format\":\"" FORMAT "\",\"version\":%d,\"unit\":\"%s\","
                           "\"bits\":%d,\"histograms\":[\n",
                           VERSION, first->unit, RES_HIST_BITS);
    for (guint i = 0; i < hists->len; i++) {
        append_one(out, g_ptr_array_index(hists, i));
        g_string_append(out, i + 1 < hists->len ? ",\n" : "\n");
    }
    g_string_append(out, "]}\n");
    return g_string_free(out, FALSE);
}

/* --- reading --- */

static gboolean G_GNUC_PRINTF(2, 3) fail(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, RES_HIST_ERROR, RES_HIST_ERROR_FORMAT, "a histogram file: %s", what);
    return FALSE;
}

static gboolean
whole_of(JsonNode *node, gint64 max, gint64 *value)
{
    if (node == NULL || !JSON_NODE_HOLDS_VALUE(node) ||
        json_node_get_value_type(node) != G_TYPE_INT64) {
        return FALSE;
    }
    *value = json_node_get_int(node);
    return *value >= 0 && *value <= max;
}

static gboolean
get_whole(JsonObject *o, const char *key, gint64 max, gint64 *value, GError **error)
{
    return whole_of(json_object_get_member(o, key), max, value) ||
           fail(error, "\"%s\" must be a whole number from 0 to %" G_GINT64_FORMAT, key, max);
}

/* Names and units are printed and written as they are: no quotes, no controls. */
static const char *
get_word(JsonObject *o, const char *key, gsize max, GError **error)
{
    JsonNode *node = res_json_value(o, key, G_TYPE_STRING);
    const char *text = node != NULL ? json_node_get_string(node) : NULL;
    if (text == NULL || strlen(text) > max) {
        fail(error, "\"%s\" must be a text of at most %" G_GSIZE_FORMAT " bytes", key, max);
        return NULL;
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (!g_ascii_isgraph(*c) || *c == '"' || *c == '\\') {
            fail(error, "\"%s\" has the byte 0x%02x", key, (guint8)*c);
            return NULL;
        }
    }
    return text;
}

static JsonArray *
get_array(JsonObject *o, const char *key, GError **error)
{
    JsonNode *node = json_object_get_member(o, key);
    if (node == NULL || !JSON_NODE_HOLDS_ARRAY(node)) {
        fail(error, "\"%s\" must be an array", key);
        return NULL;
    }
    return json_node_get_array(node);
}

static gboolean
read_buckets(ResHist *h, JsonObject *o, GError **error)
{
    JsonArray *buckets = get_array(o, "buckets", error);
    gint64 last = -1;
    if (buckets == NULL) {
        return FALSE;
    }
    for (guint i = 0; i < json_array_get_length(buckets); i++) {
        JsonNode *node = json_array_get_element(buckets, i);
        JsonArray *pair = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
        gint64 low = 0, count = 0;
        if (pair == NULL || json_array_get_length(pair) != 2 ||
            !whole_of(json_array_get_element(pair, 0), RES_HIST_VALUE_MAX, &low) ||
            !whole_of(json_array_get_element(pair, 1), RES_HIST_COUNT_MAX, &count) || count == 0) {
            return fail(error, "buckets[%u] must be [LOW, COUNT], whole numbers", i);
        }
        guint index = res_hist_index(low);
        if (low <= last || res_hist_low(index) != low) {
            return fail(error, "buckets[%u]: %" G_GINT64_FORMAT " %s", i, low,
                        low <= last ? "is not above the one before" : "is no bucket's lower end");
        }
        if ((guint64)count > RES_HIST_COUNT_MAX - h->count) {
            return fail(error, "the buckets hold too many samples");
        }
        if (index >= h->counts->len) {
            g_array_set_size(h->counts, index + 1);
        }
        g_array_index(h->counts, guint64, index) = (guint64)count;
        h->count += (guint64)count;
        last = low;
    }
    return TRUE;
}

/* Ends, sum and counts must be such as the buckets can have. */
static gboolean
check_figures(const ResHist *h, guint64 count, GError **error)
{
    guint used = h->counts->len;
    guint first = 0;
    while (first < used && g_array_index(h->counts, guint64, first) == 0) {
        first++;
    }
    if (h->count != count) {
        return fail(error,
                    "\"count\" is %" G_GUINT64_FORMAT ", its buckets and censored samples are "
                    "%" G_GUINT64_FORMAT,
                    count, h->count);
    }
    if (h->min > h->max ||
        (used > 0 && (h->min > res_hist_high(first) || h->max < res_hist_low(used - 1)))) {
        return fail(error, "\"min\" and \"max\" don't fit its buckets");
    }
    if ((h->censored == 0) != (h->limit == 0) && h->censored == 0) {
        return fail(error, "\"limit\" without censored samples");
    }
    if (h->censored > 0 && (h->limit > h->max || h->limit < h->min)) {
        return fail(error, "\"limit\" is not between \"min\" and \"max\"");
    }
    if (count == 0 && (h->sum != 0 || h->min != 0 || h->max != 0)) {
        return fail(error, "an empty histogram with figures");
    }
    if ((double)h->sum < (double)count * (double)h->min * (1 - 1e-9) - 1 ||
        (double)h->sum > (double)count * (double)h->max * (1 + 1e-9) + 1) {
        return fail(error, "\"sum\" does not fit \"count\", \"min\" and \"max\"");
    }
    return TRUE;
}

static ResHist *
read_one(JsonNode *node, const char *unit, GError **error)
{
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        fail(error, "\"histograms\" must hold objects");
        return NULL;
    }
    JsonObject *o = json_node_get_object(node);
    const char *name = get_word(o, "name", RES_HIST_NAME_MAX, error);
    if (name == NULL) {
        return NULL;
    }
    g_autoptr(ResHist) h = res_hist_new(unit, name);
    gint64 count = 0, sum = 0, censored = 0;
    if (!get_whole(o, "count", RES_HIST_COUNT_MAX, &count, error) ||
        !get_whole(o, "sum", RES_HIST_COUNT_MAX, &sum, error) ||
        !get_whole(o, "min", RES_HIST_VALUE_MAX, &h->min, error) ||
        !get_whole(o, "max", RES_HIST_VALUE_MAX, &h->max, error) ||
        !get_whole(o, "censored", RES_HIST_COUNT_MAX, &censored, error) ||
        !get_whole(o, "limit", RES_HIST_VALUE_MAX, &h->limit, error) ||
        !read_buckets(h, o, error)) {
        return NULL;
    }
    if ((guint64)censored > RES_HIST_COUNT_MAX - h->count) {
        fail(error, "the buckets hold too many samples");
        return NULL;
    }
    h->censored = (guint64)censored;
    h->count += h->censored;
    h->sum = (guint64)sum;
    return check_figures(h, (guint64)count, error) ? g_steal_pointer(&h) : NULL;
}

static GPtrArray *
read_all(JsonObject *o, GError **error)
{
    gint64 version = 0, bits = 0;
    const char *format = get_word(o, "format", RES_HIST_NAME_MAX, error);
    if (format == NULL) {
        return NULL;
    }
    if (!g_str_equal(format, FORMAT)) {
        fail(error, "its format is \"%s\", not \"" FORMAT "\"", format);
        return NULL;
    }
    if (!get_whole(o, "version", G_MAXINT, &version, error) ||
        !get_whole(o, "bits", G_MAXINT, &bits, error)) {
        return NULL;
    }
    if (version != VERSION || bits != RES_HIST_BITS) {
        fail(error,
             "version %" G_GINT64_FORMAT " with %" G_GINT64_FORMAT " bits; this nohzlab reads "
             "version %d with %d",
             version, bits, VERSION, RES_HIST_BITS);
        return NULL;
    }
    const char *unit = get_word(o, "unit", RES_HIST_UNIT_MAX, error);
    JsonArray *all = unit != NULL ? get_array(o, "histograms", error) : NULL;
    if (all == NULL) {
        return NULL;
    }
    guint n = json_array_get_length(all);
    if (n == 0 || n > RES_HIST_FILE_MAX) {
        fail(error, "%u histograms; from 1 to %d are read", n, RES_HIST_FILE_MAX);
        return NULL;
    }
    g_autoptr(GPtrArray) hists = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);
    for (guint i = 0; i < n; i++) {
        ResHist *h = read_one(json_array_get_element(all, i), unit, error);
        if (h == NULL) {
            g_prefix_error(error, "histograms[%u]: ", i);
            return NULL;
        }
        g_ptr_array_add(hists, h);
    }
    return g_steal_pointer(&hists);
}

GPtrArray *
res_hist_from_json(const char *text, gsize len, GError **error)
{
    ResJsonState state = RES_JSON_OK;
    g_autofree char *reason = NULL;
    g_autoptr(JsonNode) root =
        res_json_parse(text, len, RES_HIST_BYTES_MAX, FALSE, &state, &reason);
    if (root == NULL) {
        fail(error, "%s", reason);
        return NULL;
    }
    return read_all(json_node_get_object(root), error);
}
