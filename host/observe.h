/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What a lab host did while a guest ran: why the guest was left, where its timers expired, who else
 * ran on the isolated CPUs, which interrupts and ticks they got, how long the search for a CPU for
 * a timer took.
 *
 * host_observer_new() sets all up (it patches kernel text and sizes buffers, which interrupts every
 * CPU: do it before anything is measured; takes some 100 ms), host_observer_start() and _stop()
 * bracket a phase and touch no other CPU, host_observer_read() evaluates it on the caller's CPU,
 * which should be a housekeeping CPU. All of it lives in tracefs instances of our own,
 * "nohzlab-TOKEN...". No main loop is needed; one thread at a time.
 */
#include <glib.h>
#include <sys/types.h>

#include "host/cpulist.h"
#include "host/observe_exits.h"
#include "host/observe_interrupts.h"
#include "host/observe_switches.h"

typedef enum {
    HOST_OBSERVE_EXITS,      /* kvm_exit by reason, vCPU thread and CPU */
    HOST_OBSERVE_TIMERS,     /* guests' lapic timers (apic_timer_fn) by the CPU they expired on */
    HOST_OBSERVE_FOREIGN,    /* who else ran on isolated CPUs */
    HOST_OBSERVE_INTERRUPTS, /* interrupts and softirqs of isolated CPUs */
    HOST_OBSERVE_TICKS,      /* ticks of isolated CPUs */
    HOST_OBSERVE_TARGETS,    /* duration of get_nohz_timer_target() by CPU */
    HOST_OBSERVERS,
} HostObserve;
#define HOST_OBSERVE_ALL ((1U << HOST_OBSERVERS) - 1)
const char *host_observe_name(HostObserve o); /* "exits", "timers", ... */

typedef struct {
    const char *token;                                     /* [A-Za-z0-9_-]+, of this run */
    unsigned int observers;                                /* 1U << HOST_OBSERVE_... */
    const HostCpuset *housekeeping, *isolated, *vcpu_cpus; /* the last: where vCPUs are pinned */
    const GPtrArray *threads; /* HostThread * of the guest's QEMU, or NULL when there is no guest */
    const pid_t *lab_pids;    /* our own processes: their threads are told apart as lab */
    gsize n_lab_pids;
    unsigned int buffer_kib; /* for each CPU whose events are kept; 0: 1024 */
} HostObserverSpec;

typedef struct {
    gboolean asked;
    gboolean have;
    char *why_not;    /* of what was asked and is not to be had: "no kvm_exit event: kvm module not
                       * loaded" */
    char *incomplete; /* NULL, or why its numbers are lower bounds ("CPU 3 lost 112 events") */
} HostObserverState;

typedef struct {
    HostExitVendor vendor;
    guint64 code;
    const char *name; /* NULL: a code its vendor's table does not have */
    pid_t tid;        /* of the vCPU thread */
    unsigned int cpu;
    guint64 count;
} HostExitCount;

typedef struct {
    guint64 timer; /* tells the timers apart: there is one to a vCPU */
    pid_t tid;     /* the vCPU thread that starts it most; 0: not started in this window */
    gboolean ours; /* TID is one of spec.threads, or those were not given */
    unsigned int cpu;
    guint64 starts;   /* on CPU; which CPU it was queued on shows where it expires */
    guint64 expiries; /* on CPU */
    gboolean local;   /* TID started it on CPU, so expiries here stayed local */
} HostTimerCount;

typedef struct {
    unsigned int cpu;
    gboolean have_interrupts; /* the next is known */
    guint64 timer_interrupts; /* LOC: ticks, and all other timers of this CPU */
    gboolean have_expiries;
    guint64 expiries; /* of the tick's own timer: ticks proper */
    gboolean have_stops;
    guint64 stopped;      /* timer:tick_stop with success */
    guint64 kept_running; /* without */
    guint64 dependencies; /* which held it, TICK_DEP_MASK_* of include/linux/tick.h or-ed */
} HostTickCount;

typedef struct {
    unsigned int cpu;
    guint64 calls, total_ns, min_ns, max_ns;
} HostTargetCount;

typedef struct {
    HostObserverState state[HOST_OBSERVERS];
    guint64 start_ns, duration_ns; /* CLOCK_MONOTONIC */
    GArray *exits;                 /* HostExitCount, most first */
    GArray *timers;                /* HostTimerCount */
    GArray *foreign;               /* HostForeignTask, by CPU */
    GArray *interrupts;            /* HostInterruptCount, of isolated CPUs */
    GArray *ticks;                 /* HostTickCount, one for each isolated CPU */
    GArray *targets;               /* HostTargetCount */
} HostObservation;
void host_observation_free(HostObservation *o);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostObservation, host_observation_free)

typedef struct HostObserver HostObserver;

/* Fails only for a token or sets that can't be used, or when no observer at all is to be had;
 * otherwise the observation's state says what is not, and why. */
HostObserver *host_observer_new(const HostObserverSpec *spec, GError **error);
/* What is to be had, before anything ran. The observer's own. */
const HostObserverState *host_observer_state(const HostObserver *o, HostObserve which);
/* A new window, from zero. */
gboolean host_observer_start(HostObserver *o, GError **error);
gboolean host_observer_stop(HostObserver *o, GError **error);
/* Once for each window, after stop. */
HostObservation *host_observer_read(HostObserver *o, GError **error);
/* Removes all traces, also of a window that runs. */
void host_observer_free(HostObserver *o);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostObserver, host_observer_free)

/* Removes what observers whose process is no more have left behind. How many instances that were.
 */
guint host_observers_reap(void);

/* Numbers for metrics. A share or rate whose denominator is 0 is not there. */
typedef struct {
    gboolean have_timers;
    guint64 timers, timers_on_housekeeping, timers_local; /* expiries of our vCPUs' timers */
    double housekeeping_share;                            /* valid when timers > 0 */

    gboolean have_exits;
    guint64 exits, external_interrupts; /* the latter on vCPU CPUs */
    double exits_per_second;
    double exits_per_timer; /* valid when timers > 0 */

    gboolean have_foreign;
    guint64 foreign_ns, foreign_lab_ns; /* on isolated CPUs; the latter is part of the former */
    guint64 foreign_longest_ns;

    gboolean have_ticks; /* the best source that is there: expiries, else timer interrupts */
    gboolean ticks_are_expiries;
    guint64 ticks;

    gboolean have_interrupts;
    guint64 interrupts; /* on isolated CPUs, without softirqs */
} HostFigures;
/* Of O, for the machine whose sets are given. */
void host_figures(const HostObservation *o, const HostCpuset *housekeeping,
                  const HostCpuset *vcpu_cpus, HostFigures *f);

/* Exits of our vCPUs by reason: HostExitCount with tid and cpu 0, most first. g_array_unref. */
GArray *host_exits_by_reason(const HostObservation *o);
