/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verdict for programs. */
#include <math.h>

#include "lab/json.h"
#include "lab/verdict.h"

static void
add_summary(JsonBuilder *b, const LabVerdictCell *c, const ResSummary *s)
{
    json_builder_begin_object(b);
    lab_json_string(b, "metric", s->name);
    lab_json_string(b, "cell", c->name);
    lab_json_string(b, "unit", s->unit);
    lab_json_string(b, "direction", res_direction_name(s->direction));
    lab_json_string(b, "fidelity", res_fidelity_name(s->fidelity));
    lab_json_int(b, "boots", s->boots);
    lab_json_number(b, "median", s->median);
    lab_json_number(b, "min", s->min);
    lab_json_number(b, "max", s->max);
    lab_json_number(b, "spread", s->spread);
    json_builder_set_member_name(b, "censored");
    json_builder_add_boolean_value(b, s->censored);
    json_builder_end_object(b);
}

static void
add_expectation(JsonBuilder *b, const LabVerdictExpectation *e)
{
    static const char *const words[] = {"holds", "fails", "cannot tell"};

    json_builder_begin_object(b);
    lab_json_string(b, "name", e->name);
    lab_json_string(b, "expression", e->text);
    lab_json_string(b, "verdict", words[e->result ? e->result->verdict : LAB_EXPECT_CANNOT_TELL]);
    lab_json_string(b, "reason", e->result ? e->result->reason : e->error);
    lab_json_number(b, "value", e->result ? e->result->value : NAN);
    lab_json_number(b, "low", e->result ? e->result->low : NAN);
    lab_json_number(b, "high", e->result ? e->result->high : NAN);
    json_builder_end_object(b);
}

static gboolean
add_records(JsonBuilder *b, const char *name, const GPtrArray *records, GError **error)
{
    json_builder_set_member_name(b, name);
    json_builder_begin_array(b);
    for (guint i = 0; i < records->len; i++) {
        g_autofree char *json = res_record_to_json(records->pdata[i], error);
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
    g_autofree char *sentence = lab_verdict_sentence(v);

    json_builder_begin_object(b);
    lab_json_string(b, "set", ((ResRecord *)v->records->pdata[0])->set);
    lab_json_string(b, "profile", ((ResRecord *)v->records->pdata[0])->profile);
    lab_json_string(b, "verdict", sentence);
    lab_json_int(b, "exit_code", lab_verdict_exit_code(v));
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
    if (!add_records(b, "records", v->records, error) ||
        !add_records(b, "retried", v->retried, error))
        return NULL;
    json_builder_end_object(b);

    return lab_json_text(b);
}
