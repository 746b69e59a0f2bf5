/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/series.h"

static void
point_clear(ResSeriesPoint *p)
{
    g_free(p->run);
    g_free(p->set);
}

ResSeries *
res_series_new(void)
{
    ResSeries *s = g_new0(ResSeries, 1);
    s->points = g_array_new(FALSE, FALSE, sizeof(ResSeriesPoint));
    g_array_set_clear_func(s->points, (GDestroyNotify)point_clear);
    s->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return s;
}

void
res_series_free(ResSeries *s)
{
    if (s == NULL) {
        return;
    }
    char *texts[] = {s->metric, s->profile, s->cell, s->host, s->platform, s->clock, s->unit};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_free(texts[i]);
    }
    g_array_unref(s->points);
    g_hash_table_unref(s->texts);
    g_free(s);
}

void
res_series_add(ResSeries *s, gint64 started_us, const char *run, const char *set, double value,
               const char *facts)
{
    ResSeriesPoint p = {started_us, g_strdup(run), g_strdup(set), value, NULL};
    gpointer known = NULL;
    if (!g_hash_table_lookup_extended(s->texts, facts, &known, NULL)) {
        known = g_strdup(facts);
        g_hash_table_add(s->texts, known);
    }
    p.facts = known;
    g_array_append_val(s->points, p);
}
