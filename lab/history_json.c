/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/history.h"
#include "lab/json.h"

static const ResNight *
night_at(const ResHistory *h, gsize at)
{
    return &g_array_index(h->nights, ResNight, at);
}

static void
add_change(JsonBuilder *b, const ResHistory *h, const ResHistoryChange *c)
{
    g_autofree char *date = lab_history_date(night_at(h, c->change.at)->started_us);
    g_autofree char *known = lab_history_date(night_at(h, c->change.established)->started_us);
    g_autofree char *bisect = lab_history_bisect(h, c);

    json_builder_begin_object(b);
    lab_json_string(b, "kind", lab_history_kind(c));
    lab_json_string(b, "state", lab_history_state(c));
    lab_json_string(b, "date", date);
    lab_json_string(b, "set", night_at(h, c->change.at)->set);
    lab_json_string(b, "established", known);
    lab_json_number(b, "before", c->change.before);
    lab_json_number(b, "after", c->change.after);
    lab_json_number(b, "shift", c->change.shift);
    lab_json_number(b, "shift_low", c->change.low);
    lab_json_number(b, "shift_high", c->change.high);
    json_builder_set_member_name(b, "suspects");
    json_builder_begin_array(b);
    for (guint i = 0; i < c->suspects->len; i++)
        json_builder_add_string_value(b, g_ptr_array_index(c->suspects, i));
    json_builder_end_array(b);
    lab_json_string(b, "bisect", bisect);
    lab_json_string(b, "accepted", c->accepted ? c->accepted->note : NULL);
    json_builder_end_object(b);
}

static void
add_nights(JsonBuilder *b, const ResHistory *h, gint64 since_us)
{
    json_builder_set_member_name(b, "nights");
    json_builder_begin_array(b);
    for (guint i = 0; i < h->nights->len; i++) {
        const ResNight *n = night_at(h, i);
        if (n->started_us < since_us)
            continue;
        json_builder_begin_object(b);
        lab_json_int(b, "started_us", n->started_us);
        lab_json_string(b, "set", n->set);
        lab_json_number(b, "value", n->value);
        lab_json_int(b, "boots", n->boots);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void
add_notes(JsonBuilder *b, const ResHistory *h, const GPtrArray *annotations, gint64 since_us)
{
    json_builder_set_member_name(b, "notes");
    json_builder_begin_array(b);
    for (guint i = 0; i < annotations->len; i++) {
        const ResAnnotation *a = g_ptr_array_index(annotations, i);
        if (a->accept || a->when_us < since_us || !res_history_concerns(h, a))
            continue;
        g_autofree char *date = lab_history_date(a->when_us);
        json_builder_begin_object(b);
        lab_json_string(b, "date", date);
        lab_json_string(b, "note", a->note);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void
add_history(JsonBuilder *b, const ResHistory *h, const GPtrArray *annotations, gint64 since_us)
{
    const ResSeries *s = h->series;
    const char *const fields[][2] = {{"metric", s->metric},
                                     {"profile", s->profile},
                                     {"cell", s->cell},
                                     {"host", s->host},
                                     {"platform", s->platform},
                                     {"clock", s->clock},
                                     {"fidelity", res_fidelity_name(s->fidelity)},
                                     {"unit", s->unit},
                                     {"direction", res_direction_name(s->direction)}};
    json_builder_begin_object(b);
    for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
        lab_json_string(b, fields[i][0], fields[i][1]);
    lab_json_int(b, "nights_needed", h->more);
    lab_json_int(b, "runs_in_future", h->future);
    lab_json_int(b, "runs_unusable", h->unusable);
    json_builder_set_member_name(b, "changes");
    json_builder_begin_array(b);
    for (guint i = 0; i < h->changes->len; i++) {
        const ResHistoryChange *c = g_ptr_array_index(h->changes, i);
        if (night_at(h, c->change.at)->started_us >= since_us)
            add_change(b, h, c);
    }
    json_builder_end_array(b);
    add_notes(b, h, annotations, since_us);
    add_nights(b, h, since_us);
    json_builder_end_object(b);
}

char *
lab_history_json(const GPtrArray *histories, const GPtrArray *annotations, gint64 since_us)
{
    g_autoptr(JsonBuilder) b = json_builder_new();

    json_builder_begin_array(b);
    for (guint i = 0; i < histories->len; i++)
        add_history(b, g_ptr_array_index(histories, i), annotations, since_us);
    json_builder_end_array(b);
    return lab_json_text(b);
}
