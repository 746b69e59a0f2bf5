/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page as a whole; its sections are in page_section_*.c. */
#include "results/page_html.h"

#include <math.h>
#include <string.h>

#include "results/escape.h"
#include "results/json_write.h"
#include "results/page_html_private.h"

void
res_html_printf(GString *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    res_markup(out, text);
}

void
res_html_table(ResHtmlTable *t, GString *out, const char *caption, const char *const *heads)
{
    *t = (ResHtmlTable){.out = out, .heads = heads};
    g_string_append(out, "<table><caption>");
    res_markup(out, caption);
    g_string_append(out, "</caption><thead><tr>");
    for (gsize i = 0; heads[i] != NULL; i++) {
        g_string_append(out, "<th scope=\"col\">");
        res_markup(out, heads[i]);
        g_string_append(out, "</th>");
    }
    g_string_append(out, "</tr></thead><tbody>");
}

static void
end_row(ResHtmlTable *t)
{
    if (t->column > 0) {
        g_string_append(t->out, "</td></tr>");
    }
    t->column = 0;
}

void
res_html_row(ResHtmlTable *t, const char *class)
{
    end_row(t);
    g_string_append(t->out, "\n<tr");
    if (class != NULL) {
        g_string_append_printf(t->out, " class=\"%s\"", class);
    }
    g_string_append_c(t->out, '>');
}

void
res_html_cell(ResHtmlTable *t, const char *class, const char *text)
{
    g_string_append(t->out, t->column > 0 ? "</td><td data-l=\"" : "<td data-l=\"");
    res_markup(t->out, t->heads[t->column++]);
    g_string_append_c(t->out, '"');
    if (class != NULL) {
        g_string_append_printf(t->out, " class=\"%s\"", class);
    }
    g_string_append_c(t->out, '>');
    res_markup(t->out, text);
}

void
res_html_table_end(ResHtmlTable *t)
{
    end_row(t);
    g_string_append(t->out, "</tbody></table>\n");
}

char *
res_html_quantity(double value, const char *unit)
{
    gboolean share = g_str_equal(unit, "share");
    double shown = share ? value * 100 : value;
    gboolean whole = fabs(shown) < 1e15 && !(fabs(shown - trunc(shown)) > 0);
    g_autofree char *figure = whole ? g_strdup_printf("%.0f", shown) : res_figure(shown);
    gboolean bare = g_str_equal(unit, "1") || g_str_equal(unit, "count");
    return g_strdup_printf("%s%s%s", figure, bare ? "" : "\xc2\xa0",
                           bare    ? ""
                           : share ? "%"
                                   : unit);
}

const char *
res_html_cell_name(const char *cell)
{
    return cell != NULL && cell[0] != '\0' ? cell : "\xe2\x80\x93";
}

void
res_html_list(GString *out, const GPtrArray *lines)
{
    g_string_append(out, lines->len > 0 ? "<ul class=\"remarks\">" : "");
    for (guint i = 0; i < lines->len; i++) {
        g_string_append(out, "<li>");
        res_markup(out, g_ptr_array_index(lines, i));
        g_string_append(out, "</li>");
    }
    g_string_append(out, lines->len > 0 ? "</ul>\n" : "");
}

void
res_html_badge(GString *out, const char *grade, const char *word)
{
    const char *mark = g_str_equal(grade, "good")     ? "\xe2\x9c\x93"
                       : g_str_equal(grade, "bad")    ? "\xe2\x9c\x97"
                       : g_str_equal(grade, "unsure") ? "?"
                                                      : "=";
    g_string_append_printf(out, "<span class=\"badge %s\"><span aria-hidden=\"true\">%s</span> ",
                           grade, mark);
    res_markup(out, word);
    g_string_append(out, "</span>");
}

const char *
res_html_verdict_grade(ResVerdict v)
{
    switch (v) {
    case RES_VERDICT_BETTER:
        return "good";
    case RES_VERDICT_WORSE:
        return "bad";
    case RES_VERDICT_CANNOT_TELL:
        return "unsure";
    default:
        return "plain";
    }
}

static const char *
fidelity_meaning(ResFidelity f)
{
    static const char *const meanings[] = {
        [RES_FIDELITY_TIME] = "nanoseconds are nanoseconds",
        [RES_FIDELITY_INSTRUCTIONS] = "instructions executed, exact; no caches, no nanoseconds",
        [RES_FIDELITY_EVENTS] = "who ran where and how often; no duration means anything",
        [RES_FIDELITY_FUNCTIONAL] = "it boots and runs; no number means anything",
    };
    return (gsize)f < G_N_ELEMENTS(meanings) ? meanings[f] : "?";
}

static void
add_fact(GString *out, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0') {
        g_string_append_printf(out, "<div><dt>%s</dt><dd>", name);
        res_markup(out, value);
        g_string_append(out, "</dd></div>");
    }
}

static void
add_facts(GString *out, const ResPage *p)
{
    const ResRecord *first = res_page_first(p);
    gint64 started_us, ended_us;
    res_page_span(p, &started_us, &ended_us);
    g_autofree char *from = res_utc(started_us), *to = res_utc(ended_us);
    g_autofree char *when = g_strdup_printf("%s to %s", from, to);
    g_autofree char *runs =
        g_strdup_printf("%u done of %u", p->outcomes[RES_OUTCOME_DONE], p->records->len);
    g_autofree char *lab = g_strdup_printf("%s, clock %s", res_page_known(first->platform),
                                           res_page_known(first->clock));
    g_autofree char *fidelity = g_strdup_printf("%s: %s", res_fidelity_name(first->fidelity),
                                                fidelity_meaning(first->fidelity));
    g_string_append(out, "<dl class=\"facts\">");
    add_fact(out, "Set", first->set);
    add_fact(out, "When", when);
    add_fact(out, "Boots", runs);
    add_fact(out, "Lab host", lab);
    add_fact(out, "Fidelity", fidelity);
    add_fact(out, "Kernel", g_hash_table_lookup(first->environment, "kernel.release"));
    add_fact(out, "QEMU", g_hash_table_lookup(first->environment, "qemu.version"));
    g_string_append(out, "</dl>\n");
}

static const char *
exit_grade(int exit_code)
{
    return exit_code == 0 ? "good" : exit_code == 1 ? "bad" : "unsure";
}

static const char *
comparison_grade(const ResPage *p)
{
    return p->refused != NULL                         ? "unsure"
           : p->verdicts[RES_VERDICT_WORSE] > 0       ? "bad"
           : p->verdicts[RES_VERDICT_BETTER] > 0      ? "good"
           : p->verdicts[RES_VERDICT_CANNOT_TELL] > 0 ? "unsure"
                                                      : "plain";
}

static void
add_header(GString *out, const ResPage *p)
{
    const ResRecord *first = res_page_first(p);
    g_autofree char *compared = res_page_comparison_sentence(p);
    /* What can't be told is no failure. */
    gboolean failed = FALSE;
    for (guint i = 0; i < p->claims->len; i++) {
        failed |= ((const ResClaim *)g_ptr_array_index(p->claims, i))->verdict == RES_CLAIM_FAILS;
    }
    gboolean all_skipped = p->outcomes[RES_OUTCOME_SKIP] == p->records->len;
    const char *grade = p->exit_code == 1 && !failed && p->claims->len > 0 ? "unsure"
                        : p->exit_code == 0 && p->claims->len == 0         ? "plain"
                        : all_skipped                                      ? "unsure"
                                      : exit_grade(p->exit_code);

    g_string_append(out, "<header><p class=\"kind\">nohzlab report</p><h1>");
    res_markup(out, first->profile);
    g_string_append(out, "</h1><p>");
    res_markup(out, first->summary);
    g_string_append_printf(out, "</p>\n<p class=\"verdict %s\">", grade);
    res_markup(out, p->sentence);
    g_string_append(out, "</p>\n");
    if (compared != NULL) {
        g_string_append_printf(out, "<p class=\"verdict %s\">", comparison_grade(p));
        res_markup(out, compared);
        g_string_append(out, "</p>\n");
    }
    add_facts(out, p);
    g_string_append(out, "</header>\n<main>\n");
}

static void
add_footer(GString *out, const ResPage *p)
{
    g_string_append(
        out,
        "</main>\n<footer><h2>How to read this</h2>"
        "<p>The unit of replication is the boot: <i>n</i> counts fresh boots of the guest, not the "
        "samples inside one. A figure is the median over boots, with its range beside it. "
        "<b>Cannot tell</b> is a verdict: not having found a difference is not having found that "
        "there is none. A quantile is shown only as deep as its samples carry it; one marked "
        "\xe2\x89\xa5 lies beyond the histogram's end.</p>"
        "<p>Fidelity says what a figure may be used for, and figures of different fidelity are "
        "never compared.</p><dl class=\"facts\">");
    for (int f = RES_FIDELITY_TIME; f <= RES_FIDELITY_FUNCTIONAL; f++) {
        add_fact(out, res_fidelity_name(f), fidelity_meaning(f));
    }
    g_string_append(out, "</dl><p>nohzlab ");
    res_markup(out, p->version);
    g_string_append(out, "</p></footer>\n");
}

/* 'sha256-...': the only scripts and styles that may take effect are those whose digest is named.
 */
static void
add_digest(GString *out, const char *text)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize len = sizeof digest;
    g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text));
    g_checksum_get_digest(sum, digest, &len);
    g_autofree char *base64 = g_base64_encode(digest, len);
    g_string_append_printf(out, " 'sha256-%s'", base64);
}

static void
add_head(GString *out, const ResPage *p)
{
    g_string_append(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                         "'none'; base-uri 'none'; form-action 'none'; style-src");
    add_digest(out, res_uplot_css);
    add_digest(out, res_page_css);
    g_string_append(out, "; script-src");
    add_digest(out, res_uplot_js);
    add_digest(out, res_page_js);
    g_string_append(out, "\">\n<meta name=\"viewport\" content=\"width=device-width, "
                         "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
                         "dark\">\n<title>");
    res_markup(out, p->sentence);
    g_string_append(out, " nohzlab ");
    res_markup(out, res_page_first(p)->profile);
    g_string_append(out, "</title>\n<!-- The plots are drawn by uPlot:\n");
    g_string_append(out, res_uplot_licence);
    g_string_append_printf(out, "-->\n<style>%s</style>\n<style>%s</style>\n</head>\n<body>\n",
                           res_uplot_css, res_page_css);
}

static void
add_scripts(GString *out, const ResPage *p)
{
    g_autoptr(JsonBuilder) b = json_builder_new();
    json_builder_begin_object(b);
    res_page_data_latencies(b, p);
    res_page_data_boots(b, p);
    res_page_data_axes(b, p);
    res_page_data_history(b, p);
    json_builder_end_object(b);
    g_autofree char *data = res_json_finish_script(b);
    g_string_append_printf(out,
                           "<script type=\"application/json\" id=\"data\">%s</script>\n"
                           "<script>%s</script>\n<script>%s</script>\n</body>\n</html>\n",
                           data, res_uplot_js, res_page_js);
}

char *
res_page_html(const ResPage *p)
{
    GString *out = g_string_new(NULL);
    add_head(out, p);
    add_header(out, p);
    res_page_html_claims(out, p);
    res_page_html_comparison(out, p);
    res_page_html_differences(out, p);
    res_page_html_latencies(out, p);
    res_page_html_host(out, p);
    res_page_html_metrics(out, p);
    res_page_html_axes(out, p);
    res_page_html_history(out, p);
    res_page_html_runs(out, p);
    res_page_html_circumstances(out, p);
    add_footer(out, p);
    add_scripts(out, p);
    return g_string_free(out, FALSE);
}
