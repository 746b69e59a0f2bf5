/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "guest/power.h"
#include "guest/word.h"

#define PORTS "/sys/class/virtio-ports"
#define PORT_WAIT_MS 3000
#define PORT_POLL_MS 10

static void __attribute__((noreturn)) port_broken(const char *what)
{
    bm_console_say("the report port broke: %s", what);
    bm_power_off();
}

static bool
port_is_ours(const char *entry)
{
    char path[512], name[sizeof BM_PORT_NAME + 1];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, PORTS "/%s/name", entry);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, name, sizeof name);
    close(fd);
    return n == sizeof BM_PORT_NAME && memcmp(name, BM_PORT_NAME "\n", (size_t)n) == 0;
}

static bool
port_find(char *path, size_t cap)
{
    DIR *dir = opendir(PORTS);
    const struct dirent *entry;
    bool found = false;

    if (dir == NULL)
        return false;
    while (!found && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || !port_is_ours(entry->d_name))
            continue;
        snprintf(path, cap, "/dev/%s", entry->d_name);
        found = true;
    }
    closedir(dir);
    return found;
}

bool
bm_port_open(BmPort *p, bool wait, char *why, size_t cap)
{
    static const struct timespec pause = {.tv_nsec = PORT_POLL_MS * 1000000L};
    char path[512];
    bool found = false;

    memset(p, 0, sizeof *p);
    p->fd = -1;
    /* Ports are announced by the device some time after the driver is there. */
    for (int ms = 0; ms < PORT_WAIT_MS; ms += PORT_POLL_MS) {
        found = port_find(path, sizeof path);
        if (found || !wait)
            break;
        nanosleep(&pause, NULL);
    }
    if (!found) {
        snprintf(why, cap, "no virtio-serial port is called " BM_PORT_NAME);
        return false;
    }
    p->fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (p->fd >= 0)
        return true;
    snprintf(why, cap, "%.64s: %s", path, strerror(errno));
    return false;
}

static void
port_flush(BmPort *p)
{
    size_t done = 0;

    while (done < p->n_out) {
        struct pollfd poll_fd = {.fd = p->fd, .events = POLLOUT};
        ssize_t n;

        /* A write waits for a host that is not there: right for the first, which may come before
         * the host has connected, a hang after it has gone. No timeout: see report-format.md. */
        if (p->connected) {
            if (poll(&poll_fd, 1, -1) < 0 && errno != EINTR)
                port_broken(strerror(errno));
            if (poll_fd.revents & (POLLHUP | POLLERR | POLLNVAL))
                port_broken("the host has closed it");
        }
        n = write(p->fd, p->out + done, p->n_out - done);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            port_broken(n < 0 ? strerror(errno) : "nothing can be written");
        p->connected = true;
        done += (size_t)n;
    }
    p->n_out = 0;
}

static void
port_put(BmPort *p, const char *line, size_t len)
{
    if (p->n_out + len + 1 > sizeof p->out)
        port_flush(p);
    memcpy(p->out + p->n_out, line, len);
    p->n_out += len;
    p->out[p->n_out++] = '\n';
    p->bytes += len + 1;
    p->lines++;
}

void
bm_port_line(BmPort *p, const char *format, ...)
{
    char line[BM_LINE_MAX];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n > 0)
        port_put(p, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

size_t
bm_port_rest(BmPort *p, const char *head, const char *rest, size_t len)
{
    char line[BM_LINE_MAX]; /* its NUL stands where the newline will */
    size_t n = strlen(head), used;

    memcpy(line, head, n);
    line[n++] = ' ';
    n += bm_word_encode(line + n, sizeof line - n, rest, len, true, &used);
    port_put(p, line, n);
    return used;
}

void
bm_port_text(BmPort *p, const char *line, size_t len)
{
    char piece[BM_LINE_MAX];

    for (;;) {
        size_t used;

        bm_word_encode(piece, sizeof piece - sizeof "text ", line, len, true, &used);
        bm_port_line(p, "%s %s", used < len ? "part" : "text", piece);
        if (used == len)
            return;
        line += used;
        len -= used;
    }
}

bool
bm_port_has_room(const BmPort *p, size_t len)
{
    /* What must still fit: `cut`, `done` and `barrier` lines of all workloads, the last facts,
     * `end`. */
    return p->bytes + len + 1024 * 1024 < BM_REPORT_MAX;
}

/* The next line from the host, NUL in place of its newline; it stays in p->in. Returns its size. */
static size_t
port_read_line(BmPort *p)
{
    for (;;) {
        char *newline = memchr(p->in, '\n', p->n_in);
        ssize_t n;

        if (newline != NULL) {
            *newline = '\0';
            return (size_t)(newline - p->in) + 1;
        }
        if (p->n_in == sizeof p->in)
            port_broken("the host sent a line that is too long");
        n = read(p->fd, p->in + p->n_in, sizeof p->in - p->n_in);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            port_broken(n < 0 ? strerror(errno) : "the host has closed it");
        p->n_in += (size_t)n;
    }
}

void
bm_port_barrier(BmPort *p, const char *name, bool wait)
{
    size_t size;

    bm_port_line(p, "barrier %s", name);
    port_flush(p);
    if (!wait)
        return;
    size = port_read_line(p);
    if (strncmp(p->in, "go ", 3) != 0 || strcmp(p->in + 3, name) != 0)
        port_broken("the host's answer to a barrier is not `go` with its name");
    p->n_in -= size;
    memmove(p->in, p->in + size, p->n_in);
}

void
bm_port_end(BmPort *p)
{
    bm_port_line(p, "end %lu", p->lines);
    port_flush(p);
    /* The driver queues what is written; closing tells the device so and waits for its answer, and
     * the device takes what was queued before. Power-off would not wait. */
    close(p->fd);
    p->fd = -1;
}
