/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every line checked by its key and type; axes and variants resolved to the keys they set. */
#include <string.h>

#include "lab/profile_private.h"

void
lab_axis_free(LabAxis *a)
{
    g_free(a->name);
    g_ptr_array_unref(a->values);
    g_free(a);
}

const LabAxis *
lab_axis_find(const LabProfile *p, const char *name)
{
    for (guint i = 0; i < p->axes->len; i++) {
        const LabAxis *a = g_ptr_array_index(p->axes, i);
        if (strcmp(a->name, name) == 0)
            return a;
    }
    return NULL;
}

int
lab_axis_position(const LabAxis *a, const char *text)
{
    for (guint i = 0; i < a->values->len; i++)
        if (strcmp(((const LabSetting *)g_ptr_array_index(a->values, i))->value, text) == 0)
            return (int)i;
    if (!*text || strlen(text) > 4 || strspn(text, "0123456789") != strlen(text))
        return -1;
    guint64 n = g_ascii_strtoull(text, NULL, 10);
    return n < a->values->len ? (int)n : -1;
}

static gboolean
value_fits(const LabKey *k, const char *value, const LabSetting *where, GError **error)
{
    g_autoptr(GError) inner = NULL;

    if (lab_value_parse(k, value, NULL, &inner))
        return TRUE;
    if (strcmp(where->value, value) == 0)
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, where, "%s", inner->message);
    else
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, where, "`%s': %s", value, inner->message);
    return FALSE;
}

static gboolean
check_plain(const LabSetting *s, GError **error)
{
    const LabKey *k = lab_key_find(s->section, s->key);

    if (!k) {
        lab_error_unknown_key(error, s);
        return FALSE;
    }
    return value_fits(k, s->value, s, error);
}

/*
 * The key a line of [matrix] or [variant] sets, spelled as it has to be. What a whole profile has
 * in common can't vary, nor can the preconditions, nor a workload's type, which decides what its
 * other keys are.
 */
static const LabKey *
varying_key(const LabProfile *p, const LabSetting *s, gboolean axis, char **section, char **key,
            GError **error)
{
    const LabKey *k = lab_address_resolve(p->layer, s->key, s, section, key, error);

    if (!k)
        return NULL;
    gboolean kernel = strcmp(*section, "main") == 0 && strcmp(*key, "kernel") == 0;
    if ((strcmp(*section, "main") == 0 && !kernel) || strcmp(*section, "check") == 0 ||
        (lab_workload_name(*section) && strcmp(*key, "type") == 0)) {
        lab_error_setting(error, LAB_PROFILE_ERROR_KEY, s, "this key is the same for all cells");
        return NULL;
    }
    g_autofree char *canonical = axis && kernel ? g_strdup("kernel") : lab_address(*section, *key);
    if (strcmp(canonical, s->key) != 0) {
        lab_error_setting(error, LAB_PROFILE_ERROR_KEY, s, "write the key as `%s'", canonical);
        return NULL;
    }
    return k;
}

static gboolean
add_variant_line(LabProfile *p, const LabSetting *s, GError **error)
{
    g_autofree char *section = NULL, *key = NULL;
    const LabKey *k = varying_key(p, s, FALSE, &section, &key, error);

    if (!k || !value_fits(k, s->value, s, error))
        return FALSE;
    if (lab_axis_find(p, strcmp(section, "main") == 0 ? key : s->key)) {
        lab_error_setting(error, LAB_PROFILE_ERROR_KEY, s,
                          "this key is an axis of [matrix] too: which value counts?");
        return FALSE;
    }
    GPtrArray *lines = g_hash_table_lookup(p->variants, s->section + strlen("variant "));
    g_ptr_array_add(lines, lab_setting_new(section, key, s->value, s->file, s->line));
    return TRUE;
}

static void
add_variant_sections(LabProfile *p)
{
    for (guint i = 0; i < p->layer->sections->len; i++) {
        const LabSection *s = g_ptr_array_index(p->layer->sections, i);
        if (!g_str_has_prefix(s->name, "variant "))
            continue;
        g_hash_table_insert(p->variants, g_strdup(s->name + strlen("variant ")),
                            g_ptr_array_new_with_free_func((GDestroyNotify)lab_setting_free));
    }
}

static gboolean
variant_exists(const LabProfile *p, const char *name, const LabSetting *s, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer known;

    if (g_hash_table_contains(p->variants, name))
        return TRUE;
    g_hash_table_iter_init(&iter, p->variants);
    while (g_hash_table_iter_next(&iter, &known, NULL))
        g_ptr_array_add(names, known);
    g_autofree char *hint = lab_near_hint(name, names);
    lab_error_setting(error, LAB_PROFILE_ERROR_KEY, s, "there is no section [variant %s]%s", name,
                      hint);
    return FALSE;
}

/* Values that may hold commas themselves are separated by `|`. */
static gboolean
bar_separated(const LabKey *k)
{
    if (!k)
        return FALSE;
    switch (k->type) {
    case LAB_TYPE_STRING:
    case LAB_TYPE_CMDLINE:
    case LAB_TYPE_ARGV:
    case LAB_TYPE_CPULIST_KERNEL:
    case LAB_TYPE_CPULIST_TOOL:
        return TRUE;
    default:
        return FALSE;
    }
}

/* The likely mistake: the other separator. */
static gboolean
separator_right(LabProfile *p, const LabKey *k, const LabSetting *s, GError **error)
{
    if (!bar_separated(k)) {
        if (!strchr(s->value, '|'))
            return TRUE;
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, s,
                          "the values of this axis are separated by `,'");
        return FALSE;
    }
    if (strchr(s->value, '|') || !strchr(s->value, ','))
        return TRUE;
    if (strcmp(k->key, "kernel") == 0 && !strstr(s->value, ",modules=")) {
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, s,
                          "the values of this axis are separated by `|'");
        return FALSE;
    }
    g_autofree char *where = lab_setting_where(s);
    lab_warn(p, "%s: this is one value; the values of this axis are separated by `|'", where);
    return TRUE;
}

static gboolean
add_axis_value(const LabProfile *p, LabAxis *a, GHashTable *seen, const char *section,
               const char *key, const char *value, GError **error)
{
    const LabSetting *s = a->source;

    if (!*value && !bar_separated(a->key)) {
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, s, "an empty value");
        return FALSE;
    }
    if (a->key ? !value_fits(a->key, value, s, error) : !variant_exists(p, value, s, error))
        return FALSE;
    if (!g_hash_table_add(seen, g_strdup(value))) {
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, s, "`%s' stands twice", value);
        return FALSE;
    }
    if (a->values->len >= LAB_CELLS_MAX) {
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, s, "more than %d values", LAB_CELLS_MAX);
        return FALSE;
    }
    g_ptr_array_add(a->values, lab_setting_new(section, key, value, s->file, s->line));
    return TRUE;
}

static gboolean
add_axis(LabProfile *p, const LabSetting *s, GError **error)
{
    g_autofree char *section = NULL, *key = NULL;
    const LabKey *k = NULL;

    if (strcmp(s->key, "variant") == 0) {
        section = g_strdup("matrix");
        key = g_strdup("variant");
    } else {
        k = varying_key(p, s, TRUE, &section, &key, error);
        if (!k)
            return FALSE;
    }
    LabAxis *a = g_new0(LabAxis, 1);
    a->name = g_strdup(s->key);
    a->key = k;
    a->source = s;
    a->values = g_ptr_array_new_with_free_func((GDestroyNotify)lab_setting_free);
    a->from_set = strcmp(s->file, LAB_SET_FILE) == 0;
    g_ptr_array_add(p->axes, a);
    if (!separator_right(p, k, s, error))
        return FALSE;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_auto(GStrv) values = g_strsplit(s->value, bar_separated(k) ? "|" : ",", -1);
    for (char **v = values; *v; v++)
        if (!add_axis_value(p, a, seen, section, key, g_strstrip(*v), error))
            return FALSE;
    if (a->values->len == 0) {
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, s, "an axis without values");
        return FALSE;
    }
    return TRUE;
}

static gboolean
section_is(const LabSetting *s, const char *prefix)
{
    return g_str_has_prefix(s->section, prefix);
}

/* A key that an axis sets has no value of its own: overridden silently it would mislead. */
static gboolean
check_shadowed(LabProfile *p, const LabSetting *s, GError **error)
{
    g_autofree char *address = lab_address(s->section, s->key);
    const LabAxis *a = lab_axis_find(p, strcmp(s->section, "main") == 0 ? s->key : address);

    if (!a)
        return TRUE;
    if (strcmp(s->file, LAB_SET_FILE) == 0 && !a->from_set) {
        lab_error_setting(error, LAB_PROFILE_ERROR_KEY, s,
                          "this key is an axis of the profile: set matrix.%s instead", a->name);
        return FALSE;
    }
    if (strcmp(s->file, a->source->file) == 0) {
        g_autofree char *where = lab_setting_where(s);
        lab_warn(p, "%s: without effect, [matrix] has an axis %s", where, a->name);
    }
    return TRUE;
}

static gboolean
add_axes(LabProfile *p, GError **error)
{
    for (guint i = 0; i < p->layer->settings->len; i++) {
        const LabSetting *s = g_ptr_array_index(p->layer->settings, i);
        if (strcmp(s->section, "matrix") == 0 && !add_axis(p, s, error))
            return FALSE;
    }
    return TRUE;
}

static void
warn_unused_variants(LabProfile *p)
{
    const LabAxis *a = lab_axis_find(p, "variant");

    for (guint i = 0; i < p->layer->sections->len; i++) {
        const LabSection *s = g_ptr_array_index(p->layer->sections, i);
        if (!g_str_has_prefix(s->name, "variant ") || (a && a->from_set))
            continue;
        gboolean used = FALSE;
        for (guint j = 0; a && j < a->values->len; j++)
            used = used || strcmp(((const LabSetting *)g_ptr_array_index(a->values, j))->value,
                                  s->name + strlen("variant ")) == 0;
        if (!used)
            lab_warn(p, "%s:%d: [%s] is not a value of `variant' in [matrix]: never used", s->file,
                     s->line, s->name);
    }
}

gboolean
lab_axes_build(LabProfile *p, GError **error)
{
    add_variant_sections(p);
    if (!add_axes(p, error))
        return FALSE;
    for (guint i = 0; i < p->layer->settings->len; i++) {
        const LabSetting *s = g_ptr_array_index(p->layer->settings, i);
        if (strcmp(s->section, "matrix") == 0 || strcmp(s->section, "relevant") == 0 ||
            section_is(s, "reference "))
            continue;
        if (section_is(s, "variant ")) {
            if (!add_variant_line(p, s, error))
                return FALSE;
        } else if (!check_plain(s, error) || !check_shadowed(p, s, error)) {
            return FALSE;
        }
    }
    warn_unused_variants(p);
    return TRUE;
}
