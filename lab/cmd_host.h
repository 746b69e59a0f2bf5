/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* `nohzlab host COMMAND`: what is done to this machine before anything runs on it. */
#include "lab/command.h"

/*
 * The commands below `host`, one file each (lab/cmd_host_NAME.c). Their names are "host plan" and
 * so on, which is what lab_command_parse() and lab_command_fail() want as NAME. Ends with a NULL
 * name.
 */
extern const LabCommand lab_host_commands[];

/* ARGV[0] is the command's name, as for those of lab/command.h. */
int lab_cmd_host_plan(int argc, char **argv);
int lab_cmd_host_check(int argc, char **argv);
int lab_cmd_host_apply(int argc, char **argv);
int lab_cmd_host_restore(int argc, char **argv);
