/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "results/json.h"
#include "results/record_fields.h"

static const char *const metric_keys[] = {"censored", "direction", "evidence", "fidelity", "max",
                                          "min",      "name",      "samples",  "unit",     "value"};

/* WHERE is the key's full name for errors. */
static JsonNode *
get_node(JsonObject *o, const char *key, const char *where, GError **error)
{
    JsonNode *node = json_object_get_member(o, key);
    if (node == NULL) {
        res_record_fail(error, "%s%s is missing", where, key);
    }
    return node;
}

static gboolean
get_text(JsonObject *o, const char *key, const char *where, char **text, GError **error)
{
    JsonNode *node = get_node(o, key, where, error);
    if (node == NULL) {
        return FALSE;
    }
    if (json_node_get_value_type(node) != G_TYPE_STRING) {
        return res_record_fail(error, "%s%s must be a string", where, key);
    }
    g_free(*text);
    *text = json_node_dup_string(node);
    /* half a surrogate pair in \u form is the way to smuggle it in */
    return g_utf8_validate(*text, -1, NULL)
               ? TRUE
               : res_record_fail(error, "%s%s is not UTF-8", where, key);
}

static gboolean
get_int(JsonObject *o, const char *key, const char *where, gint64 min, gint64 max, gint64 *value,
        GError **error)
{
    JsonNode *node = get_node(o, key, where, error);
    if (node == NULL) {
        return FALSE;
    }
    if (json_node_get_value_type(node) != G_TYPE_INT64) {
        return res_record_fail(error, "%s%s must be a whole number", where, key);
    }
    *value = json_node_get_int(node);
    if (*value < min || *value > max) {
        return res_record_fail(
            error, "%s%s is out of range (%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ")", where,
            key, min, max);
    }
    return TRUE;
}

static gboolean
get_double(JsonObject *o, const char *key, const char *where, double *value, GError **error)
{
    JsonNode *node = get_node(o, key, where, error);
    if (node == NULL) {
        return FALSE;
    }
    GType type = json_node_get_value_type(node);
    if (type != G_TYPE_DOUBLE && type != G_TYPE_INT64) {
        return res_record_fail(error, "%s%s must be a number", where, key);
    }
    *value = json_node_get_double(node);
    return isfinite(*value) ? TRUE
                            : res_record_fail(error, "%s%s is not a finite number", where, key);
}

static gboolean
get_fidelity(JsonObject *o, const char *where, ResFidelity *fidelity, GError **error)
{
    g_autofree char *name = NULL;
    if (!get_text(o, "fidelity", where, &name, error)) {
        return FALSE;
    }
    return res_fidelity_parse(name, fidelity)
               ? TRUE
               : res_record_fail(
                     error, "%sfidelity \"%s\" is not time, instructions, events or functional",
                     where, name);
}

static gboolean
get_map(JsonObject *o, const char *key, GHashTable *map, GError **error)
{
    JsonNode *node = get_node(o, key, "", error);
    if (node == NULL) {
        return FALSE;
    }
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        return res_record_fail(error, "%s must be an object of strings", key);
    }
    g_autofree char *where = g_strconcat(key, ".", NULL);
    JsonObjectIter iter;
    const char *name;
    json_object_iter_init_ordered(&iter, json_node_get_object(node));
    while (json_object_iter_next_ordered(&iter, &name, NULL)) {
        g_autofree char *value = NULL;
        if (!get_text(json_node_get_object(node), name, where, &value, error)) {
            return FALSE;
        }
        if (!g_utf8_validate(name, -1, NULL)) {
            return res_record_fail(error, "%s has a key that is not UTF-8", key);
        }
        g_hash_table_insert(map, g_strdup(name), g_steal_pointer(&value));
    }
    return TRUE;
}

static JsonArray *
get_array(JsonObject *o, const char *key, GError **error)
{
    JsonNode *node = get_node(o, key, "", error);
    if (node == NULL) {
        return NULL;
    }
    if (!JSON_NODE_HOLDS_ARRAY(node)) {
        res_record_fail(error, "%s must be an array", key);
        return NULL;
    }
    return json_node_get_array(node);
}

static gboolean
get_list(JsonObject *o, const char *key, GPtrArray *list, GError **error)
{
    JsonArray *a = get_array(o, key, error);
    if (a == NULL) {
        return FALSE;
    }
    for (guint i = 0; i < json_array_get_length(a); i++) {
        JsonNode *node = json_array_get_element(a, i);
        if (json_node_get_value_type(node) != G_TYPE_STRING) {
            return res_record_fail(error, "%s[%u] must be a string", key, i);
        }
        g_ptr_array_add(list, json_node_dup_string(node));
        if (!g_utf8_validate(g_ptr_array_index(list, i), -1, NULL)) {
            return res_record_fail(error, "%s[%u] is not UTF-8", key, i);
        }
    }
    return TRUE;
}

static gboolean
check_keys(JsonObject *o, const char *where, gboolean (*known)(const char *key), GError **error)
{
    JsonObjectIter iter;
    const char *name;
    json_object_iter_init_ordered(&iter, o);
    while (json_object_iter_next_ordered(&iter, &name, NULL)) {
        if (!known(name)) {
            g_autofree char *shown = g_utf8_make_valid(name, -1);
            return res_record_fail(error, "%s%s is not a field of schema %d", where, shown,
                                   RES_RECORD_SCHEMA);
        }
    }
    return TRUE;
}

static gboolean
is_metric_key(const char *key)
{
    for (gsize i = 0; i < G_N_ELEMENTS(metric_keys); i++) {
        if (g_str_equal(metric_keys[i], key)) {
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
is_record_key(const char *key)
{
    for (gsize i = 0; res_record_fields[i].key != NULL; i++) {
        if (g_str_equal(res_record_fields[i].key, key)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* The one field that may be missing, and then is false; written only when true. */
static gboolean
get_censored(JsonObject *o, const char *where, gboolean *censored, GError **error)
{
    JsonNode *node = json_object_get_member(o, "censored");
    *censored = node != NULL;
    return node == NULL ||
           (json_node_get_value_type(node) == G_TYPE_BOOLEAN && json_node_get_boolean(node)) ||
           res_record_fail(error, "%scensored must be true, or left out", where);
}

static ResMetric *
get_metric(JsonNode *node, const char *where, GError **error)
{
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        res_record_fail(error, "%.*s must be an object", (int)strlen(where) - 1, where);
        return NULL;
    }
    JsonObject *o = json_node_get_object(node);
    g_autoptr(ResMetric) m = g_new0(ResMetric, 1);
    g_autofree char *direction = NULL;
    gint64 samples = 0;
    if (!check_keys(o, where, is_metric_key, error) ||
        !get_censored(o, where, &m->censored, error) ||
        !get_text(o, "direction", where, &direction, error) ||
        !get_text(o, "evidence", where, &m->evidence, error) ||
        !get_fidelity(o, where, &m->fidelity, error) ||
        !get_double(o, "max", where, &m->max, error) ||
        !get_double(o, "min", where, &m->min, error) ||
        !get_text(o, "name", where, &m->name, error) ||
        !get_int(o, "samples", where, 0, RES_WHOLE_MAX, &samples, error) ||
        !get_text(o, "unit", where, &m->unit, error) ||
        !get_double(o, "value", where, &m->value, error)) {
        return NULL;
    }
    if (!res_direction_parse(direction, &m->direction)) {
        res_record_fail(error, "%sdirection \"%s\" is not lower, higher or none", where, direction);
        return NULL;
    }
    m->samples = (guint64)samples;
    return g_steal_pointer(&m);
}

static gboolean
get_metrics(JsonObject *o, GPtrArray *metrics, GError **error)
{
    JsonArray *a = get_array(o, "metrics", error);
    if (a == NULL) {
        return FALSE;
    }
    for (guint i = 0; i < json_array_get_length(a); i++) {
        g_autofree char *where = g_strdup_printf("metrics[%u].", i);
        ResMetric *m = get_metric(json_array_get_element(a, i), where, error);
        if (m == NULL) {
            return FALSE;
        }
        g_ptr_array_add(metrics, m);
    }
    return TRUE;
}

static gboolean
field_from_json(JsonObject *o, ResRecord *r, const ResRecordField *f, GError **error)
{
    g_autofree char *name = NULL;
    gint64 number = 0;
    switch (f->kind) {
    case FIELD_SCHEMA:
        return TRUE; /* read before all else */
    case FIELD_TEXT:
        return get_text(o, f->key, "", &RES_FIELD_OF(r, f, char *), error);
    case FIELD_UINT:
        if (!get_int(o, f->key, "", 0, G_MAXUINT, &number, error)) {
            return FALSE;
        }
        RES_FIELD_OF(r, f, unsigned int) = (unsigned int)number;
        return TRUE;
    case FIELD_TIME_US:
        return get_int(o, f->key, "", -RES_WHOLE_MAX, RES_WHOLE_MAX, &RES_FIELD_OF(r, f, gint64),
                       error);
    case FIELD_OUTCOME:
        if (!get_text(o, f->key, "", &name, error)) {
            return FALSE;
        }
        return res_outcome_parse(name, &r->outcome)
                   ? TRUE
                   : res_record_fail(error, "outcome \"%s\" is not known", name);
    case FIELD_FIDELITY:
        return get_fidelity(o, "", &r->fidelity, error);
    case FIELD_MAP:
        return get_map(o, f->key, RES_FIELD_OF(r, f, GHashTable *), error);
    case FIELD_LIST:
        return get_list(o, f->key, RES_FIELD_OF(r, f, GPtrArray *), error);
    case FIELD_METRICS:
        return get_metrics(o, r->metrics, error);
    }
    return FALSE;
}

ResRecord *
res_record_from_json(const char *json, gssize len, GError **error)
{
    ResJsonState state;
    g_autofree char *reason = NULL;
    gsize bytes = len < 0 ? strlen(json) : (gsize)len;
    g_autoptr(JsonNode) root = res_json_parse(json, bytes, RES_RECORD_MAX, FALSE, &state, &reason);
    if (root == NULL) {
        res_record_fail(error, "%s", reason);
        return NULL;
    }
    JsonObject *o = json_node_get_object(root);
    gint64 schema = 0;
    if (!get_int(o, "schema", "", 1, G_MAXINT64, &schema, error)) {
        return NULL;
    }
    if (schema > RES_RECORD_SCHEMA) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                    "record: schema %" G_GINT64_FORMAT
                    " is newer than %d, the newest known here: use a newer nohzlab",
                    schema, RES_RECORD_SCHEMA);
        return NULL;
    }
    g_autoptr(ResRecord) r = res_record_new();
    if (!check_keys(o, "", is_record_key, error)) {
        return NULL;
    }
    for (gsize i = 0; res_record_fields[i].key != NULL; i++) {
        if (!field_from_json(o, r, &res_record_fields[i], error)) {
            return NULL;
        }
    }
    return res_record_check(r, error) ? g_steal_pointer(&r) : NULL;
}
