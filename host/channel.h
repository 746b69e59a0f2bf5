/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A Unix socket we listen on and one peer (a guest's QEMU) connects to. Runs on the default
 * GMainContext. The peer is not trusted: what it sends is handed over in pieces of at most 64 KiB
 * and never kept here.
 */
#include <gio/gio.h>

typedef struct HostChannel HostChannel;

/* BYTES are the peer's; LEN 0: it closed, or reading failed. */
typedef void (*HostChannelRead)(const char *bytes, gsize len, gpointer data);

/*
 * Listens on PATH (at most 107 bytes), which only root and USER may open (USER NULL or unknown:
 * only ourselves). Any file there is an error. Only the first peer is served.
 */
HostChannel *host_channel_listen(const char *path, const char *user, HostChannelRead read,
                                 gpointer data, GError **error);
/* Sends TEXT when the peer is there; errors are dropped (a peer that went away shows in READ). */
void host_channel_send(HostChannel *c, const char *text);
/* Closes, and removes the socket's file. No callback comes after it. */
void host_channel_free(HostChannel *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostChannel, host_channel_free)

/* The user libvirt runs QEMU as. */
#define HOST_QEMU_USER "libvirt-qemu"
