/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Latencies of a page, from the evidence files of its runs. */
#include <stdlib.h>
#include <string.h>

#include "results/page_private.h"
#include "results/rundir.h"
#include "results/store_private.h"

#define INSIDE "box-" /* of files that came out of a box (lab/box_judge.c) */
/* Reading all of a large set would take minutes; what is left out is said. */
#define TOTAL_MAX (96 * 1024 * 1024)

enum { BASELINE, SUBJECT };

typedef struct {
    ResPage *page;
    const ResStore *store;
    gsize total;
    guint left_out;
} Loader;

/* What is gathered of one workload in one cell of one side. */
typedef struct {
    ResHist *hist;
    guint boots;
} Gathered;

void
res_page_latency_free(ResPageLatency *l)
{
    g_free(l->workload);
    g_free(l->cell);
    for (gsize side = 0; side < G_N_ELEMENTS(l->hist); side++) {
        g_clear_pointer(&l->hist[side], res_hist_free);
    }
    g_free(l);
}

/* "cyclictest" of "box-cyclictest-hist.json"; NULL when NAME has another end. */
static char *
workload_of(const char *name)
{
    const char *start = g_str_has_prefix(name, INSIDE) ? name + strlen(INSIDE) : name;
    gsize end = strlen(RES_HIST_SUFFIX);
    return g_str_has_suffix(start, RES_HIST_SUFFIX) && strlen(start) > end
               ? g_strndup(start, strlen(start) - end)
               : NULL;
}

static ResPageLatency *
latency_get(ResPage *p, const char *workload, const char *cell)
{
    for (guint i = 0; i < p->latencies->len; i++) {
        ResPageLatency *w = g_ptr_array_index(p->latencies, i);
        if (g_str_equal(w->workload, workload) && g_str_equal(w->cell, cell)) {
            return w;
        }
    }
    ResPageLatency *w = g_new0(ResPageLatency, 1);
    w->workload = g_strdup(workload);
    w->cell = g_strdup(cell);
    g_ptr_array_add(p->latencies, w);
    return w;
}

/* An evidence file; NULL: left out, or can't be read, which becomes a remark. */
static char *
read_file(Loader *l, const ResRecord *r, const char *name, gsize *len)
{
    g_autoptr(GError) error = NULL;
    if (l->total > TOTAL_MAX) {
        l->left_out++;
        return NULL;
    }
    char *text = res_rundir_read_file(l->store->runs, r->id, name, RES_HIST_BYTES_MAX, len, &error);
    if (text == NULL) {
        g_ptr_array_add(l->page->remarks,
                        g_strdup_printf("run %s: %s is left out: %s", r->id, name, error->message));
        return NULL;
    }
    l->total += *len;
    return text;
}

static gboolean
gather_hist(Gathered *g, const char *text, gsize len, GError **error)
{
    g_autoptr(GPtrArray) hists = res_hist_from_json(text, len, error);
    g_autoptr(ResHist) all = hists != NULL ? res_hist_merge_all(hists, error) : NULL;
    if (all == NULL) {
        return FALSE;
    }
    if (g->hist == NULL) {
        g->hist = res_hist_new(res_hist_unit(all), "");
    }
    return res_hist_merge(g->hist, all, error);
}

/* What the samples are is told by the figures that were made of them. */
static const ResMetric *
latency_metric(const ResRecord *r, const char *workload)
{
    static const char *const names[] = {"max", "p50", "mean"};
    const ResMetric *m = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(names) && m == NULL; i++) {
        g_autofree char *name = g_strdup_printf("%s.%s", workload, names[i]);
        m = res_record_metric(r, name);
    }
    return m;
}

/* FILE over the boots of a cell. */
static void
gather(Loader *l, const ResPageCell *cell, const char *file, Gathered *g)
{
    for (guint i = 0; i < cell->records->len; i++) {
        const ResRecord *r = g_ptr_array_index(cell->records, i);
        g_autoptr(GError) error = NULL;
        if (r->outcome != RES_OUTCOME_DONE ||
            !g_ptr_array_find_with_equal_func(r->evidence, file, g_str_equal, NULL)) {
            continue;
        }
        gsize len = 0;
        g_autofree char *text = read_file(l, r, file, &len);
        if (text == NULL) {
            continue;
        }
        if (gather_hist(g, text, len, &error)) {
            g->boots++;
        } else {
            g_ptr_array_add(l->page->remarks,
                            g_strdup_printf("run %s: %s: %s", r->id, file, error->message));
        }
    }
}

/* Every histogram of the cell's first run that is done; all runs of a cell have the same ones. */
static void
load_cell(Loader *l, const ResPageCell *cell, const char *shown_as, int side)
{
    const ResRecord *first = NULL;
    for (guint i = 0; i < cell->records->len && first == NULL; i++) {
        const ResRecord *r = g_ptr_array_index(cell->records, i);
        first = r->outcome == RES_OUTCOME_DONE ? r : NULL;
    }
    for (guint i = 0; first != NULL && i < first->evidence->len; i++) {
        const char *file = g_ptr_array_index(first->evidence, i);
        g_autofree char *workload = workload_of(file);
        if (workload == NULL) {
            continue;
        }
        ResPageLatency *latency = latency_get(l->page, workload, shown_as);
        const ResMetric *m = latency_metric(first, workload);
        Gathered g = {NULL, 0};
        gather(l, cell, file, &g);
        latency->fidelity = m != NULL ? m->fidelity : first->fidelity;
        g_clear_pointer(&latency->hist[side], res_hist_free);
        latency->hist[side] = g.hist;
        latency->boots[side] = g.boots;
    }
}

static int
by_workload(gconstpointer a, gconstpointer b)
{
    const ResPageLatency *x = *(ResPageLatency *const *)a, *y = *(ResPageLatency *const *)b;
    return strcmp(x->workload, y->workload);
}

void
res_page_load(ResPage *p, const ResStore *store)
{
    Loader l = {.page = p, .store = store};
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *cell = g_ptr_array_index(p->cells, i);
        load_cell(&l, cell, cell->name, SUBJECT);
        if (cell->partner != NULL) {
            load_cell(&l, cell->partner, cell->name, BASELINE);
        }
    }
    g_ptr_array_sort(p->latencies, by_workload); /* a stable sort: cells stay in order */
    if (l.left_out > 0) {
        g_ptr_array_add(p->remarks,
                        g_strdup_printf("%u evidence files are left out of the plots: more than "
                                        "%d MiB in all",
                                        l.left_out, TOTAL_MAX / 1024 / 1024));
    }
}
