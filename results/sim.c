/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/sim.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#define LEVEL 1000.0
#define CORRELATION 0.6
#define DRIFT_SD 0.0065
#define DISPERSION 5 /* size of the negative binomial: variance is mean + mean^2 / 5 */

SimRng *
sim_rng_new(guint64 seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    return rng;
}

static double
number(gconstpointer data)
{
    return *(const double *)data;
}

double
sim_normal(gsl_rng *rng, guint at G_GNUC_UNUSED, double *state G_GNUC_UNUSED, gconstpointer sd)
{
    return LEVEL * (1 + gsl_ran_gaussian(rng, number(sd)));
}

double
sim_uniform(gsl_rng *rng, guint at G_GNUC_UNUSED, double *state G_GNUC_UNUSED, gconstpointer half)
{
    return LEVEL * (1 + gsl_ran_flat(rng, -number(half), number(half)));
}

double
sim_heavy(gsl_rng *rng, guint at G_GNUC_UNUSED, double *state G_GNUC_UNUSED, gconstpointer sd)
{
    return LEVEL * exp(number(sd) * gsl_ran_tdist(rng, 2));
}

double
sim_bimodal(gsl_rng *rng, guint at G_GNUC_UNUSED, double *state G_GNUC_UNUSED, gconstpointer gap)
{
    double mode = gsl_rng_uniform(rng) < 0.5 ? 1 : 1 + number(gap);
    return LEVEL * mode * (1 + gsl_ran_gaussian(rng, 0.002));
}

double
sim_correlated(gsl_rng *rng, guint at, double *state, gconstpointer sd)
{
    double fresh = gsl_ran_gaussian(rng, number(sd));
    *state = at == 0 ? fresh : CORRELATION * *state + sqrt(1 - CORRELATION * CORRELATION) * fresh;
    return LEVEL * (1 + *state);
}

double
sim_drifting(gsl_rng *rng, guint at, double *state G_GNUC_UNUSED, gconstpointer step)
{
    return LEVEL * (1 + number(step) * at + gsl_ran_gaussian(rng, DRIFT_SD));
}

double
sim_lattice(gsl_rng *rng, guint at G_GNUC_UNUSED, double *state G_GNUC_UNUSED, gconstpointer step)
{
    return LEVEL + (gsl_rng_uniform(rng) < 0.5 ? 0 : number(step));
}

double
sim_clusters(gsl_rng *rng, guint at G_GNUC_UNUSED, double *state G_GNUC_UNUSED,
             gconstpointer data G_GNUC_UNUSED)
{
    double u = gsl_rng_uniform(rng);
    return LEVEL + (u < 0.42 ? 0 : u < 0.58 ? 1 : 2) + gsl_ran_flat(rng, 0, 1e-3);
}

double
sim_counts(gsl_rng *rng, guint at G_GNUC_UNUSED, double *state G_GNUC_UNUSED, gconstpointer mean)
{
    double p = DISPERSION / (DISPERSION + number(mean));
    return gsl_ran_negative_binomial(rng, p, DISPERSION);
}

double
sim_recorded(gsl_rng *rng, guint at G_GNUC_UNUSED, double *state G_GNUC_UNUSED,
             gconstpointer recorded)
{
    const SimRecorded *r = recorded;
    return g_array_index(r->values, double, gsl_rng_uniform_int(rng, r->values->len));
}

/* --- records --- */

static ResRecord *
new_record(ResFidelity fidelity, guint at)
{
    ResRecord *r = res_record_new();
    g_free(r->id);
    r->id = g_strdup_printf("r%u", at);
    r->outcome = RES_OUTCOME_DONE;
    r->fidelity = fidelity;
    r->started_us = at + 1;
    return r;
}

static void
add_metric(ResRecord *r, const char *name, const char *unit, double value)
{
    g_ptr_array_add(r->metrics, res_metric_new(name, unit, RES_LOWER_IS_BETTER, r->fidelity, value,
                                               value, value, 1, "f"));
}

typedef struct {
    GPtrArray *a, *b;
} Sides;

static void
sides_clear(Sides *s)
{
    g_clear_pointer(&s->a, g_ptr_array_unref);
    g_clear_pointer(&s->b, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sides, sides_clear)

static gboolean
is_of_b(guint at, guint boots, SimOrder order)
{
    return order == SIM_SEQUENTIAL ? at >= boots : at % 2 == 1;
}

/* Empty records of both sides, in the order they run: the AT-th of all is returned by ADD. */
static ResRecord *
add_boot(Sides *s, ResFidelity fidelity, guint at, guint boots, SimOrder order)
{
    if (s->a == NULL) {
        s->a = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
        s->b = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    }
    ResRecord *r = new_record(fidelity, at);
    g_ptr_array_add(is_of_b(at, boots, order) ? s->b : s->a, r);
    return r;
}

static gboolean
is_told(const ResComparison *c)
{
    return c->verdict != RES_VERDICT_CANNOT_TELL && c->verdict != RES_VERDICT_SAME;
}

static ResCompareResult *
compare(const Sides *s, const ResCompareOptions *options)
{
    g_autoptr(GError) error = NULL;
    ResCompareResult *r = res_compare(s->a, s->b, options, &error);
    if (r == NULL) {
        g_error("simulated boots: %s", error->message);
    }
    return r;
}

SimOutcome
sim_run(const SimCase *c, double truth, guint trials, guint64 seed)
{
    g_autoptr(SimRng) rng = sim_rng_new(seed);
    SimOutcome o = {.trials = trials};
    for (guint t = 0; t < trials; t++) {
        g_auto(Sides) s = {0};
        double state = 0;
        for (guint at = 0; at < 2 * c->boots; at++) {
            ResRecord *r = add_boot(&s, c->fidelity, at, c->boots, c->order);
            double value = c->draw(rng, at, &state, c->data);
            if (is_of_b(at, c->boots, c->order)) {
                value = value * c->factor + c->plus;
            }
            add_metric(r, "m", c->unit, value);
        }
        g_autoptr(ResCompareResult) r = compare(&s, NULL);
        const ResComparison *x = g_ptr_array_index(r->comparisons, 0);
        o.different += is_told(x);
        o.worse += x->verdict == RES_VERDICT_WORSE;
        o.missed += x->ratio.low > truth || x->ratio.high < truth; /* never with NAN */
    }
    return o;
}

/* --- many metrics --- */

static void
add_many(ResRecord *r, gsl_rng *rng, guint metrics, guint changed, double factor, double sd,
         double rho)
{
    double common = gsl_ran_ugaussian(rng);
    for (guint k = 0; k < metrics; k++) {
        g_autofree char *name = g_strdup_printf("m%u", k);
        double z = sqrt(rho) * common + sqrt(1 - rho) * gsl_ran_ugaussian(rng);
        add_metric(r, name, "u", LEVEL * (1 + sd * z) * (k < changed ? factor : 1));
    }
}

SimMany
sim_run_many(guint metrics, guint changed, double factor, double sd, double rho, guint boots,
             guint trials, guint64 seed)
{
    g_autoptr(SimRng) rng = sim_rng_new(seed);
    SimMany m = {.trials = trials};
    for (guint t = 0; t < trials; t++) {
        g_auto(Sides) s = {0};
        for (guint at = 0; at < 2 * boots; at++) {
            gboolean of_b = is_of_b(at, boots, SIM_ALTERNATING);
            ResRecord *r = add_boot(&s, RES_FIDELITY_TIME, at, boots, SIM_ALTERNATING);
            add_many(r, rng, metrics, of_b ? changed : 0, factor, sd, rho);
        }
        g_autoptr(ResCompareResult) r = compare(&s, NULL);
        guint right = 0, wrong = 0;
        for (guint k = 0; k < metrics; k++) {
            gboolean told = is_told(g_ptr_array_index(r->comparisons, k));
            right += told && k < changed;
            wrong += told && k >= changed;
        }
        m.any += wrong > 0;
        m.rate += wrong > 0 ? (double)wrong / (right + wrong) / trials : 0;
        m.found += changed > 0 ? (double)right / changed / trials : 0;
    }
    return m;
}

/* --- recorded --- */

static void
recorded_free(SimRecorded *r)
{
    g_free(r->name);
    g_free(r->unit);
    g_array_unref(r->values);
    g_free(r);
}

/* Lines of words; those that begin with # are left out. */
static GPtrArray *
load_lines(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, error)) {
        return NULL;
    }
    GPtrArray *lines = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_auto(GStrv) all = g_strsplit(text, "\n", -1);
    for (char **line = all; *line != NULL; line++) {
        if (**line != '\0' && **line != '#') {
            g_ptr_array_add(lines, g_strsplit(*line, " ", -1));
        }
    }
    return lines;
}

GPtrArray *
sim_recorded_load(const char *path, GError **error)
{
    g_autoptr(GPtrArray) lines = load_lines(path, error);
    if (lines == NULL) {
        return NULL;
    }
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)recorded_free);
    for (guint i = 0; i < lines->len; i++) {
        char **words = g_ptr_array_index(lines, i);
        SimRecorded *r = g_new0(SimRecorded, 1);
        r->name = g_strdup_printf("%s %s %s", words[0], words[1], words[2]);
        r->unit = g_strdup(words[3]);
        r->values = g_array_new(FALSE, FALSE, sizeof(double));
        for (char **w = words + 4; *w != NULL; w++) {
            double value = g_ascii_strtod(*w, NULL);
            g_array_append_val(r->values, value);
        }
        g_ptr_array_add(all, r);
    }
    return all;
}

GArray *
sim_body_load(const char *path, GError **error)
{
    g_autoptr(GPtrArray) lines = load_lines(path, error);
    if (lines == NULL) {
        return NULL;
    }
    GArray *body = g_array_new(FALSE, FALSE, sizeof(ResHistBucket));
    for (guint i = 0; i < lines->len; i++) {
        char **words = g_ptr_array_index(lines, i);
        gint64 value = g_ascii_strtoll(words[0], NULL, 10);
        ResHistBucket b = {value, value, g_ascii_strtoull(words[1], NULL, 10)};
        g_array_append_val(body, b);
    }
    return body;
}
