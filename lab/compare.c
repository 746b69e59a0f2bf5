/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/compare.h"

#include <string.h>

#include "lab/files.h"
#include "lab/text.h"

#define CALIBRATION_FILE "calibration.json"

static const char *
parameter(const ResRecord *r, const char *prefix, const char *axis)
{
    g_autofree char *key = g_strconcat(prefix, axis, NULL);
    return g_hash_table_lookup(r->parameters, key);
}

/* "kernel=a,b, vcpus=4" as pairs: a piece without `=` goes on with the value before it. */
static GPtrArray *
split_selectors(const char *text, GError **error)
{
    g_auto(GStrv) pieces = g_strsplit(text, ",", -1);
    g_autoptr(GPtrArray) selectors = g_ptr_array_new_with_free_func(g_free);

    for (char **p = pieces; *p; p++) {
        if (strchr(*p, '=')) {
            g_ptr_array_add(selectors, g_strdup(*p));
        } else if (selectors->len) {
            char **last = (char **)&selectors->pdata[selectors->len - 1];
            char *longer = g_strconcat(*last, ",", *p, NULL);
            g_free(*last);
            *last = longer;
        } else {
            g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        "`%s' after the colon selects no cells: AXIS=VALUE[,AXIS=VALUE]", text);
            return NULL;
        }
    }
    return g_steal_pointer(&selectors);
}

/* The cells there are, for an error. */
static char *
cells_text(const GPtrArray *records)
{
    g_autoptr(GPtrArray) seen = g_ptr_array_new();
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < records->len; i++) {
        const ResRecord *r = records->pdata[i];
        if (g_ptr_array_find_with_equal_func(seen, r->cell, g_str_equal, NULL))
            continue;
        g_ptr_array_add(seen, r->cell);
        g_autofree char *cell = lab_printable(r->cell);
        g_string_append_printf(text, "%s`%s'", text->len ? ", " : "", cell);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Those of RECORDS that SELECTOR ("axis=value") lets through. */
static GPtrArray *
select_runs(const GPtrArray *records, const char *selector, GError **error)
{
    const char *value = strchr(selector, '=') + 1;
    g_autofree char *axis = g_strndup(selector, (gsize)(value - selector - 1));
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    gboolean spelt = FALSE;

    for (guint i = 0; i < records->len; i++)
        spelt |= g_strcmp0(parameter(records->pdata[i], "axis.", axis), value) == 0;
    for (guint i = 0; i < records->len; i++) {
        ResRecord *r = records->pdata[i];
        const char *have = parameter(r, spelt ? "axis." : "axis-position.", axis);
        if (g_strcmp0(have, value) == 0)
            g_ptr_array_add(found, r);
    }
    if (!found->len) {
        g_autofree char *cells = cells_text(records);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no run has %s=%s: the cells are %s",
                    axis, value, cells);
        return NULL;
    }
    return g_steal_pointer(&found);
}

GPtrArray *
lab_compare_load(ResStore *store, const char *what, GPtrArray *same, GError **error)
{
    g_autofree char *id = g_strndup(what, strcspn(what, ":"));

    if (*id)
        return res_store_get_set(store, id, error);
    if (same)
        return g_ptr_array_ref(same);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "`%s': name a run or a set before the colon", what);
    return NULL;
}

GPtrArray *
lab_compare_select(const GPtrArray *records, const char *what, GError **error)
{
    const char *colon = strchr(what, ':');
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    g_autoptr(GPtrArray) selectors = NULL;

    g_ptr_array_extend(runs, (GPtrArray *)records, NULL, NULL);
    if (!colon)
        return g_steal_pointer(&runs);
    selectors = split_selectors(colon + 1, error);
    for (guint i = 0; selectors && i < selectors->len; i++) {
        GPtrArray *fewer = select_runs(runs, selectors->pdata[i], error);
        if (!fewer)
            return NULL;
        g_ptr_array_unref(runs);
        runs = fewer;
    }
    return selectors ? g_steal_pointer(&runs) : NULL;
}

ResCalibration *
lab_calibration_load(const char *root, GError **error)
{
    g_autofree char *path = g_build_filename(root, CALIBRATION_FILE, NULL);
    g_autoptr(GError) inner = NULL;
    g_autoptr(GBytes) text = lab_read_file(path, RES_CALIBRATION_MAX, &inner);

    if (!text) {
        if (!g_error_matches(inner, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
            g_propagate_error(error, g_steal_pointer(&inner));
        return NULL;
    }
    gsize len;
    const char *data = g_bytes_get_data(text, &len);
    ResCalibration *c = res_calibration_from_json(data, len, &inner);
    if (!c)
        g_set_error(error, inner->domain, inner->code,
                    "%s: %s; remove it, or make it anew with `nohzlab calibrate'", path,
                    inner->message);
    return c;
}

/* g_file_set_contents_full() writes beside, syncs and renames. */
gboolean
lab_calibration_save(const ResCalibration *c, const char *root, GError **error)
{
    g_autofree char *path = g_build_filename(root, CALIBRATION_FILE, NULL);
    g_autofree char *text = res_calibration_to_json(c);

    return g_file_set_contents_full(
        path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0644, error);
}
