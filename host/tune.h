/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The half of a partition that can be had without a reboot, as settings of host/knobs.h. */
#include <glib.h>

#include "host/root.h"
#include "host/wish.h"

typedef struct {
    char *path, *old_value, *new_value;
    gboolean may_fail; /* an interrupt that the kernel manages can't be moved by anybody */
} HostTuneStep;
void host_tune_step_free(HostTuneStep *s);

/*
 * What has to change (HostTuneStep *, in order; empty: nothing) so that interrupts, unbound work,
 * khugepaged, ksmd, the NMI watchdog and timers keep off the isolated CPUs of WISH, and these run
 * at full speed. HALT_POLL_NS (NULL: left alone) is for kvm.halt_poll_ns. Only reads; what this
 * machine does not have is left out. HOST_ERROR_UNSUPPORTED when no CPU is to be isolated, or the
 * machine does not have those that are: then nothing is to be set at all.
 */
GPtrArray *host_tune_plan(const HostRoot *root, const HostWish *wish, const char *halt_poll_ns,
                          GError **error);
