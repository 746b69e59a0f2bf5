/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/cells.h"

#include <stdlib.h>
#include <string.h>

#define AXIS "axis."

typedef struct {
    const char *name;
    GPtrArray *runs;
    gboolean taken;
} Cell;

static void
cell_free(Cell *c)
{
    g_ptr_array_unref(c->runs);
    g_free(c);
}

static void
pair_free(ResCellPair *p)
{
    g_free(p->name);
    g_clear_pointer(&p->a, g_ptr_array_unref);
    g_clear_pointer(&p->b, g_ptr_array_unref);
    g_free(p);
}

/* Cells in the order their runs come. */
static GPtrArray *
cells_of(const GPtrArray *records)
{
    GPtrArray *cells = g_ptr_array_new_with_free_func((GDestroyNotify)cell_free);
    g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < records->len; i++) {
        ResRecord *r = g_ptr_array_index(records, i);
        const char *name = r->cell != NULL ? r->cell : "";
        Cell *c = g_hash_table_lookup(by_name, name);
        if (c == NULL) {
            c = g_new0(Cell, 1);
            c->name = name;
            c->runs = g_ptr_array_new();
            g_hash_table_insert(by_name, (gpointer)name, c);
            g_ptr_array_add(cells, c);
        }
        g_ptr_array_add(c->runs, r);
    }
    return cells;
}

static GHashTable *
parameters_of(const Cell *c)
{
    return ((ResRecord *)g_ptr_array_index(c->runs, 0))->parameters;
}

/* The value AXIS has in all CELLS, or NULL when they differ. */
static const char *
common_value(const GPtrArray *cells, const char *axis)
{
    const char *value = NULL;
    for (guint i = 0; i < cells->len; i++) {
        const char *v = g_hash_table_lookup(parameters_of(g_ptr_array_index(cells, i)), axis);
        if (v == NULL || (value != NULL && !g_str_equal(v, value))) {
            return NULL;
        }
        value = v;
    }
    return value;
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What is left of a cell when the axes go that have one value in A's cells and another in B's. */
static char *
rest_of(const Cell *c, const GPtrArray *a, const GPtrArray *b)
{
    guint n = 0;
    g_autofree char **keys = (char **)g_hash_table_get_keys_as_array(parameters_of(c), &n);
    GString *rest = g_string_new(NULL);
    qsort(keys, n, sizeof *keys, compare_texts);
    for (guint i = 0; i < n; i++) {
        if (!g_str_has_prefix(keys[i], AXIS)) {
            continue;
        }
        const char *left = common_value(a, keys[i]), *right = common_value(b, keys[i]);
        if (left == NULL || right == NULL || g_str_equal(left, right)) {
            g_string_append_printf(rest, "%s=%s\n", keys[i],
                                   (char *)g_hash_table_lookup(parameters_of(c), keys[i]));
        }
    }
    return g_string_free(rest, FALSE);
}

static Cell *
find_partner(const Cell *c, const GPtrArray *a, const GPtrArray *b)
{
    g_autofree char *rest = rest_of(c, a, b);
    for (guint i = 0; i < b->len; i++) {
        Cell *other = g_ptr_array_index(b, i);
        g_autofree char *theirs = rest_of(other, a, b);
        if (!other->taken && g_str_equal(rest, theirs)) {
            return other;
        }
    }
    return NULL;
}

static Cell *
find_name(const Cell *c, const GPtrArray *b)
{
    for (guint i = 0; i < b->len; i++) {
        Cell *other = g_ptr_array_index(b, i);
        if (g_str_equal(c->name, other->name)) {
            return other;
        }
    }
    return NULL;
}

static void
add_pair(GPtrArray *pairs, Cell *a, Cell *b)
{
    ResCellPair *p = g_new0(ResCellPair, 1);
    gboolean alike = a == NULL || b == NULL || g_str_equal(a->name, b->name);
    p->name = alike ? g_strdup(a != NULL ? a->name : b->name)
                    : g_strdup_printf("%s -> %s", a->name, b->name);
    p->a = a != NULL ? g_ptr_array_ref(a->runs) : NULL;
    p->b = b != NULL ? g_ptr_array_ref(b->runs) : NULL;
    if (b != NULL) {
        b->taken = TRUE;
    }
    g_ptr_array_add(pairs, p);
}

GPtrArray *
res_cells_match(const GPtrArray *a, const GPtrArray *b)
{
    GPtrArray *pairs = g_ptr_array_new_with_free_func((GDestroyNotify)pair_free);
    g_autoptr(GPtrArray) in_a = cells_of(a), in_b = cells_of(b);
    gboolean single = in_a->len == 1 && in_b->len == 1, by_name = FALSE;
    for (guint i = 0; i < in_a->len; i++) {
        by_name |= find_name(g_ptr_array_index(in_a, i), in_b) != NULL;
    }
    for (guint i = 0; i < in_a->len; i++) {
        Cell *c = g_ptr_array_index(in_a, i);
        Cell *other = single    ? g_ptr_array_index(in_b, 0)
                      : by_name ? find_name(c, in_b)
                                : find_partner(c, in_a, in_b);
        add_pair(pairs, c, other);
    }
    for (guint i = 0; i < in_b->len; i++) {
        Cell *c = g_ptr_array_index(in_b, i);
        if (!c->taken) {
            add_pair(pairs, NULL, c);
        }
    }
    return pairs;
}
