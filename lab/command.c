/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/command.h"

#include <stdio.h>
#include <string.h>

#include "lab/cmd_host.h"
#include "lab/cmd_kernel.h"
#include "lab/text.h"
#include "lab/verdict.h"

const LabCommand lab_commands[] = {
    {"run", "PROFILE", "run a profile and judge it", lab_cmd_run},
    {"plan", "PROFILE",
     "print the runs of a profile, their command lines and domain XML; runs nothing", lab_cmd_plan},
    {"show", "[RUN|SET|last]", "print a set of runs and its verdict again", lab_cmd_show},
    {"list", "[PROFILE]", "list the runs, newest first", lab_cmd_list},
    {"compare", "A B", "compare two runs or two sets, or cells of them", lab_cmd_compare},
    {"import", "FILE...", "take in result files: cyclictest, oslat, rtla, rteval, records",
     lab_cmd_import},
    {"report", "RUN|SET [AGAINST]",
     "write a report: HTML, text, JSON, JUnit, TAP, KCIDB, Prometheus", lab_cmd_report},
    {"bisect", "PROFILE", "find the patch or commit that moved a figure", lab_cmd_bisect},
    {"history", "METRIC", "tell when a figure changed over the nights, and what changed with it",
     lab_cmd_history},
    {"calibrate", "", "say what this setup can detect, from the boots of one kernel in the store",
     lab_cmd_calibrate},
    {"reindex", "", "rebuild the index from the records", lab_cmd_reindex},
    {"doctor", "", "look at this machine: what works here, and what to do about the rest",
     lab_cmd_doctor},
    {"kernel", "COMMAND", "keep kernels for profiles (nohzlab kernel --help)", lab_cmd_kernel},
    {"host", "COMMAND", "plan this machine's CPU partition (nohzlab host --help)", lab_cmd_host},
    {"keys", "", "print every key a profile may hold", lab_cmd_profile_keys},
    {NULL, NULL, NULL, NULL},
};

static const LabCommand *
find_command(const char *name)
{
    for (const LabCommand *c = lab_commands; c->name; c++) {
        if (g_str_equal(c->name, name))
            return c;
    }
    for (const LabCommand *c = lab_kernel_commands; c->name; c++)
        if (g_str_equal(c->name, name))
            return c;
    for (const LabCommand *c = lab_host_commands; c->name; c++) {
        if (g_str_equal(c->name, name))
            return c;
    }
    g_assert_not_reached();
}

/* GOption exits by itself on --help; this one returns, so that a command has one way out. */
static gboolean
print_help(GOptionContext *context)
{
    g_autofree char *help = g_option_context_get_help(context, TRUE, NULL);
    fputs(help, stdout);
    return FALSE;
}

gboolean
lab_command_parse(const char *name, const GOptionEntry *options, int min, int max, int *argc,
                  char ***argv, char **state, int *exit_code)
{
    const LabCommand *command = find_command(name);
    g_autoptr(GError) error = NULL;
    g_autofree char *usage = g_strdup_printf("%s - %s", command->arguments, command->summary);
    g_autoptr(GOptionContext) context = g_option_context_new(usage);
    g_autofree char *program = g_strdup_printf("nohzlab %s", name);
    gboolean help = FALSE;
    const GOptionEntry common[] = {
        {"state", 0, 0, G_OPTION_ARG_FILENAME, state,
         "Folder of results and caches (default: $NOHZLAB_STATE, /var/lib/nohzlab for root)",
         "DIR"},
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Print this help", NULL},
        {NULL},
    };

    g_set_prgname(program);
    g_option_context_set_help_enabled(context, FALSE);
    if (options)
        g_option_context_add_main_entries(context, options, NULL);
    g_option_context_add_main_entries(context, common, NULL);
    if (!g_option_context_parse(context, argc, argv, &error)) {
        *exit_code = lab_command_fail(name, error);
        return FALSE;
    }
    if (help) {
        *exit_code = LAB_EXIT_HELD;
        return print_help(context);
    }
    if (*argc - 1 < min || *argc - 1 > max) {
        fprintf(stderr, "nohzlab %s: usage: nohzlab %s %s (nohzlab %s --help tells more)\n", name,
                name, command->arguments, name);
        *exit_code = LAB_EXIT_CANNOT;
        return FALSE;
    }
    return TRUE;
}

int
lab_command_fail(const char *name, const GError *error)
{
    fprintf(stderr, "nohzlab %s: %s\n", name, error->message);
    return LAB_EXIT_CANNOT;
}

/* --- commands of commands --- */

static void
print_group(FILE *out, const char *name, const char *about, const LabCommand *commands)
{
    fprintf(out, "Usage: nohzlab %s COMMAND [OPTION...]\n\n%s\n\n", name, about);
    for (const LabCommand *c = commands; c->name; c++)
        fprintf(out, "  %-9s %s\n", c->name + strlen(name) + 1, c->summary);
    fprintf(out, "\nnohzlab %s COMMAND --help tells more.\n", name);
}

int
lab_command_group(const char *name, const char *about, const LabCommand *commands, int argc,
                  char **argv)
{
    if (argc < 2) {
        print_group(stderr, name, about, commands);
        return LAB_EXIT_CANNOT;
    }
    if (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h")) {
        print_group(stdout, name, about, commands);
        return LAB_EXIT_HELD;
    }
    for (const LabCommand *c = commands; c->name; c++) {
        if (g_str_equal(c->name + strlen(name) + 1, argv[1]))
            return c->run(argc - 1, argv + 1);
    }
    g_autofree char *word = lab_printable(argv[1]);
    fprintf(stderr, "nohzlab %s: there is no command %s (nohzlab %s --help lists them)\n", name,
            word, name);
    return LAB_EXIT_CANNOT;
}
