/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots that leave histograms: a recorded one, drawn anew, with what boots do to it. */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "results/sim.h"

#define QUANTILE 0.999
#define TAIL_FROM 0.99
#define TAIL_STEPS 200 /* values of the Pareto tail, of equal chance each */

/* What one boot draws from: values and their chances. */
typedef struct {
    guint n;
    double *values, *chances;
    double tail_from; /* the value that is the body's p99 */
} Mix;

static void
mix_clear(Mix *m)
{
    g_free(m->values);
    g_free(m->chances);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Mix, mix_clear)

static void
mix_init(Mix *m, const SimHists *s, const GArray *body)
{
    guint tail = s->tail_share > 0 ? TAIL_STEPS : 0;
    double all = 0, seen = 0;
    m->n = body->len + tail;
    m->values = g_new(double, m->n);
    m->chances = g_new(double, m->n);
    for (guint i = 0; i < body->len; i++) {
        all += (double)g_array_index(body, ResHistBucket, i).count;
    }
    for (guint i = 0; i < body->len; i++) {
        const ResHistBucket *b = &g_array_index(body, ResHistBucket, i);
        m->values[i] = (double)b->low;
        m->chances[i] = (double)b->count / all * (1 - s->tail_share);
        seen += (double)b->count;
        if (m->tail_from <= 0 && seen >= TAIL_FROM * all) {
            m->tail_from = m->values[i];
        }
    }
    for (guint i = 0; i < tail; i++) {
        double beyond = 1 - (i + 0.5) / tail;
        m->values[body->len + i] = m->tail_from * pow(beyond, -1 / s->tail_index);
        m->chances[body->len + i] = s->tail_share / tail;
    }
}

/* On all latencies of the AT-th boot. */
static double
boot_factor(const SimHists *s, gsl_rng *rng, guint at)
{
    double factor = (1 + s->drift * at) * exp(gsl_ran_gaussian(rng, s->boot_sd));
    return gsl_rng_uniform(rng) < s->slow_share ? factor * s->slow_factor : factor;
}

static ResHist *
draw_hist(const SimHists *s, const Mix *m, gsl_rng *rng, guint at, gboolean of_b)
{
    g_autofree unsigned int *counts = g_new(unsigned int, m->n);
    ResHist *h = res_hist_new("ns", "");
    double factor = boot_factor(s, rng, at);
    gsl_ran_multinomial(rng, m->n, (unsigned int)(s->samples / s->burst), m->chances, counts);
    for (guint i = 0; i < m->n; i++) {
        double value = m->values[i] * factor;
        if (of_b && m->values[i] > m->tail_from) {
            value *= s->tail_factor;
        }
        res_hist_add_double(h, value, (guint64)counts[i] * s->burst, NULL);
    }
    return h;
}

typedef struct {
    GHashTable *hists; /* record -> ResHist */
} Kept;

static GPtrArray *
kept_hists(const ResRecord *r, const char *workload G_GNUC_UNUSED, gpointer data,
           GError **error G_GNUC_UNUSED)
{
    const Kept *kept = data;
    GPtrArray *hists = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);
    g_ptr_array_add(hists, res_hist_copy(g_hash_table_lookup(kept->hists, r)));
    return hists;
}

static ResRecord *
new_boot(const ResHist *h, guint at)
{
    ResRecord *r = res_record_new();
    ResQuantile q;
    g_free(r->id);
    r->id = g_strdup_printf("r%u", at);
    r->outcome = RES_OUTCOME_DONE;
    r->fidelity = RES_FIDELITY_TIME;
    r->started_us = at + 1;
    g_ptr_array_add(r->evidence, g_strdup("w" RES_HIST_SUFFIX));
    res_hist_quantile(h, QUANTILE, 0.99, &q);
    g_ptr_array_add(r->metrics, res_metric_new("w.p99.9", "ns", RES_LOWER_IS_BETTER, r->fidelity,
                                               q.value, q.value, q.value, 1, "w" RES_HIST_SUFFIX));
    return r;
}

static const ResComparison *
find(const ResCompareResult *r, const char *metric)
{
    for (guint i = 0; i < r->comparisons->len; i++) {
        const ResComparison *c = g_ptr_array_index(r->comparisons, i);
        if (g_str_equal(c->metric, metric)) {
            return c;
        }
    }
    return NULL;
}

/* By the unadjusted p: what is asked here is the one quantile. */
static gboolean
is_told(const ResComparison *c)
{
    return c != NULL && c->p <= RES_COMPARE_ALPHA && c->p_smallest <= RES_COMPARE_ALPHA;
}

static void
count_one(SimTails *o, const GPtrArray *a, const GPtrArray *b, Kept *kept, double truth)
{
    ResCompareOptions options = res_compare_defaults;
    options.hists = kept_hists;
    options.hists_data = kept;
    g_autoptr(ResCompareResult) r = res_compare(a, b, &options, NULL);
    const ResComparison *pooled = find(r, "w.pooled.p99.9");
    o->boots_different += is_told(find(r, "w.p99.9"));
    o->pooled_different += is_told(pooled);
    o->pooled_missed += pooled != NULL && (pooled->ratio.low > truth * (1 + RES_HIST_ERROR_BOUND) ||
                                           pooled->ratio.high * (1 + RES_HIST_ERROR_BOUND) < truth);
}

SimTails
sim_run_hists(const SimHists *s, const GArray *body, guint trials, guint64 seed)
{
    g_autoptr(SimRng) rng = sim_rng_new(seed);
    g_auto(Mix) mix = {0};
    SimTails o = {.trials = trials};
    mix_init(&mix, s, body);
    for (guint t = 0; t < trials; t++) {
        GDestroyNotify free_run = (GDestroyNotify)res_record_free;
        g_autoptr(GPtrArray) a = g_ptr_array_new_with_free_func(free_run);
        g_autoptr(GPtrArray) b = g_ptr_array_new_with_free_func(free_run);
        g_autoptr(GHashTable) hists =
            g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)res_hist_free);
        Kept kept = {hists};
        for (guint at = 0; at < 2 * s->boots; at++) {
            gboolean of_b = s->order == SIM_SEQUENTIAL ? at >= s->boots : at % 2 == 1;
            ResHist *h = draw_hist(s, &mix, rng, at, of_b);
            ResRecord *r = new_boot(h, at);
            g_hash_table_insert(hists, r, h);
            g_ptr_array_add(of_b ? b : a, r);
        }
        count_one(&o, a, b, &kept, s->tail_factor);
    }
    return o;
}
