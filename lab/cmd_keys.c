/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/command.h"
#include "lab/profile.h"
#include "lab/verdict.h"

int
lab_cmd_profile_keys(int argc, char **argv)
{
    g_autofree char *state = NULL;
    gboolean man = FALSE;
    int code = 0;
    const GOptionEntry entries[] = {
        {"man", 0, 0, G_OPTION_ARG_NONE, &man, "As man page source", NULL},
        {NULL},
    };

    if (!lab_command_parse("keys", entries, 0, 0, &argc, &argv, &state, &code))
        return code;
    g_autofree char *text = lab_profile_document(man);
    fputs(text, stdout);
    return LAB_EXIT_HELD;
}
