/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The matrix: every combination of the axes' values becomes a cell with all its keys resolved. */
#include <string.h>

#include "lab/expect.h"
#include "lab/profile_private.h"

void
lab_cell_free(LabCell *c)
{
    if (!c)
        return;
    g_free(c->name);
    g_ptr_array_unref(c->axes);
    lab_params_free(c->params);
    g_hash_table_unref(c->settings);
    g_free(c);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabCell, lab_cell_free)

static void
put(GHashTable *in_force, const LabSetting *s)
{
    g_hash_table_insert(in_force, lab_address(s->section, s->key), (gpointer)s);
}

static GHashTable *
in_force_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

/* What holds where neither axis nor variant says otherwise. */
static GHashTable *
base_settings(const LabProfile *p)
{
    GHashTable *base = in_force_new();

    for (guint i = 0; i < p->layer->settings->len; i++) {
        const LabSetting *s = g_ptr_array_index(p->layer->settings, i);
        if (strcmp(s->section, "matrix") != 0 && strcmp(s->section, "relevant") != 0 &&
            !g_str_has_prefix(s->section, "variant ") &&
            !g_str_has_prefix(s->section, "reference "))
            put(base, s);
    }
    return base;
}

/* --set wins over a variant, and says so. */
static void
apply_variant(LabProfile *p, GHashTable *in_force, const char *name)
{
    const GPtrArray *lines = g_hash_table_lookup(p->variants, name);

    for (guint i = 0; i < lines->len; i++) {
        const LabSetting *s = g_ptr_array_index(lines, i);
        g_autofree char *address = lab_address(s->section, s->key);
        const LabSetting *old = g_hash_table_lookup(in_force, address);
        if (old && strcmp(old->file, LAB_SET_FILE) == 0) {
            g_autofree char *where = lab_setting_where(old);
            lab_warn(p, "%s: wins over [variant %s], which sets it to `%s'", where, name, s->value);
            continue;
        }
        put(in_force, s);
    }
}

/* Names are read by people and given back as selectors: what could be misread is quoted. */
static void
append_axis(GString *name, const char *axis, const char *value)
{
    g_string_append_printf(name, "%s%s=", name->len > 0 ? " " : "", axis);
    if (*value && !strpbrk(value, " \t\"\\")) {
        g_string_append(name, value);
        return;
    }
    g_string_append_c(name, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            g_string_append_c(name, '\\');
        g_string_append_c(name, *value);
    }
    g_string_append_c(name, '"');
}

static LabCell *
cell_new(LabProfile *p, GHashTable *base, const guint *at, GError **error)
{
    g_autoptr(LabCell) c = g_new0(LabCell, 1);
    g_autoptr(GString) name = g_string_new(NULL);
    g_autoptr(GHashTable) in_force = in_force_new();
    GHashTableIter iter;
    gpointer s;

    g_hash_table_iter_init(&iter, base);
    while (g_hash_table_iter_next(&iter, NULL, &s))
        put(in_force, s);
    c->axes = g_ptr_array_new_with_free_func((GDestroyNotify)lab_setting_free);
    c->settings =
        g_hash_table_new_full(g_str_hash, g_str_equal, (GDestroyNotify)g_ref_string_release,
                              (GDestroyNotify)g_ref_string_release);
    for (guint i = 0; i < p->axes->len; i++) {
        const LabAxis *a = g_ptr_array_index(p->axes, i);
        const LabSetting *value = g_ptr_array_index(a->values, at[i]);
        g_ptr_array_add(c->axes,
                        lab_setting_new("matrix", a->name, value->value, value->file, value->line));
        append_axis(name, a->name, value->value);
        if (a->key)
            put(in_force, value);
        else
            apply_variant(p, in_force, value->value);
    }
    c->name = g_string_free(g_steal_pointer(&name), FALSE);
    c->params = lab_params_new(p, in_force, c->settings, error);
    if (!c->params || !lab_cell_check(p, c, in_force, error))
        return NULL;
    return g_steal_pointer(&c);
}

/* "kernel (3) x variant (2)" */
static char *
axes_text(const LabProfile *p)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < p->axes->len; i++) {
        const LabAxis *a = g_ptr_array_index(p->axes, i);
        g_string_append_printf(text, "%s%s (%u)", i ? " x " : "", a->name, a->values->len);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static guint64
boots_of(GHashTable *base)
{
    const LabKey *k = lab_key_find("main", "boots");
    const LabSetting *s = g_hash_table_lookup(base, "main.boots");
    LabParams scratch = {0};

    return lab_value_parse(k, s ? s->value : k->initial, &scratch, NULL) ? scratch.boots : 1;
}

static gboolean
size_allowed(const LabProfile *p, GHashTable *base, guint64 *cells, GError **error)
{
    g_autofree char *axes = axes_text(p);
    guint64 boots = boots_of(base);

    *cells = 1;
    /* The product stays below 2^24: it is looked at before each axis of at most LAB_CELLS_MAX
     * values. */
    for (guint i = 0; i < p->axes->len && *cells <= LAB_CELLS_MAX; i++)
        *cells *= ((const LabAxis *)g_ptr_array_index(p->axes, i))->values->len;
    if (*cells > LAB_CELLS_MAX) {
        const LabSetting *first = ((const LabAxis *)g_ptr_array_index(p->axes, 0))->source;
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, first,
                          "the matrix %s has more than %d cells", axes, LAB_CELLS_MAX);
        return FALSE;
    }
    if (*cells * boots > LAB_RUNS_MAX) {
        g_set_error(error, LAB_PROFILE_ERROR, LAB_PROFILE_ERROR_VALUE,
                    "%s: the matrix %s of %" G_GUINT64_FORMAT " cells with %" G_GUINT64_FORMAT
                    " boots each is more than %d runs",
                    p->name, axes, *cells, boots, LAB_RUNS_MAX);
        return FALSE;
    }
    return TRUE;
}

/* The next combination, the last axis running fastest. */
static void
advance(const LabProfile *p, guint *at)
{
    for (guint i = p->axes->len; i-- > 0;) {
        if (++at[i] < ((const LabAxis *)g_ptr_array_index(p->axes, i))->values->len)
            return;
        at[i] = 0;
    }
}

gboolean
lab_matrix_expand(LabProfile *p, GError **error)
{
    g_autoptr(GHashTable) base = base_settings(p);
    g_autofree guint *at = g_new0(guint, p->axes->len + 1);
    guint64 cells;

    if (!size_allowed(p, base, &cells, error))
        return FALSE;
    for (guint64 i = 0; i < cells; i++, advance(p, at)) {
        LabCell *c = cell_new(p, base, at, error);
        if (!c)
            return FALSE;
        g_ptr_array_add(p->cells, c);
    }
    return TRUE;
}

static gboolean
cell_matches(const LabProfile *p, const LabCell *c, const LabExpectSelector *selector)
{
    for (guint i = 0; i < p->axes->len; i++) {
        const LabAxis *a = g_ptr_array_index(p->axes, i);
        if (strcmp(a->name, selector->axis) != 0)
            continue;
        int position = lab_axis_position(a, selector->value);
        const LabSetting *here = g_ptr_array_index(c->axes, i);
        return position >= 0 &&
               strcmp(((const LabSetting *)g_ptr_array_index(a->values, position))->value,
                      here->value) == 0;
    }
    return FALSE;
}

GPtrArray *
lab_profile_select(const LabProfile *p, const GPtrArray *selectors, GError **error)
{
    g_autoptr(GPtrArray) picked = g_ptr_array_new();

    for (guint i = 0; i < selectors->len; i++) {
        const LabExpectSelector *s = g_ptr_array_index(selectors, i);
        if (!lab_axis_find(p, s->axis)) {
            g_set_error(error, LAB_PROFILE_ERROR, LAB_PROFILE_ERROR_KEY,
                        "the matrix of %s has no axis `%s'", p->name, s->axis);
            return NULL;
        }
    }
    for (guint i = 0; i < p->cells->len; i++) {
        LabCell *c = g_ptr_array_index(p->cells, i);
        gboolean all = TRUE;
        for (guint j = 0; all && j < selectors->len; j++)
            all = cell_matches(p, c, g_ptr_array_index(selectors, j));
        if (all)
            g_ptr_array_add(picked, c);
    }
    return g_steal_pointer(&picked);
}
