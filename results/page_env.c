/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In what the runs of one set differ; two sets are the business of differences.c. */
#include <stdlib.h>
#include <string.h>

#include "results/escape.h"
#include "results/page_private.h"

#define SHOWN_MAX 400 /* bytes of a value */
#define VALUES_MAX 8  /* different values of one entry that are shown */

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static GHashTable *
map_of(const ResRecord *r, gboolean parameters)
{
    return parameters ? r->parameters : r->environment;
}

/* The different values of KEY over RECORDS, sorted; a NULL among them, last, when some have none.
 */
static GPtrArray *
values_of(const GPtrArray *records, gboolean parameters, const char *key)
{
    GPtrArray *values = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    gboolean missing = FALSE;
    for (guint i = 0; i < records->len; i++) {
        char *value = g_hash_table_lookup(map_of(g_ptr_array_index(records, i), parameters), key);
        missing |= value == NULL;
        if (value != NULL && g_hash_table_add(seen, value)) {
            g_ptr_array_add(values, value);
        }
    }
    g_ptr_array_sort(values, by_text);
    if (missing) {
        g_ptr_array_add(values, NULL);
    }
    return values;
}

static char *
shown(const GPtrArray *values)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < MIN(values->len, VALUES_MAX); i++) {
        g_string_append(text, i > 0 ? ", " : "");
        if (values->pdata[i] == NULL) {
            g_string_append(text, "not recorded"); /* which is not 0 and not empty */
            continue;
        }
        g_autofree char *plain = res_printable(values->pdata[i]);
        if (strlen(plain) > SHOWN_MAX) {
            *g_utf8_find_prev_char(plain, plain + SHOWN_MAX) = '\0';
            g_string_append_printf(text, "\"%s...\"", plain);
        } else {
            g_string_append_printf(text, "\"%s\"", plain);
        }
    }
    if (values->len > VALUES_MAX) {
        g_string_append_printf(text, ", and %u more", values->len - VALUES_MAX);
    }
    return g_string_free(text, FALSE);
}

static void
collect_keys(const GPtrArray *records, gboolean parameters, GHashTable *keys)
{
    for (guint i = 0; i < records->len; i++) {
        GHashTableIter iter;
        gpointer key;
        g_hash_table_iter_init(&iter, map_of(g_ptr_array_index(records, i), parameters));
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
            g_hash_table_add(keys, key);
        }
    }
}

/* Kept to be able to judge a record again, and no circumstance of the run. */
static gboolean
is_claim(const char *key)
{
    return g_str_has_prefix(key, "expect.") || g_str_has_prefix(key, "reference.") ||
           g_str_has_prefix(key, "axis-position.");
}

static void
add_differences(const GPtrArray *records, gboolean parameters, GPtrArray *out)
{
    g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
    collect_keys(records, parameters, keys);
    guint n = 0;
    g_autofree gpointer *sorted = g_hash_table_get_keys_as_array(keys, &n);
    qsort(sorted, n, sizeof *sorted, by_text);
    for (guint i = 0; i < n; i++) {
        g_autoptr(GPtrArray) values = values_of(records, parameters, sorted[i]);
        if (values->len == 1 || (parameters && is_claim(sorted[i]))) {
            continue;
        }
        ResDifference *d = g_new0(ResDifference, 1);
        d->kind = RES_DIFFERENCE_INTENDED;
        d->key = g_strdup(sorted[i]);
        d->parameter = parameters;
        d->b = shown(values);
        g_ptr_array_add(out, d);
    }
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
res_page_differences(const GPtrArray *records)
{
    GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)res_difference_free);
    /* A run that failed early has found out little: not a difference. */
    g_autoptr(GPtrArray) done = done_of(records);
    add_differences(done, FALSE, out);
    add_differences(done, TRUE, out);
    return out;
}
