/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A tracefs instance of our own: its buffers and settings are apart from everybody else's, and it
 * is gone when we are. Who holds the lock (flock) on an instance's folder owns it; the kernel drops
 * the lock with the process, so an instance whose lock is free has no owner any more.
 */
#include <glib.h>

#include "host/cpulist.h"

struct tep_handle;
struct tep_event;
struct tracefs_instance;

#define HOST_TRACE_PREFIX "nohzlab-"

/* Where tracefs is mounted; never mounts it. HOST_ERROR_UNSUPPORTED with what to do. */
const char *host_trace_dir(GError **error);

typedef struct HostTrace HostTrace;
/* Makes instance NAME with tracing off. A dead one of that name is removed first; that of a living
 * owner is HOST_ERROR_UNSUPPORTED. */
HostTrace *host_trace_new(const char *name, GError **error);
/* Ends and removes it. FALSE when the kernel kept it (somebody has a file of it open); it goes by
 * host_trace_reap() then. */
gboolean host_trace_free(HostTrace *t);
static inline void
host_trace_drop(HostTrace *t)
{
    host_trace_free(t);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostTrace, host_trace_drop)

/* Removes every instance whose name begins with PREFIX and whose owner is no more, telling EACH
 * (may be NULL) its name before. The number of those removed. */
guint host_trace_reap(const char *prefix, void (*each)(const char *name));

struct tracefs_instance *host_trace_instance(HostTrace *t);

/* To read raw events with, of those that host_trace_event() was called for. tep_free(). */
struct tep_handle *host_trace_events_new(GError **error);
/* TEP's own; NULL with HOST_ERROR_UNSUPPORTED when this kernel does not have it. */
struct tep_event *host_trace_event(struct tep_handle *tep, const char *system, const char *name,
                                   GError **error);

/* Files of the instance; T NULL: of the top level. PATH: "events/sched/sched_switch/filter". */
gboolean host_trace_exists(HostTrace *t, const char *path);
/* What is there stays, where a file collects lines (trigger). The kernel's own words, where it gave
 * some, are in ERROR. */
gboolean host_trace_write(HostTrace *t, const char *path, const char *text, GError **error);
gboolean host_trace_truncate(HostTrace *t, const char *path, GError **error);
char *host_trace_read(HostTrace *t, const char *path, gsize max, gsize *len, GError **error);

/* Each CPU of CPUS has a buffer of KIB, keeps what came first when it is full, and stamps events by
 * CLOCK_MONOTONIC. The other CPUs keep their least. */
gboolean host_trace_buffers(HostTrace *t, const HostCpuset *cpus, unsigned int kib, GError **error);
/* Whether the first line of PATH, without blanks around it, is WANTED; "" when it has none. */
gboolean host_trace_first_line_is(HostTrace *t, const char *path, const char *wanted);
/* Whether this kernel has the tracer function_graph; HOST_ERROR_UNSUPPORTED when not. */
gboolean host_trace_has_function_graph(GError **error);
/* Whether nobody traces at the top level, where function_graph has to be before Linux 6.11.
 * HOST_ERROR_UNSUPPORTED when somebody does, or left events there. */
gboolean host_trace_top_level_unused(GError **error);
/* What CPU's buffer has lost since it was emptied. */
gboolean host_trace_lost(HostTrace *t, unsigned int cpu, guint64 *entries, guint64 *lost,
                         GError **error);
/* What the buffers of all CPUs have lost, where they say so. */
guint64 host_trace_lost_in_all(HostTrace *t);
