/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Latencies: a table of quantiles, and what page.js draws: histogram, quantiles, share below. */
#include <math.h>
#include <string.h>

#include "results/escape.h"
#include "results/json_write.h"
#include "results/page_html_private.h"

#define CONFIDENCE 0.99     /* how well a quantile must be carried to be shown (res_hist_deepest) */
#define BINS 60             /* of a histogram, at most */
#define LOG_FROM 8          /* largest value / smallest: from there the axis is logarithmic */
#define STEPS_PER_DECADE 12 /* of the quantile plot */
#define DECADES_MAX 9

/* One line of a plot. */
typedef struct {
    const char *label, *role;
    const ResHist *hist;
    guint boots;
} Series;

/* A plot: one workload in one cell against the baseline, or one workload in all cells. */
typedef struct {
    const char *workload, *cell;
    ResFidelity fidelity;
    guint left_out; /* series beyond RES_PAGE_SERIES_MAX */
    guint n;
    Series series[RES_PAGE_SERIES_MAX];
} Plot;

static void
add_series(Plot *plot, const char *label, const char *role, const ResPageLatency *l, int side)
{
    if (l->hist[side] == NULL || res_hist_count(l->hist[side]) == 0) {
        return;
    }
    if (plot->n == RES_PAGE_SERIES_MAX) {
        plot->left_out++;
        return;
    }
    plot->series[plot->n++] = (Series){label, role, l->hist[side], l->boots[side]};
}

static GArray *
plots_new(const ResPage *p)
{
    GArray *plots = g_array_new(FALSE, TRUE, sizeof(Plot));
    gboolean compared = p->comparisons != NULL;
    for (guint i = 0; i < p->latencies->len; i++) {
        const ResPageLatency *l = g_ptr_array_index(p->latencies, i);
        Plot *last = plots->len > 0 ? &g_array_index(plots, Plot, plots->len - 1) : NULL;
        if (compared || last == NULL || !g_str_equal(last->workload, l->workload)) {
            const Plot plot = {.workload = l->workload, .cell = l->cell, .fidelity = l->fidelity};
            g_array_append_val(plots, plot);
            last = &g_array_index(plots, Plot, plots->len - 1);
        }
        if (compared) {
            add_series(last, RES_PAGE_BASELINE, "baseline", l, 0);
            add_series(last, RES_PAGE_SUBJECT, "subject", l, 1);
        } else {
            add_series(last, l->cell[0] != '\0' ? l->cell : RES_PAGE_SUBJECT, "cell", l, 1);
        }
    }
    for (guint i = plots->len; i > 0; i--) {
        if (g_array_index(plots, Plot, i - 1).n == 0) {
            g_array_remove_index(plots, i - 1);
        }
    }
    return plots;
}

/* Durations there mean nothing, so they are not drawn: a picture is believed. */
static gboolean
drawn(const Plot *plot)
{
    return plot->fidelity != RES_FIDELITY_FUNCTIONAL;
}

static double
deepest(const Plot *plot)
{
    double q = 0;
    for (guint i = 0; i < plot->n; i++) {
        q = MAX(q, res_hist_deepest(res_hist_count(plot->series[i].hist), CONFIDENCE));
    }
    return q;
}

static void
add_quantile(ResHtmlTable *t, const Series *s, double q)
{
    ResQuantile quantile;
    if (q > res_hist_deepest(res_hist_count(s->hist), CONFIDENCE) ||
        !res_hist_quantile(s->hist, q, CONFIDENCE, &quantile)) {
        res_html_cell(t, "figure muted", "too few samples");
        return;
    }
    g_autofree char *text = res_hist_quantile_text(&quantile, res_hist_unit(s->hist));
    res_html_cell(t, "figure", text);
}

static void
add_figure_row(ResHtmlTable *t, const Plot *plot, const char *name,
               double (*figure)(const ResHist *))
{
    res_html_row(t, NULL);
    res_html_cell(t, NULL, name);
    for (guint i = 0; i < plot->n; i++) {
        const ResHist *h = plot->series[i].hist;
        g_autofree char *text = res_html_quantity(figure(h), res_hist_unit(h));
        res_html_cell(t, "figure", text);
    }
}

static double
maximum(const ResHist *h)
{
    return (double)res_hist_max(h);
}

static double
minimum(const ResHist *h)
{
    return (double)res_hist_min(h);
}

static void
add_table(GString *out, const Plot *plot)
{
    const char *heads[RES_PAGE_SERIES_MAX + 2] = {"Quantile"};
    ResHtmlTable t;
    for (guint i = 0; i < plot->n; i++) {
        heads[i + 1] = plot->series[i].label;
    }
    g_autofree char *caption = g_strdup_printf("Quantiles of all samples of all boots, fidelity %s",
                                               res_fidelity_name(plot->fidelity));
    res_html_table(&t, out, caption, heads);
    add_figure_row(&t, plot, "least", minimum);
    double most = deepest(plot);
    for (double q = 0.5, rest = 0.1; q > 0 && q <= most + 1e-12; q = 1 - rest, rest /= 10) {
        g_autofree char *name = res_hist_quantile_name(q);
        res_html_row(&t, NULL);
        res_html_cell(&t, NULL, name);
        for (guint i = 0; i < plot->n; i++) {
            add_quantile(&t, &plot->series[i], q);
        }
    }
    add_figure_row(&t, plot, "largest", maximum);
    res_html_row(&t, NULL);
    res_html_cell(&t, NULL, "samples");
    for (guint i = 0; i < plot->n; i++) {
        const Series *s = &plot->series[i];
        g_autofree char *text =
            g_strdup_printf("%" G_GUINT64_FORMAT " in %u boot%s", res_hist_count(s->hist), s->boots,
                            s->boots == 1 ? "" : "s");
        res_html_cell(&t, "figure", text);
    }
    res_html_table_end(&t);
}

void
res_page_html_latencies(GString *out, const ResPage *p)
{
    g_autoptr(GArray) plots = plots_new(p);
    if (plots->len + p->remarks->len == 0) {
        return;
    }
    g_string_append(out, "<section><h2>Latencies</h2>\n");
    res_html_list(out, p->remarks);
    for (guint i = 0; i < plots->len; i++) {
        const Plot *plot = &g_array_index(plots, Plot, i);
        g_string_append(out, "<h3>");
        res_markup(out, plot->workload);
        if (p->comparisons != NULL && plot->cell[0] != '\0') {
            res_html_printf(out, ", %s", plot->cell);
        }
        g_string_append(out, "</h3>\n");
        if (!drawn(plot)) {
            g_string_append(out, "<p class=\"note\">Not drawn: on this lab host durations mean "
                                 "nothing (fidelity functional).</p>\n");
            continue;
        }
        if (plot->left_out > 0) {
            res_html_printf(out, "%u more cells are in the table of all figures only.",
                            plot->left_out);
        }
        g_string_append_printf(
            out,
            "<div class=\"plots\" data-latency=\"%u\"></div>\n"
            "<p class=\"note js\">Drag across a plot to zoom in, double-click to "
            "zoom out. The number of samples has a logarithmic axis, so that "
            "single outliers show.</p>\n",
            i);
        add_table(out, plot);
    }
    g_string_append(out, "</section>\n");
}

/* --- for the script --- */

typedef struct {
    double low, high; /* of all samples */
    double grain;     /* no two different values are closer; bins must not be finer */
    gboolean log;
} Span;

static void
widen(Span *span, const ResHist *h)
{
    g_autoptr(GArray) buckets = res_hist_buckets(h);
    for (guint i = 0; i < buckets->len; i++) {
        const ResHistBucket *b = &g_array_index(buckets, ResHistBucket, i);
        span->low = MIN(span->low, (double)b->low);
        span->high = MAX(span->high, (double)b->high + 1);
        if (i > 0) {
            const ResHistBucket *before = b - 1;
            double gap =
                ((double)b->low + (double)b->high - (double)before->low - (double)before->high) / 2;
            span->grain = MIN(span->grain, gap);
        }
    }
}

/* BINS + 1 edges at most, equal steps along the axis but for the grain. */
static GArray *
edges_new(const Plot *plot, Span *span)
{
    GArray *edges = g_array_new(FALSE, FALSE, sizeof(double));
    *span = (Span){.low = HUGE_VAL, .high = -HUGE_VAL, .grain = HUGE_VAL};
    for (guint i = 0; i < plot->n; i++) {
        widen(span, plot->series[i].hist);
    }
    if (!(span->low < span->high)) {
        return edges; /* all samples lie beyond the histograms' ends */
    }
    span->log = span->low > 0 && span->high / span->low > LOG_FROM;
    double grain = isfinite(span->grain) ? span->grain : 1, edge = span->low;
    double factor = span->log ? pow(span->high / span->low, 1.0 / BINS) : 1;
    double step = (span->high - span->low) / BINS;
    g_array_append_val(edges, edge);
    while (edge < span->high && edges->len <= BINS) {
        double next = span->log ? edge * factor : edge + step;
        edge = MAX(next, edge + grain);
        edge = edges->len == BINS ? MAX(edge, span->high) : edge;
        g_array_append_val(edges, edge);
    }
    return edges;
}

/* A bucket belongs where its middle lies: it is at most 1/128 of its value wide. */
static void
add_counts(JsonBuilder *b, const ResHist *h, const GArray *edges)
{
    g_autoptr(GArray) buckets = res_hist_buckets(h);
    guint at = 0;
    json_builder_set_member_name(b, "counts");
    json_builder_begin_array(b);
    for (guint i = 0; i + 1 < edges->len; i++) {
        guint64 count = 0;
        gboolean last = i + 2 == edges->len;
        for (; at < buckets->len; at++) {
            const ResHistBucket *bucket = &g_array_index(buckets, ResHistBucket, at);
            double middle = ((double)bucket->low + (double)bucket->high) / 2;
            if (!last && middle >= g_array_index(edges, double, i + 1)) {
                break;
            }
            count += bucket->count;
        }
        json_builder_add_int_value(b, (gint64)count);
    }
    json_builder_end_array(b);
}

/* [1 / (1 - q), value, 1 when it is a lower bound]: as deep as it is carried. */
static void
add_quantiles(JsonBuilder *b, const ResHist *h)
{
    double most = res_hist_deepest(res_hist_count(h), CONFIDENCE);
    json_builder_set_member_name(b, "quantiles");
    json_builder_begin_array(b);
    for (guint i = 0; i <= DECADES_MAX * STEPS_PER_DECADE && most > 0; i++) {
        double x = pow(10, (double)i / STEPS_PER_DECADE), q = 1 - 1 / x;
        ResQuantile quantile;
        if (q > most + 1e-12) {
            break;
        }
        if (q <= 0 || !res_hist_quantile(h, q, CONFIDENCE, &quantile)) {
            continue;
        }
        json_builder_begin_array(b);
        json_builder_add_double_value(b, x);
        json_builder_add_double_value(b, quantile.value);
        json_builder_add_int_value(b, quantile.censored);
        json_builder_end_array(b);
    }
    json_builder_end_array(b);
}

static void
add_plot(JsonBuilder *b, const Plot *plot)
{
    Span span;
    g_autoptr(GArray) edges = edges_new(plot, &span);
    json_builder_begin_object(b);
    res_json_string(b, "unit", res_hist_unit(plot->series[0].hist));
    json_builder_set_member_name(b, "log");
    json_builder_add_boolean_value(b, span.log);
    json_builder_set_member_name(b, "edges");
    json_builder_begin_array(b);
    for (guint i = 0; i < edges->len; i++) {
        json_builder_add_double_value(b, g_array_index(edges, double, i));
    }
    json_builder_end_array(b);
    json_builder_set_member_name(b, "series");
    json_builder_begin_array(b);
    for (guint i = 0; i < plot->n; i++) {
        const Series *s = &plot->series[i];
        json_builder_begin_object(b);
        res_json_string(b, "label", s->label);
        res_json_string(b, "role", s->role);
        res_json_whole(b, "samples", (gint64)res_hist_count(s->hist));
        res_json_whole(b, "censored", (gint64)res_hist_censored(s->hist));
        add_counts(b, s->hist, edges);
        add_quantiles(b, s->hist);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
}

void
res_page_data_latencies(JsonBuilder *b, const ResPage *p)
{
    g_autoptr(GArray) plots = plots_new(p);
    json_builder_set_member_name(b, "latencies");
    json_builder_begin_array(b);
    for (guint i = 0; i < plots->len; i++) {
        const Plot *plot = &g_array_index(plots, Plot, i);
        if (drawn(plot)) {
            add_plot(b, plot);
        } else {
            json_builder_add_null_value(b);
        }
    }
    json_builder_end_array(b);
}
