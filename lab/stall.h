/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Finds an emulated machine that runs and gets nowhere: a box under icount whose inner guest spins
 * with interrupts off on the lock it holds itself. Every second its CPUs' registers are looked at;
 * a CPU that, while the emulator used STALL_CPU_S seconds of CPU time, was only ever seen running
 * with interrupts off within the same few instructions, stalls. No healthy kernel does that.
 */
#include <glib.h>

#include "host/guest.h"

#define LAB_STALL_CPU_S 8       /* of the emulator: a loaded machine is no stall */
#define LAB_STALL_SPAN 64       /* bytes of code that a spinning loop stays within */
#define LAB_STALL_MIN_SAMPLES 6 /* at least so many looks */

/* --- the judgement, pure --- */

typedef struct LabStallState LabStallState;
LabStallState *lab_stall_state_new(void);
void lab_stall_state_free(LabStallState *s);
/* TEXT as of host_guest_registers, CPU_NS as of host_guest_cpu_time. NULL, or what stalls: "CPU 1
 * at 0xffffffff81a18749, interrupts off, for 8 s of the emulator's CPU time" (g_free). What can't
 * be read counts as movement. */
char *lab_stall_feed(LabStallState *s, const char *text, guint64 cpu_ns);

/* --- the watch --- */

typedef struct LabStall LabStall;
/* WHERE is what lab_stall_feed said. Comes once, on the default GMainContext. */
typedef void (*LabStallFound)(const char *where, gpointer data);
LabStall *lab_stall_watch(HostGuest *guest, LabStallFound found, gpointer data);
/* No callback comes after it. */
void lab_stall_free(LabStall *w);
