/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/facts.h"

#include <string.h>

/* Longer values are cut: a fact is for a person to read, and for telling apart. */
#define VALUE_MAX 200

static const char *const environment_keys[] = {
    "kernel.release",   "kernel.sha256",       "initramfs.sha256", "qemu.version",
    "libvirt.version",  "host.kernel.release", "host.microcode",   "host.clocksource",
    "rt-tests.version", "guest.clocksource",
};

static void
append(GString *out, const char *key, const char *value)
{
    if (value == NULL || *value == '\0') {
        return;
    }
    g_autofree char *valid = g_utf8_make_valid(value, (gssize)strnlen(value, VALUE_MAX));
    for (char *c = valid; *c != '\0'; c++) {
        *c = g_ascii_iscntrl(*c) ? '?' : *c;
    }
    g_string_append_printf(out, "%s=%s\n", key, valid);
}

char *
res_facts_of(const ResRecord *r)
{
    GString *out = g_string_new(NULL);
    append(out, "kernel", g_hash_table_lookup(r->parameters, "main.kernel"));
    for (gsize i = 0; i < G_N_ELEMENTS(environment_keys); i++) {
        append(out, environment_keys[i], g_hash_table_lookup(r->environment, environment_keys[i]));
    }
    append(out, "profile.sha256", r->profile_sha256);
    return g_string_free(out, FALSE);
}

char *
res_facts_get(const char *facts, const char *key)
{
    gsize len = strlen(key);
    for (const char *line = facts; *line != '\0';) {
        gsize all = strcspn(line, "\n");
        if (strncmp(line, key, len) == 0 && line[len] == '=') {
            return g_strndup(line + len + 1, all - len - 1);
        }
        line += all + (line[all] == '\n');
    }
    return NULL;
}

static void
compare_fact(GPtrArray *out, const char *a, const char *b, const char *key)
{
    g_autofree char *was = res_facts_get(a, key), *is = res_facts_get(b, key);
    if (g_strcmp0(was, is) != 0) {
        g_ptr_array_add(out, g_strdup_printf("%s: %s -> %s", key, was != NULL ? was : "?",
                                             is != NULL ? is : "?"));
    }
}

GPtrArray *
res_facts_differences(const char *a, const char *b)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    compare_fact(out, a, b, "kernel");
    for (gsize i = 0; i < G_N_ELEMENTS(environment_keys); i++) {
        compare_fact(out, a, b, environment_keys[i]);
    }
    compare_fact(out, a, b, "profile.sha256");
    return out;
}
