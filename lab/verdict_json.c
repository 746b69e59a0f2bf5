/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verdict for programs. */
#include <json-glib/json-glib.h>
#include <math.h>

#include "lab/verdict.h"

static void
add_string(JsonBuilder *b, const char *name, const char *value)
{
    json_builder_set_member_name(b, name);
    json_builder_add_string_value(b, value);
}

static void
add_number(JsonBuilder *b, const char *name, double value)
{
    json_builder_set_member_name(b, name);
    /* JSON has no word for infinite or undefined: null says that there is no figure. */
    if (isfinite(value))
        json_builder_add_double_value(b, value);
    else
        json_builder_add_null_value(b);
}

static void
add_int(JsonBuilder *b, const char *name, gint64 value)
{
    json_builder_set_member_name(b, name);
    json_builder_add_int_value(b, value);
}

static void
add_summary(JsonBuilder *b, const LabVerdictCell *c, const ResSummary *s)
{
    json_builder_begin_object(b);
    add_string(b, "metric", s->name);
    add_string(b, "cell", c->name);
    add_string(b, "unit", s->unit);
    add_string(b, "direction", res_direction_name(s->direction));
    add_string(b, "fidelity", res_fidelity_name(s->fidelity));
    add_int(b, "boots", s->boots);
    add_number(b, "median", s->median);
    add_number(b, "min", s->min);
    add_number(b, "max", s->max);
    add_number(b, "spread", s->spread);
    json_builder_end_object(b);
}

static void
add_expectation(JsonBuilder *b, const LabVerdictExpectation *e)
{
    static const char *const words[] = {"holds", "fails", "cannot tell"};

    json_builder_begin_object(b);
    add_string(b, "name", e->name);
    add_string(b, "expression", e->text);
    add_string(b, "verdict", words[e->result ? e->result->verdict : LAB_EXPECT_CANNOT_TELL]);
    add_string(b, "reason", e->result ? e->result->reason : e->error);
    add_number(b, "value", e->result ? e->result->value : NAN);
    add_number(b, "low", e->result ? e->result->low : NAN);
    add_number(b, "high", e->result ? e->result->high : NAN);
    json_builder_end_object(b);
}

static gboolean
add_records(JsonBuilder *b, const LabVerdict *v, GError **error)
{
    json_builder_set_member_name(b, "records");
    json_builder_begin_array(b);
    for (guint i = 0; i < v->records->len; i++) {
        g_autofree char *json = res_record_to_json(v->records->pdata[i], error);
        JsonNode *node = json ? json_from_string(json, error) : NULL;
        if (!node)
            return FALSE;
        json_builder_add_value(b, node);
    }
    json_builder_end_array(b);
    return TRUE;
}

char *
lab_verdict_json(const LabVerdict *v, GError **error)
{
    g_autoptr(JsonBuilder) b = json_builder_new();
    g_autoptr(JsonGenerator) generator = json_generator_new();
    g_autofree char *sentence = lab_verdict_sentence(v);

    json_builder_begin_object(b);
    add_string(b, "set", ((ResRecord *)v->records->pdata[0])->set);
    add_string(b, "profile", ((ResRecord *)v->records->pdata[0])->profile);
    add_string(b, "verdict", sentence);
    add_int(b, "exit_code", lab_verdict_exit_code(v));
    json_builder_set_member_name(b, "expectations");
    json_builder_begin_array(b);
    for (guint i = 0; i < v->expectations->len; i++)
        add_expectation(b, v->expectations->pdata[i]);
    json_builder_end_array(b);
    json_builder_set_member_name(b, "summaries");
    json_builder_begin_array(b);
    for (guint i = 0; i < v->cells->len; i++) {
        const LabVerdictCell *c = v->cells->pdata[i];
        for (guint k = 0; k < c->summaries->len; k++)
            add_summary(b, c, c->summaries->pdata[k]);
    }
    json_builder_end_array(b);
    if (!add_records(b, v, error))
        return NULL;
    json_builder_end_object(b);

    g_autoptr(JsonNode) root = json_builder_get_root(b);
    json_generator_set_root(generator, root);
    json_generator_set_pretty(generator, TRUE);
    g_autofree char *text = json_generator_to_data(generator, NULL);
    return g_strconcat(text, "\n", NULL);
}
