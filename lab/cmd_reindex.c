/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/command.h"
#include "lab/session.h"
#include "lab/text.h"
#include "lab/verdict.h"
#include "results/store.h"

int
lab_cmd_reindex(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    unsigned int count = 0;
    int code = 0;

    if (!lab_command_parse("reindex", NULL, 0, 0, &argc, &argv, &state, &code))
        return code;
    g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
    g_autoptr(ResStore) store = res_store_open(root, &error);
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    if (!store || !res_store_reindex(store, &count, skipped, &error))
        return lab_command_fail("reindex", error);
    for (guint i = 0; i < skipped->len; i++) {
        g_autofree char *line = lab_printable(skipped->pdata[i]);
        fprintf(stderr, "left as it is: %s\n", line);
    }
    printf("%u runs in the index, %u folders could not be read\n", count, skipped->len);
    return skipped->len ? LAB_EXIT_NOT_HELD : LAB_EXIT_HELD;
}
