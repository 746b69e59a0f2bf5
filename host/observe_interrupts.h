/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* /proc/interrupts and /proc/softirqs, and what was added between two readings. Pure; the text is
 * not trusted. */
#include <glib.h>

#include "host/cpulist.h"

typedef struct {
    unsigned int cpu;
    gboolean softirq;
    char *label; /* "LOC", "43", "RCU" */
    char
        *description; /* "Local timer interrupts", "PCI-MSI 524288-edge nvme0q1"; "" for softirqs */
    guint64 count;
} HostInterruptCount;

typedef struct HostInterrupts HostInterrupts;

/*
 * The counts of the CPUs of CPUS in TEXT. Rows that don't have a number for every CPU (ERR, MIS)
 * belong to none and are passed over. HOST_ERROR_IO when there is no row of CPU names, a number is
 * none, or there is more than HOST_INTERRUPTS_MAX_CELLS.
 */
#define HOST_INTERRUPTS_MAX_CELLS (4 * 1024 * 1024)
HostInterrupts *host_interrupts_parse(const char *text, const HostCpuset *cpus, GError **error);
void host_interrupts_free(HostInterrupts *i);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostInterrupts, host_interrupts_free)

/*
 * Adds to COUNTS (of HostInterruptCount) what AFTER has more than BEFORE, where that is not 0. The
 * counters have 32 bits and wrap. A row only AFTER has (an interrupt requested meanwhile) counts
 * from 0. MISSING, if not NULL, gets the CPUs that are not in both.
 */
void host_interrupts_delta(const HostInterrupts *before, const HostInterrupts *after,
                           gboolean softirq, GArray *counts, HostCpuset *missing);
/* An array for it, which frees the strings. */
GArray *host_interrupt_counts_new(void);

/* The local timer's row: x86 "LOC", or one that is called arch_timer. */
gboolean host_interrupt_is_timer(const HostInterruptCount *c);
