/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/channel.h"

#include <errno.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/error.h"

#define PIECE_BYTES (64 * 1024)

struct HostChannel {
    char *path;
    GSocketListener *listener;
    GSocketConnection *peer;
    GCancellable *cancel;
    HostChannelRead read;
    gpointer data;
    char piece[PIECE_BYTES];
};

static void read_more(HostChannel *c);

/* Callbacks of cancelled operations come after the channel is gone: they look at the result only.
 */
static void
on_read(GObject *source, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    gssize n = g_input_stream_read_finish(G_INPUT_STREAM(source), result, &error);

    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;
    HostChannel *c = user;
    GCancellable *cancel = g_object_ref(c->cancel);
    c->read(c->piece, n > 0 ? n : 0, c->data);
    /* The reader may have freed us. */
    gboolean gone = g_cancellable_is_cancelled(cancel);
    g_object_unref(cancel);
    if (!gone && n > 0)
        read_more(c);
}

static void
read_more(HostChannel *c)
{
    GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(c->peer));
    g_input_stream_read_async(in, c->piece, sizeof(c->piece), G_PRIORITY_DEFAULT, c->cancel,
                              on_read, c);
}

static void
on_accept(GObject *source, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    GSocketConnection *peer =
        g_socket_listener_accept_finish(G_SOCKET_LISTENER(source), result, NULL, &error);

    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;
    HostChannel *c = user;
    /* A second peer is turned away, instead of waiting for ever. */
    g_socket_listener_close(c->listener);
    if (!peer) {
        c->read(c->piece, 0, c->data);
        return;
    }
    c->peer = peer;
    read_more(c);
}

/* Who may connect; until here the folder (ours) and the umask decide. */
static gboolean
give_to(const char *path, const char *user, GError **error)
{
    if (g_chmod(path, 0600) != 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't protect %s: %s", path,
                    g_strerror(errno));
        return FALSE;
    }
    struct passwd *pw = user && geteuid() == 0 ? getpwnam(user) : NULL;
    if (pw && chown(path, pw->pw_uid, -1) != 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't give %s to %s: %s", path, user,
                    g_strerror(errno));
        return FALSE;
    }
    return TRUE;
}

HostChannel *
host_channel_listen(const char *path, const char *user, HostChannelRead read, gpointer data,
                    GError **error)
{
    if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        g_set_error(
            error, HOST_ERROR, HOST_ERROR_IO,
            "%s is too long for a Unix socket (at most 107 bytes): choose a shorter run folder",
            path);
        return NULL;
    }
    g_autoptr(GSocketListener) listener = g_socket_listener_new();
    g_autoptr(GSocketAddress) address = g_unix_socket_address_new(path);
    g_autoptr(GError) why = NULL;
    if (!g_socket_listener_add_address(listener, address, G_SOCKET_TYPE_STREAM,
                                       G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, &why)) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't listen on %s: %s", path, why->message);
        return NULL;
    }
    if (!give_to(path, user, error)) {
        g_unlink(path);
        return NULL;
    }
    HostChannel *c = g_new0(HostChannel, 1);
    c->path = g_strdup(path);
    c->listener = g_steal_pointer(&listener);
    c->cancel = g_cancellable_new();
    c->read = read;
    c->data = data;
    g_socket_listener_accept_async(c->listener, c->cancel, on_accept, c);
    return c;
}

void
host_channel_send(HostChannel *c, const char *text)
{
    if (!c->peer)
        return;
    /* Short lines into a socket buffer of 200 KiB: a peer that does not read them loses them, we
     * don't wait. */
    GSocket *socket = g_socket_connection_get_socket(c->peer);
    g_socket_send_with_blocking(socket, text, strlen(text), FALSE, NULL, NULL);
}

void
host_channel_free(HostChannel *c)
{
    if (!c)
        return;
    g_cancellable_cancel(c->cancel);
    g_socket_listener_close(c->listener);
    g_clear_object(&c->listener);
    g_clear_object(&c->peer);
    g_clear_object(&c->cancel);
    g_unlink(c->path);
    g_free(c->path);
    g_free(c);
}
