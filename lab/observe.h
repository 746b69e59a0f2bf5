/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Watching the lab host while a workload runs (platform metal, so in a box, too): one window of
 * host/observe.h a workload, and what it says as metrics, evidence and, where the lab itself ran on
 * an isolated CPU, as a failure.
 */
#include <gio/gio.h>

#include "lab/machine.h"
#include "lab/profile.h"
#include "results/record.h"

typedef struct LabObserve LabObserve;

/* The observers that a value of host.observe names on platform metal, where "auto" is none, as bits
 * (1U << HOST_OBSERVE_...). FALSE: it is no such value. */
gboolean lab_observe_mask(const char *text, unsigned int *mask);

/* Whether PARAMS ask for it: a workload and host.observe do, on platform metal. */
gboolean lab_observe_wanted(const LabParams *params);

/*
 * Sets all up for the guest whose QEMU has THREADS (HostThread *): before it is resumed, as it
 * interrupts every CPU. TOKEN names it
 * ([A-Za-z0-9_-]+). PARAMS are settled ones (lab_platform_settle): their host lists name CPUs.
 */
LabObserve *lab_observe_new(const char *token, const LabParams *params, const LabMachine *machine,
                            const GPtrArray *threads, GError **error);
void lab_observe_free(LabObserve *o);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabObserve, lab_observe_free)

/* Around WORKLOAD, while the guest waits at its barriers. Errors show in lab_observe_record. */
void lab_observe_begin(LabObserve *o, const char *workload);
void lab_observe_end(LabObserve *o);
/* At any other barrier of a guest, before it goes on. */
void lab_observe_barrier(LabObserve *o, const char *name);

/* Adds metrics to RECORD and WORKLOAD-host.txt to FILES. FALSE when RECORD was made a failure
 * instead. */
gboolean lab_observe_record(LabObserve *o, ResRecord *record, GHashTable *files);
