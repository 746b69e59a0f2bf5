/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/command.h"
#include "lab/compare.h"
#include "lab/session.h"
#include "lab/verdict.h"

/* 0: nothing is worse, or may be, and everything could be told; otherwise 1. */
static int
exit_code(const ResCompareResult *r)
{
    for (guint i = 0; i < r->comparisons->len; i++) {
        const ResComparison *c = r->comparisons->pdata[i];
        if (c->direction == RES_NO_DIRECTION)
            continue; /* evidence, not a claim */
        if (c->verdict == RES_VERDICT_WORSE || c->verdict == RES_VERDICT_CANNOT_TELL ||
            c->verdict == RES_VERDICT_DIFFERENT)
            return LAB_EXIT_NOT_HELD;
    }
    return LAB_EXIT_HELD;
}

static GPtrArray *
load_hists(const ResRecord *r, const char *workload, gpointer store, GError **error)
{
    return res_store_hists(store, r, workload, error);
}

static ResCompareResult *
compare(const char *root, char **what, const char *const *allow, GError **error)
{
    g_autoptr(GError) inner = NULL;
    g_autoptr(ResStore) store = res_store_open(root, error);
    g_autoptr(GPtrArray) all_a = store ? lab_compare_load(store, what[0], NULL, error) : NULL;
    g_autoptr(GPtrArray) all_b = all_a ? lab_compare_load(store, what[1], all_a, error) : NULL;
    g_autoptr(GPtrArray) a = all_b ? lab_compare_select(all_a, what[0], error) : NULL;
    g_autoptr(GPtrArray) b = a ? lab_compare_select(all_b, what[1], error) : NULL;

    if (!b)
        return NULL;
    g_autoptr(ResCalibration) calibration = lab_calibration_load(root, &inner);
    if (inner) {
        g_propagate_error(error, g_steal_pointer(&inner));
        return NULL;
    }
    ResCompareOptions options = res_compare_defaults;
    options.allow = allow;
    options.calibration = calibration;
    options.hists = load_hists;
    options.hists_data = store;
    return res_compare(a, b, &options, error);
}

int
lab_cmd_compare(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL, *allow = NULL;
    gboolean json = FALSE;
    int code = 0;
    const GOptionEntry entries[] = {
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL},
        {"allow-different", 0, 0, G_OPTION_ARG_STRING, &allow,
         "Entries of the environment that may differ, though nothing varies them: names or "
         "patterns, separated by commas",
         "KEY,..."},
        {NULL},
    };

    if (!lab_command_parse("compare", entries, 2, 2, &argc, &argv, &state, &code))
        return code;
    g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
    g_auto(GStrv) allowed = g_strsplit(allow ? allow : "", ",", -1);
    g_autoptr(ResCompareResult) r = compare(root, argv + 1, (const char *const *)allowed, &error);
    if (!r)
        return lab_command_fail("compare", error);
    g_autofree char *text = json ? lab_compare_json(r) : lab_compare_text(r);
    fputs(text, stdout);
    return exit_code(r);
}
