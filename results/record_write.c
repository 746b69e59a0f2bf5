/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <json-glib/json-glib.h>

#include "results/json.h"
#include "results/record_fields.h"

static void
set_text(JsonObject *o, const char *key, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text != NULL ? text : "", -1);
    json_object_set_string_member(o, key, valid);
}

static int
compare_keys(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static JsonObject *
map_to_json(GHashTable *map)
{
    JsonObject *o = json_object_new();
    guint n = 0;
    g_autofree gpointer *keys = g_hash_table_get_keys_as_array(map, &n);
    qsort(keys, n, sizeof *keys, compare_keys);
    for (guint i = 0; i < n; i++) {
        g_autofree char *key = g_utf8_make_valid(keys[i], -1);
        set_text(o, key, g_hash_table_lookup(map, keys[i]));
    }
    return o;
}

static JsonArray *
list_to_json(const GPtrArray *list)
{
    JsonArray *a = json_array_new();
    for (guint i = 0; i < list->len; i++) {
        g_autofree char *valid = g_utf8_make_valid(g_ptr_array_index(list, i), -1);
        json_array_add_string_element(a, valid);
    }
    return a;
}

static JsonArray *
metrics_to_json(const GPtrArray *metrics)
{
    JsonArray *a = json_array_new();
    for (guint i = 0; i < metrics->len; i++) {
        const ResMetric *m = g_ptr_array_index(metrics, i);
        JsonObject *o = json_object_new();
        if (m->censored) {
            json_object_set_boolean_member(o, "censored", TRUE);
        }
        json_object_set_string_member(o, "direction", res_direction_name(m->direction));
        set_text(o, "evidence", m->evidence);
        json_object_set_string_member(o, "fidelity", res_fidelity_name(m->fidelity));
        json_object_set_double_member(o, "max", m->max);
        json_object_set_double_member(o, "min", m->min);
        set_text(o, "name", m->name);
        json_object_set_int_member(o, "samples", (gint64)m->samples);
        set_text(o, "unit", m->unit);
        json_object_set_double_member(o, "value", m->value);
        json_array_add_object_element(a, o);
    }
    return a;
}

static void
field_to_json(JsonObject *o, const ResRecord *r, const ResRecordField *f)
{
    switch (f->kind) {
    case FIELD_SCHEMA:
        json_object_set_int_member(o, f->key, RES_RECORD_SCHEMA);
        break;
    case FIELD_TEXT:
        set_text(o, f->key, RES_FIELD_OF(r, f, char *const));
        break;
    case FIELD_UINT:
        json_object_set_int_member(o, f->key, RES_FIELD_OF(r, f, const unsigned int));
        break;
    case FIELD_TIME_US:
        json_object_set_int_member(o, f->key, RES_FIELD_OF(r, f, const gint64));
        break;
    case FIELD_OUTCOME:
        json_object_set_string_member(o, f->key, res_outcome_name(r->outcome));
        break;
    case FIELD_FIDELITY:
        json_object_set_string_member(o, f->key, res_fidelity_name(r->fidelity));
        break;
    case FIELD_MAP:
        json_object_set_object_member(o, f->key,
                                      map_to_json(RES_FIELD_OF(r, f, GHashTable *const)));
        break;
    case FIELD_LIST:
        json_object_set_array_member(o, f->key, list_to_json(RES_FIELD_OF(r, f, GPtrArray *const)));
        break;
    case FIELD_METRICS:
        json_object_set_array_member(o, f->key, metrics_to_json(r->metrics));
        break;
    }
}

char *
res_record_to_json(const ResRecord *r, GError **error)
{
    if (!res_record_check(r, error)) {
        return NULL;
    }
    g_autoptr(JsonObject) o = json_object_new();
    for (gsize i = 0; res_record_fields[i].key != NULL; i++) {
        field_to_json(o, r, &res_record_fields[i]);
    }
    g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
    json_node_set_object(root, o);
    g_autofree char *text = res_json_text(root);
    if (strlen(text) > RES_RECORD_MAX) {
        res_record_fail(error, "%" G_GSIZE_FORMAT " bytes are more than the %d a record may have",
                        strlen(text), RES_RECORD_MAX);
        return NULL;
    }
    return g_steal_pointer(&text);
}
