/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Whether this machine can carry a platform and clock, said before anything is booted. */
#include <glib.h>

#include "lab/profile.h"
#include "lab/session.h"

/*
 * Turns `auto` into metal where KVM can be used and the profile's host partition is in force,
 * otherwise into box; other platforms stay. PARAMS->platform_why then says what was chosen and why
 * (empty when nothing was to be chosen).
 */
void lab_platform_settle(LabParams *params, LabSession *session);

/* FALSE with the reason and what to do: KVM that can't be used (metal), a host partition that is
 * not in force (metal), a QEMU too old (icount with several vCPUs), pins that can't be made. */
gboolean lab_platform_check(const LabParams *params, LabSession *session, GError **error);

/* Keeps all threads of this process, and so what they start, on the housekeeping CPUs of settled
 * PARAMS (metal). */
gboolean lab_platform_confine(const LabParams *params, GError **error);

/* TRUE when a cell of PROFILE runs its guest in this machine's KVM, or may, and the KVM is fit for
 * it. */
gboolean lab_platform_needs_kvm(const LabProfile *profile);

/*
 * The emulator for settled PARAMS: NULL where libvirt chooses (--connect), else $NOHZLAB_QEMU, else
 * for a box under icount the one that `make qemu` built below the state folder if it is there,
 * since the system's stalls now and then (lab/box-icount.md), else HOST_QEMU. SESSION's.
 */
#define LAB_QEMU_ENV "NOHZLAB_QEMU"
const char *lab_platform_qemu(const LabParams *params, LabSession *session);
