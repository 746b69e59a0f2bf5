/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* CPU masks as the kernel prints and takes them: 32-bit groups in hex, the highest first
 * ("00000001,0000000f"; lib/bitmap-str.c, bitmap_parse). */
#include "host/cpulist.h"

/* NULL when TEXT (white space around it is ignored) is no mask, or names a CPU beyond
 * HOST_CPULIST_MAX_CPU. */
HostCpuset *host_cpumask_parse(const char *text);
/* "f" or "1,0000000f"; "0" for the empty set. g_free. */
char *host_cpumask_format(const HostCpuset *set);
