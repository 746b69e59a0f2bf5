/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Trace events counted by the values of some of their fields: in the kernel by hist triggers, where
 * it has them (CONFIG_HIST_TRIGGERS), else by keeping the events in bounded buffers and counting at
 * the end. All that patches kernel text or sizes buffers is done when a counter is added, so that
 * starting and stopping sends no interrupt to any CPU.
 */
#include <glib.h>

#include "host/observe_hist.h"
#include "host/observe_trace.h"

typedef struct {
    const char *system, *event; /* "kvm", "kvm_exit" */
    /* Fields, or "common_pid" (the thread), "common_cpu" (the CPU the event came on). */
    const char *keys[HOST_HIST_MAX_KEYS];
    guint n_keys;
    const char *value;  /* a field to sum up, or NULL */
    const char *filter; /* "function == 0x...", or NULL */
} HostCounterSpec;

typedef struct HostCounters HostCounters;
/* In an instance called NAME. BUFFER_KIB of each CPU, where the events themselves are kept. */
HostCounters *host_counters_new(const char *name, unsigned int buffer_kib, GError **error);
void host_counters_free(HostCounters *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostCounters, host_counters_free)

/* The counter's number, or -1 with HOST_ERROR_UNSUPPORTED when this kernel does not have the event
 * or a field of it. The strings must outlive C. */
int host_counters_add(HostCounters *c, const HostCounterSpec *spec, GError **error);
gboolean host_counters_in_kernel(const HostCounters *c, int counter); /* by a hist trigger */

/* From zero. */
gboolean host_counters_start(HostCounters *c, GError **error);
gboolean host_counters_stop(HostCounters *c, GError **error);
/* Once after each stop, before host_counters_get(). */
gboolean host_counters_collect(HostCounters *c, GError **error);
/* C's own; NULL with the reason when it could not be read. */
const HostHist *host_counters_get(const HostCounters *c, int counter, GError **error);
