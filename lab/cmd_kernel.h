/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
#include "lab/command.h"

/* Subcommands of `nohzlab kernel`; ends with a NULL name. */
extern const LabCommand lab_kernel_commands[];
