/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Workloads of type exit-cost: the guest is a flat one (guest/exit_cost.c), booted instead of a
 * kernel and an initramfs; kinds of exit are those of guest/exit_cost.h.
 */
#include "lab/profile.h"

#define LAB_EXIT_COST "exit-cost" /* the type, and the flat guest's name */
#define LAB_EXIT_COST_ALL "all"
/* Batches by default: of twenty kinds, and those of hlt_timer sleep most of a second each. */
#define LAB_EXIT_COST_BATCHES "50"

/* The flat guest that PARAMS want in place of a kernel's, or NULL. Static. */
const char *lab_params_flat(const LabParams *params);

/* Why PARAMS can't be had with a flat guest: a sentence (g_free), with *SECTION (g_free) and *KEY
 * where it stands; NULL when nothing is wrong. */
char *lab_exit_cost_problem(const LabParams *params, char **section, const char **key);
