/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * One transient domain: made paused, its threads' pins proven, resumed, and gone at the end on
 * every path. Slow calls run in a worker thread; callbacks come on the default GMainContext.
 */
#include <gio/gio.h>

#include "host/conn.h"
#include "host/domain.h"

typedef struct HostGuest HostGuest;

typedef enum {
    HOST_GUEST_SHUTDOWN, /* powered off by itself */
    HOST_GUEST_CRASHED,  /* panicked (where the guest can say so) */
    HOST_GUEST_FAILED,   /* QEMU died */
    HOST_GUEST_DESTROYED /* by us */
} HostGuestEnd;

/* The domain is gone. Comes once, and only when it was started. */
typedef void (*HostGuestStopped)(HostGuest *g, HostGuestEnd end, gpointer data);

HostGuest *host_guest_new(HostConn *conn, const char *name, const char *xml,
                          HostGuestStopped stopped, gpointer data);

/*
 * Makes the domain, paused, and proves the pins of SPEC (host_threads_check). DONE's result by
 * host_guest_start_finish: FALSE with ERROR (HOST_ERROR_LIBVIRT or HOST_ERROR_ISOLATION); the
 * domain may then exist and wants host_guest_destroy.
 */
void host_guest_start(HostGuest *g, const HostDomainSpec *spec, GAsyncReadyCallback done,
                      gpointer data);
gboolean host_guest_start_finish(HostGuest *g, GAsyncResult *result, GError **error);
/* HostThread * as read when it was started; NULL before. */
const GPtrArray *host_guest_threads(const HostGuest *g);

gboolean host_guest_resume(HostGuest *g, GError **error);
/*
 * What QEMU's monitor says to "info registers -a" (free()): text for a person, so whoever reads it
 * must bear with what it does not know. The guest may be destroyed or freed meanwhile. To an
 * emulator this is harmless: no instruction more or less is executed.
 */
void host_guest_registers(HostGuest *g, GAsyncReadyCallback done, gpointer data);
char *host_guest_registers_finish(GAsyncResult *result, GError **error);
/* Of all threads of QEMU since it began. */
gboolean host_guest_cpu_time(const HostGuest *g, guint64 *ns);
/* Ends the domain if there is one, in a worker thread; DONE comes when libvirt has seen it gone. */
void host_guest_destroy(HostGuest *g, GAsyncReadyCallback done, gpointer data);
/* How its QEMU ended: "signal 6, Aborted", "exit code 1"; NULL: not known (host/reaper.h). g_free.
 */
char *host_guest_end_text(const HostGuest *g);
/* The domain must be gone or never made. No callback comes after it. */
void host_guest_free(HostGuest *g);

/* Kills guests called NAME (by pidfd, after a look at the command line) whose nohzlab is no more.
 * TRUE when one was found. */
gboolean host_guest_reap(const char *proc, const char *name);
