/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration as a file. */
#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "results/calibration.h"
#include "results/calibration_private.h"
#include "results/json.h"

#define FORMAT "nohzlab-calibration"
#define VERSION 1

static const struct {
    const char *key;
    gsize offset;
} texts[] = {{"profile", offsetof(ResCalibrationEntry, profile)},
             {"cell", offsetof(ResCalibrationEntry, cell)},
             {"metric", offsetof(ResCalibrationEntry, metric)},
             {"unit", offsetof(ResCalibrationEntry, unit)}},
  numbers[] = {{"median", offsetof(ResCalibrationEntry, median)},
               {"spread", offsetof(ResCalibrationEntry, spread)},
               {"sd", offsetof(ResCalibrationEntry, sd)},
               {"sd_high", offsetof(ResCalibrationEntry, sd_high)},
               {"between", offsetof(ResCalibrationEntry, between)},
               {"relevant", offsetof(ResCalibrationEntry, relevant)}},
  wholes[] = {{"boots", offsetof(ResCalibrationEntry, boots)},
              {"sets", offsetof(ResCalibrationEntry, sets)}};

#define MEMBER(e, row, type) (*(type *)((char *)(e) + (row).offset))

static JsonObject *
entry_to_json(const ResCalibrationEntry *e)
{
    JsonObject *o = json_object_new();
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *valid = g_utf8_make_valid(MEMBER(e, texts[i], char *const), -1);
        json_object_set_string_member(o, texts[i].key, valid);
    }
    json_object_set_string_member(o, "fidelity", res_fidelity_name(e->fidelity));
    for (gsize i = 0; i < G_N_ELEMENTS(wholes); i++) {
        json_object_set_int_member(o, wholes[i].key, MEMBER(e, wholes[i], const unsigned int));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
        json_object_set_double_member(o, numbers[i].key, MEMBER(e, numbers[i], const double));
    }
    if (isfinite(e->detectable)) { /* left out: too few boots to find anything */
        json_object_set_double_member(o, "detectable", e->detectable);
    }
    return o;
}

char *
res_calibration_to_json(const ResCalibration *c)
{
    g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
    JsonObject *o = json_object_new();
    JsonArray *entries = json_array_new();
    json_node_take_object(root, o);
    json_object_set_string_member(o, "format", FORMAT);
    json_object_set_int_member(o, "version", VERSION);
    json_object_set_int_member(o, "boots_a_side", c->boots_a_side);
    json_object_set_double_member(o, "alpha", c->alpha);
    for (guint i = 0; i < c->entries->len; i++) {
        json_array_add_object_element(entries, entry_to_json(g_ptr_array_index(c->entries, i)));
    }
    json_object_set_array_member(o, "entries", entries);
    return res_json_text(root);
}

/* --- reading --- */

static gboolean G_GNUC_PRINTF(2, 3) fail(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "a calibration: %s", what);
    return FALSE;
}

static gboolean
get_text(JsonObject *o, const char *key, char **text, GError **error)
{
    const char *value = res_json_get_string(o, key);
    if (value == NULL) {
        return fail(error, "\"%s\" must be a text", key);
    }
    g_free(*text);
    *text = g_strdup(value);
    return TRUE;
}

static gboolean
get_whole(JsonObject *o, const char *key, unsigned int *whole, GError **error)
{
    JsonNode *node = res_json_value(o, key, G_TYPE_INT64);
    gint64 value = node != NULL ? json_node_get_int(node) : -1;
    if (value < 0 || value > G_MAXINT) {
        return fail(error, "\"%s\" must be a whole number", key);
    }
    *whole = (unsigned int)value;
    return TRUE;
}

static gboolean
get_number(JsonObject *o, const char *key, double *number, GError **error)
{
    JsonNode *whole = res_json_value(o, key, G_TYPE_INT64);
    JsonNode *node = whole != NULL ? whole : res_json_value(o, key, G_TYPE_DOUBLE);
    if (node == NULL || !isfinite(json_node_get_double(node))) {
        return fail(error, "\"%s\" must be a finite number", key);
    }
    *number = json_node_get_double(node);
    return TRUE;
}

static gboolean
read_entry(JsonNode *node, ResCalibrationEntry *e, GError **error)
{
    g_autofree char *fidelity = NULL;
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        return fail(error, "\"entries\" must hold objects");
    }
    JsonObject *o = json_node_get_object(node);
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (!get_text(o, texts[i].key, &MEMBER(e, texts[i], char *), error)) {
            return FALSE;
        }
    }
    for (gsize i = 0; i < G_N_ELEMENTS(wholes); i++) {
        if (!get_whole(o, wholes[i].key, &MEMBER(e, wholes[i], unsigned int), error)) {
            return FALSE;
        }
    }
    for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
        double *number = &MEMBER(e, numbers[i], double);
        if (!get_number(o, numbers[i].key, number, error)) {
            return FALSE;
        }
        if (*number < 0 && number != &e->median) {
            return fail(error, "\"%s\" must not be negative", numbers[i].key);
        }
    }
    e->detectable = HUGE_VAL;
    return get_text(o, "fidelity", &fidelity, error) &&
           (res_fidelity_parse(fidelity, &e->fidelity) || fail(error, "an unknown fidelity")) &&
           (!json_object_has_member(o, "detectable") ||
            get_number(o, "detectable", &e->detectable, error));
}

static gboolean
read_head(JsonObject *o, ResCalibration *c, GError **error)
{
    g_autofree char *format = NULL;
    unsigned int version = 0;
    if (!get_text(o, "format", &format, error) || !get_whole(o, "version", &version, error) ||
        !get_whole(o, "boots_a_side", &c->boots_a_side, error) ||
        !get_number(o, "alpha", &c->alpha, error)) {
        return FALSE;
    }
    if (!g_str_equal(format, FORMAT) || version != VERSION) {
        return fail(error, "format \"%s\", version %u; this nohzlab reads " FORMAT ", version %d",
                    format, version, VERSION);
    }
    JsonNode *entries = json_object_get_member(o, "entries");
    return (entries != NULL && JSON_NODE_HOLDS_ARRAY(entries)) ||
           fail(error, "\"entries\" must be an array");
}

ResCalibration *
res_calibration_from_json(const char *text, gsize len, GError **error)
{
    ResJsonState state = RES_JSON_OK;
    g_autofree char *reason = NULL;
    g_autoptr(ResCalibration) c = res_calibration_empty();
    g_autoptr(JsonNode) root =
        res_json_parse(text, len, RES_CALIBRATION_MAX, FALSE, &state, &reason);
    if (root == NULL) {
        fail(error, "%s", reason);
        return NULL;
    }
    JsonObject *o = json_node_get_object(root);
    if (!read_head(o, c, error)) {
        return NULL;
    }
    JsonArray *entries = json_object_get_array_member(o, "entries");
    for (guint i = 0; i < json_array_get_length(entries); i++) {
        ResCalibrationEntry *e = g_new0(ResCalibrationEntry, 1);
        g_ptr_array_add(c->entries, e);
        if (!read_entry(json_array_get_element(entries, i), e, error)) {
            g_prefix_error(error, "entries[%u]: ", i);
            return NULL;
        }
    }
    return g_steal_pointer(&c);
}
