/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Which kernel functions ran on some CPUs of the lab host, how often, and how much of the time was
 * each one's own: by ftrace's function_graph tracer over all functions. The tracer itself costs
 * more than most functions do, so nothing else is to be measured meanwhile; its share is estimated
 * and taken off.
 */
#include <glib.h>
#include <sys/types.h>

#include "host/cpulist.h"

typedef struct {
    guint64 address;
    char *name; /* "?" when kallsyms has none */
    guint64 calls;
    GArray *sample; /* HostFunctionCall, of the first HOST_FUNCTION_SAMPLE calls */
} HostFunctionCount;

typedef struct {
    guint64 self_ns;  /* without the functions it called; the tracer's cost is in it */
    guint64 children; /* calls of other functions, by it directly */
} HostFunctionCall;
#define HOST_FUNCTION_SAMPLE 1000

/* --- from calls to sums: pure --- */

typedef struct HostFunctionTree HostFunctionTree;
HostFunctionTree *host_function_tree_new(void);
void host_function_tree_free(HostFunctionTree *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostFunctionTree, host_function_tree_free)
/* A call that ended, in the order of ends; DEPTH in its task's calls, from 0. Calls of a task
 * deeper than the tracer goes, and those that end before they began, are left out. */
void host_function_tree_add(HostFunctionTree *t, pid_t task, int depth, guint64 address,
                            guint64 began_ns, guint64 ended_ns);
/* HostFunctionCount *, by address; names from KALLSYMS, its text. They leave T.*/
GPtrArray *host_function_tree_counts(HostFunctionTree *t, const char *kallsyms);

/*
 * What the tracer adds: to each call's own time (the shortest call that called nothing, nearly all
 * of which is its), and to the caller's for each call (what is left of the thinnest caller's, a
 * call). Both are too large by the few instructions of those two. Medians: a call that an interrupt
 * or another busy CPU fell into does not count.
 */
void host_functions_overhead(const GPtrArray *counts, double *inside_ns, double *outside_ns);
/* A call's own time, the median, without what the tracer adds; at least 0. */
double host_function_own(const HostFunctionCount *count, double inside_ns, double outside_ns);

/* --- tracing --- */

typedef struct HostFunctions HostFunctions;
/* Traces CPUS once started. Takes a second (every function is patched); TOKEN as in host/observe.h.
 * UNSUPPORTED when the kernel has no such tracer or somebody else uses it. */
HostFunctions *host_functions_new(const char *token, const HostCpuset *cpus, GError **error);
void host_functions_free(HostFunctions *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostFunctions, host_functions_free)
gboolean host_functions_start(HostFunctions *f, GError **error);
gboolean host_functions_stop(HostFunctions *f, GError **error);
/* Since the last start. *INCOMPLETE (g_free) is set when calls were lost. */
GPtrArray *host_functions_read(HostFunctions *f, char **incomplete, GError **error);
/* Puts back what a dead owner of tracefs instance NAME left. */
void host_functions_recover(const char *name);
