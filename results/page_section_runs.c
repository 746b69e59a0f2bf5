/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs one by one, and all that was found and asked for. */
#include <stdlib.h>
#include <string.h>

#include "results/escape.h"
#include "results/page_html_private.h"

#define OPEN_UP_TO 12 /* runs: a longer table is folded unless something failed */

static void
add_run(ResHtmlTable *t, const ResRecord *r, gboolean retried)
{
    gboolean done = r->outcome == RES_OUTCOME_DONE;
    gboolean fine = r->detail != NULL && r->detail[0] != '\0';
    g_autofree char *started = res_utc(r->started_us);
    g_autofree char *took =
        g_strdup_printf("%.1f\xc2\xa0s", (double)MAX(r->ended_us - r->started_us, 0) / 1e6);
    g_autofree char *outcome =
        g_strdup_printf("%s%s%s%s", res_outcome_name(r->outcome), fine ? ": " : "",
                        fine ? r->detail : "", retried ? ", tried again" : "");
    g_autofree char *boot = g_strdup_printf("%u", r->boot);
    res_html_row(t, NULL);
    res_html_cell(t, "name", r->id);
    res_html_cell(t, "cell", res_html_cell_name(r->cell));
    res_html_cell(t, "figure", boot);
    res_html_cell(t, "verdict-cell", NULL);
    res_html_badge(t->out,
                   done                                        ? "good"
                   : retried || r->outcome == RES_OUTCOME_SKIP ? "unsure"
                                                               : "bad",
                   outcome);
    res_html_cell(t, "short", started);
    res_html_cell(t, "figure", took);
    res_html_cell(t, NULL, r->message);
    for (guint i = 0; i < r->notes->len; i++) {
        g_string_append(t->out, r->message != NULL && r->message[0] != '\0' ? "<br>" : "");
        g_string_append(t->out, i > 0 ? "<br>" : "");
        g_string_append(t->out, "note: ");
        res_markup(t->out, r->notes->pdata[i]);
    }
}

void
res_page_html_runs(GString *out, const ResPage *p)
{
    static const char *const heads[] = {
        "Run", "Cell", "Boot", "Outcome", "Started", "Took", "What happened, what to do next",
        NULL};
    gboolean fold =
        p->records->len > OPEN_UP_TO && p->outcomes[RES_OUTCOME_DONE] == p->records->len;
    ResHtmlTable t;
    g_string_append(out, "<section><h2>Runs</h2>\n");
    if (fold) {
        g_string_append_printf(out, "<details><summary>%u runs, all done</summary>\n",
                               p->records->len);
    }
    res_html_table(&t, out,
                   "One fresh boot each; its folder holds record, console and all evidence", heads);
    for (guint i = 0; i < p->records->len; i++) {
        add_run(&t, g_ptr_array_index(p->records, i), FALSE);
    }
    for (guint i = 0; p->retried != NULL && i < p->retried->len; i++) {
        add_run(&t, g_ptr_array_index(p->retried, i), TRUE);
    }
    res_html_table_end(&t);
    g_string_append(out, fold ? "</details></section>\n" : "</section>\n");
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
add_map(GString *out, GHashTable *map, const char *title)
{
    static const char *const heads[] = {"Entry", "Value", NULL};
    guint n = 0;
    g_autofree gpointer *keys = g_hash_table_get_keys_as_array(map, &n);
    ResHtmlTable t;
    if (n == 0) {
        return;
    }
    qsort(keys, n, sizeof *keys, by_text);
    g_string_append_printf(out, "<details><summary>%s</summary>\n", title);
    res_html_table(&t, out, title, heads);
    for (guint i = 0; i < n; i++) {
        res_html_row(&t, NULL);
        res_html_cell(&t, "name", keys[i]);
        res_html_cell(&t, "value", g_hash_table_lookup(map, keys[i]));
    }
    res_html_table_end(&t);
    g_string_append(out, "</details>\n");
}

void
res_page_html_circumstances(GString *out, const ResPage *p)
{
    const ResRecord *shown = res_page_first(p);
    for (guint i = 0; i < p->records->len && shown->outcome != RES_OUTCOME_DONE; i++) {
        shown = g_ptr_array_index(p->records, i);
    }
    g_string_append(out, "<section><h2>Environment</h2>\n<p class=\"note\">As run <code>");
    res_markup(out, shown->id);
    g_string_append(out, "</code> found it and was asked for it; in what the runs differ stands "
                         "above.</p>\n");
    add_map(out, shown->environment, "What was found");
    add_map(out, shown->parameters, "What the profile asked for");
    g_string_append(out, "</section>\n");
}
