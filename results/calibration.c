/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/calibration.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "results/calibration_private.h"
#include "results/compare.h"
#include "results/ranktest.h"
#include "results/verdict.h"

#define RANK_EFFICIENCY (3 / G_PI) /* of the rank test against the t test, many normal values */
#define TRIED_BOOTS 30             /* up to here the rank test is exact, and tried out */
#define DRAWS 2000
#define STEPS_MAX 20.0
#define STEPS_ERROR 0.01
#define SD_TAIL 0.05
#define SET_BOOTS_MIN 5 /* the median of fewer boots says little of its set */

static void
entry_free(ResCalibrationEntry *e)
{
    g_free(e->profile);
    g_free(e->cell);
    g_free(e->metric);
    g_free(e->unit);
    g_free(e);
}

void
res_calibration_free(ResCalibration *c)
{
    if (c == NULL) {
        return;
    }
    g_ptr_array_unref(c->entries);
    g_free(c);
}

ResCalibration *
res_calibration_empty(void)
{
    ResCalibration *c = g_new0(ResCalibration, 1);
    c->entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    return c;
}

/* How often the rank test finds a shift of so many standard deviations, over DRAWS pairs of normal
 * sides in VALUES. */
static double
power_of(double shift, const double *values, gsize n, double alpha)
{
    g_autofree double *b = g_new(double, n);
    guint found = 0;
    for (guint i = 0; i < DRAWS; i++) {
        const double *a = values + 2 * n * i;
        for (gsize k = 0; k < n; k++) {
            b[k] = a[n + k] + shift;
        }
        found += res_ranktest(a, n, b, n).p <= alpha;
    }
    return (double)found / DRAWS;
}

/* In standard deviations. Of few boots the rank test is less efficient than its limit says, so it
 * is tried out. */
static double
steps_by_trial(gsize n, double alpha)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    g_autofree double *values = g_new(double, DRAWS * 2 * n);
    for (gsize i = 0; i < DRAWS * 2 * n; i++) {
        values[i] = gsl_ran_ugaussian(rng);
    }
    gsl_rng_free(rng);
    double low = 0, high = STEPS_MAX;
    while (high - low > STEPS_ERROR) {
        double middle = (low + high) / 2;
        if (power_of(middle, values, n, alpha) < RES_CALIBRATION_POWER) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

static double
steps_by_limit(double n, double alpha)
{
    double df = 2 * n - 2;
    return (gsl_cdf_tdist_Qinv(alpha / 2, df) + gsl_cdf_tdist_Pinv(RES_CALIBRATION_POWER, df)) *
           sqrt(2 / n / RANK_EFFICIENCY);
}

double
res_calibration_steps(unsigned int boots_a_side, double alpha)
{
    if (boots_a_side < res_ranktest_needed(alpha)) {
        return HUGE_VAL;
    }
    return boots_a_side <= TRIED_BOOTS ? steps_by_trial(boots_a_side, alpha)
                                       : steps_by_limit(boots_a_side, alpha);
}

const ResCalibrationEntry *
res_calibration_find(const ResCalibration *c, const char *profile, const char *cell,
                     const char *metric)
{
    for (guint i = 0; i < c->entries->len; i++) {
        const ResCalibrationEntry *e = g_ptr_array_index(c->entries, i);
        if (g_str_equal(e->metric, metric) && g_strcmp0(e->profile, profile) == 0 &&
            g_strcmp0(e->cell, cell) == 0) {
            return e;
        }
    }
    return NULL;
}

/* --- which runs are A/A --- */

/* Profile keys and entries of the environment that A/A runs may differ in. */
static gboolean
may_differ(const char *key)
{
    static const char *const keys[] = {
        "seed",     "guest.seed",          "main.boots",   "main.jobs",   "main.summary",
        "expect.",  "guest.boot_timeout",  "reference.",   "relevant.",   "axis-position.",
        "machine.", "host.kernel.release", "host.thread.", "box.thread.", NULL};
    for (const char *const *k = keys; *k != NULL; k++) {
        if (g_str_has_prefix(key, *k)) {
            return TRUE;
        }
    }
    return g_str_has_suffix(key, ".tsc_khz");
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
append_map(GString *out, GHashTable *map)
{
    guint n = 0;
    g_autofree char **keys = (char **)g_hash_table_get_keys_as_array(map, &n);
    qsort(keys, n, sizeof *keys, compare_texts);
    for (guint i = 0; i < n; i++) {
        if (!may_differ(keys[i])) {
            g_string_append_printf(out, "%s=%s\n", keys[i],
                                   (char *)g_hash_table_lookup(map, keys[i]));
        }
    }
}

/* Runs with the same text are of one kernel in one environment. */
static char *
identity_of(const ResRecord *r)
{
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s\n%s\n%s\n%s\n%d\n", r->profile, r->cell, r->platform, r->clock,
                           r->fidelity);
    append_map(text, r->parameters);
    append_map(text, r->environment);
    return g_string_free(text, FALSE);
}

static char *
cell_key(const ResRecord *r)
{
    return g_strdup_printf("%s\n%s", r->profile, r->cell);
}

static gboolean
has_seed_of(const GPtrArray *group, const ResRecord *r)
{
    const char *seed = g_hash_table_lookup(r->environment, "seed");
    for (guint i = 0; seed != NULL && i < group->len; i++) {
        const ResRecord *other = g_ptr_array_index(group, i);
        if (g_strcmp0(seed, g_hash_table_lookup(other->environment, "seed")) == 0) {
            return TRUE;
        }
    }
    return FALSE;
}

/* By profile and cell: the largest group of A/A runs. */
static GHashTable *
largest_groups(const GPtrArray *records)
{
    GDestroyNotify unref = (GDestroyNotify)g_ptr_array_unref;
    g_autoptr(GHashTable) groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref);
    GHashTable *largest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, unref);
    for (guint i = 0; i < records->len; i++) {
        ResRecord *r = g_ptr_array_index(records, i);
        /* of an unknown kernel nobody knows whether it is the same */
        if (r->outcome != RES_OUTCOME_DONE || r->fidelity == RES_FIDELITY_FUNCTIONAL ||
            !g_hash_table_contains(r->environment, "kernel.sha256")) {
            continue;
        }
        char *identity = identity_of(r);
        GPtrArray *group = g_hash_table_lookup(groups, identity);
        if (group == NULL) {
            group = g_ptr_array_new();
            g_hash_table_insert(groups, identity, group);
        } else {
            g_free(identity);
        }
        /* under icount equal seeds make equal boots, which say nothing twice */
        if (r->fidelity == RES_FIDELITY_INSTRUCTIONS && has_seed_of(group, r)) {
            continue;
        }
        g_ptr_array_add(group, r);
        /* the later group on a tie: newer runs say more of this machine */
        g_autofree char *cell = cell_key(r);
        const GPtrArray *best = g_hash_table_lookup(largest, cell);
        if (best == NULL || (best != group && group->len >= best->len)) {
            g_hash_table_replace(largest, g_steal_pointer(&cell), g_ptr_array_ref(group));
        }
    }
    return largest;
}

/* --- one metric --- */

typedef struct {
    guint sets;
    double squares, df;     /* of differences from the own set's mean */
    double lowest, highest; /* medians of sets with enough boots */
    guint medians;
} Sets;

static void
add_set(Sets *s, const GArray *values)
{
    const double *v = (const double *)(gpointer)values->data;
    s->sets++;
    if (values->len > 1) {
        s->squares += gsl_stats_variance(v, 1, values->len) * (values->len - 1);
        s->df += values->len - 1;
    }
    if (values->len >= SET_BOOTS_MIN) {
        double median = res_median(v, values->len);
        s->lowest = s->medians == 0 ? median : MIN(s->lowest, median);
        s->highest = s->medians == 0 ? median : MAX(s->highest, median);
        s->medians++;
    }
}

/* RUNS are in the order of their sets. FALSE when one has no such metric. */
static gboolean
split_sets(const GPtrArray *runs, const ResMetric *like, GArray *all, Sets *sets)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    const char *set = NULL;
    for (guint i = 0; i < runs->len; i++) {
        const ResRecord *r = g_ptr_array_index(runs, i);
        const ResMetric *m = res_record_metric(r, like->name);
        if (m == NULL || m->fidelity != like->fidelity || !g_str_equal(m->unit, like->unit) ||
            m->censored) {
            return FALSE;
        }
        if (set != NULL && !g_str_equal(set, r->set)) {
            add_set(sets, values);
            g_array_set_size(values, 0);
        }
        set = r->set;
        g_array_append_val(values, m->value);
        g_array_append_val(all, m->value);
    }
    add_set(sets, values);
    return TRUE;
}

static ResCalibrationEntry *
entry_new(const GPtrArray *runs, const ResMetric *m, double steps)
{
    const ResRecord *first = g_ptr_array_index(runs, 0);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(double));
    Sets sets = {0};
    if (!split_sets(runs, m, all, &sets)) {
        return NULL;
    }
    const double *v = (const double *)(gpointer)all->data;
    double min = 0, max = 0;
    gsl_stats_minmax(&min, &max, v, 1, all->len);
    ResCalibrationEntry *e = g_new0(ResCalibrationEntry, 1);
    e->profile = g_strdup(first->profile);
    e->cell = g_strdup(first->cell);
    e->metric = g_strdup(m->name);
    e->unit = g_strdup(m->unit);
    e->fidelity = m->fidelity;
    e->boots = all->len;
    e->sets = sets.sets;
    e->median = res_median(v, all->len);
    e->spread = MIN(res_verdict_spread(min, max, e->median), G_MAXDOUBLE);
    double middle = fabs(e->median);
    if (sets.df > 0 && middle > 0) {
        double sd = sqrt(sets.squares / sets.df);
        e->sd = sd / middle;
        e->sd_high = sd * sqrt(sets.df / gsl_cdf_chisq_Pinv(SD_TAIL, sets.df)) / middle;
    }
    if (sets.medians > 1 && middle > 0) {
        e->between = (sets.highest - sets.lowest) / middle;
        e->relevant = e->between;
    }
    e->detectable = isfinite(steps) ? steps * e->sd_high : HUGE_VAL;
    return e;
}

static int
by_set(gconstpointer x, gconstpointer y)
{
    const ResRecord *a = *(ResRecord *const *)x, *b = *(ResRecord *const *)y;
    int order = g_strcmp0(a->set, b->set);
    return order != 0 ? order : g_strcmp0(a->id, b->id);
}

static int
by_name(gconstpointer x, gconstpointer y)
{
    const ResCalibrationEntry *a = *(ResCalibrationEntry *const *)x;
    const ResCalibrationEntry *b = *(ResCalibrationEntry *const *)y;
    int order = strcmp(a->profile, b->profile);
    order = order != 0 ? order : strcmp(a->cell, b->cell);
    return order != 0 ? order : strcmp(a->metric, b->metric);
}

ResCalibration *
res_calibration_new(const GPtrArray *records, unsigned int boots_a_side, double alpha)
{
    ResCalibration *c = res_calibration_empty();
    g_autoptr(GHashTable) groups = largest_groups(records);
    GHashTableIter iter;
    gpointer group;
    c->boots_a_side = boots_a_side;
    c->alpha = alpha;
    double steps = g_hash_table_size(groups) > 0 ? res_calibration_steps(boots_a_side, alpha) : 0;
    g_hash_table_iter_init(&iter, groups);
    while (g_hash_table_iter_next(&iter, NULL, &group)) {
        g_autoptr(GPtrArray) runs = g_ptr_array_new();
        g_ptr_array_extend(runs, group, NULL, NULL);
        g_ptr_array_sort(runs, by_set);
        const ResRecord *first = g_ptr_array_index(runs, 0);
        for (guint i = 0; runs->len > 1 && i < first->metrics->len; i++) {
            const ResMetric *m = g_ptr_array_index(first->metrics, i);
            ResCalibrationEntry *e =
                m->fidelity != RES_FIDELITY_FUNCTIONAL ? entry_new(runs, m, steps) : NULL;
            if (e != NULL) {
                g_ptr_array_add(c->entries, e);
            }
        }
    }
    g_ptr_array_sort(c->entries, by_name);
    return c;
}
