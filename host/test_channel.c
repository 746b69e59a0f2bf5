/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A channel and its peers over real Unix sockets. */
#include "host/channel.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/error.h"

#define PATIENCE_US                                                                                \
    (10 * G_USEC_PER_SEC) /* until a test is given up; it waits for no time itself */

typedef struct {
    char *dir, *path;
    HostChannel *channel;
    GString *got;
    unsigned int ends, calls;
    gsize longest;
    gboolean free_in_callback;
} Fixture;

static void
on_read(const char *bytes, gsize len, gpointer data)
{
    Fixture *f = data;

    f->calls++;
    f->ends += len == 0;
    f->longest = MAX(f->longest, len);
    g_string_append_len(f->got, bytes, len);
    if (f->free_in_callback)
        g_clear_pointer(&f->channel, host_channel_free);
}

static void
listen_here(Fixture *f)
{
    g_autoptr(GError) error = NULL;
    f->channel = host_channel_listen(f->path, NULL, on_read, f, &error);
    g_assert_no_error(error);
}

static void
set_up(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    f->dir = g_dir_make_tmp("channel-XXXXXX", NULL);
    f->path = g_build_filename(f->dir, "socket", NULL);
    f->got = g_string_new(NULL);
    listen_here(f);
}

static void
tear_down(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_clear_pointer(&f->channel, host_channel_free);
    g_unlink(f->path);
    g_rmdir(f->dir);
    g_string_free(f->got, TRUE);
    g_free(f->path);
    g_free(f->dir);
}

/* A connected peer, or -1. */
static int
try_connect(const Fixture *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    g_assert_cmpuint(strlen(f->path), <, sizeof(address.sun_path));
    strcpy(address.sun_path, f->path);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    int failed = errno;
    close(fd);
    errno = failed;
    return -1;
}

static int
connect_peer(const Fixture *f)
{
    int fd = try_connect(f);
    g_assert_cmpint(fd, >=, 0);
    return fd;
}

static void
say(int fd, const char *text)
{
    g_assert_cmpint(send(fd, text, strlen(text), MSG_NOSIGNAL), ==, (gssize)strlen(text));
}

/* Whatever is ready now, and what comes of it. */
static void
settle(void)
{
    while (g_main_context_iteration(NULL, FALSE))
        ;
}

static void
wait_for(const gsize *have, gsize wanted)
{
    gint64 until = g_get_monotonic_time() + PATIENCE_US;

    while (*have < wanted && g_get_monotonic_time() < until)
        if (!g_main_context_iteration(NULL, FALSE))
            g_usleep(200);
    g_assert_cmpuint(*have, >=, wanted);
}

static void
wait_for_end(const Fixture *f)
{
    gint64 until = g_get_monotonic_time() + PATIENCE_US;

    while (f->ends == 0 && g_get_monotonic_time() < until)
        if (!g_main_context_iteration(NULL, FALSE))
            g_usleep(200);
    g_assert_cmpuint(f->ends, ==, 1);
}

/* All bytes come, zeros too, in their order and in pieces; then the end, once. */
static void
test_pieces(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *much = g_malloc(300 * 1024);
    int fd = connect_peer(f);
    gsize sent = 0;

    for (gsize i = 0; i < 300 * 1024; i++)
        much[i] = (char)(i * 7 + i / 1024);
    while (sent < 300 * 1024) {
        gssize n = send(fd, much + sent, 300 * 1024 - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += n > 0 ? n : 0;
        g_main_context_iteration(NULL, FALSE);
    }
    wait_for(&f->got->len, sent);
    g_assert_cmpmem(f->got->str, f->got->len, much, sent);
    g_assert_cmpuint(f->longest, <=, 64 * 1024);
    g_assert_cmpuint(f->ends, ==, 0);
    close(fd);
    wait_for_end(f);
    settle();
    g_assert_cmpuint(f->ends, ==, 1);
}

static void
test_peer_gone_at_once(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    close(connect_peer(f));
    wait_for_end(f);
    g_assert_cmpuint(f->got->len, ==, 0);
}

static void
test_half_closed(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    char answer[8] = "";
    int fd = connect_peer(f);

    say(fd, "last words");
    shutdown(fd, SHUT_WR);
    wait_for_end(f);
    g_assert_cmpstr(f->got->str, ==, "last words");
    host_channel_send(f->channel, "go\n");
    g_assert_cmpint(recv(fd, answer, sizeof(answer), MSG_DONTWAIT), ==, 3);
    close(fd);
}

static void
test_send(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    char answer[64] = "";

    host_channel_send(f->channel, "nobody is there\n");
    int fd = connect_peer(f);
    say(fd, "x");
    wait_for(&f->got->len, 1);
    host_channel_send(f->channel, "go ready\n");
    host_channel_send(f->channel, "go end\n");
    g_assert_cmpint(recv(fd, answer, sizeof(answer), MSG_DONTWAIT), ==, 16);
    g_assert_cmpmem(answer, 16, "go ready\ngo end\n", 16);
    /* One that never reads must not hold us up, nor one that is gone end us. */
    g_autofree char *much = g_strnfill(1024 * 1024, 'x');
    for (int i = 0; i < 8; i++)
        host_channel_send(f->channel, much);
    close(fd);
    host_channel_send(f->channel, "go\n");
    settle();
}

/* Nobody can slip in beside the guest's QEMU, or in its place later. */
static void
test_second_peer(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    int first = connect_peer(f);

    say(first, "first");
    wait_for(&f->got->len, 5);
    int second = try_connect(f);
    g_assert_cmpint(second, <, 0);
    g_assert_cmpint(errno, ==, ECONNREFUSED);
    close(first);
    wait_for_end(f);
    g_assert_cmpint(try_connect(f), <, 0);
    settle();
    g_assert_cmpstr(f->got->str, ==, "first");
    g_assert_cmpuint(f->ends, ==, 1);
}

/* Two that came at the same time: the one that was first is served, the other hears of its end. */
static void
test_two_at_once(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    char byte;
    int first = connect_peer(f), second = try_connect(f);

    say(first, "first");
    if (second >= 0)
        g_assert_cmpint(send(second, "second", 6, MSG_NOSIGNAL), ==, 6);
    wait_for(&f->got->len, 5);
    settle();
    g_assert_cmpstr(f->got->str, ==, "first");
    if (second >= 0)
        g_assert_cmpint(recv(second, &byte, 1, MSG_DONTWAIT), <=, 0);
    if (second >= 0)
        g_assert_cmpint(errno, !=, EAGAIN);
    close(first);
    if (second >= 0)
        close(second);
}

static void
test_free_while_listening(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_clear_pointer(&f->channel, host_channel_free);
    settle();
    g_assert_cmpuint(f->calls, ==, 0);
    g_assert_false(g_file_test(f->path, G_FILE_TEST_EXISTS));
    g_assert_cmpint(try_connect(f), <, 0);
    /* The name is free again. */
    listen_here(f);
}

static void
test_free_with_peer_waiting(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    int fd = connect_peer(f);

    say(fd, "unheard");
    g_clear_pointer(&f->channel, host_channel_free);
    settle();
    g_assert_cmpuint(f->calls, ==, 0);
    close(fd);
}

static void
test_free_while_reading(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    int fd = connect_peer(f);

    say(fd, "a");
    wait_for(&f->got->len, 1);
    settle();
    say(fd, "b");
    unsigned int calls = f->calls;
    g_clear_pointer(&f->channel, host_channel_free);
    close(fd);
    settle();
    g_assert_cmpuint(f->calls, ==, calls);
    g_assert_cmpstr(f->got->str, ==, "a");
}

static void
test_free_in_callback(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    int fd = connect_peer(f);

    f->free_in_callback = TRUE;
    say(fd, "a");
    wait_for(&f->got->len, 1);
    g_assert_null(f->channel);
    send(fd, "b", 1, MSG_NOSIGNAL);
    close(fd);
    settle();
    g_assert_cmpuint(f->calls, ==, 1);
}

static void
test_free_at_end(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    f->free_in_callback = TRUE;
    close(connect_peer(f));
    wait_for_end(f);
    settle();
    g_assert_null(f->channel);
    g_assert_cmpuint(f->calls, ==, 1);
}

static void
check_refused(const char *path, const char *words)
{
    g_autoptr(GError) error = NULL;
    HostChannel *c = host_channel_listen(path, NULL, on_read, NULL, &error);

    g_assert_null(c);
    g_assert_error(error, HOST_ERROR, HOST_ERROR_IO);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, words));
}

static void
test_refused(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *name = g_strnfill(108 - strlen(f->dir) - 1, 'x');
    g_autofree char *longer = g_build_filename(f->dir, name, NULL);
    g_autofree char *longest = g_strndup(longer, 107);
    g_autofree char *missing = g_build_filename(f->dir, "none", "socket", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_cmpuint(strlen(longer), ==, 108);
    check_refused(longer, longer);
    HostChannel *c = host_channel_listen(longest, NULL, on_read, f, &error);
    g_assert_no_error(error);
    g_assert_true(g_file_test(longest, G_FILE_TEST_EXISTS));
    host_channel_free(c);
    g_assert_false(g_file_test(longest, G_FILE_TEST_EXISTS));
    check_refused(missing, missing);
    /* A channel in use, and a file of somebody's, are left as they are. */
    check_refused(f->path, f->path);
    int fd = connect_peer(f);
    close(fd);
    g_assert_true(g_file_set_contents(longest, "kept", 4, NULL));
    check_refused(longest, longest);
    g_autofree char *kept = NULL;
    g_assert_true(g_file_get_contents(longest, &kept, NULL, NULL));
    g_assert_cmpstr(kept, ==, "kept");
    g_unlink(longest);
}

static void
test_mode(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    GStatBuf st;

    g_assert_cmpint(g_stat(f->path, &st), ==, 0);
    g_assert_true(S_ISSOCK(st.st_mode));
    g_assert_cmpuint(st.st_mode & 0777, ==, 0600);
    g_assert_cmpuint(st.st_uid, ==, geteuid());
    /* A user that is not there gets nothing. */
    g_autofree char *path = g_build_filename(f->dir, "other", NULL);
    HostChannel *c = host_channel_listen(path, "no-such-user", on_read, f, NULL);
    g_assert_nonnull(c);
    g_assert_cmpint(g_stat(path, &st), ==, 0);
    g_assert_cmpuint(st.st_uid, ==, geteuid());
    g_assert_cmpuint(st.st_mode & 0777, ==, 0600);
    host_channel_free(c);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *path;
        void (*run)(Fixture *, gconstpointer);
    } tests[] = {
        {"/channel/pieces", test_pieces},
        {"/channel/peer-gone-at-once", test_peer_gone_at_once},
        {"/channel/half-closed", test_half_closed},
        {"/channel/send", test_send},
        {"/channel/second-peer", test_second_peer},
        {"/channel/two-at-once", test_two_at_once},
        {"/channel/free-while-listening", test_free_while_listening},
        {"/channel/free-with-peer-waiting", test_free_with_peer_waiting},
        {"/channel/free-while-reading", test_free_while_reading},
        {"/channel/free-in-callback", test_free_in_callback},
        {"/channel/free-at-end", test_free_at_end},
        {"/channel/refused", test_refused},
        {"/channel/mode", test_mode},
    };

    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].path, Fixture, NULL, set_up, tests[i].run, tear_down);
    return g_test_run();
}
