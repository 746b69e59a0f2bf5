/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/record.h"

#include <string.h>

#define ID_MAX 64
#define EVIDENCE_NAME_MAX 200

static const char *const outcome_names[] = {
    [RES_OUTCOME_DONE] = "done",           [RES_OUTCOME_SKIP] = "skip",
    [RES_OUTCOME_INFRA] = "infra",         [RES_OUTCOME_BOOT] = "boot",
    [RES_OUTCOME_GUEST] = "guest",         [RES_OUTCOME_ISOLATION] = "isolation",
    [RES_OUTCOME_CLOCK] = "clock",         [RES_OUTCOME_INCOMPLETE] = "incomplete",
    [RES_OUTCOME_CANCELLED] = "cancelled",
};

const char *
res_outcome_name(ResOutcome o)
{
    return (gsize)o < G_N_ELEMENTS(outcome_names) ? outcome_names[o] : "?";
}

gboolean
res_outcome_parse(const char *name, ResOutcome *o)
{
    for (gsize i = 0; name != NULL && i < G_N_ELEMENTS(outcome_names); i++) {
        if (g_str_equal(outcome_names[i], name)) {
            *o = (ResOutcome)i;
            return TRUE;
        }
    }
    return FALSE;
}

ResRecord *
res_record_new(void)
{
    ResRecord *r = g_new0(ResRecord, 1);
    r->outcome = RES_OUTCOME_INFRA;
    r->fidelity = RES_FIDELITY_FUNCTIONAL; /* the one that claims least */
    r->parameters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    r->environment = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    r->metrics = g_ptr_array_new_with_free_func((GDestroyNotify)res_metric_free);
    r->evidence = g_ptr_array_new_with_free_func(g_free);
    r->notes = g_ptr_array_new_with_free_func(g_free);
    return r;
}

void
res_record_free(ResRecord *r)
{
    if (r == NULL) {
        return;
    }
    char *texts[] = {r->id,   r->set,    r->profile, r->profile_sha256, r->summary,
                     r->cell, r->detail, r->message, r->platform,       r->clock};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_free(texts[i]);
    }
    g_clear_pointer(&r->parameters, g_hash_table_unref);
    g_clear_pointer(&r->environment, g_hash_table_unref);
    g_clear_pointer(&r->metrics, g_ptr_array_unref);
    g_clear_pointer(&r->evidence, g_ptr_array_unref);
    g_clear_pointer(&r->notes, g_ptr_array_unref);
    g_free(r);
}

gboolean
res_id_valid(const char *id)
{
    if (id == NULL || g_str_equal(id, "last")) {
        return FALSE;
    }
    gsize len = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz-");
    return len > 0 && len <= ID_MAX && id[len] == '\0';
}

gboolean
res_evidence_name_valid(const char *name)
{
    if (name == NULL || name[0] == '.' || g_str_equal(name, "record.json")) {
        return FALSE;
    }
    gsize len = strspn(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-");
    return len > 0 && len <= EVIDENCE_NAME_MAX && name[len] == '\0';
}

const ResMetric *
res_record_metric(const ResRecord *r, const char *name)
{
    for (guint i = 0; i < r->metrics->len; i++) {
        const ResMetric *m = g_ptr_array_index(r->metrics, i);
        if (g_strcmp0(m->name, name) == 0) {
            return m;
        }
    }
    return NULL;
}
