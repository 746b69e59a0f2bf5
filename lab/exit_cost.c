/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/exit_cost.h"

#include <string.h>

#include "guest/exit_cost.h"
#include "lab/profile_private.h"

#define VCPUS_MAX 2

#define KIND_NAME(name, calls, loop, what) #name,
static const char *const kinds[] = {BM_EXIT_KINDS(KIND_NAME) NULL};

static const LabWorkload *
exit_cost_workload(const LabParams *params)
{
    for (guint i = 0; i < params->workloads->len; i++) {
        const LabWorkload *w = params->workloads->pdata[i];
        if (g_str_equal(w->type, LAB_EXIT_COST))
            return w;
    }
    return NULL;
}

const char *
lab_params_flat(const LabParams *params)
{
    return exit_cost_workload(params) ? LAB_EXIT_COST : NULL;
}

/* NULL: each is known. */
static char *
unknown_kind(const char *list)
{
    g_auto(GStrv) words = g_strsplit(list, ",", -1);

    if (g_str_equal(list, LAB_EXIT_COST_ALL))
        return NULL;
    for (char **word = words; *word; word++) {
        if (g_strv_contains(kinds, *word))
            continue;
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        for (gsize i = 0; kinds[i]; i++)
            g_ptr_array_add(names, (gpointer)kinds[i]);
        g_autofree char *shown = lab_shorten(*word);
        g_autofree char *hint = lab_near_hint(*word, names);
        g_autofree char *all = g_strjoinv(", ", (char **)kinds);
        return g_strdup_printf("`%s' is no kind of exit%s; there are " LAB_EXIT_COST_ALL
                               " and, separated by commas without spaces, %s",
                               shown, hint, all);
    }
    return *words ? NULL : g_strdup("names no kind of exit");
}

char *
lab_exit_cost_problem(const LabParams *params, char **section, const char **key)
{
    const LabWorkload *w = exit_cost_workload(params);

    if (!w)
        return NULL;
    *section = g_strconcat("workload ", w->name, NULL);
    *key = "type";
    if (params->workloads->len > 1)
        return g_strdup("a workload of type " LAB_EXIT_COST
                        " is a guest without a system, in which "
                        "no other can run: give the others a profile of their own");
    if (w->cpu > 0) {
        *key = "cpu";
        return g_strdup("exits are measured on vCPU 0");
    }
    if (w->batches > BM_EXIT_BATCHES_MAX) {
        *key = "batches";
        return g_strdup_printf("at most %d batches of a kind of exit", BM_EXIT_BATCHES_MAX);
    }
    *key = "trace";
    if (*w->trace)
        return g_strdup("a guest of type " LAB_EXIT_COST " has no kernel whose functions could be "
                        "traced");
    *key = "kinds";
    char *problem = unknown_kind(w->kinds);
    if (problem)
        return problem;
    g_free(*section);
    *section = g_strdup("guest");
    *key = "vcpus";
    if (params->vcpus > VCPUS_MAX)
        return g_strdup("a guest of type " LAB_EXIT_COST " has one vCPU, or two to send an "
                        "interrupt to the other");
    *key = "isolated";
    if (*params->guest.isolated)
        return g_strdup("a guest of type " LAB_EXIT_COST " has no kernel that could isolate CPUs");
    g_free(*section);
    *section = g_strdup("host");
    *key = "platform";
    if (params->platform == LAB_PLATFORM_BARE)
        return g_strdup("on platform bare there is no KVM that a guest could exit to: use box or "
                        "metal");
    return NULL;
}
