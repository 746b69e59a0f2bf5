/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts back what `host apply` set, also when it was killed on the way. */
#include <stdio.h>

#include "host/knobs.h"
#include "lab/cmd_host.h"
#include "lab/session.h"
#include "lab/verdict.h"

#define NAME "host restore"

/* 1 when something is not as it was before: somebody else changed it, or it can't be written. */
static int
print_lines(const GPtrArray *lines)
{
    int code = LAB_EXIT_HELD;

    for (guint i = 0; i < lines->len; i++) {
        const HostRestoreLine *l = lines->pdata[i];
        puts(l->message);
        if (l->state == HOST_RESTORE_FOREIGN || l->state == HOST_RESTORE_FAILED)
            code = LAB_EXIT_NOT_HELD;
    }
    if (!lines->len)
        puts("nothing to put back");
    return code;
}

int
lab_cmd_host_restore(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL, *root_path = NULL;
    int code = 0;
    const GOptionEntry entries[] = {
        {"root", 0, 0, G_OPTION_ARG_FILENAME, &root_path,
         "The machine whose proc and sys are in DIR (default: this one)", "DIR"},
        {NULL},
    };

    if (!lab_command_parse(NAME, entries, 0, 0, &argc, &argv, &state, &code))
        return code;
    g_autoptr(HostRoot) root = host_root_open(root_path, &error);
    if (!root)
        return lab_command_fail(NAME, error);
    g_autofree char *own_state = state ? NULL : lab_state_dir();
    g_autofree char *journal = g_build_filename(state ? state : own_state, "host-journal", NULL);
    g_autoptr(GPtrArray) lines =
        g_ptr_array_new_with_free_func((GDestroyNotify)host_restore_line_free);
    gboolean ok = host_knobs_recover(root, journal, lines, &error);
    if (!ok && !lines->len)
        return lab_command_fail(NAME, error);
    code = print_lines(lines);
    return ok ? code : lab_command_fail(NAME, error);
}
