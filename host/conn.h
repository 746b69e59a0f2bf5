/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A connection to libvirt: by default its QEMU driver embedded in this process (qemu:///embed),
 * which needs no libvirtd; or any URI. libvirt's events run on the default GMainContext.
 */
#include <glib.h>
#include <libvirt/libvirt.h>

typedef struct HostConn HostConn;

/*
 * URI NULL: embedded, with its root in RUN_DIR/libvirt and QEMU's capabilities kept in CACHE_DIR
 * (both are created; RUN_DIR must belong to this process alone: libvirt locks the root). Takes
 * about 20 ms. Call from the main thread.
 */
HostConn *host_conn_open(const char *uri, const char *run_dir, const char *cache_dir,
                         GError **error);
void host_conn_close(HostConn *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostConn, host_conn_close)

/* A domain stopped; DETAIL is a virDomainEventStoppedDetailType. */
typedef void (*HostConnStopped)(int detail, gpointer data);
/* Tells when the domain NAME stops, on the default GMainContext, until host_conn_unwatch. One watch
 * a name. */
void host_conn_watch(HostConn *c, const char *name, HostConnStopped stopped, gpointer data);
void host_conn_unwatch(HostConn *c, const char *name);

virConnectPtr host_conn_virt(HostConn *c);
gboolean host_conn_embedded(const HostConn *c);
const char *host_conn_uri(const HostConn *c);
/* libvirt's and QEMU's versions, major * 1000000 + minor * 1000 + release. QEMU's is asked once;
 * the first call after QEMU was installed or updated takes seconds (libvirt probes it). 0 with
 * ERROR set on failure. */
gulong host_conn_libvirt_version(HostConn *c);
gulong host_conn_qemu_version(HostConn *c, GError **error);
/* Of any QEMU program, by asking it. 0 with ERROR set when it is none. */
gulong host_qemu_version(const char *path, GError **error);
char *host_version_text(gulong version); /* "10.0.2"; g_free */

/* The system's QEMU, which guests run unless something else is said. */
#define HOST_QEMU "/usr/bin/qemu-system-x86_64"
/* The first QEMU that shares icount's instruction budget between vCPUs; older ones hang bringing up
 * the second. */
#define HOST_QEMU_ICOUNT_SMP 8001000
