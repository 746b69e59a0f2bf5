/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as JSON. */
#include "lab/compare.h"
#include "lab/json.h"

static void
add_bool(JsonBuilder *b, const char *name, gboolean value)
{
    json_builder_set_member_name(b, name);
    json_builder_add_boolean_value(b, value);
}

/* An open end is null. */
static void
add_interval(JsonBuilder *b, const char *name, const ResInterval *i)
{
    json_builder_set_member_name(b, name);
    json_builder_begin_object(b);
    lab_json_number(b, "value", i->value);
    lab_json_number(b, "low", i->low);
    lab_json_number(b, "high", i->high);
    json_builder_end_object(b);
}

static void
add_comparison(JsonBuilder *b, const ResComparison *c)
{
    const char *const texts[][2] = {{"metric", c->metric},
                                    {"cell", c->cell},
                                    {"unit", c->unit},
                                    {"fidelity", res_fidelity_name(c->fidelity)},
                                    {"direction", res_direction_name(c->direction)},
                                    {"estimate", res_estimate_name(c->estimate)},
                                    {"verdict", res_verdict_name(c->verdict)},
                                    {"reason", c->reason},
                                    {"next", c->next},
                                    {"relevant_from", c->relevant_from},
                                    {"run_a", c->run_a},
                                    {"run_b", c->run_b}};

    json_builder_begin_object(b);
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        lab_json_string(b, texts[i][0], texts[i][1]);
    lab_json_number(b, "a", c->a);
    lab_json_number(b, "b", c->b);
    add_bool(b, "censored_a", c->censored_a);
    add_bool(b, "censored_b", c->censored_b);
    lab_json_int(b, "boots_a", c->na);
    lab_json_int(b, "boots_b", c->nb);
    add_interval(b, "shift", &c->shift);
    add_interval(b, "ratio", &c->ratio);
    lab_json_number(b, "confidence", c->confidence);
    lab_json_number(b, "p", c->p);
    lab_json_number(b, "p_adjusted", c->p_adjusted);
    lab_json_number(b, "p_smallest", c->p_smallest);
    add_bool(b, "p_exact", c->p_exact);
    add_bool(b, "by_repeatability", c->by_repeatability);
    add_bool(b, "disjoint", c->disjoint);
    add_bool(b, "known_to_repeat", c->known_to_repeat);
    lab_json_number(b, "relevant", c->relevant);
    lab_json_int(b, "boots_needed", c->needed);
    json_builder_end_object(b);
}

static void
add_difference(JsonBuilder *b, const ResDifference *d)
{
    json_builder_begin_object(b);
    lab_json_string(b, "kind", res_difference_kind_name(d->kind));
    lab_json_string(b, "of", d->parameter ? "profile" : "environment");
    lab_json_string(b, "key", d->key);
    lab_json_string(b, "a", d->a);
    lab_json_string(b, "b", d->b);
    json_builder_end_object(b);
}

char *
lab_compare_json(const ResCompareResult *r)
{
    g_autoptr(JsonBuilder) b = json_builder_new();

    json_builder_begin_object(b);
    json_builder_set_member_name(b, "differences");
    json_builder_begin_array(b);
    for (guint i = 0; i < r->differences->len; i++)
        add_difference(b, r->differences->pdata[i]);
    json_builder_end_array(b);
    json_builder_set_member_name(b, "notes");
    json_builder_begin_array(b);
    for (guint i = 0; i < r->notes->len; i++)
        json_builder_add_string_value(b, r->notes->pdata[i]);
    json_builder_end_array(b);
    json_builder_set_member_name(b, "comparisons");
    json_builder_begin_array(b);
    for (guint i = 0; i < r->comparisons->len; i++)
        add_comparison(b, r->comparisons->pdata[i]);
    json_builder_end_array(b);
    lab_json_number(b, "false_discovery_rate", r->alpha);
    lab_json_int(b, "metrics_judged", r->judged);
    lab_json_int(b, "seed", (gint64)r->seed);
    lab_json_int(b, "resamples", r->resamples);
    json_builder_end_object(b);
    return lab_json_text(b);
}
