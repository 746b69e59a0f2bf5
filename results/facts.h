/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What a jump in a series may be blamed on: the few facts of a run that make up its surroundings
 * (kernel, QEMU, libvirt, machine, tools, profile), as lines "KEY=VALUE\n" in a fixed order.
 */
#include "results/record.h"

/* g_free it. Facts that a run does not have are left out. */
char *res_facts_of(const ResRecord *r);
/* The value of KEY, or NULL; g_free it. */
char *res_facts_get(const char *facts, const char *key);
/* What differs, "KEY: A -> B" (char *), in order; "?" where one side does not know. */
GPtrArray *res_facts_differences(const char *a, const char *b);
