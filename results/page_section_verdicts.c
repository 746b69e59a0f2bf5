/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was claimed, what changed, and in what else the two sides differ. */
#include <math.h>

#include "results/escape.h"
#include "results/page_html_private.h"

#define PLOT_WIDTH 180.0
#define PLOT_HEIGHT 18.0
#define LEAST_SCALE 0.01 /* a plot whose changes are all smaller spans +-1% */

void
res_page_html_claims(GString *out, const ResPage *p)
{
    static const char *const heads[] = {"Verdict", "Claim", "Seen", NULL};
    static const char *const grades[] = {
        [RES_CLAIM_HOLDS] = "good",
        [RES_CLAIM_FAILS] = "bad",
        [RES_CLAIM_CANNOT_TELL] = "unsure",
    };
    ResHtmlTable t;

    if (p->claims->len == 0) {
        return;
    }
    g_string_append(out, "<section><h2>What the profile claims</h2>\n");
    res_html_table(&t, out, "Each expectation, computed over the boots of its cells", heads);
    for (guint i = 0; i < p->claims->len; i++) {
        const ResClaim *c = g_ptr_array_index(p->claims, i);
        res_html_row(&t, NULL);
        res_html_cell(&t, "verdict-cell", NULL);
        res_html_badge(out, grades[c->verdict], res_claim_verdict_name(c->verdict));
        res_html_cell(&t, NULL, c->name);
        g_string_append(out, "<br><code>");
        res_markup(out, c->text);
        g_string_append(out, "</code>");
        res_html_cell(&t, NULL, c->reason);
    }
    res_html_table_end(&t);
    g_string_append(out, "</section>\n");
}

/* "+1.2 %", "\xc3\x972.39" from twice on, "from 0". g_free. */
static char *
change_text(double ratio)
{
    if (!isfinite(ratio)) {
        return g_strdup("no limit"); /* from 0, or an open interval */
    }
    if (ratio >= 2 || (ratio > 0 && ratio <= 0.5)) {
        g_autofree char *figure = res_figure(ratio);
        return g_strdup_printf("\xc3\x97%s", figure);
    }
    return g_strdup_printf("%+.*f\xc2\xa0%%", fabs(ratio - 1) < 0.01 ? 2 : 1, (ratio - 1) * 100);
}

/* Logarithm of a ratio: equal steps for x2 and /2. */
static double
position(double ratio, double scale)
{
    double at = ratio > 0 ? log(ratio) / scale : -1;
    return (1 + CLAMP(at, -1, 1)) / 2 * (PLOT_WIDTH - 12) + 6;
}

/* The interval of a change around "no change"; open ends run to the edge. */
static void
draw_change(GString *out, const ResComparison *c, double scale)
{
    char b[5][G_ASCII_DTOSTR_BUF_SIZE];
    const double at[] = {PLOT_WIDTH / 2, position(c->ratio.low, scale),
                         position(c->ratio.high, scale), position(c->ratio.value, scale)};
    for (gsize i = 0; i < G_N_ELEMENTS(at); i++) {
        g_ascii_formatd(b[i], sizeof b[i], "%.1f", at[i]);
    }
    g_autofree char *low = change_text(c->ratio.low), *high = change_text(c->ratio.high);
    g_string_append_printf(
        out,
        "<svg class=\"change %s\" viewBox=\"0 0 180 18\" width=\"180\" height=\"18\" role=\"img\" "
        "aria-label=\"from %s to %s\"><title>from %s to %s, confidence %.4g %%</title><path "
        "class=\"zero\" d=\"M%s "
        "0v18\"/><path class=\"range\" d=\"M%s 9H%s\"/><circle cx=\"%s\" cy=\"9\" r=\"4\"/></svg>",
        res_html_verdict_grade(c->verdict), low, high, low, high, c->confidence * 100, b[0], b[1],
        b[2], b[3]);
}

static double
change_scale(const GPtrArray *comparisons)
{
    double scale = LEAST_SCALE;
    for (guint i = 0; i < comparisons->len; i++) {
        const ResComparison *c = g_ptr_array_index(comparisons, i);
        const double ends[] = {c->ratio.low, c->ratio.value, c->ratio.high};
        for (gsize k = 0; k < G_N_ELEMENTS(ends); k++) {
            if (c->direction != RES_NO_DIRECTION && isfinite(ends[k]) && ends[k] > 0) {
                scale = MAX(scale, fabs(log(ends[k])));
            }
        }
    }
    return scale;
}

/* "≥ 30 ns" of a lower bound. g_free. */
static char *
bounded(double value, gboolean censored, const char *unit)
{
    g_autofree char *text = res_html_quantity(value, unit);
    return g_strconcat(censored ? "\xe2\x89\xa5\xc2\xa0" : "", text, NULL);
}

static void
add_comparison(ResHtmlTable *t, const ResComparison *c, double scale)
{
    g_autofree char *a = bounded(c->a, c->censored_a, c->unit);
    g_autofree char *b = bounded(c->b, c->censored_b, c->unit);
    g_autofree char *change = c->estimate == RES_ESTIMATE_SHARE
                                  ? g_strdup_printf("%+.1f points", c->shift.value * 100)
                              : isfinite(c->ratio.value) ? change_text(c->ratio.value)
                                                         : g_strdup("from 0");
    g_autofree char *boots = g_strdup_printf("%u, %u", c->na, c->nb);
    res_html_row(t, NULL);
    res_html_cell(t, "verdict-cell", NULL);
    res_html_badge(t->out, res_html_verdict_grade(c->verdict), res_verdict_name(c->verdict));
    res_html_cell(t, "name", c->metric);
    g_string_append(t->out, "<br><small>");
    res_markup(t->out, c->cell);
    g_string_append(t->out, "</small>");
    res_html_cell(t, "figure", a);
    res_html_cell(t, "figure", b);
    res_html_cell(t, "figure", change);
    res_html_cell(t, NULL, NULL);
    draw_change(t->out, c, scale);
    res_html_cell(t, "figure short", boots);
    res_html_cell(t, "short", res_fidelity_name(c->fidelity));
    res_html_row(t, "reason");
    g_string_append(t->out, "<td colspan=\"8\">");
    res_markup(t->out, c->reason);
    if (c->next != NULL && c->next[0] != '\0') {
        res_html_printf(t->out, ". Next: %s", c->next);
    }
    g_string_append(t->out, "</td></tr>");
}

static guint
count_of(const ResPage *p, ResVerdict verdict, gboolean directed)
{
    guint n = 0;
    for (guint i = 0; i < p->comparisons->len; i++) {
        const ResComparison *c = g_ptr_array_index(p->comparisons, i);
        n += c->verdict == verdict && (c->direction != RES_NO_DIRECTION) == directed;
    }
    return n;
}

static void
add_group(GString *out, const ResPage *p, ResVerdict verdict, double scale)
{
    static const char *const heads[] = {"Verdict",  "Metric", "Baseline", "This set", "Change",
                                        "Interval", "n",      "Fidelity", NULL};
    guint n = count_of(p, verdict, TRUE);
    /* What changed stands open; what did not is there to be looked up. */
    gboolean open = verdict == RES_VERDICT_WORSE || verdict == RES_VERDICT_BETTER;
    ResHtmlTable t;

    if (n == 0) {
        return;
    }
    g_autofree char *caption =
        g_strdup_printf("%u metric%s: %s", n, n == 1 ? "" : "s", res_verdict_name(verdict));
    if (!open) {
        g_string_append_printf(out, "<details%s><summary>%s</summary>\n",
                               n <= 8 && verdict == RES_VERDICT_CANNOT_TELL ? " open" : "",
                               caption);
    }
    res_html_table(&t, out, caption, heads);
    for (guint i = 0; i < p->comparisons->len; i++) {
        const ResComparison *c = g_ptr_array_index(p->comparisons, i);
        if (c->verdict == verdict && c->direction != RES_NO_DIRECTION) {
            add_comparison(&t, c, scale);
        }
    }
    res_html_table_end(&t);
    g_string_append(out, open ? "" : "</details>\n");
}

void
res_page_html_comparison(GString *out, const ResPage *p)
{
    static const ResVerdict order[] = {RES_VERDICT_WORSE, RES_VERDICT_BETTER,
                                       RES_VERDICT_CANNOT_TELL, RES_VERDICT_IRRELEVANT,
                                       RES_VERDICT_SAME};
    if (p->baseline == NULL) {
        return;
    }
    g_string_append(out,
                    "<section><h2>What changed</h2>\n<p>Baseline (A in the reasons) is set <code>");
    res_markup(out, ((const ResRecord *)g_ptr_array_index(p->baseline, 0))->set);
    g_string_append(out, "</code>; this set is B.</p>\n");
    if (p->refused != NULL) {
        g_string_append(out, "<p class=\"verdict unsure\">Not compared: ");
        res_markup(out, p->refused);
        g_string_append(out, ".</p>\n");
        g_string_append(out, "</section>\n");
        return;
    }
    double scale = change_scale(p->comparisons);
    g_autofree char *edge = change_text(exp(scale));
    g_string_append(out, "<p class=\"note\">The drawings share one scale, equal steps for "
                         "doubling and halving; the line in the middle is no change, the right "
                         "edge ");
    res_markup(out, edge);
    g_string_append(out, ".</p>\n");
    for (gsize i = 0; i < G_N_ELEMENTS(order); i++) {
        add_group(out, p, order[i], scale);
    }
    res_html_list(out, p->compared->notes);
    g_string_append(out, "</section>\n");
}

static void
add_differences(GString *out, const ResPage *p, const char *caption, gboolean harmless)
{
    static const char *const both[] = {"Entry", "Baseline", "This set", "Kind", NULL};
    static const char *const one[] = {"Entry", "Values", NULL};
    gboolean compared = p->baseline != NULL;
    ResHtmlTable t;

    res_html_table(&t, out, caption, compared ? both : one);
    for (guint i = 0; i < p->differences->len; i++) {
        const ResDifference *d = g_ptr_array_index(p->differences, i);
        if ((d->kind == RES_DIFFERENCE_HARMLESS) != harmless) {
            continue;
        }
        res_html_row(&t, NULL);
        res_html_cell(&t, "name", d->key);
        g_string_append(out, d->parameter ? "<br><small>profile key</small>" : "");
        if (compared) {
            res_html_cell(&t, "value", d->a);
        }
        res_html_cell(&t, "value", d->b);
        if (compared) {
            res_html_cell(&t, NULL, NULL);
            if (d->kind == RES_DIFFERENCE_UNMEANT) {
                res_html_badge(out, "bad", res_difference_kind_name(d->kind));
            } else {
                res_markup(out, res_difference_kind_name(d->kind));
            }
        }
    }
    res_html_table_end(&t);
}

void
res_page_html_differences(GString *out, const ResPage *p)
{
    guint harmless = 0;

    for (guint i = 0; i < p->differences->len; i++) {
        const ResDifference *d = g_ptr_array_index(p->differences, i);
        harmless += d->kind == RES_DIFFERENCE_HARMLESS;
    }
    if (p->differences->len == 0) {
        return;
    }
    if (p->baseline == NULL) {
        g_string_append(out, "<section><h2>In what the runs differ</h2>\n");
        add_differences(out, p, "Environment and profile keys that are not the same in all runs",
                        FALSE);
        g_string_append(out, "</section>\n");
        return;
    }
    g_string_append(out, "<section><h2>What else differs</h2>\n");
    if (harmless < p->differences->len) {
        add_differences(out, p, "Environment and profile keys that are not the same on both sides",
                        FALSE);
    }
    if (harmless > 0) {
        g_string_append_printf(
            out, "<details><summary>%u that can't change these figures</summary>\n", harmless);
        add_differences(out, p, "Differences that can't change figures of this fidelity", TRUE);
        g_string_append(out, "</details>\n");
    }
    g_string_append(out, "</section>\n");
}
