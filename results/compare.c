/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on one metric is in verdict.c; here the runs are grouped and matched. */
#include "results/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/verdict.h"

#define SHOWN_MAX 160 /* bytes of a value shown in a difference */

GQuark
res_compare_error_quark(void)
{
    return g_quark_from_static_string("res-compare-error");
}

void
res_summary_free(ResSummary *s)
{
    if (s == NULL) {
        return;
    }
    g_free(s->name);
    g_free(s->unit);
    g_free(s);
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
    g_free(c->reason);
    g_free(c);
}

static int
compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

double
res_median(const double *values, gsize n)
{
    g_autofree double *sorted = g_memdup2(values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    if (n % 2 == 1) {
        return sorted[n / 2];
    }
    /* halves first: the sum of two finite values need not be finite */
    return sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

/* The values of a metric over RECORDS, when all of them carry it in the same unit and fidelity; or
 * NULL. */
static GArray *
values_of(const GPtrArray *records, const ResMetric *like)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < records->len; i++) {
        const ResMetric *m = res_record_metric(g_ptr_array_index(records, i), like->name);
        if (m == NULL || m->fidelity != like->fidelity || g_strcmp0(m->unit, like->unit) != 0) {
            return NULL;
        }
        g_array_append_val(values, m->value);
    }
    return g_steal_pointer(&values);
}

static GPtrArray *
done_of(const GPtrArray *records)
{
    GPtrArray *done = g_ptr_array_new();
    for (guint i = 0; i < records->len; i++) {
        ResRecord *r = g_ptr_array_index(records, i);
        if (r->outcome == RES_OUTCOME_DONE) {
            g_ptr_array_add(done, r);
        }
    }
    return done;
}

GPtrArray *
res_summarize(const GPtrArray *records)
{
    GPtrArray *summaries = g_ptr_array_new_with_free_func((GDestroyNotify)res_summary_free);
    g_autoptr(GPtrArray) done = done_of(records);
    const ResRecord *first = done->len > 0 ? g_ptr_array_index(done, 0) : NULL;
    for (guint i = 0; first != NULL && i < first->metrics->len; i++) {
        const ResMetric *m = g_ptr_array_index(first->metrics, i);
        g_autoptr(GArray) values = values_of(done, m);
        if (values == NULL) {
            continue;
        }
        const double *v = (const double *)(gpointer)values->data;
        ResSummary *s = g_new0(ResSummary, 1);
        s->name = g_strdup(m->name);
        s->unit = g_strdup(m->unit);
        s->direction = m->direction;
        s->fidelity = m->fidelity;
        s->boots = values->len;
        s->median = res_median(v, values->len);
        s->min = s->max = v[0];
        for (guint k = 1; k < values->len; k++) {
            s->min = MIN(s->min, v[k]);
            s->max = MAX(s->max, v[k]);
        }
        s->spread = res_verdict_spread(s->min, s->max, s->median);
        g_ptr_array_add(summaries, s);
    }
    return summaries;
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

/* Cells in the order their runs come: names, each with its runs. */
static GPtrArray *
cells_of(const GPtrArray *records, GHashTable *runs)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < records->len; i++) {
        ResRecord *r = g_ptr_array_index(records, i);
        char *cell = r->cell != NULL ? r->cell : (char *)"";
        GPtrArray *members = g_hash_table_lookup(runs, cell);
        if (members == NULL) {
            members = g_ptr_array_new();
            g_hash_table_insert(runs, cell, members);
            g_ptr_array_add(names, cell);
        }
        g_ptr_array_add(members, r);
    }
    return names;
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A value on one line, cut to what a person reads. */
static char *
shown(const char *value)
{
    g_autofree char *valid = g_utf8_make_valid(value, -1);
    for (char *c = valid; *c != '\0'; c++) {
        *c = g_ascii_iscntrl(*c) ? ' ' : *c;
    }
    if (strlen(valid) <= SHOWN_MAX) {
        return g_strdup_printf("\"%s\"", valid);
    }
    const char *cut = g_utf8_find_prev_char(valid, valid + SHOWN_MAX);
    return g_strdup_printf("\"%.*s...\"", (int)(cut - valid), valid);
}

/* All values an entry has in a group, sorted, once each: one text that two groups share when they
 * are alike. */
static char *
values_in(const GPtrArray *records, gboolean parameters, const char *key)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    gboolean missing = FALSE;
    for (guint i = 0; i < records->len; i++) {
        const ResRecord *r = g_ptr_array_index(records, i);
        char *value = g_hash_table_lookup(parameters ? r->parameters : r->environment, key);
        missing |= value == NULL;
        if (value != NULL) {
            g_hash_table_add(seen, value);
        }
    }
    guint n = 0;
    g_autofree gpointer *values = g_hash_table_get_keys_as_array(seen, &n);
    qsort(values, n, sizeof *values, compare_texts);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        g_autofree char *one = shown(values[i]);
        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", one);
    }
    if (missing) {
        /* absent is not 0 and not empty */
        g_string_append(text, n > 0 ? ", not recorded" : "not recorded");
    }
    return g_string_free(text, FALSE);
}

static void
list_differences(const GPtrArray *a, const GPtrArray *b, gboolean parameters, GPtrArray *lines)
{
    const GPtrArray *sides[] = {a, b};
    g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
    for (gsize k = 0; k < G_N_ELEMENTS(sides); k++) {
        for (guint i = 0; i < sides[k]->len; i++) {
            const ResRecord *r = g_ptr_array_index(sides[k], i);
            GHashTableIter iter;
            gpointer key;
            g_hash_table_iter_init(&iter, parameters ? r->parameters : r->environment);
            while (g_hash_table_iter_next(&iter, &key, NULL)) {
                g_hash_table_add(keys, key);
            }
        }
    }
    guint n = 0;
    g_autofree gpointer *sorted = g_hash_table_get_keys_as_array(keys, &n);
    qsort(sorted, n, sizeof *sorted, compare_texts);
    for (guint i = 0; i < n; i++) {
        g_autofree char *left = values_in(a, parameters, sorted[i]);
        g_autofree char *right = values_in(b, parameters, sorted[i]);
        if (!g_str_equal(left, right)) {
            g_ptr_array_add(lines,
                            g_strdup_printf("%s%s: A %s; B %s", parameters ? "parameter " : "",
                                            (const char *)sorted[i], left, right));
        }
    }
}

static void
list_left_out(const GPtrArray *records, const char *side, GPtrArray *lines)
{
    for (guint i = 0; i < records->len; i++) {
        const ResRecord *r = g_ptr_array_index(records, i);
        if (r->outcome != RES_OUTCOME_DONE) {
            gboolean fine = r->detail != NULL && r->detail[0] != '\0';
            g_ptr_array_add(lines, g_strdup_printf("%s: run %s is left out: %s%s%s", side, r->id,
                                                   res_outcome_name(r->outcome), fine ? ": " : "",
                                                   fine ? r->detail : ""));
        }
    }
}

static const ResMetric *
first_metric(const GPtrArray *records, guint i)
{
    const ResRecord *r = g_ptr_array_index(records, 0);
    return i < r->metrics->len ? g_ptr_array_index(r->metrics, i) : NULL;
}

/* Metrics of A that B has too become comparisons; the others are named. */
static gboolean
compare_cell(const GPtrArray *a, const GPtrArray *b, const char *cell, GPtrArray *out,
             GPtrArray *lines, GError **error)
{
    const ResMetric *m, *other;
    for (guint i = 0; (m = first_metric(a, i)) != NULL; i++) {
        other = res_record_metric(g_ptr_array_index(b, 0), m->name);
        if (other != NULL && other->fidelity != m->fidelity) {
            g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_FIDELITY,
                        "metric %s is of fidelity %s on one side and %s on the other", m->name,
                        res_fidelity_name(m->fidelity), res_fidelity_name(other->fidelity));
            return FALSE;
        }
        g_autoptr(GArray) va = values_of(a, m);
        g_autoptr(GArray) vb = values_of(b, m);
        if (va == NULL || vb == NULL) {
            g_ptr_array_add(lines, g_strdup_printf("metric %s, cell \"%s\": not in all boots of "
                                                   "both sides in one unit",
                                                   m->name, cell));
            continue;
        }
        g_ptr_array_add(out, res_verdict_new(m, cell, va, vb));
    }
    for (guint i = 0; (m = first_metric(b, i)) != NULL; i++) {
        if (res_record_metric(g_ptr_array_index(a, 0), m->name) == NULL) {
            g_ptr_array_add(lines,
                            g_strdup_printf("metric %s, cell \"%s\": only in B", m->name, cell));
        }
    }
    return TRUE;
}

static void
list_lonely(const GPtrArray *names, GHashTable *others, const char *side, GPtrArray *lines)
{
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (!g_hash_table_contains(others, name)) {
            g_ptr_array_add(lines, g_strdup_printf("cell \"%s\": only in %s", name, side));
        }
    }
}

static gboolean
compare_cells(const GPtrArray *a, const GPtrArray *b, GPtrArray *out, GPtrArray *lines,
              GError **error)
{
    GDestroyNotify free_runs = (GDestroyNotify)g_ptr_array_unref;
    g_autoptr(GHashTable) in_a = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_runs);
    g_autoptr(GHashTable) in_b = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_runs);
    g_autoptr(GPtrArray) names_a = cells_of(a, in_a);
    g_autoptr(GPtrArray) names_b = cells_of(b, in_b);
    if (names_a->len == 1 && names_b->len == 1) {
        const char *left = g_ptr_array_index(names_a, 0), *right = g_ptr_array_index(names_b, 0);
        g_autofree char *cell =
            g_str_equal(left, right) ? g_strdup(left) : g_strdup_printf("%s -> %s", left, right);
        return compare_cell(a, b, cell, out, lines, error);
    }
    list_lonely(names_a, in_b, "A", lines);
    list_lonely(names_b, in_a, "B", lines);
    for (guint i = 0; i < names_a->len; i++) {
        const char *name = g_ptr_array_index(names_a, i);
        const GPtrArray *right = g_hash_table_lookup(in_b, name);
        if (right != NULL &&
            !compare_cell(g_hash_table_lookup(in_a, name), right, name, out, lines, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

GPtrArray *
res_compare(const GPtrArray *a, const GPtrArray *b, GPtrArray *differences, GError **error)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) done_a = done_of(a);
    g_autoptr(GPtrArray) done_b = done_of(b);
    if (done_a->len == 0 || done_b->len == 0) {
        g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_NOTHING,
                    "%s has no run that is done: nothing to compare",
                    done_a->len == 0 ? "the first side" : "the second side");
        return NULL;
    }
    if (!check_alike(done_a, done_b, error)) {
        return NULL;
    }
    g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func((GDestroyNotify)res_comparison_free);
    list_left_out(a, "A", lines);
    list_left_out(b, "B", lines);
    if (!compare_cells(done_a, done_b, out, lines, error)) {
        return NULL;
    }
    if (out->len == 0) {
        g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_NOTHING,
                    "the two sides share no metric of a cell: nothing to compare%s%s",
                    lines->len > 0 ? "; " : "",
                    lines->len > 0 ? (const char *)g_ptr_array_index(lines, 0) : "");
        return NULL;
    }
    list_differences(done_a, done_b, FALSE, lines);
    list_differences(done_a, done_b, TRUE, lines);
    for (guint i = 0; differences != NULL && i < lines->len; i++) {
        g_ptr_array_add(differences, g_strdup(g_ptr_array_index(lines, i)));
    }
    return g_steal_pointer(&out);
}
