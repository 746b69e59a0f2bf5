/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Kernel command lines: splitting as the kernel does it (lib/cmdline.c next_arg()), and what the
 * isolation parameters on one mean (kernel/sched/isolation.c).
 */
#include <glib.h>

#include "host/cpulist.h"

typedef struct {
    char *name;  /* as written */
    char *value; /* without quotes; NULL when there is no `=` */
} HostParam;

void host_param_free(HostParam *p);

/* HostParam *, in order. Never fails; WARNINGS (char *, may be NULL) gets open quotes and the like.
 */
GPtrArray *host_cmdline_split(const char *text, GPtrArray *warnings);
/* Parameter names are equal when they differ only in `-` and `_` (kernel/params.c parameq). */
gboolean host_param_name_equal(const char *a, const char *b);
/* The values (char *, owned by PARAMS, may hold NULL) of all parameters called NAME, in order.
 * Those after a `--` are init's, not the kernel's (parse_args), and are not among them. */
GPtrArray *host_cmdline_values(const GPtrArray *params, const char *name);
/* How many of PARAMS are the kernel's: those before a lone `--`. */
guint host_cmdline_kernel_count(const GPtrArray *params);
/* Back to text, quoted where needed; pairs and order kept; splitting it gives equal parameters.
 * NULL when a name or value can't be written on a command line at all, which none that came from
 * host_cmdline_split() is. g_free. */
char *host_cmdline_join(const GPtrArray *params);
/* Two pieces of command line (`a="b c"` and `"a=b c"`) compared as the kernel sees them: equal
 * after quotes, and names by host_param_name_equal(). */
gboolean host_cmdline_equal(const char *a, const char *b);

/* What isolcpus= asks for (isolcpus_setup, housekeeping_setup). */
typedef enum {
    HOST_ISOL_DOMAIN = 1 << 0,
    HOST_ISOL_NOHZ = 1 << 1,
    HOST_ISOL_MANAGED_IRQ = 1 << 2,
} HostIsolFlags;
typedef struct {
    HostIsolFlags flags;
    HostCpuset *cpus;    /* NULL when the kernel drops the parameter */
    GPtrArray *warnings; /* char * */
    char *refused;       /* why the kernel drops it, or NULL */
} HostIsolcpus;
void host_isolcpus_free(HostIsolcpus *i);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostIsolcpus, host_isolcpus_free)
/* VALUE of one isolcpus= parameter on a machine of NCPUS possible CPUs. Never NULL. */
HostIsolcpus *host_isolcpus_parse(const char *value, unsigned int ncpus);

/* Findings about a whole command line: unknown near misses (`isolated_cpus` -> isolcpus),
 * irqaffinity over isolated CPUs, no housekeeping CPU left, the missing `domain` flag, repeated
 * parameters. SEVERITY: 'E' error, 'W' warning. */
typedef struct {
    char severity;
    char *param;
    char *message;
} HostFinding;
void host_finding_free(HostFinding *f);
GPtrArray *host_cmdline_lint(const char *text, unsigned int ncpus);
