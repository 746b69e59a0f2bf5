/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/page.h"

#include <string.h>

#include "results/cells.h"
#include "results/differences.h"
#include "results/page_private.h"

const char *
res_claim_verdict_name(ResClaimVerdict v)
{
    static const char *const names[] = {
        [RES_CLAIM_HOLDS] = "holds",
        [RES_CLAIM_FAILS] = "fails",
        [RES_CLAIM_CANNOT_TELL] = "cannot tell",
    };
    return (gsize)v < G_N_ELEMENTS(names) ? names[v] : "?";
}

static void
claim_free(ResClaim *c)
{
    g_free(c->name);
    g_free(c->text);
    g_free(c->reason);
    g_free(c);
}

static void
cell_free(ResPageCell *c)
{
    g_free(c->name);
    g_ptr_array_unref(c->records);
    g_ptr_array_unref(c->summaries);
    g_free(c);
}

static void
point_clear(gpointer point)
{
    g_free(((ResPagePoint *)point)->set);
}

static void
history_free(ResPageHistory *h)
{
    g_free(h->metric);
    g_free(h->cell);
    g_free(h->unit);
    g_array_unref(h->points);
    g_free(h);
}

/* Runs are made round the cells, so the order of ids is also the profile's order of cells. */
static GPtrArray *
cells_new(const GPtrArray *records)
{
    GPtrArray *cells = g_ptr_array_new_with_free_func((GDestroyNotify)cell_free);
    g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < records->len; i++) {
        ResRecord *r = g_ptr_array_index(records, i);
        const char *name = r->cell != NULL ? r->cell : "";
        ResPageCell *c = g_hash_table_lookup(by_name, name);
        if (c == NULL) {
            c = g_new0(ResPageCell, 1);
            c->name = g_strdup(name);
            c->records = g_ptr_array_new();
            g_hash_table_insert(by_name, c->name, c);
            g_ptr_array_add(cells, c);
        }
        g_ptr_array_add(c->records, r);
        c->done += r->outcome == RES_OUTCOME_DONE;
    }
    for (guint i = 0; i < cells->len; i++) {
        ResPageCell *c = g_ptr_array_index(cells, i);
        c->summaries = res_summarize(c->records);
    }
    return cells;
}

static ResPageCell *
find_cell(const GPtrArray *cells, const GPtrArray *runs)
{
    const ResRecord *first = runs != NULL ? g_ptr_array_index(runs, 0) : NULL;
    for (guint i = 0; first != NULL && i < cells->len; i++) {
        ResPageCell *c = g_ptr_array_index(cells, i);
        if (g_str_equal(c->name, first->cell != NULL ? first->cell : "")) {
            return c;
        }
    }
    return NULL;
}

static void
find_partners(ResPage *p)
{
    g_autoptr(GPtrArray) pairs = res_cells_match(p->baseline, p->records);
    for (guint i = 0; i < pairs->len; i++) {
        const ResCellPair *pair = g_ptr_array_index(pairs, i);
        ResPageCell *c = find_cell(p->cells, pair->b);
        if (c != NULL) {
            c->partner = find_cell(p->baseline_cells, pair->a);
        }
    }
}

static void
compare(ResPage *p, const ResCompareOptions *options)
{
    g_autoptr(GError) error = NULL;
    p->compared = res_compare(p->baseline, p->records, options, &error);
    if (p->compared == NULL) {
        p->refused = g_strdup(error->message);
        p->differences = res_differences_new(p->baseline, p->records, options->allow);
        return;
    }
    p->comparisons = p->compared->comparisons;
    find_partners(p);
    p->differences = g_ptr_array_ref(p->compared->differences);
    for (guint i = 0; i < p->comparisons->len; i++) {
        const ResComparison *c = g_ptr_array_index(p->comparisons, i);
        if (c->direction != RES_NO_DIRECTION) {
            p->verdicts[c->verdict]++;
        }
    }
}

ResPage *
res_page_new(GPtrArray *records, GPtrArray *baseline, const ResCompareOptions *options,
             const char *version)
{
    ResPage *p = g_new0(ResPage, 1);
    p->version = g_strdup(version);
    p->records = g_ptr_array_ref(records);
    p->cells = cells_new(records);
    p->claims = g_ptr_array_new_with_free_func((GDestroyNotify)claim_free);
    p->remarks = g_ptr_array_new_with_free_func(g_free);
    p->latencies = g_ptr_array_new_with_free_func((GDestroyNotify)res_page_latency_free);
    p->history = g_ptr_array_new_with_free_func((GDestroyNotify)history_free);
    for (guint i = 0; i < records->len; i++) {
        p->outcomes[((const ResRecord *)g_ptr_array_index(records, i))->outcome]++;
    }
    if (baseline != NULL) {
        p->baseline = g_ptr_array_ref(baseline);
        p->baseline_cells = cells_new(baseline);
        compare(p, options != NULL ? options : &res_compare_defaults);
    } else {
        p->differences = res_page_differences(records);
    }
    return p;
}

void
res_page_free(ResPage *p)
{
    if (p == NULL) {
        return;
    }
    g_free(p->version);
    g_free(p->sentence);
    g_free(p->refused);
    g_ptr_array_unref(p->records);
    g_ptr_array_unref(p->cells);
    g_clear_pointer(&p->retried, g_ptr_array_unref);
    g_ptr_array_unref(p->claims);
    g_clear_pointer(&p->baseline, g_ptr_array_unref);
    g_clear_pointer(&p->baseline_cells, g_ptr_array_unref);
    g_clear_pointer(&p->compared, res_compare_result_free);
    g_ptr_array_unref(p->remarks);
    g_ptr_array_unref(p->differences);
    g_ptr_array_unref(p->latencies);
    g_ptr_array_unref(p->history);
    g_free(p);
}

void
res_page_add_claim(ResPage *p, const char *name, const char *text, ResClaimVerdict verdict,
                   const char *reason, double value, double low, double high)
{
    ResClaim *c = g_new0(ResClaim, 1);
    *c = (ResClaim){.name = g_strdup(name),
                    .text = g_strdup(text),
                    .verdict = verdict,
                    .reason = g_strdup(reason),
                    .value = value,
                    .low = low,
                    .high = high};
    g_ptr_array_add(p->claims, c);
}

ResPageHistory *
res_page_add_history(ResPage *p, const char *metric, const char *cell, const char *unit,
                     ResFidelity fidelity)
{
    ResPageHistory *h = g_new0(ResPageHistory, 1);
    h->metric = g_strdup(metric);
    h->cell = g_strdup(cell);
    h->unit = g_strdup(unit);
    h->fidelity = fidelity;
    h->points = g_array_new(FALSE, FALSE, sizeof(ResPagePoint));
    g_array_set_clear_func(h->points, point_clear);
    g_ptr_array_add(p->history, h);
    return h;
}

void
res_page_add_point(ResPageHistory *h, const char *set, gint64 started_us, double median, double min,
                   double max, guint boots, gboolean change)
{
    const ResPagePoint point = {g_strdup(set), started_us, median, min, max, boots, change};
    g_array_append_val(h->points, point);
}

const ResRecord *
res_page_first(const ResPage *p)
{
    return g_ptr_array_index(p->records, 0);
}

void
res_page_span(const ResPage *p, gint64 *started_us, gint64 *ended_us)
{
    *started_us = G_MAXINT64;
    *ended_us = G_MININT64;
    for (guint i = 0; i < p->records->len; i++) {
        const ResRecord *r = g_ptr_array_index(p->records, i);
        *started_us = MIN(*started_us, r->started_us);
        *ended_us = MAX(*ended_us, r->ended_us);
    }
}

char *
res_page_comparison_sentence(const ResPage *p)
{
    if (p->baseline == NULL) {
        return NULL;
    }
    const char *against = ((const ResRecord *)g_ptr_array_index(p->baseline, 0))->set;
    if (p->refused != NULL) {
        return g_strdup_printf("Not compared with %s: %s.", against, p->refused);
    }
    guint better = p->verdicts[RES_VERDICT_BETTER], worse = p->verdicts[RES_VERDICT_WORSE];
    guint same = p->verdicts[RES_VERDICT_SAME] + p->verdicts[RES_VERDICT_IRRELEVANT];
    guint unknown = p->verdicts[RES_VERDICT_CANNOT_TELL];
    guint all = better + worse + same + unknown;
    const char *head = worse > 0                  ? "Worse"
                       : better > 0               ? "Better"
                       : same > 0 && unknown == 0 ? "Same"
                       : all == 0                 ? "Nothing to judge"
                                                  : "Cannot tell";
    return g_strdup_printf(
        "%s: against %s, of %u metrics %u worse, %u better, %u without a relevant "
        "change, %u cannot be told.",
        head, against, all, worse, better, same, unknown);
}

const char *
res_page_known(const char *value)
{
    return value != NULL && value[0] != '\0' ? value : "unknown";
}

char *
res_page_run_name(const ResRecord *r)
{
    gboolean cell = r->cell != NULL && r->cell[0] != '\0';
    return g_strdup_printf("%s%sboot %u", cell ? r->cell : "", cell ? ", " : "", r->boot);
}
