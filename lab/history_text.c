/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/history.h"

#include <math.h>

#include "lab/text.h"

char *
lab_history_date(gint64 us)
{
    g_autoptr(GDateTime) when = g_date_time_new_from_unix_utc(us / G_USEC_PER_SEC);
    return when ? g_date_time_format(when, "%Y-%m-%d") : g_strdup("?");
}

const char *
lab_history_kind(const ResHistoryChange *c)
{
    static const char *const kinds[] = {"worse", "better", "changed"};
    return kinds[c->kind];
}

const char *
lab_history_state(const ResHistoryChange *c)
{
    if (c->accepted)
        return "accepted";
    if (c->gone)
        return "gone";
    if (c->fresh)
        return "new";
    return res_history_stands(c) ? "stands" : "";
}

static char *
quoted(const char *text)
{
    g_autofree char *printable = lab_printable(text);
    return g_shell_quote(printable);
}

char *
lab_history_bisect(const ResHistory *h, const ResHistoryChange *c)
{
    if (!c->good)
        return NULL;
    g_autofree char *file = g_strdup_printf("profiles/%s.ini", h->series->profile);
    g_autofree char *profile = quoted(file), *good = quoted(c->good), *bad = quoted(c->bad);
    g_autofree char *metric = quoted(h->series->metric);
    return g_strdup_printf("nohzlab bisect %s --good %s --bad %s --metric %s", profile, good, bad,
                           metric);
}

static const ResNight *
night_at(const ResHistory *h, gsize at)
{
    return &g_array_index(h->nights, ResNight, at);
}

static void
append_accept(GString *out, const ResHistory *h, const char *date)
{
    const ResSeries *s = h->series;
    g_autofree char *metric = quoted(s->metric), *profile = quoted(s->profile),
                    *cell = quoted(s->cell);
    g_string_append_printf(out,
                           "         meant so: nohzlab history %s --profile %s --cell %s --accept "
                           "%s --note WHY\n",
                           metric, profile, cell, date);
}

static void
append_size(GString *out, const ResHistory *h, const ResChange *c)
{
    g_autofree char *before = lab_figure(c->before), *after = lab_figure(c->after);
    g_autofree char *low = lab_figure(c->low), *high = lab_figure(c->high);
    g_autofree char *unit = lab_printable(h->series->unit);
    g_string_append_printf(out, "%s -> %s %s", before, after, unit);
    if (fabs(c->before) > 0)
        g_string_append_printf(out, " (%+.3g%%)", 100 * (c->after - c->before) / fabs(c->before));
    g_string_append_printf(out, ", shift from %s to %s", low, high);
}

static void
append_change(GString *out, const ResHistory *h, const ResHistoryChange *c)
{
    const ResNight *night = night_at(h, c->change.at);
    g_autofree char *date = lab_history_date(night->started_us);
    g_autofree char *known = lab_history_date(night_at(h, c->change.established)->started_us);
    g_autofree char *bisect = lab_history_bisect(h, c);
    const char *state = lab_history_state(c);

    g_string_append_printf(out, "  %-7s%s%s%s  %s: ", lab_history_kind(c), *state ? " (" : "",
                           state, *state ? ")" : "", date);
    append_size(out, h, &c->change);
    g_string_append_printf(out, "; established %s\n", known);
    if (c->back_of >= 0) {
        const ResHistoryChange *r = g_ptr_array_index(h->changes, (guint)c->back_of);
        g_autofree char *then = lab_history_date(night_at(h, r->change.at)->started_us);
        g_string_append_printf(out, "         the regression of %s is gone\n", then);
    }
    if (!c->suspects->len)
        g_string_append_printf(out,
                               "         nothing on record changed within %d nights: look at the "
                               "machine\n",
                               RES_HISTORY_NEAR);
    for (guint i = 0; i < c->suspects->len; i++) {
        g_autofree char *line = lab_printable(g_ptr_array_index(c->suspects, i));
        g_string_append_printf(out, "         suspect: %s\n", line);
    }
    if (c->accepted) {
        g_autofree char *note = lab_printable(c->accepted->note);
        g_string_append_printf(out, "         accepted: %s\n", note);
    }
    if (!res_history_stands(c))
        return;
    if (bisect)
        g_string_append_printf(out, "         now: %s\n", bisect);
    append_accept(out, h, date);
}

static void
append_head(GString *out, const ResHistory *h)
{
    const ResSeries *s = h->series;
    g_autofree char *metric = lab_printable(s->metric), *profile = lab_printable(s->profile);
    g_autofree char *cell = lab_printable(s->cell), *host = lab_printable(s->host);
    g_autofree char *unit = lab_printable(s->unit);

    g_string_append_printf(out, "%s  %s  %s%s%s  %s, %s; %s\n", metric, profile, *cell ? cell : "-",
                           *host ? "  on " : "", host, unit, res_fidelity_name(s->fidelity),
                           s->direction == RES_LOWER_IS_BETTER    ? "lower is better"
                           : s->direction == RES_HIGHER_IS_BETTER ? "higher is better"
                                                                  : "no better or worse");
    if (h->nights->len) {
        const ResNight *last = night_at(h, h->nights->len - 1);
        g_autofree char *from = lab_history_date(night_at(h, 0)->started_us);
        g_autofree char *to = lab_history_date(last->started_us);
        g_autofree char *value = lab_figure(last->value);
        g_string_append_printf(out, "  %u night%s, %s to %s; the newest is %s\n", h->nights->len,
                               h->nights->len > 1 ? "s" : "", from, to, value);
    }
    if (h->more)
        g_string_append_printf(out, "  cannot tell: %u more night%s until a change can be told\n",
                               h->more, h->more > 1 ? "s" : "");
    if (h->future)
        g_string_append_printf(out, "  left out: %u run%s dated in the future\n", h->future,
                               h->future > 1 ? "s" : "");
    if (h->unusable)
        g_string_append_printf(out, "  left out: %u run%s whose figure is no finite number\n",
                               h->unusable, h->unusable > 1 ? "s" : "");
}

static void
append_notes(GString *out, const ResHistory *h, const GPtrArray *annotations, gint64 since_us)
{
    for (guint i = 0; i < annotations->len; i++) {
        const ResAnnotation *a = g_ptr_array_index(annotations, i);
        if (a->accept || a->when_us < since_us || !res_history_concerns(h, a))
            continue;
        g_autofree char *date = lab_history_date(a->when_us), *note = lab_printable(a->note);
        g_string_append_printf(out, "  note     %s: %s\n", date, note);
    }
}

char *
lab_history_text(const GPtrArray *histories, const GPtrArray *annotations, gint64 since_us)
{
    GString *out = g_string_new(NULL);

    for (guint i = 0; i < histories->len; i++) {
        const ResHistory *h = g_ptr_array_index(histories, i);
        guint shown = 0;
        append_head(out, h);
        for (guint k = 0; k < h->changes->len; k++) {
            const ResHistoryChange *c = g_ptr_array_index(h->changes, k);
            if (night_at(h, c->change.at)->started_us < since_us)
                continue;
            append_change(out, h, c);
            shown++;
        }
        if (!shown && !h->more)
            g_string_append(out, "  no change\n");
        append_notes(out, h, annotations, since_us);
    }
    return g_string_free(out, FALSE);
}
