/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "results/export.h"
#include "results/json_write.h"

#define SCHEMA 1 /* results/report.schema.json */

static void
add_claims(JsonBuilder *b, const ResPage *p)
{
    json_builder_set_member_name(b, "expectations");
    json_builder_begin_array(b);
    for (guint i = 0; i < p->claims->len; i++) {
        const ResClaim *c = g_ptr_array_index(p->claims, i);
        json_builder_begin_object(b);
        res_json_string(b, "name", c->name);
        res_json_string(b, "expression", c->text);
        res_json_string(b, "verdict", res_claim_verdict_name(c->verdict));
        res_json_string(b, "reason", c->reason);
        res_json_number(b, "value", c->value);
        res_json_number(b, "low", c->low);
        res_json_number(b, "high", c->high);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void
add_summary(JsonBuilder *b, const ResSummary *s)
{
    json_builder_begin_object(b);
    res_json_string(b, "metric", s->name);
    res_json_string(b, "unit", s->unit);
    res_json_string(b, "direction", res_direction_name(s->direction));
    res_json_string(b, "fidelity", res_fidelity_name(s->fidelity));
    res_json_whole(b, "boots", s->boots);
    res_json_number(b, "median", s->median);
    res_json_number(b, "min", s->min);
    res_json_number(b, "max", s->max);
    res_json_number(b, "spread", s->spread);
    json_builder_set_member_name(b, "censored");
    json_builder_add_boolean_value(b, s->censored);
    json_builder_end_object(b);
}

static void
add_cells(JsonBuilder *b, const GPtrArray *cells)
{
    json_builder_set_member_name(b, "cells");
    json_builder_begin_array(b);
    for (guint i = 0; i < cells->len; i++) {
        const ResPageCell *c = g_ptr_array_index(cells, i);
        json_builder_begin_object(b);
        res_json_string(b, "name", c->name);
        res_json_whole(b, "runs", c->records->len);
        res_json_whole(b, "done", c->done);
        json_builder_set_member_name(b, "summaries");
        json_builder_begin_array(b);
        for (guint k = 0; k < c->summaries->len; k++) {
            add_summary(b, g_ptr_array_index(c->summaries, k));
        }
        json_builder_end_array(b);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void
add_flag(JsonBuilder *b, const char *name, gboolean value)
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
    res_json_number(b, "value", i->value);
    res_json_number(b, "low", i->low);
    res_json_number(b, "high", i->high);
    json_builder_end_object(b);
}

/* The names are those of `nohzlab compare --json`. */
static void
add_comparison(JsonBuilder *b, const ResComparison *c)
{
    json_builder_begin_object(b);
    res_json_string(b, "metric", c->metric);
    res_json_string(b, "cell", c->cell);
    res_json_string(b, "unit", c->unit);
    res_json_string(b, "direction", res_direction_name(c->direction));
    res_json_string(b, "fidelity", res_fidelity_name(c->fidelity));
    res_json_string(b, "estimate", res_estimate_name(c->estimate));
    res_json_string(b, "verdict", res_verdict_name(c->verdict));
    res_json_string(b, "reason", c->reason);
    res_json_string(b, "next", c->next);
    res_json_number(b, "a", c->a);
    res_json_number(b, "b", c->b);
    add_flag(b, "censored_a", c->censored_a);
    add_flag(b, "censored_b", c->censored_b);
    res_json_whole(b, "boots_a", c->na);
    res_json_whole(b, "boots_b", c->nb);
    add_interval(b, "shift", &c->shift);
    add_interval(b, "ratio", &c->ratio);
    res_json_number(b, "confidence", c->confidence);
    res_json_number(b, "p", c->p);
    res_json_number(b, "p_adjusted", c->p_adjusted);
    res_json_number(b, "relevant", c->relevant);
    res_json_whole(b, "boots_needed", c->needed);
    res_json_string(b, "run_a", c->run_a);
    res_json_string(b, "run_b", c->run_b);
    json_builder_end_object(b);
}

static void
add_differences(JsonBuilder *b, const ResPage *p)
{
    json_builder_set_member_name(b, "differences");
    json_builder_begin_array(b);
    for (guint i = 0; i < p->differences->len; i++) {
        const ResDifference *d = g_ptr_array_index(p->differences, i);
        json_builder_begin_object(b);
        res_json_string(b, "key", d->key);
        res_json_string(b, "of", d->parameter ? "profile" : "environment");
        res_json_string(b, "kind", p->baseline != NULL ? res_difference_kind_name(d->kind) : NULL);
        res_json_string(b, "a", d->a);
        res_json_string(b, "b", d->b);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void
add_baseline(JsonBuilder *b, const ResPage *p)
{
    json_builder_set_member_name(b, "comparison");
    if (p->baseline == NULL) {
        json_builder_add_null_value(b);
        return;
    }
    const ResRecord *first = g_ptr_array_index(p->baseline, 0);
    g_autofree char *sentence = res_page_comparison_sentence(p);
    json_builder_begin_object(b);
    res_json_string(b, "set", first->set);
    res_json_string(b, "profile", first->profile);
    res_json_string(b, "sentence", sentence);
    res_json_string(b, "refused", p->refused);
    add_cells(b, p->baseline_cells);
    json_builder_set_member_name(b, "metrics");
    json_builder_begin_array(b);
    for (guint i = 0; p->comparisons != NULL && i < p->comparisons->len; i++) {
        add_comparison(b, g_ptr_array_index(p->comparisons, i));
    }
    json_builder_end_array(b);
    json_builder_set_member_name(b, "notes");
    json_builder_begin_array(b);
    for (guint i = 0; p->compared != NULL && i < p->compared->notes->len; i++) {
        g_autofree char *valid = g_utf8_make_valid(p->compared->notes->pdata[i], -1);
        json_builder_add_string_value(b, valid);
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
}

static gboolean
add_runs(JsonBuilder *b, const char *name, const GPtrArray *records, GError **error)
{
    json_builder_set_member_name(b, name);
    json_builder_begin_array(b);
    for (guint i = 0; records != NULL && i < records->len; i++) {
        g_autofree char *json = res_record_to_json(g_ptr_array_index(records, i), error);
        JsonNode *node = json != NULL ? json_from_string(json, error) : NULL;
        if (node == NULL) {
            return FALSE;
        }
        json_builder_add_value(b, node);
    }
    json_builder_end_array(b);
    return TRUE;
}

char *
res_export_json(const ResPage *p, GError **error)
{
    g_autoptr(JsonBuilder) b = json_builder_new();
    const ResRecord *first = res_page_first(p);
    gint64 started_us, ended_us;

    res_page_span(p, &started_us, &ended_us);
    json_builder_begin_object(b);
    res_json_whole(b, "nohzlab_report", SCHEMA);
    res_json_string(b, "nohzlab_version", p->version);
    res_json_string(b, "set", first->set);
    res_json_string(b, "profile", first->profile);
    res_json_string(b, "summary", first->summary);
    res_json_whole(b, "started_us", started_us);
    res_json_whole(b, "ended_us", ended_us);
    res_json_string(b, "verdict", p->sentence);
    res_json_whole(b, "exit_code", p->exit_code);
    json_builder_set_member_name(b, "outcomes");
    json_builder_begin_object(b);
    for (int o = 0; o <= RES_OUTCOME_CANCELLED; o++) {
        res_json_whole(b, res_outcome_name(o), p->outcomes[o]);
    }
    json_builder_end_object(b);
    add_claims(b, p);
    add_cells(b, p->cells);
    add_baseline(b, p);
    add_differences(b, p);
    if (!add_runs(b, "runs", p->records, error) || !add_runs(b, "retried", p->retried, error)) {
        return NULL;
    }
    json_builder_end_object(b);
    return res_json_finish(b);
}
