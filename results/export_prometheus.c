/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Format: prometheus.io/docs/instrumenting/exposition_formats, text 0.0.4. Names and units:
 * prometheus.io/docs/practices/naming. Samples of one family must stand together below its HELP and
 * TYPE, so families are gathered first.
 */
#include <math.h>
#include <string.h>

#include "results/escape.h"
#include "results/export.h"

/* Families in the order they were first used. */
typedef struct {
    GPtrArray *names;   /* char *, owned by families */
    GHashTable *help;   /* char * -> char * */
    GHashTable *bodies; /* char * -> GString * */
} Families;

static void
body_free(gpointer body)
{
    g_string_free(body, TRUE);
}

static GString *
family(Families *f, const char *name, const char *help)
{
    GString *body = g_hash_table_lookup(f->bodies, name);
    if (body == NULL) {
        char *own = g_strdup(name);
        body = g_string_new(NULL);
        g_hash_table_insert(f->bodies, own, body);
        g_hash_table_insert(f->help, own, g_strdup(help));
        g_ptr_array_add(f->names, own);
    }
    return body;
}

/* A label's value or, without quotes to escape, a help text. */
static void
add_escaped(GString *out, const char *text)
{
    g_autofree char *plain = res_printable(text);
    for (const char *p = plain; *p != '\0'; p++) {
        if (*p == '\\' || *p == '"') {
            g_string_append_c(out, '\\');
        }
        g_string_append_c(out, *p);
    }
}

/* LABELS: name, value, ..., NULL; names are good as they are. */
static void
add_sample(GString *body, const char *name, const char *const *labels, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(body, name);
    for (gsize i = 0; labels[i] != NULL; i += 2) {
        g_string_append_printf(body, "%s%s=\"", i == 0 ? "{" : ",", labels[i]);
        add_escaped(body, labels[i + 1] != NULL ? labels[i + 1] : "");
        g_string_append_c(body, '"');
    }
    g_string_append(body, labels[0] != NULL ? "} " : " ");
    if (isfinite(value)) {
        g_string_append(body, g_ascii_dtostr(text, sizeof text, value));
    } else {
        g_string_append(body, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
    }
    g_string_append_c(body, '\n');
}

/* What a unit of ours is in base units. */
static const struct {
    const char *unit, *suffix;
    double factor;
} units[] = {
    {"ns", "_seconds", 1e-9},
    {"us", "_seconds", 1e-6},
    {"ms", "_seconds", 1e-3},
    {"s", "_seconds", 1},
    {"insns", "_instructions", 1},
    {"share", "_ratio", 1},
    {"1/s", "_per_second", 1},
    {"count", "", 1},
    {"1", "", 1},
    {"B", "_bytes", 1},
    {"KiB", "_bytes", 1024},
    {"MiB", "_bytes", 1048576},
};

/* The family a metric belongs to: its name without the workload, which is a label. */
static char *
metric_family(const char *name, const char *unit, double *factor)
{
    const char *dot = strchr(name, '.');
    g_autofree char *what = res_identifier(dot != NULL && dot[1] != '\0' ? dot + 1 : name);
    *factor = 1;
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (g_str_equal(units[i].unit, unit)) {
            *factor = units[i].factor;
            return g_strdup_printf("nohzlab_figure_%s%s", what,
                                   g_str_has_suffix(what, units[i].suffix) ? "" : units[i].suffix);
        }
    }
    g_autofree char *suffix = res_identifier(unit);
    return g_str_has_prefix(what, suffix) ? g_strdup_printf("nohzlab_figure_%s", what)
                                          : g_strdup_printf("nohzlab_figure_%s_%s", what, suffix);
}

static char *
workload_of(const char *metric)
{
    const char *dot = strchr(metric, '.');
    return dot != NULL && dot[1] != '\0' ? g_strndup(metric, (gsize)(dot - metric)) : g_strdup("");
}

static void
add_summary(Families *f, const char *profile, const ResPageCell *cell, const ResSummary *s)
{
    double factor;
    g_autofree char *name = metric_family(s->name, s->unit, &factor);
    g_autofree char *workload = workload_of(s->name);
    const struct {
        const char *over;
        double value;
    } values[] = {{"median", s->median}, {"min", s->min}, {"max", s->max}};
    GString *body = family(f, name, "A figure of the newest set: its median and range over boots.");
    for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
        const char *const labels[] = {"profile",
                                      profile,
                                      "cell",
                                      cell->name,
                                      "workload",
                                      workload,
                                      "metric",
                                      s->name,
                                      "fidelity",
                                      res_fidelity_name(s->fidelity),
                                      "over_boots",
                                      values[i].over,
                                      s->censored ? "bound" : NULL,
                                      "lower",
                                      NULL};
        add_sample(body, name, labels, values[i].value * factor);
    }
}

static void
add_cells(Families *f, const ResPage *p, const char *profile)
{
    for (guint i = 0; i < p->cells->len; i++) {
        const ResPageCell *c = g_ptr_array_index(p->cells, i);
        const char *const labels[] = {"profile", profile, "cell", c->name, NULL};
        add_sample(family(f, "nohzlab_boots", "Boots behind the figures of a cell."),
                   "nohzlab_boots", labels, c->done);
        for (guint k = 0; k < c->summaries->len; k++) {
            const ResSummary *s = g_ptr_array_index(c->summaries, k);
            if (s->fidelity != RES_FIDELITY_FUNCTIONAL) {
                add_summary(f, profile, c, s);
            }
        }
    }
}

/* One sample for each word a verdict can be: 1 for the one it is. */
static void
add_states(GString *body, const char *name, const char *const *labels, const char *state,
           const char *const *states)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (gsize i = 0; labels[i] != NULL; i++) {
        g_ptr_array_add(all, (gpointer)labels[i]);
    }
    g_ptr_array_add(all, (gpointer) "verdict");
    g_ptr_array_add(all, NULL);
    g_ptr_array_add(all, NULL);
    for (gsize i = 0; states[i] != NULL; i++) {
        all->pdata[all->len - 2] = (gpointer)states[i];
        add_sample(body, name, (const char *const *)all->pdata, g_str_equal(states[i], state));
    }
}

static void
add_claims(Families *f, const ResPage *p, const char *profile)
{
    static const char *const states[] = {"holds", "fails", "cannot tell", NULL};
    for (guint i = 0; i < p->claims->len; i++) {
        const ResClaim *c = g_ptr_array_index(p->claims, i);
        const char *const labels[] = {"profile", profile, "expectation", c->name, NULL};
        add_states(family(f, "nohzlab_expectation",
                          "Verdict on what the profile claims: 1 for the one that is true."),
                   "nohzlab_expectation", labels, res_claim_verdict_name(c->verdict), states);
    }
}

static void
add_comparisons(Families *f, const ResPage *p, const char *profile)
{
    static const char *const states[] = {
        "better", "same", "worse", "cannot tell", "different but irrelevant", NULL};
    for (guint i = 0; p->comparisons != NULL && i < p->comparisons->len; i++) {
        const ResComparison *c = g_ptr_array_index(p->comparisons, i);
        const char *const labels[] = {
            "profile", profile,   "cell",     c->cell,
            "metric",  c->metric, "fidelity", res_fidelity_name(c->fidelity),
            NULL};
        if (c->direction == RES_NO_DIRECTION || c->fidelity == RES_FIDELITY_FUNCTIONAL) {
            continue;
        }
        add_states(family(f, "nohzlab_comparison",
                          "Verdict against the other set: 1 for the one that is true."),
                   "nohzlab_comparison", labels, res_verdict_name(c->verdict), states);
        add_sample(family(f, "nohzlab_comparison_ratio", "The figure, divided by the other set's."),
                   "nohzlab_comparison_ratio", labels, c->ratio.value);
    }
}

static void
add_set(Families *f, const ResPage *p, const char *profile)
{
    const ResRecord *first = res_page_first(p);
    gint64 started_us, ended_us;
    const char *const only[] = {"profile", profile, NULL};
    const char *const info[] = {
        "profile",  profile,
        "set",      first->set,
        "platform", first->platform,
        "clock",    first->clock,
        "kernel",   g_hash_table_lookup(first->environment, "kernel.release"),
        "version",  p->version,
        NULL};
    res_page_span(p, &started_us, &ended_us);
    add_sample(family(f, "nohzlab_set_info", "The set of runs these figures are of."),
               "nohzlab_set_info", info, 1);
    add_sample(family(f, "nohzlab_set_ended_timestamp_seconds", "When its last run ended."),
               "nohzlab_set_ended_timestamp_seconds", only, (double)ended_us / G_USEC_PER_SEC);
    add_sample(family(f, "nohzlab_exit_code",
                      "Exit code of nohzlab run: 0 all expectations hold, 1 not, 2 the lab "
                      "failed, 77 skipped, 130 cancelled."),
               "nohzlab_exit_code", only, p->exit_code);
    for (int o = 0; o <= RES_OUTCOME_CANCELLED; o++) {
        const char *const labels[] = {"profile", profile, "outcome", res_outcome_name(o), NULL};
        add_sample(family(f, "nohzlab_runs", "Runs of the set by how they ended."), "nohzlab_runs",
                   labels, p->outcomes[o]);
    }
}

char *
res_export_prometheus(const ResPage *p)
{
    g_autoptr(GHashTable) bodies =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, body_free);
    g_autoptr(GHashTable) help = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    Families f = {names, help, bodies};
    const char *profile = res_page_first(p)->profile;
    GString *out = g_string_new(NULL);

    add_set(&f, p, profile);
    add_claims(&f, p, profile);
    add_comparisons(&f, p, profile);
    add_cells(&f, p, profile);
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        const GString *body = g_hash_table_lookup(bodies, name);
        g_string_append_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name,
                               (const char *)g_hash_table_lookup(help, name), name);
        g_string_append_len(out, body->str, (gssize)body->len);
    }
    return g_string_free(out, FALSE);
}
