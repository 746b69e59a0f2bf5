/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab host did meanwhile: where the guest's timers expired, and why it left the guest. */
#include <math.h>
#include <string.h>

#include "results/escape.h"
#include "results/page_html_private.h"

#define BAR_WIDTH 240.0
#define REASONS_MAX 12

static const ResSummary *
summary_of(const ResPageCell *cell, const char *workload, const char *what)
{
    g_autofree char *name = g_strdup_printf("%s.%s", workload, what);
    for (guint i = 0; cell != NULL && i < cell->summaries->len; i++) {
        const ResSummary *s = g_ptr_array_index(cell->summaries, i);
        if (g_str_equal(s->name, name)) {
            return s;
        }
    }
    return NULL;
}

/* Workloads whose metric WHAT some cell has; char *, in order. */
static GPtrArray *
workloads_with(const ResPage *p, const char *what)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *end = g_strconcat(".", what, NULL);
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *cell = g_ptr_array_index(p->cells, i);
        for (guint k = 0; k < cell->summaries->len; k++) {
            const ResSummary *s = g_ptr_array_index(cell->summaries, k);
            if (!g_str_has_suffix(s->name, end)) {
                continue;
            }
            g_autofree char *name = g_strndup(s->name, strlen(s->name) - strlen(end));
            if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) {
                g_ptr_array_add(names, g_steal_pointer(&name));
            }
        }
    }
    return names;
}

static void
add_rect(GString *out, const char *class, double from, double to, double height)
{
    char x[G_ASCII_DTOSTR_BUF_SIZE], width[G_ASCII_DTOSTR_BUF_SIZE], h[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(x, sizeof x, "%.1f", from);
    g_ascii_formatd(width, sizeof width, "%.1f", MAX(to - from, 0));
    g_ascii_formatd(h, sizeof h, "%.0f", height);
    g_string_append_printf(out, "<rect class=\"%s\" x=\"%s\" y=\"0\" width=\"%s\" height=\"%s\"/>",
                           class, x, width, h);
}

/* Offloaded, local and other timers of one side of one cell. */
static void
add_timer_row(ResHtmlTable *t, const char *workload, const ResPageCell *cell, const char *side)
{
    const ResSummary *all = summary_of(cell, workload, "guest_timers");
    const ResSummary *local = summary_of(cell, workload, "local_timers");
    const ResSummary *share = summary_of(cell, workload, "offloaded_timers");
    if (all == NULL || local == NULL || !(all->median > 0)) {
        return;
    }
    double off = share != NULL ? share->median * all->median : 0;
    double stayed = MIN(local->median, all->median - off);
    double a = off / all->median * BAR_WIDTH, b = (off + stayed) / all->median * BAR_WIDTH;
    g_autofree char *counts =
        g_strdup_printf("%.0f / %.0f / %.0f", off, stayed, MAX(all->median - off - stayed, 0));
    g_autofree char *percent = g_strdup_printf("%.1f\xc2\xa0%%", off / all->median * 100);
    g_autofree char *n = g_strdup_printf("%u", all->boots);
    res_html_row(t, NULL);
    res_html_cell(t, NULL, workload);
    g_string_append(t->out, "<br><small>");
    res_markup(t->out, cell->name);
    res_html_printf(t->out, "%s%s", cell->name[0] != '\0' && *side != '\0' ? ", " : "", side);
    g_string_append(t->out, "</small>");
    res_html_cell(t, "figure", percent);
    res_html_cell(t, NULL, NULL);
    g_string_append(t->out, "<svg class=\"bar\" viewBox=\"0 0 240 14\" width=\"240\" height=\"14\" "
                            "role=\"img\" aria-label=\"");
    res_html_printf(t->out, "offloaded %s, of %.0f", percent, all->median);
    g_string_append(t->out, "\">");
    add_rect(t->out, "offloaded", 0, a, 14);
    add_rect(t->out, "local", a, b, 14);
    add_rect(t->out, "other", b, BAR_WIDTH, 14);
    g_string_append(t->out, "</svg>");
    res_html_cell(t, "figure", counts);
    res_html_cell(t, "figure", n);
    res_html_cell(t, "short", res_fidelity_name(all->fidelity));
}

static void
add_timers(GString *out, const ResPage *p)
{
    static const char *const heads[] = {
        "Workload", "Offloaded", "Where they expired", "Offloaded / local / other", "n",
        "Fidelity", NULL};
    g_autoptr(GPtrArray) workloads = workloads_with(p, "guest_timers");
    ResHtmlTable t;
    if (workloads->len == 0) {
        return;
    }
    g_string_append(out, "<h3>Timer targets</h3>\n<p class=\"note key\"><svg width=\"12\" "
                         "height=\"12\" aria-hidden=\"true\"><rect class=\"offloaded\" "
                         "width=\"12\" height=\"12\"/></svg> on a housekeeping CPU <svg "
                         "width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"local\" "
                         "width=\"12\" height=\"12\"/></svg> on the CPU that started them <svg "
                         "width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"other\" "
                         "width=\"12\" height=\"12\"/></svg> elsewhere</p>\n");
    res_html_table(&t, out, "Where the guest's emulated timers expired, median over boots", heads);
    for (guint i = 0; i < workloads->len; i++) {
        for (guint k = 0; k < p->cells->len; k++) {
            const ResPageCell *cell = g_ptr_array_index(p->cells, k);
            const ResPageCell *other = cell->partner;
            if (other != NULL) {
                add_timer_row(&t, workloads->pdata[i], other, RES_PAGE_BASELINE);
            }
            add_timer_row(&t, workloads->pdata[i], cell, other != NULL ? RES_PAGE_SUBJECT : "");
        }
    }
    res_html_table_end(&t);
}

/* --- exits --- */

typedef struct {
    const char *reason;
    double value[2]; /* baseline, subject; negative: not in all boots there */
} Exit;

static int
by_frequency(gconstpointer a, gconstpointer b)
{
    const Exit *x = a, *y = b;
    double m = MAX(x->value[0], x->value[1]), n = MAX(y->value[0], y->value[1]);
    return m > n ? -1 : m < n ? 1 : strcmp(x->reason, y->reason);
}

/* "W.exits.HLT" of each side; "W.exits.HLT_per_timer" is another metric. */
static void
collect_exits(GArray *exits, const ResPageCell *cell, const char *workload, guint side)
{
    g_autofree char *prefix = g_strdup_printf("%s.exits.", workload);
    for (guint i = 0; cell != NULL && i < cell->summaries->len; i++) {
        const ResSummary *s = g_ptr_array_index(cell->summaries, i);
        if (!g_str_has_prefix(s->name, prefix) || !g_str_equal(s->unit, "count")) {
            continue;
        }
        const char *reason = s->name + strlen(prefix);
        Exit *e = NULL;
        for (guint k = 0; k < exits->len && e == NULL; k++) {
            Exit *one = &g_array_index(exits, Exit, k);
            e = g_str_equal(one->reason, reason) ? one : NULL;
        }
        if (e == NULL) {
            const Exit new = {reason, {-1, -1}};
            g_array_append_val(exits, new);
            e = &g_array_index(exits, Exit, exits->len - 1);
        }
        e->value[side] = s->median;
    }
}

static void
add_exit_bar(ResHtmlTable *t, const Exit *e, double largest, gboolean compared)
{
    double height = compared ? 7 : 12;
    res_html_cell(t, NULL, NULL);
    g_string_append_printf(t->out,
                           "<svg class=\"bar\" viewBox=\"0 0 240 14\" width=\"240\" height=\"14\" "
                           "aria-hidden=\"true\">");
    if (compared) {
        add_rect(t->out, "baseline", 0, MAX(e->value[0], 0) / largest * BAR_WIDTH, height);
        g_string_append(t->out, "<g transform=\"translate(0 7)\">");
    }
    add_rect(t->out, "subject", 0, MAX(e->value[1], 0) / largest * BAR_WIDTH, height);
    g_string_append(t->out, compared ? "</g></svg>" : "</svg>");
}

static void
add_count(ResHtmlTable *t, double value)
{
    g_autofree char *text = value < 0 ? g_strdup("not in all boots") : res_figure(value);
    res_html_cell(t, value < 0 ? "figure muted" : "figure", text);
}

static void
add_exits(GString *out, const char *workload, const ResPageCell *cell)
{
    static const char *const both[] = {"Reason", "Baseline", "This set", "Exits", NULL};
    static const char *const one[] = {"Reason", "Exits", "", NULL};
    const ResPageCell *other = cell->partner;
    g_autoptr(GArray) exits = g_array_new(FALSE, FALSE, sizeof(Exit));
    ResHtmlTable t;

    collect_exits(exits, other, workload, 0);
    collect_exits(exits, cell, workload, 1);
    const ResSummary *all = summary_of(cell, workload, "exits");
    if (exits->len == 0 || all == NULL) {
        return;
    }
    g_array_sort(exits, by_frequency);
    const Exit *first = &g_array_index(exits, Exit, 0);
    double largest = MAX(MAX(first->value[0], first->value[1]), 1);
    g_autofree char *caption = g_strdup_printf(
        "%s%s%s: exits from the guest while it ran, median over n = %u boot%s, fidelity %s%s",
        workload, cell->name[0] != '\0' ? ", " : "", cell->name, all->boots,
        all->boots == 1 ? "" : "s", res_fidelity_name(all->fidelity),
        exits->len > REASONS_MAX ? "; the rarest are in the table of all figures" : "");
    res_html_table(&t, out, caption, other != NULL ? both : one);
    for (guint i = 0; i < MIN(exits->len, REASONS_MAX); i++) {
        const Exit *e = &g_array_index(exits, Exit, i);
        res_html_row(&t, NULL);
        res_html_cell(&t, "name", e->reason);
        if (other != NULL) {
            add_count(&t, e->value[0]);
        }
        add_count(&t, e->value[1]);
        add_exit_bar(&t, e, largest, other != NULL);
    }
    res_html_table_end(&t);
}

void
res_page_html_host(GString *out, const ResPage *p)
{
    g_autoptr(GPtrArray) timers = workloads_with(p, "guest_timers");
    g_autoptr(GPtrArray) exits = workloads_with(p, "exits");
    if (timers->len + exits->len == 0) {
        return;
    }
    g_string_append(out, "<section><h2>On the lab host</h2>\n");
    add_timers(out, p);
    g_autoptr(GString) tables = g_string_new(NULL);
    for (guint i = 0; i < exits->len; i++) {
        for (guint k = 0; k < p->cells->len; k++) {
            add_exits(tables, exits->pdata[i], g_ptr_array_index(p->cells, k));
        }
    }
    if (tables->len > 0) {
        g_string_append_printf(out, "<h3>Exits by reason</h3>\n%s", tables->str);
    }
    g_string_append(out, "</section>\n");
}
