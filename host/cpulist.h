/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * CPU lists. A set of CPUs is an hwloc bitmap; a list is its text, and there are two dialects of it,
 * which are never guessed:
 *
 *  - HOST_CPULIST_KERNEL: what the kernel's bitmap_parselist() accepts (lib/bitmap-str.c):
 *    `3`, `1-4`, `N` (the last CPU), `4-N`, `all` (any case), `a-b:used/group`; empty fields are skipped.
 *  - HOST_CPULIST_TOOL: what libvirt, taskset and tuned accept: `1-4`, `0-6:2` (stride), and `^3`, `!3`,
 *    `^1-2`, which take away what was named before them.
 */
#include <glib.h>
#include <hwloc.h>

typedef struct hwloc_bitmap_s HostCpuset;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostCpuset, hwloc_bitmap_free)

typedef enum { HOST_CPULIST_KERNEL, HOST_CPULIST_TOOL } HostCpulistDialect;

#define HOST_CPULIST_ERROR (host_cpulist_error_quark())
GQuark host_cpulist_error_quark(void);

typedef enum {
    HOST_CPULIST_ERROR_MALFORMED, /* not in the dialect's grammar */
    HOST_CPULIST_ERROR_RANGE,     /* grammatical, but names a CPU the machine does not have */
    HOST_CPULIST_ERROR_OVERFLOW,  /* a number that does not fit 32 bits */
} HostCpulistError;

/*
 * Parse TEXT for a machine whose possible CPUs are 0..NCPUS-1 (NCPUS 0: unknown, so `N` and `all` are
 * errors and any number up to HOST_CPULIST_MAX_CPU is in range). Leading and trailing white space is
 * ignored; empty text is the empty set. On error returns NULL and the message names the dialect, the
 * text and the position (1-based) of the offending character, and the code says which kind it is.
 * WARNINGS, if not NULL, gets a new char * for each thing that is legal but most likely a mistake
 * (an exclusion that removes nothing). Free the set with hwloc_bitmap_free.
 */
#define HOST_CPULIST_MAX_CPU 8191
HostCpuset *host_cpulist_parse(const char *text, HostCpulistDialect dialect, unsigned int ncpus,
                               GPtrArray *warnings, GError **error);

/* SET as a compressed list both dialects understand: "0-3,8". "" for the empty set. g_free it. */
char *host_cpulist_format(const HostCpuset *set);

/* The last CPU of SET, or -1 when it is empty. */
int host_cpuset_last(const HostCpuset *set);
