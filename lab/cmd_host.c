/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/cmd_host.h"

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

int
lab_cmd_host(int argc, char **argv)
{
    return lab_command_group("host", "What is done to this machine before anything runs on it.",
                             lab_host_commands, argc, argv);
}
