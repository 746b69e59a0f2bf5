/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "lab/profile_private.h"

LabSetting *
lab_setting_new(const char *section, const char *key, const char *value, const char *file, int line)
{
    LabSetting *s = g_new0(LabSetting, 1);
    s->section = g_strdup(section);
    s->key = g_strdup(key);
    s->value = g_strdup(value);
    s->file = g_strdup(file);
    s->line = line;
    return s;
}

void
lab_setting_free(LabSetting *s)
{
    if (!s)
        return;
    g_free(s->section);
    g_free(s->key);
    g_free(s->value);
    g_free(s->file);
    g_free(s);
}

static void
section_free(LabSection *s)
{
    g_free(s->name);
    g_free(s->file);
    g_free(s);
}

static void
expect_free(LabExpectLine *e)
{
    g_free(e->public.name);
    g_free(e->public.text);
    g_free(e->public.file);
    g_free(e);
}

LabLayer *
lab_layer_new(void)
{
    LabLayer *l = g_new0(LabLayer, 1);
    l->sections = g_ptr_array_new_with_free_func((GDestroyNotify)section_free);
    l->settings = g_ptr_array_new_with_free_func((GDestroyNotify)lab_setting_free);
    l->expects = g_ptr_array_new_with_free_func((GDestroyNotify)expect_free);
    return l;
}

void
lab_layer_free(LabLayer *l)
{
    if (!l)
        return;
    g_ptr_array_unref(l->sections);
    g_ptr_array_unref(l->settings);
    g_ptr_array_unref(l->expects);
    g_free(l);
}

const LabSection *
lab_layer_section(const LabLayer *l, const char *name)
{
    for (guint i = 0; i < l->sections->len; i++) {
        const LabSection *s = g_ptr_array_index(l->sections, i);
        if (strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

/* "section\nkey" -> position + 1 in L->settings. */
static GHashTable *
index_settings(const LabLayer *l)
{
    GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint i = 0; i < l->settings->len; i++) {
        const LabSetting *s = g_ptr_array_index(l->settings, i);
        g_hash_table_insert(index, g_strconcat(s->section, "\n", s->key, NULL),
                            GUINT_TO_POINTER(i + 1));
    }
    return index;
}

static void
merge_settings(LabLayer *base, LabLayer *over)
{
    g_autoptr(GHashTable) index = index_settings(base);

    gsize n = 0;
    g_autofree LabSetting **taken = (LabSetting **)g_ptr_array_steal(over->settings, &n);

    for (gsize i = 0; i < n; i++) {
        LabSetting *s = taken[i];
        g_autofree char *id = g_strconcat(s->section, "\n", s->key, NULL);
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(index, id));
        if (place == 0) {
            g_ptr_array_add(base->settings, s);
            g_hash_table_insert(index, g_steal_pointer(&id), GUINT_TO_POINTER(base->settings->len));
            continue;
        }
        lab_setting_free(g_ptr_array_index(base->settings, place - 1));
        g_ptr_array_index(base->settings, place - 1) = s;
    }
}

static void
merge_expectation(LabLayer *base, LabExpectLine *e)
{
    for (guint i = 0; e->named && i < base->expects->len; i++) {
        LabExpectLine *old = g_ptr_array_index(base->expects, i);
        if (old->named && strcmp(old->public.name, e->public.name) == 0) {
            expect_free(old);
            g_ptr_array_index(base->expects, i) = e;
            return;
        }
    }
    g_ptr_array_add(base->expects, e);
}

void
lab_layer_merge(LabLayer *base, LabLayer *over)
{
    gsize nsections = 0, nexpects = 0;
    g_autofree LabSection **sections = (LabSection **)g_ptr_array_steal(over->sections, &nsections);
    g_autofree LabExpectLine **expects =
        (LabExpectLine **)g_ptr_array_steal(over->expects, &nexpects);

    merge_settings(base, over);
    for (gsize i = 0; i < nsections; i++) {
        LabSection *s = sections[i];
        if (lab_layer_section(base, s->name))
            section_free(s);
        else
            g_ptr_array_add(base->sections, s);
    }
    for (gsize i = 0; i < nexpects; i++)
        merge_expectation(base, expects[i]);
}
