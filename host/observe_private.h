/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The observers that need a trace instance of a kind of their own, and what observe*.c share. */
#include "host/observe.h"
#include "host/observe_counters.h"

/* sched_switch on the isolated CPUs. OURS: the vCPU threads; borrowed. */
typedef struct HostForeign HostForeign;
HostForeign *host_foreign_new(const char *name, const HostCpuset *isolated, GHashTable *ours,
                              unsigned int buffer_kib, GError **error);
gboolean host_foreign_start(HostForeign *f, GError **error);
gboolean host_foreign_stop(HostForeign *f, GError **error);
/* HostForeignTask of the window; *INCOMPLETE as in HostObserverState. */
GArray *host_foreign_read(HostForeign *f, guint64 start_ns, guint64 stop_ns, GHashTable *lab,
                          char **incomplete, GError **error);
void host_foreign_free(HostForeign *f);

/* Tasks that were on a CPU all the time leave no event there; they are found by the run time /proc
 * shows of them. */
typedef struct HostHogs HostHogs;
/* Tasks that want to run on CPUS now, without OURS. */
HostHogs *host_hogs_new(const HostCpuset *cpus, GHashTable *ours);
/* The one that has run on CPU since: its thread id and COMM, 0 when there is none, -1 when the
 * kernel does not show run times. */
int host_hogs_find(const HostHogs *h, unsigned int cpu, char comm[16]);
void host_hogs_free(HostHogs *h);

/* get_nohz_timer_target() by the function_graph tracer. */
typedef struct HostTargets HostTargets;
HostTargets *host_targets_new(const char *name, unsigned int buffer_kib, GError **error);
gboolean host_targets_start(HostTargets *t, GError **error);
gboolean host_targets_stop(HostTargets *t, GError **error);
GArray *host_targets_read(HostTargets *t, char **incomplete, GError **error);
void host_targets_free(HostTargets *t);
/* For host_trace_reap(): puts back what a dead owner of instance NAME set outside of it. */
void host_targets_recover(const char *name);

/*
 * Addresses (guint64) of the functions called NAME, also those a compiler or linker has given a
 * suffix (".llvm.123", ".constprop.0"), in the text of /proc/kallsyms. NULL when the addresses are
 * hidden. Pure.
 */
GArray *host_kallsyms_find(const char *text, const char *const *names);

/* What the counters of an observer are; -1: not there. */
typedef struct {
    int exits, expiries, starts, stops;
} HostCounterNumbers;

/* Evaluation of the counters, each into its array of O. THREADS: tids of the vCPUs. */
void host_observe_exits(const HostHist *exits, GHashTable *threads, HostObservation *o);
void host_observe_timers(const HostHist *expiries, const HostHist *starts, const GArray *functions,
                         GHashTable *threads, HostObservation *o);
/* Fills in the rows of O->ticks; EXPIRIES and STOPS may be NULL. */
void host_observe_ticks(const HostHist *expiries, const HostHist *stops, const GArray *functions,
                        HostObservation *o);
