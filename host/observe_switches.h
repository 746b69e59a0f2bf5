/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Who else ran on a set of CPUs, and for how long, from their sched_switch events in order of time.
 * Pure. The idle task and the threads told to be ours are not foreign, and switches among them may
 * be left out of the events.
 */
#include <glib.h>

#include "host/cpulist.h"

#define HOST_FOREIGN_MAX 4096 /* rows; what finds none is summed up in one of tid -1 */

typedef struct {
    unsigned int cpu;
    int tid; /* -1: tasks beyond HOST_FOREIGN_MAX together */
    char comm[16];
    gboolean lab;   /* a thread of ours, or of the guest's QEMU, which should have been elsewhere */
    guint64 run_ns; /* within the window */
    guint64 longest_ns; /* of one stretch */
    guint64 stretches;
} HostForeignTask;

typedef struct HostSwitches HostSwitches;

/* OURS and LAB: sets of thread ids (GINT_TO_POINTER), borrowed. Times are of one clock, in ns. */
HostSwitches *host_switches_new(guint64 start_ns, guint64 stop_ns, GHashTable *ours,
                                GHashTable *lab);
void host_switches_free(HostSwitches *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostSwitches, host_switches_free)

typedef struct {
    unsigned int cpu;
    guint64 at_ns;
    int prev_tid, next_tid;
    const char *prev_comm, *next_comm; /* at most 15 bytes are looked at */
} HostSwitch;
/* The next event; those of one CPU in order of time. */
void host_switches_add(HostSwitches *s, const HostSwitch *e);

/* TID ran on CPU all through the window: for a CPU without a single event. */
void host_switches_add_whole(HostSwitches *s, unsigned int cpu, int tid, const char *comm);

/*
 * CPU's events are all there (LOST 0), or the last LOST of them are not: what ran after the last
 * one that is there is then unknown, and not counted. *COVERED_NS: how much of the window is known.
 * Call once for every CPU, after its events.
 */
void host_switches_end(HostSwitches *s, unsigned int cpu, guint64 lost, guint64 *covered_ns);
gboolean host_switches_seen(const HostSwitches *s, unsigned int cpu); /* any event */
/* Events that contradict each other: a foreign task went that never came. */
guint64 host_switches_contradictions(const HostSwitches *s);

/* HostForeignTask, by CPU, longest run first. */
GArray *host_switches_tasks(const HostSwitches *s);
