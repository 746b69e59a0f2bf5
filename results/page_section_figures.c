/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every figure of every cell, its boots as dots, and what page.js draws of boots and history. */
#include <math.h>

#include "results/escape.h"
#include "results/json_write.h"
#include "results/page_html_private.h"

#define STRIP_WIDTH 150.0
#define OPEN_UP_TO 40 /* rows: a longer table is folded */

static const ResMetric *
metric_of(const ResRecord *r, const ResSummary *s)
{
    return r->outcome == RES_OUTCOME_DONE ? res_record_metric(r, s->name) : NULL;
}

/* One dot a boot, all cells of a metric on one scale. */
static void
add_strip(GString *out, const ResPageCell *cell, const ResSummary *s, double low, double high)
{
    char x[G_ASCII_DTOSTR_BUF_SIZE];
    double span = high - low;
    g_string_append(out, "<svg class=\"strip\" viewBox=\"0 0 150 14\" width=\"150\" height=\"14\" "
                         "aria-hidden=\"true\"><path class=\"axis\" d=\"M0 7h150\"/><path "
                         "class=\"dots\" d=\"");
    for (guint i = 0; i < cell->records->len; i++) {
        const ResMetric *m = metric_of(g_ptr_array_index(cell->records, i), s);
        if (m != NULL) {
            double at = span > 0 ? (m->value - low) / span : 0.5;
            g_ascii_formatd(x, sizeof x, "%.1f", 5 + CLAMP(at, 0, 1) * (STRIP_WIDTH - 10));
            g_string_append_printf(out, "M%s 7h0", x);
        }
    }
    g_string_append(out, "\"/></svg>");
}

/* The range of a metric over all cells and boots. */
typedef struct {
    double low, high;
} Range;

static GHashTable *
ranges_new(const ResPage *p, guint *rows)
{
    GHashTable *ranges = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    *rows = 0;
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *cell = g_ptr_array_index(p->cells, i);
        for (guint k = 0; k < cell->summaries->len; k++, (*rows)++) {
            const ResSummary *s = g_ptr_array_index(cell->summaries, k);
            Range *r = g_hash_table_lookup(ranges, s->name);
            if (r == NULL) {
                r = g_new(Range, 1);
                *r = (Range){s->min, s->max};
                g_hash_table_insert(ranges, s->name, r);
            }
            r->low = MIN(r->low, s->min);
            r->high = MAX(r->high, s->max);
        }
    }
    return ranges;
}

static void
add_row(ResHtmlTable *t, const ResPageCell *cell, const ResSummary *s, const Range *range,
        gboolean name_cell)
{
    g_autofree char *quantity = res_html_quantity(s->median, s->unit);
    g_autofree char *median =
        g_strconcat(s->censored ? "\xe2\x89\xa5\xc2\xa0" : "", quantity, NULL);
    g_autofree char *low = res_html_quantity(s->min, s->unit);
    g_autofree char *high = res_html_quantity(s->max, s->unit);
    g_autofree char *extent = g_strdup_printf("%s to %s", low, high);
    g_autofree char *spread =
        s->boots > 1 ? g_strdup_printf("%.3f\xc2\xa0%%", s->spread * 100) : g_strdup("one boot");
    g_autofree char *boots = g_strdup_printf("%u", s->boots);
    res_html_row(t, s->fidelity == RES_FIDELITY_FUNCTIONAL ? "void" : NULL);
    res_html_cell(t, "name", s->name);
    if (name_cell) {
        g_string_append(t->out, "<br><small>");
        res_markup(t->out, cell->name);
        g_string_append(t->out, "</small>");
    }
    res_html_cell(t, "figure", median);
    res_html_cell(t, "figure", extent);
    res_html_cell(t, "figure", isfinite(s->spread) ? spread : "\xe2\x80\x93");
    res_html_cell(t, NULL, NULL);
    add_strip(t->out, cell, s, range->low, range->high);
    res_html_cell(t, "figure", boots);
    res_html_cell(t, "short", res_fidelity_name(s->fidelity));
}

void
res_page_html_metrics(GString *out, const ResPage *p)
{
    static const char *const heads[] = {"Metric", "Median", "Range over boots", "Spread",
                                        "Boots",  "n",      "Fidelity",         NULL};
    guint rows;
    g_autoptr(GHashTable) ranges = ranges_new(p, &rows);
    ResHtmlTable t;
    if (rows == 0) {
        return;
    }
    g_string_append(out, "<section><h2>All figures</h2>\n<div class=\"plots\" data-boots></div>\n");
    if (rows > OPEN_UP_TO) {
        g_string_append_printf(out, "<details><summary>%u figures</summary>\n", rows);
    }
    res_html_table(&t, out,
                   "Each metric over the boots of a cell; a dot is a boot, cells of a "
                   "metric share their scale",
                   heads);
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *cell = g_ptr_array_index(p->cells, i);
        for (guint k = 0; k < cell->summaries->len; k++) {
            const ResSummary *s = g_ptr_array_index(cell->summaries, k);
            add_row(&t, cell, s, g_hash_table_lookup(ranges, s->name), p->cells->len > 1);
        }
    }
    res_html_table_end(&t);
    g_string_append(out, rows > OPEN_UP_TO ? "</details></section>\n" : "</section>\n");
}

/* --- boots, for the script --- */

static void
add_boots(JsonBuilder *b, const ResPageCell *cell, const char *label, const char *role,
          const ResSummary *s)
{
    json_builder_begin_object(b);
    res_json_string(b, "label", label);
    res_json_string(b, "role", role);
    json_builder_set_member_name(b, "points");
    json_builder_begin_array(b);
    for (guint i = 0; i < cell->records->len; i++) {
        const ResRecord *r = g_ptr_array_index(cell->records, i);
        const ResMetric *m = metric_of(r, s);
        if (m != NULL) {
            json_builder_begin_array(b);
            json_builder_add_int_value(b, r->boot);
            json_builder_add_double_value(b, m->value);
            json_builder_add_string_value(b, r->id);
            json_builder_end_array(b);
        }
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
}

static void
begin_boots(JsonBuilder *b, const ResSummary *s, const char *cell)
{
    json_builder_begin_object(b);
    res_json_string(b, "metric", s->name);
    res_json_string(b, "cell", cell);
    res_json_string(b, "unit", s->unit);
    res_json_string(b, "fidelity", res_fidelity_name(s->fidelity));
    json_builder_set_member_name(b, "series");
    json_builder_begin_array(b);
}

static const ResSummary *
same_metric(const ResPageCell *cell, const char *name)
{
    for (guint i = 0; cell != NULL && i < cell->summaries->len; i++) {
        const ResSummary *s = g_ptr_array_index(cell->summaries, i);
        if (g_str_equal(s->name, name)) {
            return s;
        }
    }
    return NULL;
}

/* A metric against the baseline, cell by cell. */
static void
add_compared_boots(JsonBuilder *b, const ResPage *p)
{
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *cell = g_ptr_array_index(p->cells, i);
        const ResPageCell *other = cell->partner;
        for (guint k = 0; k < cell->summaries->len; k++) {
            const ResSummary *s = g_ptr_array_index(cell->summaries, k);
            begin_boots(b, s, cell->name);
            if (same_metric(other, s->name) != NULL) {
                add_boots(b, other, RES_PAGE_BASELINE, "baseline", s);
            }
            add_boots(b, cell, RES_PAGE_SUBJECT, "subject", s);
            json_builder_end_array(b);
            json_builder_end_object(b);
        }
    }
}

/* A metric in all cells, as far as they can be told apart. */
static void
add_all_boots(JsonBuilder *b, const ResPage *p)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *cell = g_ptr_array_index(p->cells, i);
        for (guint k = 0; k < cell->summaries->len; k++) {
            const ResSummary *s = g_ptr_array_index(cell->summaries, k);
            if (!g_hash_table_add(seen, s->name)) {
                continue;
            }
            begin_boots(b, s, "");
            for (guint c = i, n = 0; c < p->cells->len && n < RES_PAGE_SERIES_MAX; c++) {
                const ResPageCell *one = g_ptr_array_index(p->cells, c);
                if (same_metric(one, s->name) != NULL) {
                    add_boots(b, one, one->name[0] != '\0' ? one->name : RES_PAGE_SUBJECT, "cell",
                              s);
                    n++;
                }
            }
            json_builder_end_array(b);
            json_builder_end_object(b);
        }
    }
}

void
res_page_data_boots(JsonBuilder *b, const ResPage *p)
{
    json_builder_set_member_name(b, "boots");
    json_builder_begin_array(b);
    if (p->comparisons != NULL) {
        add_compared_boots(b, p);
    } else {
        add_all_boots(b, p);
    }
    json_builder_end_array(b);
}

/* --- history --- */

void
res_page_html_history(GString *out, const ResPage *p)
{
    static const char *const heads[] = {"Set", "When", "Median", "Range over boots", "n", "", NULL};
    ResHtmlTable t;
    if (p->history->len == 0) {
        return;
    }
    g_string_append(out, "<section><h2>History</h2>\n");
    for (guint i = 0; i < p->history->len; i++) {
        const ResPageHistory *h = g_ptr_array_index(p->history, i);
        g_autofree char *caption =
            g_strdup_printf("%s%s%s, fidelity %s", h->metric, h->cell[0] != '\0' ? ", " : "",
                            h->cell, res_fidelity_name(h->fidelity));
        g_string_append_printf(out,
                               "<div class=\"plots\" data-history=\"%u\"></div>\n<details>"
                               "<summary>",
                               i);
        res_markup(out, caption);
        g_string_append(out, "</summary>\n");
        res_html_table(&t, out, caption, heads);
        for (guint k = 0; k < h->points->len; k++) {
            const ResPagePoint *point = &g_array_index(h->points, ResPagePoint, k);
            g_autofree char *when = res_utc(point->started_us);
            g_autofree char *median = res_html_quantity(point->median, h->unit);
            g_autofree char *low = res_html_quantity(point->min, h->unit);
            g_autofree char *high = res_html_quantity(point->max, h->unit);
            g_autofree char *extent = g_strdup_printf("%s to %s", low, high);
            g_autofree char *n = g_strdup_printf("%u", point->boots);
            res_html_row(&t, NULL);
            res_html_cell(&t, "name", point->set);
            res_html_cell(&t, NULL, when);
            res_html_cell(&t, "figure", median);
            res_html_cell(&t, "figure", extent);
            res_html_cell(&t, "figure", n);
            res_html_cell(&t, NULL, point->change ? "the level changed here" : "");
        }
        res_html_table_end(&t);
        g_string_append(out, "</details>\n");
    }
    g_string_append(out, "</section>\n");
}

void
res_page_data_history(JsonBuilder *b, const ResPage *p)
{
    json_builder_set_member_name(b, "history");
    json_builder_begin_array(b);
    for (guint i = 0; i < p->history->len; i++) {
        const ResPageHistory *h = g_ptr_array_index(p->history, i);
        json_builder_begin_object(b);
        res_json_string(b, "metric", h->metric);
        res_json_string(b, "cell", h->cell);
        res_json_string(b, "unit", h->unit);
        json_builder_set_member_name(b, "points");
        json_builder_begin_array(b);
        for (guint k = 0; k < h->points->len; k++) {
            const ResPagePoint *point = &g_array_index(h->points, ResPagePoint, k);
            json_builder_begin_array(b);
            json_builder_add_int_value(b, point->started_us / G_USEC_PER_SEC);
            json_builder_add_double_value(b, point->median);
            json_builder_add_double_value(b, point->min);
            json_builder_add_double_value(b, point->max);
            json_builder_add_int_value(b, point->change);
            json_builder_end_array(b);
        }
        json_builder_end_array(b);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}
