/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/cmd_host.h"

#include <stdio.h>

#include "lab/verdict.h"

/* Names are the last word of these. */
#define PREFIX "host "

const LabCommand lab_host_commands[] = {
    {PREFIX "plan", "", "plan a CPU partition of this machine; changes nothing", lab_cmd_host_plan},
    {PREFIX "check", "", "say what isolation is in force on this machine", lab_cmd_host_check},
    {PREFIX "apply", "", "set what of a partition can be had without a reboot", lab_cmd_host_apply},
    {PREFIX "restore", "", "put back what host apply set, also after it was killed",
     lab_cmd_host_restore},
    {NULL, NULL, NULL, NULL},
};

static void
print_help(FILE *out)
{
    fputs("Usage: nohzlab host COMMAND [OPTION...]\n\n"
          "What is done to this machine before anything runs on it.\n\n",
          out);
    for (const LabCommand *c = lab_host_commands; c->name; c++)
        fprintf(out, "  %-9s %s\n", c->name + sizeof PREFIX - 1, c->summary);
    fputs("\nnohzlab host COMMAND --help tells more.\n", out);
}

int
lab_cmd_host(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return LAB_EXIT_CANNOT;
    }
    if (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h")) {
        print_help(stdout);
        return LAB_EXIT_HELD;
    }
    for (const LabCommand *c = lab_host_commands; c->name; c++) {
        if (g_str_equal(c->name + sizeof PREFIX - 1, argv[1]))
            return c->run(argc - 1, argv + 1);
    }
    fprintf(stderr, "nohzlab host: there is no command %s (nohzlab host --help lists them)\n",
            argv[1]);
    return LAB_EXIT_CANNOT;
}
