/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nohzlab: finds the subcommand and runs it. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lab/command.h"
#include "lab/verdict.h"

static void
print_help(FILE *out)
{
    fputs("nohzlab: does this kernel, on this CPU partition, leave a pinned guest alone?\n\n"
          "Usage: nohzlab COMMAND [OPTION...] [ARGUMENT...]\n\n",
          out);
    for (const LabCommand *c = lab_commands; c->name; c++)
        fprintf(out, "  %-8s %-22s %s\n", c->name, c->arguments, c->summary);
    fputs("\nnohzlab COMMAND --help tells more. Exit codes: 0 every expectation holds, 1 one does "
          "not (or can't be told,\n"
          "or a guest failed), 2 could not run, 77 everything was skipped, 130 cancelled.\n",
          out);
}

int
main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        print_help(stderr);
        return LAB_EXIT_CANNOT;
    }
    if (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h") ||
        g_str_equal(argv[1], "help")) {
        print_help(stdout);
        return LAB_EXIT_HELD;
    }
    if (g_str_equal(argv[1], "--version")) {
        puts("nohzlab " LAB_VERSION);
        return LAB_EXIT_HELD;
    }
    for (const LabCommand *c = lab_commands; c->name; c++) {
        if (g_str_equal(c->name, argv[1]))
            return c->run(argc - 1, argv + 1);
    }
    fprintf(stderr, "nohzlab: there is no command %s (nohzlab --help lists them)\n", argv[1]);
    return LAB_EXIT_CANNOT;
}
