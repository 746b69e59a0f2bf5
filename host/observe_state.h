/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The observer itself, for observe.c and observe_setup.c. */
#include "host/observe_private.h"

enum { HOST_HARD_INTERRUPTS, HOST_SOFT_INTERRUPTS, HOST_INTERRUPT_FILES };

struct HostObserver {
    HostObserverState state[HOST_OBSERVERS];
    HostCpuset *isolated;
    GHashTable *threads; /* set of the vCPUs' tids */
    GHashTable *lab;     /* set of the lab's and of QEMU's other tids; grows by what is found */
    GArray *lab_pids;    /* pid_t */

    HostCounters *counters; /* NULL: none is to be had, or asked for */
    HostCounterNumbers numbers;
    GArray *lapic, *tick; /* guint64: addresses of the functions of these timers; NULL: unknown */
    HostForeign *foreign;
    HostTargets *targets;

    gboolean running, ended; /* a window is open; one is to be read */
    guint64 start_ns, stop_ns;
    HostInterrupts *before[HOST_INTERRUPT_FILES], *after[HOST_INTERRUPT_FILES];
};

/* WHICH is not to be had, for the reason in WHY. */
void host_observer_refuse(HostObserver *o, HostObserve which, const GError *why);
/* All that is asked for in O's state; what is not to be had is said there. */
void host_observer_set_up(HostObserver *o, const char *token, unsigned int buffer_kib);
