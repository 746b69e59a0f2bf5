/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parameters of one cell, from the lines in force and the table. */
#include <string.h>

#include "lab/exit_cost.h"
#include "lab/profile_private.h"

static void
workload_free(LabWorkload *w)
{
    g_free(w->name);
    g_free(w->type);
    g_free(w->loop);
    g_free(w->kinds);
    g_free(w->command);
    g_free(w->host_load);
    g_free(w->trace);
    g_free(w);
}

static void
partition_clear(LabPartition *p)
{
    g_free(p->housekeeping);
    g_free(p->isolated);
    g_free(p->isolcpus);
    g_free(p->cmdline);
}

void
lab_params_free(LabParams *params)
{
    if (!params)
        return;
    g_free(params->summary);
    g_free(params->kernel);
    g_free(params->platform_why);
    g_free(params->observe);
    partition_clear(&params->host);
    partition_clear(&params->guest);
    g_free(params->pin);
    g_free(params->emulatorpin);
    g_free(params->plugin);
    g_ptr_array_unref(params->workloads);
    g_ptr_array_unref(params->checks);
    g_free(params);
}

/* Values were checked line by line before, so an error here is one of the table itself; still no
 * crash. */
static gboolean
take(const LabKey *k, const char *value, gpointer target, const LabSetting *s, GError **error)
{
    g_autoptr(GError) inner = NULL;

    if (lab_value_parse(k, value, target, &inner))
        return TRUE;
    if (s)
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, s, "%s", inner->message);
    else
        g_set_error(error, LAB_PROFILE_ERROR, LAB_PROFILE_ERROR_VALUE, "%s.%s = %s: %s", k->section,
                    k->key, value, inner->message);
    return FALSE;
}

/* Thousands of cells share the same few texts: interned, they cost a pointer each. */
static void
remember(GHashTable *settings, const char *address, const char *value)
{
    g_hash_table_insert(settings, g_ref_string_new_intern(address), g_ref_string_new_intern(value));
}

static gboolean
fill(const LabKey *k, const char *section, gpointer target, GHashTable *in_force,
     GHashTable *settings, GError **error)
{
    g_autofree char *address = lab_address(section, k->key);
    const LabSetting *s = g_hash_table_lookup(in_force, address);
    const char *value = s ? s->value : k->initial;

    if (!value || (k->offset == LAB_KEY_NO_FIELD && !s))
        return TRUE;
    remember(settings, address, value);
    return take(k, value, target, s, error);
}

/* The type, from its key or from the section's name. */
static const char *
workload_type(const LabSection *section, const LabSetting *given, GError **error)
{
    const char *name = lab_workload_name(section->name);

    if (given)
        return given->value;
    if (lab_workload_type_known(name))
        return name;
    const LabKey *k = lab_key_find("workload", "type");
    g_auto(GStrv) types = g_strsplit(k->range, "|", -1);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (char **t = types; *t; t++)
        g_ptr_array_add(names, *t);
    g_autofree char *hint = lab_near_hint(name, names);
    lab_error_at(error, LAB_PROFILE_ERROR_VALUE, section->file, section->line,
                 "[%s]: `%s' is no type of workload%s; give one: type = %s", section->name, name,
                 hint, k->range);
    return NULL;
}

/* The one key without a value to fall back on. */
static gboolean
has_command(const LabWorkload *w, const LabSection *section, GError **error)
{
    if (w->command || strcmp(w->type, "command") != 0)
        return TRUE;
    lab_error_at(error, LAB_PROFILE_ERROR_VALUE, section->file, section->line,
                 "[%s]: a workload of type command needs the key `command'", section->name);
    return FALSE;
}

/* A key that only another type has was given. */
static gboolean
refuse_foreign_key(const LabKey *k, const char *section, const char *type, GHashTable *in_force,
                   GError **error)
{
    g_autofree char *address = lab_address(section, k->key);
    const LabSetting *s = g_hash_table_lookup(in_force, address);

    if (!s)
        return TRUE;
    g_autofree char *known = lab_workload_type_keys(type);
    lab_error_setting(error, LAB_PROFILE_ERROR_KEY, s, "a workload of type %s has no key `%s': %s",
                      type, k->key, known);
    return FALSE;
}

static gboolean
fill_workload(LabWorkload *w, const LabSection *section, GHashTable *in_force, GHashTable *settings,
              GError **error)
{
    gsize n;
    const LabKey *keys = lab_profile_keys(&n);
    g_autofree char *type_address = lab_address(section->name, "type");
    const char *type = workload_type(section, g_hash_table_lookup(in_force, type_address), error);

    if (!type)
        return FALSE;
    w->name = g_strdup(lab_workload_name(section->name));
    w->type = g_strdup(type);
    remember(settings, type_address, type);
    for (gsize i = 0; i < n; i++) {
        if (strcmp(keys[i].section, "workload") != 0 || strcmp(keys[i].key, "type") == 0)
            continue;
        LabKey key = keys[i];
        if (strcmp(type, LAB_EXIT_COST) == 0 && strcmp(key.key, "batches") == 0)
            key.initial = LAB_EXIT_COST_BATCHES;
        gboolean ok = lab_workload_type_has(type, keys[i].key)
                          ? fill(&key, section->name, w, in_force, settings, error)
                          : refuse_foreign_key(&keys[i], section->name, type, in_force, error);
        if (!ok)
            return FALSE;
    }
    return has_command(w, section, error);
}

static gboolean
fill_workloads(const LabProfile *p, LabParams *params, GHashTable *in_force, GHashTable *settings,
               GError **error)
{
    for (guint i = 0; i < p->layer->sections->len; i++) {
        const LabSection *section = g_ptr_array_index(p->layer->sections, i);
        if (!lab_workload_name(section->name))
            continue;
        LabWorkload *w = g_new0(LabWorkload, 1);
        g_ptr_array_add(params->workloads, w);
        if (!fill_workload(w, section, in_force, settings, error))
            return FALSE;
    }
    return TRUE;
}

static void
fill_check(const LabKey *k, LabParams *params, GHashTable *in_force)
{
    g_autofree char *address = lab_address("check", k->key);
    const LabSetting *s = g_hash_table_lookup(in_force, address);

    if (s)
        g_ptr_array_add(params->checks,
                        lab_setting_new("check", s->key, s->value, s->file, s->line));
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabParams, lab_params_free)

LabParams *
lab_params_new(const LabProfile *p, GHashTable *in_force, GHashTable *settings, GError **error)
{
    gsize n;
    const LabKey *keys = lab_profile_keys(&n);
    g_autoptr(LabParams) params = g_new0(LabParams, 1);

    params->workloads = g_ptr_array_new_with_free_func((GDestroyNotify)workload_free);
    params->checks = g_ptr_array_new_with_free_func((GDestroyNotify)lab_setting_free);
    for (gsize i = 0; i < n; i++) {
        if (strcmp(keys[i].section, "workload") == 0)
            continue;
        if (!fill(&keys[i], keys[i].section, params, in_force, settings, error))
            return NULL;
        if (strcmp(keys[i].section, "check") == 0)
            fill_check(&keys[i], params, in_force);
    }
    if (!fill_workloads(p, params, in_force, settings, error))
        return NULL;
    return g_steal_pointer(&params);
}
