/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/verdict.h"

#include <math.h>
#include <string.h>

#define EXPECT_PREFIX                                                                              \
    "expect." /* then three digits that keep the profile's order, a dot, the name */
#define EXPECT_NAME_AT (strlen(EXPECT_PREFIX) + 4)
#define AXIS_PREFIX "axis."
#define POSITION_PREFIX "axis-position."

static void
cell_free(LabVerdictCell *c)
{
    g_free(c->name);
    g_ptr_array_unref(c->records);
    g_clear_pointer(&c->summaries, g_ptr_array_unref);
    g_free(c);
}

static void
expectation_free(LabVerdictExpectation *e)
{
    g_free(e->name);
    g_free(e->text);
    g_clear_pointer(&e->result, lab_expect_result_free);
    g_free(e->error);
    g_free(e);
}

static LabVerdictCell *
find_cell(const LabVerdict *v, const char *name)
{
    for (guint i = 0; i < v->cells->len; i++) {
        LabVerdictCell *c = v->cells->pdata[i];
        if (g_str_equal(c->name, name))
            return c;
    }
    return NULL;
}

static int
by_id(gconstpointer a, gconstpointer b)
{
    const ResRecord *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Runs are made round the cells, so the order of ids is also the profile's order of cells. */
static void
group_cells(LabVerdict *v)
{
    for (guint i = 0; i < v->records->len; i++) {
        ResRecord *r = v->records->pdata[i];
        LabVerdictCell *c = find_cell(v, r->cell);
        if (!c) {
            c = g_new0(LabVerdictCell, 1);
            c->name = g_strdup(r->cell);
            c->records = g_ptr_array_new();
            g_ptr_array_add(v->cells, c);
        }
        g_ptr_array_add(c->records, r);
        c->done += r->outcome == RES_OUTCOME_DONE;
        v->outcomes[r->outcome]++;
    }
    for (guint i = 0; i < v->cells->len; i++) {
        LabVerdictCell *c = v->cells->pdata[i];
        c->summaries = res_summarize(c->records);
    }
}

/* --- expectations --- */

static const char *
axis_parameter(const LabVerdictCell *c, const char *prefix, const char *axis)
{
    g_autofree char *key = g_strconcat(prefix, axis, NULL);
    return g_hash_table_lookup(((ResRecord *)c->records->pdata[0])->parameters, key);
}

static const char *
axis_value(const LabVerdictCell *c, const char *axis)
{
    return axis_parameter(c, AXIS_PREFIX, axis);
}

/* The different values of AXIS over the cells, in their order. */
static GPtrArray *
axis_values(const LabVerdict *v, const char *axis)
{
    GPtrArray *values = g_ptr_array_new();

    for (guint i = 0; i < v->cells->len; i++) {
        const char *value = axis_value(v->cells->pdata[i], axis);
        if (value && !g_ptr_array_find_with_equal_func(values, value, g_str_equal, NULL))
            g_ptr_array_add(values, (gpointer)value);
    }
    return values;
}

/* What a selector means: the value it spells, or the value at that position. NULL: there is none
 * such. */
static const char *
selected_value(const LabVerdict *v, const LabExpectSelector *s)
{
    g_autoptr(GPtrArray) values = axis_values(v, s->axis);
    guint64 position;

    for (guint i = 0; i < values->len; i++) {
        if (g_str_equal(values->pdata[i], s->value))
            return values->pdata[i];
    }
    /* The profile's own positions: cells that were skipped are not here to be counted. */
    gboolean known = FALSE;
    for (guint i = 0; i < v->cells->len; i++) {
        const char *at = axis_parameter(v->cells->pdata[i], POSITION_PREFIX, s->axis);
        if (at && g_str_equal(at, s->value))
            return axis_value(v->cells->pdata[i], s->axis);
        known |= at != NULL;
    }
    if (!known && values->len &&
        g_ascii_string_to_unsigned(s->value, 10, 0, values->len - 1, &position, NULL))
        return values->pdata[position];
    return NULL;
}

static gboolean
cell_selected(const LabVerdict *v, const LabVerdictCell *c, const GPtrArray *selectors)
{
    for (guint i = 0; i < selectors->len; i++) {
        const LabExpectSelector *s = selectors->pdata[i];
        if (g_strcmp0(axis_value(c, s->axis), selected_value(v, s)) != 0)
            return FALSE;
    }
    return TRUE;
}

/* What axes the cell is a point of, by name. */
static GHashTable *
cell_axes(const LabVerdictCell *c)
{
    GHashTable *axes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    GHashTableIter iter;
    gpointer key, value;

    g_hash_table_iter_init(&iter, ((ResRecord *)c->records->pdata[0])->parameters);
    while (g_hash_table_iter_next(&iter, &key, &value))
        if (g_str_has_prefix(key, AXIS_PREFIX))
            g_hash_table_insert(axes, g_strdup((char *)key + strlen(AXIS_PREFIX)), g_strdup(value));
    return axes;
}

static LabExpectData *
cell_data(const LabVerdictCell *c, const char *metric)
{
    LabExpectData *d = g_new0(LabExpectData, 1);

    d->cell = g_strdup(c->name);
    d->axes = cell_axes(c);
    d->values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < c->records->len; i++) {
        const ResRecord *r = c->records->pdata[i];
        const ResMetric *m = r->outcome == RES_OUTCOME_DONE ? res_record_metric(r, metric) : NULL;
        if (!m)
            continue;
        g_array_append_val(d->values, m->value);
        if (m->censored) {
            d->censored_max = d->censored ? MAX(d->censored_max, m->max) : m->max;
            d->censored = TRUE;
        }
        d->fidelity = m->fidelity;
        g_free(d->unit);
        d->unit = g_strdup(m->unit);
    }
    if (!d->unit)
        d->unit = g_strdup("");
    return d;
}

static GPtrArray *
lookup(const char *metric, const GPtrArray *selectors, gpointer data, GError **error)
{
    const LabVerdict *v = data;
    g_autoptr(GPtrArray) found =
        g_ptr_array_new_with_free_func((GDestroyNotify)lab_expect_data_free);

    for (guint i = 0; i < selectors->len; i++) {
        const LabExpectSelector *s = selectors->pdata[i];
        if (!selected_value(v, s)) {
            g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no run has %s=%s", s->axis,
                        s->value);
            return NULL;
        }
    }
    for (guint i = 0; i < v->cells->len; i++) {
        if (cell_selected(v, v->cells->pdata[i], selectors))
            g_ptr_array_add(found, cell_data(v->cells->pdata[i], metric));
    }
    return g_steal_pointer(&found);
}

static int
by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
judge_expectations(LabVerdict *v)
{
    GHashTable *parameters = ((ResRecord *)v->records->pdata[0])->parameters;
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, parameters);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        if (g_str_has_prefix(key, EXPECT_PREFIX) && strlen(key) > EXPECT_NAME_AT)
            g_ptr_array_add(keys, key);
    }
    g_ptr_array_sort(keys, by_text);
    for (guint i = 0; i < keys->len; i++) {
        g_autoptr(GError) error = NULL;
        LabVerdictExpectation *e = g_new0(LabVerdictExpectation, 1);
        e->name = g_strdup((char *)keys->pdata[i] + EXPECT_NAME_AT);
        e->text = g_strdup(g_hash_table_lookup(parameters, keys->pdata[i]));
        e->result = lab_expect_evaluate(e->text, lookup, v, &error);
        e->error = e->result ? NULL : g_strdup(error->message);
        g_ptr_array_add(v->expectations, e);
    }
}

/* The lab's own trouble, after which the same boot was tried again, is no run without figures. */
static gboolean
was_retried(const GPtrArray *sorted, guint at)
{
    const ResRecord *r = sorted->pdata[at];

    for (guint i = at + 1; r->outcome == RES_OUTCOME_INFRA && i < sorted->len; i++) {
        const ResRecord *later = sorted->pdata[i];
        if (later->boot == r->boot && g_str_equal(later->cell, r->cell))
            return TRUE;
    }
    return FALSE;
}

LabVerdict *
lab_verdict_new(const GPtrArray *records)
{
    LabVerdict *v = g_new0(LabVerdict, 1);
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();

    for (guint i = 0; i < records->len; i++)
        g_ptr_array_add(sorted, records->pdata[i]);
    g_ptr_array_sort(sorted, by_id);
    v->records = g_ptr_array_new();
    v->retried = g_ptr_array_new();
    for (guint i = 0; i < sorted->len; i++)
        g_ptr_array_add(was_retried(sorted, i) ? v->retried : v->records, sorted->pdata[i]);
    v->cells = g_ptr_array_new_with_free_func((GDestroyNotify)cell_free);
    v->expectations = g_ptr_array_new_with_free_func((GDestroyNotify)expectation_free);
    group_cells(v);
    if (v->records->len)
        judge_expectations(v);
    return v;
}

void
lab_verdict_free(LabVerdict *v)
{
    if (!v)
        return;
    g_ptr_array_unref(v->records);
    g_ptr_array_unref(v->retried);
    g_ptr_array_unref(v->cells);
    g_ptr_array_unref(v->expectations);
    g_free(v);
}

/* --- the whole of it --- */

typedef struct {
    unsigned int held, failed, unknown;
} Tally;

static Tally
tally(const LabVerdict *v)
{
    Tally t = {0};

    for (guint i = 0; i < v->expectations->len; i++) {
        const LabVerdictExpectation *e = v->expectations->pdata[i];
        if (!e->result || e->result->verdict == LAB_EXPECT_CANNOT_TELL)
            t.unknown++;
        else if (e->result->verdict == LAB_EXPECT_HOLDS)
            t.held++;
        else
            t.failed++;
    }
    return t;
}

int
lab_verdict_exit_code(const LabVerdict *v)
{
    Tally t = tally(v);
    unsigned int done = v->outcomes[RES_OUTCOME_DONE], skipped = v->outcomes[RES_OUTCOME_SKIP];

    if (v->outcomes[RES_OUTCOME_CANCELLED])
        return LAB_EXIT_CANCELLED;
    if (v->outcomes[RES_OUTCOME_INFRA])
        return LAB_EXIT_CANNOT;
    if (skipped == v->records->len)
        return LAB_EXIT_SKIPPED;
    if (done + skipped < v->records->len || t.failed || t.unknown)
        return LAB_EXIT_NOT_HELD;
    return LAB_EXIT_HELD;
}

/* " (NAME: FIGURE, NAME: FIGURE)" of those that failed: the one line that many will read. */
static char *
failed_names(const LabVerdict *v)
{
    g_autoptr(GString) names = g_string_new("");

    for (guint i = 0; i < v->expectations->len; i++) {
        const LabVerdictExpectation *e = v->expectations->pdata[i];
        if (!e->result || e->result->verdict != LAB_EXPECT_FAILS)
            continue;
        g_string_append_printf(names, "%s%s", names->len ? "; " : " (", e->name);
        if (!isnan(e->result->value))
            g_string_append_printf(names, ": %.4g", e->result->value);
    }
    g_string_append_c(names, ')');
    return g_string_free(g_steal_pointer(&names), FALSE);
}

char *
lab_verdict_sentence(const LabVerdict *v)
{
    Tally t = tally(v);
    guint done = v->outcomes[RES_OUTCOME_DONE], skipped = v->outcomes[RES_OUTCOME_SKIP];
    guint failed_runs = v->records->len - done - skipped;
    g_autofree char *runs = failed_runs ? g_strdup_printf(" %u of %u runs gave no figures.",
                                                          failed_runs, v->records->len)
                                        : g_strdup("");

    if (v->records->len == skipped)
        return g_strdup("Skipped: no run met the profile's preconditions.");
    if (v->expectations->len == 0)
        return g_strdup_printf("%s: this profile claims nothing.%s",
                               done ? "Measured" : "No figures", runs);
    if (t.failed) {
        g_autofree char *names = failed_names(v);
        return g_strdup_printf("Not held: %u of %u expectations failed%s%s.%s", t.failed,
                               v->expectations->len, names,
                               t.unknown ? ", others can't be told" : "", runs);
    }
    if (t.unknown)
        return g_strdup_printf("Cannot tell: %u of %u expectations could not be decided.%s",
                               t.unknown, v->expectations->len, runs);
    if (failed_runs)
        return g_strdup_printf("Incomplete: all %u expectations hold, on %u boots, but%s",
                               v->expectations->len, done, runs);
    return g_strdup_printf("Held: all %u expectations, on %u boot%s.", v->expectations->len, done,
                           done == 1 ? "" : "s");
}
