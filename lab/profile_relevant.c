/* SPDX-License-Identifier: GPL-2.0-or-later */
/* [relevant]: the smallest change of a metric that matters. */
#include "lab/profile_relevant.h"

#include <string.h>

#include "lab/profile_private.h"
#include "results/compare.h"

const GPtrArray *
lab_profile_relevant(const LabProfile *p)
{
    return p->relevant;
}

static gboolean
check_workload(const LabProfile *p, const LabSetting *s, GError **error)
{
    g_autofree char *workload = g_strndup(s->key, strcspn(s->key, "."));
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (guint i = 0; i < p->layer->sections->len; i++) {
        const LabSection *section = g_ptr_array_index(p->layer->sections, i);
        const char *name = lab_workload_name(section->name);
        if (name && strcmp(name, workload) == 0 && s->key[strlen(workload)] == '.')
            return TRUE;
        if (name)
            g_ptr_array_add(names, (gpointer)name);
    }
    g_autofree char *hint = lab_near_hint(workload, names);
    lab_error_setting(error, LAB_PROFILE_ERROR_KEY, s,
                      "a metric is WORKLOAD.WHAT, and there is no [workload %s]%s", workload, hint);
    return FALSE;
}

gboolean
lab_relevant_check(LabProfile *p, GError **error)
{
    for (guint i = 0; i < p->layer->settings->len; i++) {
        LabSetting *s = g_ptr_array_index(p->layer->settings, i);
        double value;
        gboolean is_share;
        if (strcmp(s->section, "relevant") != 0)
            continue;
        if (!check_workload(p, s, error))
            return FALSE;
        if (!res_relevant_parse(s->value, &value, &is_share)) {
            lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, s,
                              "no change: a share of the figure as `2%%', or a number in the "
                              "metric's unit");
            return FALSE;
        }
        g_ptr_array_add(p->relevant, s);
    }
    return TRUE;
}
