/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Errors of the host room, and libvirt's turned into ours. */
#include <glib.h>
#include <libvirt/libvirt.h>

#define HOST_ERROR (host_error_quark())
GQuark host_error_quark(void);

typedef enum {
    HOST_ERROR_LIBVIRT,     /* libvirt refused or failed; its own words are in the message */
    HOST_ERROR_UNSUPPORTED, /* this machine or QEMU can't do what is asked */
    HOST_ERROR_ISOLATION,   /* a thread may run where it must not */
    HOST_ERROR_IO,
} HostError;

/* Sets ERROR from libvirt's last error of this thread: "WHAT: libvirt's message". */
void host_error_set_libvirt(GError **error, const char *what);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(virDomain, virDomainFree)
