/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How figures go along an axis of the profile: cost by number of CPUs, or kernel by kernel. */
#include <math.h>
#include <string.h>

#include "results/escape.h"
#include "results/json_write.h"
#include "results/page_html_private.h"

#define AXIS "axis."
#define PART ".in." /* of a figure: shown with it, not along axes */
#define POINTS_MIN 3
#define PLOTS_MAX 12

/* One metric along one axis; a line for each point of the other axes. */
typedef struct {
    const char *metric, *unit, *axis; /* of the records */
    ResFidelity fidelity;
    GPtrArray *values; /* const char *: of the axis, in the order of the cells */
    GPtrArray *labels; /* char *: of the lines */
    GArray *medians;   /* double, lines x values; NaN: none */
    gboolean numeric;
} Plot;

static void
plot_free(Plot *plot)
{
    g_ptr_array_unref(plot->values);
    g_ptr_array_unref(plot->labels);
    g_array_unref(plot->medians);
    g_free(plot);
}

static const ResRecord *
record_of(const ResPageCell *c)
{
    return g_ptr_array_index(c->records, 0);
}

static const char *
value_of(const ResPageCell *c, const char *axis)
{
    g_autofree char *key = g_strconcat(AXIS, axis, NULL);
    return g_hash_table_lookup(record_of(c)->parameters, key);
}

static int
by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of the axes of CELL, sorted; they belong to its record. */
static GPtrArray *
axes_of(const ResPageCell *c)
{
    GPtrArray *axes = g_ptr_array_new();
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, record_of(c)->parameters);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        if (g_str_has_prefix(key, AXIS)) {
            g_ptr_array_add(axes, (char *)key + strlen(AXIS));
        }
    }
    g_ptr_array_sort(axes, by_text);
    return axes;
}

/* Where TEXT is in TEXTS, to the end of which it is added when it is new. OWN: a copy of it is. */
static guint
position(GPtrArray *texts, const char *text, gboolean own)
{
    guint at;

    if (!g_ptr_array_find_with_equal_func(texts, text, g_str_equal, &at)) {
        at = texts->len;
        g_ptr_array_add(texts, own ? g_strdup(text) : (gpointer)text);
    }
    return at;
}

/* The other axes of CELL: "kernel=a variant=b". g_free. */
static char *
label_of(const ResPageCell *c, const char *without)
{
    g_autoptr(GPtrArray) axes = axes_of(c);
    GString *label = g_string_new(NULL);

    for (guint i = 0; i < axes->len; i++) {
        if (!g_str_equal(axes->pdata[i], without)) {
            g_string_append_printf(label, "%s%s=%s", label->len ? " " : "", (char *)axes->pdata[i],
                                   value_of(c, axes->pdata[i]));
        }
    }
    return g_string_free(label, FALSE);
}

static const ResSummary *
summary_of(const ResPageCell *c, const char *metric)
{
    for (guint i = 0; i < c->summaries->len; i++) {
        const ResSummary *s = g_ptr_array_index(c->summaries, i);
        if (g_str_equal(s->name, metric)) {
            return s;
        }
    }
    return NULL;
}

static gboolean
is_number(const char *text)
{
    char *end;
    double value = g_ascii_strtod(text, &end);
    return end > text && *end == '\0' && isfinite(value);
}

static void
fill(Plot *plot, const ResPage *p)
{
    double none = NAN;

    for (guint i = 0; i < plot->labels->len * plot->values->len; i++) {
        g_array_append_val(plot->medians, none);
    }
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *c = g_ptr_array_index(p->cells, i);
        const char *value = value_of(c, plot->axis);
        const ResSummary *s = value ? summary_of(c, plot->metric) : NULL;
        if (!s || s->censored) {
            continue;
        }
        g_autofree char *label = label_of(c, plot->axis);
        guint line = position(plot->labels, label, TRUE), at = position(plot->values, value, FALSE);
        g_array_index(plot->medians, double, line * plot->values->len + at) = s->median;
    }
}

/* NULL: too few points, or too many lines, to say anything. */
static Plot *
plot_new(const ResPage *p, const ResSummary *s, const char *axis)
{
    Plot *plot = g_new0(Plot, 1);

    *plot = (Plot){.metric = s->name,
                   .unit = s->unit,
                   .fidelity = s->fidelity,
                   .axis = axis,
                   .values = g_ptr_array_new(),
                   .labels = g_ptr_array_new_with_free_func(g_free),
                   .medians = g_array_new(FALSE, FALSE, sizeof(double)),
                   .numeric = TRUE};
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *c = g_ptr_array_index(p->cells, i);
        const char *value = value_of(c, axis);
        if (!value || !summary_of(c, s->name)) {
            continue;
        }
        g_autofree char *label = label_of(c, axis);
        plot->numeric = plot->numeric && is_number(value);
        position(plot->values, value, FALSE);
        position(plot->labels, label, TRUE);
    }
    if (plot->values->len < POINTS_MIN || plot->labels->len > RES_PAGE_SERIES_MAX) {
        plot_free(plot);
        return NULL;
    }
    fill(plot, p);
    return plot;
}

/* Worth a plot: named by what the profile claims, or any when it claims nothing. */
static gboolean
wanted(const ResPage *p, const ResSummary *s)
{
    if (s->fidelity == RES_FIDELITY_FUNCTIONAL || strstr(s->name, PART)) {
        return FALSE;
    }
    for (guint i = 0; i < p->claims->len; i++) {
        if (strstr(((ResClaim *)g_ptr_array_index(p->claims, i))->text, s->name)) {
            return TRUE;
        }
    }
    return p->claims->len == 0;
}

/* Plot *, the same in every call for P. */
static GPtrArray *
plots_new(const ResPage *p)
{
    GPtrArray *plots = g_ptr_array_new_with_free_func((GDestroyNotify)plot_free);
    g_autoptr(GPtrArray) seen = g_ptr_array_new();

    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *c = g_ptr_array_index(p->cells, i);
        g_autoptr(GPtrArray) axes = axes_of(c);
        for (guint k = 0; k < c->summaries->len; k++) {
            const ResSummary *s = g_ptr_array_index(c->summaries, k);
            guint before = seen->len;
            if (!wanted(p, s) || position(seen, s->name, FALSE) < before) {
                continue;
            }
            for (guint a = 0; a < axes->len && plots->len < PLOTS_MAX; a++) {
                Plot *plot = plot_new(p, s, axes->pdata[a]);
                if (plot) {
                    g_ptr_array_add(plots, plot);
                }
            }
        }
    }
    return plots;
}

static double
median_at(const Plot *plot, guint line, guint at)
{
    return g_array_index(plot->medians, double, line * plot->values->len + at);
}

/* A row for each point: values and cells may be long. */
static void
append_table(GString *out, const Plot *plot, const char *caption)
{
    const char *const heads[] = {plot->axis, "Cell", "Median", NULL};
    ResHtmlTable t;

    res_html_table(&t, out, caption, heads);
    for (guint line = 0; line < plot->labels->len; line++) {
        for (guint at = 0; at < plot->values->len; at++) {
            double median = median_at(plot, line, at);
            g_autofree char *figure =
                isnan(median) ? g_strdup("–") : res_html_quantity(median, plot->unit);
            res_html_row(&t, NULL);
            res_html_cell(&t, "name", plot->values->pdata[at]);
            res_html_cell(&t, "name", res_html_cell_name(plot->labels->pdata[line]));
            res_html_cell(&t, "figure", figure);
        }
    }
    res_html_table_end(&t);
}

void
res_page_html_axes(GString *out, const ResPage *p)
{
    g_autoptr(GPtrArray) plots = plots_new(p);

    if (plots->len == 0) {
        return;
    }
    g_string_append(out, "<section><h2>Along the axes</h2>\n");
    for (guint i = 0; i < plots->len; i++) {
        const Plot *plot = g_ptr_array_index(plots, i);
        g_autofree char *caption = g_strdup_printf("%s by %s, fidelity %s", plot->metric,
                                                   plot->axis, res_fidelity_name(plot->fidelity));
        g_string_append_printf(out,
                               "<div class=\"plots\" data-along=\"%u\"></div>\n<details>"
                               "<summary>",
                               i);
        res_markup(out, caption);
        g_string_append(out, "</summary>\n");
        append_table(out, plot, caption);
        g_string_append(out, "</details>\n");
    }
    g_string_append(out, "</section>\n");
}

static void
add_plot(JsonBuilder *b, const Plot *plot)
{
    json_builder_begin_object(b);
    res_json_string(b, "metric", plot->metric);
    res_json_string(b, "axis", plot->axis);
    res_json_string(b, "unit", plot->unit);
    json_builder_set_member_name(b, "numeric");
    json_builder_add_boolean_value(b, plot->numeric);
    json_builder_set_member_name(b, "values");
    json_builder_begin_array(b);
    for (guint i = 0; i < plot->values->len; i++) {
        json_builder_add_string_value(b, plot->values->pdata[i]);
    }
    json_builder_end_array(b);
    json_builder_set_member_name(b, "series");
    json_builder_begin_array(b);
    for (guint line = 0; line < plot->labels->len; line++) {
        json_builder_begin_object(b);
        res_json_string(b, "label", plot->labels->pdata[line]);
        res_json_string(b, "role", "cell");
        json_builder_set_member_name(b, "medians");
        json_builder_begin_array(b);
        for (guint at = 0; at < plot->values->len; at++) {
            double median = median_at(plot, line, at);
            if (isnan(median)) {
                json_builder_add_null_value(b);
            } else {
                json_builder_add_double_value(b, median);
            }
        }
        json_builder_end_array(b);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
}

void
res_page_data_axes(JsonBuilder *b, const ResPage *p)
{
    g_autoptr(GPtrArray) plots = plots_new(p);

    json_builder_set_member_name(b, "along");
    json_builder_begin_array(b);
    for (guint i = 0; i < plots->len; i++) {
        add_plot(b, g_ptr_array_index(plots, i));
    }
    json_builder_end_array(b);
}
