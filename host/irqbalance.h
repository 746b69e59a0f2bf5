/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What irqbalance makes of its two variables, which differs by release (setup_banned_cpus() in its
 * cputree.c, releases 1.0.9 to 1.9.5 and what came after):
 *
 *   IRQBALANCE_BANNED_CPUS (a hex mask) comes first when it is set and not empty; before 1.8.0 an
 *     empty one bans nothing, since then it is as if unset. 1.8.0 and newer call it discarded, but
 *     use it all the same up to 1.9.5.
 *   IRQBALANCE_BANNED_CPULIST (a list), known since 1.8.0: an empty one is as if unset up to 1.9.5,
 *     and bans nothing in newer ones. What is no list (`-`) bans what was read before the mistake.
 *   Neither: the isolated and the nohz_full CPUs are banned.
 */
#include "host/cpulist.h"

typedef struct {
    gboolean known;     /* the outcome; FALSE where it depends on a release that is unknown */
    gboolean automatic; /* the isolated and nohz_full CPUs */
    HostCpuset *banned; /* otherwise */
    char *meaning;      /* in words, with the variable it comes from */
} HostIrqbalance;
void host_irqbalance_clear(HostIrqbalance *b);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostIrqbalance, host_irqbalance_clear)

/* MASK and LIST: the variables' values, NULL: unset. VERSION: "1.9.2", or NULL: unknown. */
HostIrqbalance host_irqbalance_meaning(const char *mask, const char *list, const char *version);
