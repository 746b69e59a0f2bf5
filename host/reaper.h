/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * libvirt lets each QEMU become a child of PID 1, sends it a signal and looks five times a second
 * whether it is gone. Where PID 1 is no init that reaps at once (containers, minimal VMs), a QEMU
 * that has ended stays to be seen for seconds, and so each guest's end, and each look of libvirt at
 * QEMU, takes them. So those QEMUs are made our own children, and reaped here.
 */
#include <glib.h>
#include <sys/types.h>

/* From now on processes that descend from us and lose their parent become ours (prctl(2),
 * PR_SET_CHILD_SUBREAPER). */
void host_reaper_init(void);

/*
 * Between the two (they nest) ended orphans are reaped, a few times a second, on the default
 * GMainContext: while a guest is made or ends, never while it is measured. Children of our own (of
 * our session) are left to those who started them.
 */
void host_reaper_hold(void);
void host_reaper_release(void);

/* How an orphan that was reaped here ended (STATUS as of waitpid(2)); the last few are known.
 * FALSE: not one of them, as where libvirtd started it. */
gboolean host_reaper_status(pid_t pid, int *status);
