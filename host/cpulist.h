/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * CPU lists. A set of CPUs is an hwloc bitmap; a list is its text, and there are two dialects of
 * it, which are never guessed:
 *
 *  - HOST_CPULIST_KERNEL: what the kernel's bitmap_parselist() accepts (lib/bitmap-str.c):
 *    `3`, `1-4`, `N` (the last CPU), `4-N`, `all` (any case), `a-b:used/group`; empty fields are
 * skipped.
 *  - HOST_CPULIST_TOOL: what libvirt, taskset and tuned accept: `1-4`, `0-6:2` (stride), and `^3`,
 * `!3`,
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
 * Parse TEXT for a machine whose possible CPUs are 0..NCPUS-1 (NCPUS 0: unknown, so `N` and `all`
 * are errors and any number up to HOST_CPULIST_MAX_CPU is in range). Leading and trailing white
 * space is ignored; empty text is the empty set. On error returns NULL and the message names the
 * dialect, the text and the position (1-based) of the offending character, and the code says which
 * kind it is; when the text is right in the other dialect, the message has the list to write
 * instead. WARNINGS, if not NULL, gets a new char * for each thing that is legal but most likely a
 * mistake (an exclusion that removes nothing). Free the set with hwloc_bitmap_free.
 *
 * Stricter than the kernel in two places, both refusals: text after a line end (the kernel does not
 * read it), and the bytes 0xa0 and 0x0b (spaces to the kernel's isspace()). `4294967295` is out of
 * range here; the kernel calls it malformed because its end + 1 wraps to 0.
 */
#define HOST_CPULIST_MAX_CPU 8191
#define HOST_CPULIST_MAX_BYTES 65536
HostCpuset *host_cpulist_parse(const char *text, HostCpulistDialect dialect, unsigned int ncpus,
                               GPtrArray *warnings, GError **error);

/* The Cpus_allowed_list of /proc/PID/status: STATUS is that file's text, or the one line. Never a
 * guess: an error when the line is missing or can't be read. */
HostCpuset *host_cpulist_from_status(const char *status, GError **error);

/* SET as a compressed list both dialects understand: "0-3,8". "" for the empty set. g_free it. */
char *host_cpulist_format(const HostCpuset *set);

/* The last CPU of SET, or -1 when it is empty. */
int host_cpuset_last(const HostCpuset *set);

/* NULL when HAVE includes ASKED, otherwise why not: "asked for 4-7, WHOSE has 0-3, nothing left".
 * g_free. */
char *host_cpuset_shortfall(const HostCpuset *asked, const HostCpuset *have, const char *whose);
