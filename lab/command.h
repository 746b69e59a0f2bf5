/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Subcommands: one table, which prints the help, and one file each. */
#include <glib.h>

typedef struct {
    const char *name;
    const char *arguments; /* for the usage line */
    const char *summary;   /* one line */
    /* ARGV[0] is the command's name; gives an exit code of lab/verdict.h. */
    int (*run)(int argc, char **argv);
} LabCommand;

/* Ends with a NULL name. */
extern const LabCommand lab_commands[];

int lab_cmd_run(int argc, char **argv);
int lab_cmd_plan(int argc, char **argv);
int lab_cmd_show(int argc, char **argv);
int lab_cmd_list(int argc, char **argv);
int lab_cmd_compare(int argc, char **argv);
int lab_cmd_import(int argc, char **argv);
int lab_cmd_report(int argc, char **argv);
int lab_cmd_bisect(int argc, char **argv);
int lab_cmd_history(int argc, char **argv);
int lab_cmd_calibrate(int argc, char **argv);
int lab_cmd_reindex(int argc, char **argv);
int lab_cmd_doctor(int argc, char **argv);
int lab_cmd_kernel(int argc, char **argv);
int lab_cmd_host(int argc, char **argv);
int lab_cmd_profile_keys(int argc, char **argv);

/* A command of commands, "nohzlab NAME COMMAND": runs the one of COMMANDS (named "NAME COMMAND")
 * that ARGV[1] says, or prints what there is, after ABOUT. */
int lab_command_group(const char *name, const char *about, const LabCommand *commands, int argc,
                      char **argv);

/*
 * Parses OPTIONS (NULL: none of its own; --help and --state come by themselves) and wants MIN to
 * MAX arguments. FALSE when the command is to end with *EXIT_CODE: --help was printed (0), or the
 * usage was wrong (2, said on stderr). *STATE gets --state or NULL (g_free).
 */
gboolean lab_command_parse(const char *name, const GOptionEntry *options, int min, int max,
                           int *argc, char ***argv, char **state, int *exit_code);
/* Prints "nohzlab NAME: MESSAGE" and gives LAB_EXIT_CANNOT. */
int lab_command_fail(const char *name, const GError *error);
