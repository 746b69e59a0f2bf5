/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <unistd.h>

#include "lab/command.h"
#include "lab/session.h"
#include "lab/verdict.h"
#include "results/store.h"

int
lab_cmd_show(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    gboolean json = FALSE, all = FALSE;
    int code = 0;
    const GOptionEntry entries[] = {
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print JSON, with every record", NULL},
        {"all", 'a', 0, G_OPTION_ARG_NONE, &all,
         "Print every metric, not only those that expectations name", NULL},
        {NULL},
    };

    if (!lab_command_parse("show", entries, 0, 1, &argc, &argv, &state, &code))
        return code;
    g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
    g_autoptr(ResStore) store = res_store_open(root, &error);
    if (!store)
        return lab_command_fail("show", error);
    g_autoptr(GPtrArray) records = res_store_get_set(store, argc > 1 ? argv[1] : "last", &error);
    if (!records)
        return lab_command_fail("show", error);

    g_autoptr(LabVerdict) verdict = lab_verdict_new(records);
    g_autofree char *text = json ? lab_verdict_json(verdict, &error)
                                 : lab_verdict_text(verdict, all, isatty(STDOUT_FILENO));
    if (!text)
        return lab_command_fail("show", error);
    fputs(text, stdout);
    return LAB_EXIT_HELD;
}
