/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs are grouped, metrics paired and judged together; the verdict on one is in verdict.c. */
#include "results/compare.h"

#include <math.h>
#include <string.h>

#include "results/cells.h"
#include "results/differences.h"
#include "results/pooled.h"
#include "results/ranktest.h"
#include "results/verdict.h"

#define RELEVANT_PREFIX "relevant."
#define POOLED_FIRST 0.99 /* quantiles over all boots: from here on, by nines */

const ResCompareOptions res_compare_defaults = {
    .alpha = RES_COMPARE_ALPHA, .seed = RES_COMPARE_SEED, .resamples = RES_COMPARE_RESAMPLES};

/* One comparison on its way: the sides are kept until all are judged. */
typedef struct {
    ResComparison *c; /* also in the result */
    ResSide *a, *b;   /* NULL: quantiles over all boots */
} Pending;

typedef struct {
    const ResCompareOptions *options;
    ResCompareResult *result;
    GPtrArray *pending; /* Pending * */
} Work;

GQuark
res_compare_error_quark(void)
{
    return g_quark_from_static_string("res-compare-error");
}

void
res_comparison_free(ResComparison *c)
{
    if (c == NULL) {
        return;
    }
    g_free(c->metric);
    g_free(c->unit);
    g_free(c->cell);
    g_free(c->run_a);
    g_free(c->run_b);
    g_free(c->reason);
    g_free(c->next);
    g_free(c);
}

void
res_compare_result_free(ResCompareResult *r)
{
    if (r == NULL) {
        return;
    }
    g_clear_pointer(&r->differences, g_ptr_array_unref);
    g_ptr_array_unref(r->notes);
    g_ptr_array_unref(r->comparisons);
    g_free(r);
}

static void
pending_free(Pending *p)
{
    res_side_free(p->a);
    res_side_free(p->b);
    g_free(p);
}

static void G_GNUC_PRINTF(2, 3) note(ResCompareResult *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(r->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

static GPtrArray *
done_of(const GPtrArray *records, const char *side, ResCompareResult *result)
{
    GPtrArray *done = g_ptr_array_new();
    for (guint i = 0; i < records->len; i++) {
        ResRecord *r = g_ptr_array_index(records, i);
        gboolean fine = r->detail != NULL && r->detail[0] != '\0';
        if (r->outcome == RES_OUTCOME_DONE) {
            g_ptr_array_add(done, r);
        } else {
            note(result, "%s: run %s is left out: %s%s%s", side, r->id,
                 res_outcome_name(r->outcome), fine ? ": " : "", fine ? r->detail : "");
        }
    }
    return done;
}

/* Every run of both sides must be of one platform, clock and fidelity: the first decides. */
static gboolean
check_alike(const GPtrArray *a, const GPtrArray *b, GError **error)
{
    const ResRecord *first = g_ptr_array_index(a, 0);
    for (guint i = 0; i < a->len + b->len; i++) {
        const ResRecord *r = g_ptr_array_index(i < a->len ? a : b, i < a->len ? i : i - a->len);
        const char *names[][3] = {
            {"fidelity", res_fidelity_name(first->fidelity), res_fidelity_name(r->fidelity)},
            {"platform", first->platform, r->platform},
            {"clock", first->clock, r->clock}};
        for (gsize k = 0; k < G_N_ELEMENTS(names); k++) {
            if (g_strcmp0(names[k][1], names[k][2]) != 0) {
                g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_FIDELITY,
                            "%s differs: run %s is \"%s\", run %s is \"%s\"; such numbers are not "
                            "comparable",
                            names[k][0], first->id, names[k][1], r->id, names[k][2]);
                return FALSE;
            }
        }
    }
    return TRUE;
}

/* --- one cell --- */

/* All RECORDS carry it, in one unit and fidelity. */
static gboolean
all_carry(const GPtrArray *records, const ResMetric *like, guint at)
{
    for (guint i = 0; i < records->len; i++) {
        const ResMetric *m = res_metric_at(g_ptr_array_index(records, i), like, at);
        if (m == NULL || m->fidelity != like->fidelity || g_strcmp0(m->unit, like->unit) != 0) {
            return FALSE;
        }
    }
    return TRUE;
}

/* The run whose metric is nearest to VALUE. */
static char *
nearest_run(const GPtrArray *records, const ResMetric *like, guint at, double value)
{
    const ResRecord *nearest = NULL;
    double least = HUGE_VAL;
    for (guint i = 0; i < records->len; i++) {
        const ResRecord *r = g_ptr_array_index(records, i);
        double away = fabs(res_metric_at(r, like, at)->value - value);
        if (away < least) {
            least = away;
            nearest = r;
        }
    }
    return nearest != NULL ? g_strdup(nearest->id) : NULL;
}

static const char *
wanted_change(const ResCellPair *pair, const char *metric)
{
    const ResRecord *a = g_ptr_array_index(pair->a, 0), *b = g_ptr_array_index(pair->b, 0);
    g_autofree char *key = g_strconcat(RELEVANT_PREFIX, metric, NULL);
    const char *wanted = g_hash_table_lookup(b->parameters, key);
    return wanted != NULL ? wanted : g_hash_table_lookup(a->parameters, key);
}

static const ResCalibrationEntry *
calibration_of(const Work *w, const ResCellPair *pair, const char *metric)
{
    const ResRecord *a = g_ptr_array_index(pair->a, 0);
    return w->options->calibration != NULL
               ? res_calibration_find(w->options->calibration, a->profile, a->cell, metric)
               : NULL;
}

static void
add_pending(Work *w, ResComparison *c, ResSide *a, ResSide *b)
{
    Pending *p = g_new0(Pending, 1);
    *p = (Pending){c, a, b};
    g_ptr_array_add(w->pending, p);
    g_ptr_array_add(w->result->comparisons, c);
}

static gboolean
add_metric(Work *w, const ResCellPair *pair, guint at, GError **error)
{
    const ResMetric *m = g_ptr_array_index(((ResRecord *)pair->a->pdata[0])->metrics, at);
    const ResMetric *other = res_metric_at(g_ptr_array_index(pair->b, 0), m, at);
    if (other != NULL && other->fidelity != m->fidelity) {
        g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_FIDELITY,
                    "metric %s is of fidelity %s on one side and %s on the other", m->name,
                    res_fidelity_name(m->fidelity), res_fidelity_name(other->fidelity));
        return FALSE;
    }
    if (!all_carry(pair->a, m, at) || !all_carry(pair->b, m, at)) {
        note(w->result, "metric %s, cell \"%s\": not in all boots of both sides in one unit",
             m->name, pair->name);
        return TRUE;
    }
    g_autoptr(ResSide) a = res_side_new(pair->a, m, at, error);
    g_autoptr(ResSide) b = a != NULL ? res_side_new(pair->b, m, at, error) : NULL;
    if (b == NULL) {
        return FALSE;
    }
    ResComparison *c = res_verdict_estimate(m, pair->name, a, b, calibration_of(w, pair, m->name),
                                            wanted_change(pair, m->name), w->options);
    c->run_a = nearest_run(pair->a, m, at, c->a);
    c->run_b = nearest_run(pair->b, m, at, c->b);
    add_pending(w, c, g_steal_pointer(&a), g_steal_pointer(&b));
    return TRUE;
}

/* --- quantiles over all boots --- */

/* One histogram a boot, all its CPUs together; NULL without an error when not all have one. */
static GPtrArray *
side_hists(const Work *w, const GPtrArray *records, const char *workload, GError **error)
{
    g_autoptr(GPtrArray) boots = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);
    for (guint i = 0; i < records->len; i++) {
        g_autoptr(GError) inner = NULL;
        g_autoptr(GPtrArray) hists = w->options->hists(g_ptr_array_index(records, i), workload,
                                                       w->options->hists_data, &inner);
        if (inner != NULL) {
            g_propagate_error(error, g_steal_pointer(&inner));
            return NULL;
        }
        if (hists == NULL) {
            return NULL;
        }
        ResHist *all = res_hist_merge_all(hists, error);
        if (all == NULL) {
            return NULL;
        }
        g_ptr_array_add(boots, all);
        if (res_hist_count(all) == 0) {
            return NULL;
        }
    }
    return g_steal_pointer(&boots);
}

static ResComparison *
pooled_comparison(const Work *w, const ResCellPair *pair, const ResPooled *pooled,
                  const char *workload, const char *unit, double q)
{
    const ResRecord *first = g_ptr_array_index(pair->a, 0);
    g_autofree char *name = res_hist_quantile_name(q);
    ResComparison *c = g_new0(ResComparison, 1);
    c->metric = g_strdup_printf("%s.pooled.%s", workload, name);
    c->unit = g_strdup(unit);
    c->cell = g_strdup(pair->name);
    c->direction = RES_LOWER_IS_BETTER;
    c->fidelity = first->fidelity;
    c->na = pair->a->len;
    c->nb = pair->b->len;
    res_pooled_compare(pooled, q, 1 - w->options->alpha, w->options->seed, w->options->resamples,
                       c);
    /* all arrangements that can be told apart; drawn ones reach no further than their number */
    c->p_smallest = 2 / exp(lgamma(c->na + c->nb + 1) - lgamma(c->na + 1) - lgamma(c->nb + 1));
    c->p_smallest = CLAMP(c->p_smallest, c->p_exact ? 0 : 1 / (5.0 * w->options->resamples + 1), 1);
    res_verdict_set_relevant(c, NULL, wanted_change(pair, c->metric));
    return c;
}

static gboolean
add_pooled(Work *w, const ResCellPair *pair, const char *workload, GError **error)
{
    g_autoptr(GError) inner = NULL;
    g_autoptr(GPtrArray) a = side_hists(w, pair->a, workload, &inner);
    g_autoptr(GPtrArray) b = a != NULL ? side_hists(w, pair->b, workload, &inner) : NULL;
    if (inner != NULL) {
        g_propagate_error(error, g_steal_pointer(&inner));
        return FALSE;
    }
    if (b == NULL) {
        return TRUE;
    }
    const char *unit = res_hist_unit(g_ptr_array_index(a, 0));
    for (guint i = 0; i < a->len + b->len; i++) {
        if (!g_str_equal(unit, res_hist_unit(i < a->len ? a->pdata[i] : b->pdata[i - a->len]))) {
            note(w->result, "histograms of %s, cell \"%s\": not of one unit", workload, pair->name);
            return TRUE;
        }
    }
    g_autoptr(ResPooled) pooled = res_pooled_new(a, b);
    double deepest = res_pooled_deepest(pooled, 1 - w->options->alpha);
    for (double q = POOLED_FIRST; q <= deepest; q = 1 - (1 - q) / 10) {
        add_pending(w, pooled_comparison(w, pair, pooled, workload, unit, q), NULL, NULL);
    }
    return TRUE;
}

static gboolean
compare_cell(Work *w, const ResCellPair *pair, GError **error)
{
    const ResRecord *a = g_ptr_array_index(pair->a, 0), *b = g_ptr_array_index(pair->b, 0);
    for (guint i = 0; i < a->metrics->len; i++) {
        if (!add_metric(w, pair, i, error)) {
            return FALSE;
        }
    }
    for (guint i = 0; i < b->metrics->len; i++) {
        const ResMetric *m = g_ptr_array_index(b->metrics, i);
        if (res_record_metric(a, m->name) == NULL) {
            note(w->result, "metric %s, cell \"%s\": only in B", m->name, pair->name);
        }
    }
    for (guint i = 0; w->options->hists != NULL && i < a->evidence->len; i++) {
        const char *name = g_ptr_array_index(a->evidence, i);
        if (g_str_has_suffix(name, RES_HIST_SUFFIX)) {
            g_autofree char *workload = g_strndup(name, strlen(name) - strlen(RES_HIST_SUFFIX));
            if (!add_pooled(w, pair, workload, error)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

/* --- all of them --- */

/* Whether P can come out small at all: what is the same everywhere can raise no false alarm. */
static gboolean
is_judged(const Pending *p, gboolean directed)
{
    const ResComparison *c = p->c;
    gboolean constant = p->a != NULL && !(p->a->max > p->a->min) && !(p->b->max > p->b->min) &&
                        !(c->shift.value < 0 || c->shift.value > 0);
    return c->fidelity != RES_FIDELITY_FUNCTIONAL && !constant &&
           (c->direction != RES_NO_DIRECTION) == directed;
}

/* Metrics without a direction claim nothing, so they don't make it harder for those that do. */
static unsigned int
adjust(const GPtrArray *pending, gboolean directed)
{
    g_autoptr(GArray) p = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < pending->len; i++) {
        const Pending *x = g_ptr_array_index(pending, i);
        if (is_judged(x, directed)) {
            g_array_append_val(p, x->c->p);
        }
    }
    res_ranktest_adjust((double *)(gpointer)p->data, p->len);
    for (guint i = 0, k = 0; i < pending->len; i++) {
        const Pending *x = g_ptr_array_index(pending, i);
        if (is_judged(x, directed)) {
            x->c->p_adjusted = g_array_index(p, double, k++);
        }
    }
    return p->len;
}

static void
judge(Work *w)
{
    for (guint i = 0; i < w->pending->len; i++) {
        ResComparison *c = ((Pending *)g_ptr_array_index(w->pending, i))->c;
        c->p_adjusted = c->p;
    }
    unsigned int directed = adjust(w->pending, TRUE), others = adjust(w->pending, FALSE);
    w->result->judged = directed;
    for (guint i = 0; i < w->pending->len; i++) {
        const Pending *p = g_ptr_array_index(w->pending, i);
        res_verdict_decide(p->c, p->a, p->b, w->options->alpha,
                           p->c->direction != RES_NO_DIRECTION ? directed : others);
    }
}

/* The runs of all cells that have a partner. */
static GPtrArray *
matched_runs(const GPtrArray *pairs, gboolean of_b)
{
    GPtrArray *runs = g_ptr_array_new();
    for (guint i = 0; i < pairs->len; i++) {
        const ResCellPair *p = g_ptr_array_index(pairs, i);
        if (p->a != NULL && p->b != NULL) {
            g_ptr_array_extend(runs, of_b ? p->b : p->a, NULL, NULL);
        }
    }
    return runs;
}

static void
note_shared(ResCompareResult *result, const GPtrArray *a, const GPtrArray *b)
{
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < a->len; i++) {
        g_hash_table_add(ids, ((ResRecord *)g_ptr_array_index(a, i))->id);
    }
    for (guint i = 0; i < b->len; i++) {
        if (g_hash_table_contains(ids, ((ResRecord *)g_ptr_array_index(b, i))->id)) {
            note(result, "both sides hold the same runs: nothing can differ");
            return;
        }
    }
}

static gboolean
compare_cells(Work *w, const GPtrArray *pairs, GError **error)
{
    g_autoptr(GPtrArray) a = matched_runs(pairs, FALSE), b = matched_runs(pairs, TRUE);
    if (a->len > 0) {
        w->result->differences = res_differences_new(a, b, w->options->allow);
        if (!res_differences_check(w->result->differences, error)) {
            return FALSE;
        }
    }
    for (guint i = 0; i < pairs->len; i++) {
        const ResCellPair *p = g_ptr_array_index(pairs, i);
        if (p->a == NULL || p->b == NULL) {
            note(w->result, "cell \"%s\": only in %s", p->name, p->a != NULL ? "A" : "B");
        } else if (!compare_cell(w, p, error)) {
            return FALSE;
        }
    }
    note_shared(w->result, a, b);
    return TRUE;
}

ResCompareResult *
res_compare(const GPtrArray *a, const GPtrArray *b, const ResCompareOptions *options,
            GError **error)
{
    g_autoptr(ResCompareResult) result = g_new0(ResCompareResult, 1);
    g_autoptr(GPtrArray) pending = g_ptr_array_new_with_free_func((GDestroyNotify)pending_free);
    Work w = {options != NULL ? options : &res_compare_defaults, result, pending};
    result->notes = g_ptr_array_new_with_free_func(g_free);
    result->comparisons = g_ptr_array_new_with_free_func((GDestroyNotify)res_comparison_free);
    result->alpha = w.options->alpha;
    result->seed = w.options->seed;
    result->resamples = w.options->resamples;
    g_autoptr(GPtrArray) done_a = done_of(a, "A", result);
    g_autoptr(GPtrArray) done_b = done_of(b, "B", result);
    if (done_a->len == 0 || done_b->len == 0) {
        g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_NOTHING,
                    "%s has no run that is done: nothing to compare",
                    done_a->len == 0 ? "the first side" : "the second side");
        return NULL;
    }
    if (!check_alike(done_a, done_b, error)) {
        return NULL;
    }
    g_autoptr(GPtrArray) pairs = res_cells_match(done_a, done_b);
    if (!compare_cells(&w, pairs, error)) {
        return NULL;
    }
    if (result->comparisons->len == 0) {
        const char *why = result->notes->len > 0 ? g_ptr_array_index(result->notes, 0) : "";
        g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_NOTHING,
                    "the two sides share no metric of a cell: nothing to compare%s%s",
                    why[0] != '\0' ? "; " : "", why);
        return NULL;
    }
    judge(&w);
    return g_steal_pointer(&result);
}
