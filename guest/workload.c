/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest/collect.h"
#include "guest/trace.h"

#define KILL_WAIT_MS 10000 /* for a process to die of SIGKILL */
#define DRAIN_MS 1000      /* for its pipes to close after that */
#define FD_SAFE 10         /* our descriptors start here, so that none is in the child's way */

static const char default_path[] =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* What a program wrote into one pipe: the first MAX bytes, and whether there were more. */
typedef struct {
    int fd; /* read end; -1 once closed */
    char *bytes;
    size_t len, max;
    bool more;
} Sink;

typedef struct {
    Sink output, own;
    pid_t pid;
    int status; /* as `done` sends it; -1 while it runs */
    bool timed_out;
} Running;

static long long
now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int
bm_workload_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void
sink_close(Sink *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

static void
sink_free(Sink *s)
{
    sink_close(s);
    free(s->bytes);
    s->bytes = NULL;
}

/* Returns the write end, or -1 with errno. */
static int
sink_open(Sink *s, size_t max)
{
    int fds[2], read_fd, write_fd;

    *s = (Sink){.fd = -1, .max = max, .bytes = malloc(max)};
    if (s->bytes == NULL || pipe2(fds, O_CLOEXEC) != 0)
        return -1;
    read_fd = fcntl(fds[0], F_DUPFD_CLOEXEC, FD_SAFE);
    write_fd = fcntl(fds[1], F_DUPFD_CLOEXEC, FD_SAFE);
    close(fds[0]);
    close(fds[1]);
    s->fd = read_fd;
    if (read_fd < 0 || write_fd < 0)
        return -1;
    fcntl(read_fd, F_SETFL, O_NONBLOCK);
    return write_fd;
}

/* Take what is there; beyond MAX it is read and dropped, so that the program never waits for us. */
static void
sink_read(Sink *s)
{
    char spill[4096];
    bool full = s->len == s->max;
    ssize_t n =
        full ? read(s->fd, spill, sizeof spill) : read(s->fd, s->bytes + s->len, s->max - s->len);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        sink_close(s);
        return;
    }
    if (full)
        s->more = true;
    else
        s->len += (size_t)n;
}

static void __attribute__((noreturn))
child_start(const BmWorkload *w, const BmCpus *cpus, int output_fd, int own_fd)
{
    char name[BM_NAME_MAX + 32], report_fd[64];
    char *environment[] = {
        (char *)default_path, (char *)"LANG=C", (char *)"HOME=/tmp", name, report_fd, NULL};
    BmCpus pinned = {0};
    sigset_t none;
    int failed;

    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(output_fd, 1);
    dup2(output_fd, 2);
    dup2(own_fd, BM_REPORT_FD);
    snprintf(name, sizeof name, "NOHZLAB_WORKLOAD=%s", w->name);
    snprintf(report_fd, sizeof report_fd, "NOHZLAB_REPORT_FD=%d", BM_REPORT_FD);
    if (w->cpu >= 0)
        pinned.bits[(size_t)w->cpu / (8 * sizeof pinned.bits[0])] |=
            1ul << (size_t)w->cpu % (8 * sizeof pinned.bits[0]);
    if (chdir("/") != 0 || !bm_cpus_pin(w->cpu >= 0 ? &pinned : cpus)) {
        dprintf(1, "nohzlab: cannot run on vCPU %d: %s\n", w->cpu, strerror(errno));
        _exit(126);
    }
    execve(w->argv[0], w->argv, environment);
    failed = errno;
    dprintf(1, "nohzlab: cannot run %.1024s: %s\n", w->argv[0], strerror(failed));
    _exit(failed == ENOENT ? 127 : 126);
}

/* Reap every child that has ended, ours and those it left behind. */
static void
reap(Running *r)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != r->pid)
            continue;
        r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

/* Sleep until something happens or the time UNTIL_MS has come; take in what the program wrote. */
static void
wait_once(Running *r, int signals, long long until_ms)
{
    struct pollfd fds[] = {
        {.fd = signals, .events = POLLIN},
        {.fd = r->output.fd, .events = POLLIN},
        {.fd = r->own.fd, .events = POLLIN},
    };
    struct signalfd_siginfo info;
    long long left_ms = until_ms - now_ms();

    if (left_ms < 0)
        left_ms = 0;
    if (poll(fds, sizeof fds / sizeof fds[0], left_ms > INT_MAX ? INT_MAX : (int)left_ms) <= 0)
        return;
    if (fds[1].revents != 0)
        sink_read(&r->output);
    if (fds[2].revents != 0)
        sink_read(&r->own);
    if (fds[0].revents == 0)
        return;
    while (read(signals, &info, sizeof info) == sizeof info)
        ;
    reap(r);
}

/* False: it cannot be killed. */
static bool
wait_for_end(Running *r, int signals, unsigned int timeout_s)
{
    long long until_ms = now_ms() + timeout_s * 1000LL;

    while (r->status < 0 && now_ms() < until_ms)
        wait_once(r, signals, until_ms);
    r->timed_out = r->status < 0;
    if (r->timed_out)
        kill(-1, SIGKILL);
    until_ms = now_ms() + KILL_WAIT_MS;
    while (r->status < 0 && now_ms() < until_ms)
        wait_once(r, signals, until_ms);
    return r->status >= 0;
}

/*
 * Everything else that runs, and is not the kernel's, was left by the program (we are PID 1, so -1
 * spares only us): the next workload shall find the guest empty.
 */
static void
clean_up(Running *r, int signals)
{
    long long until_ms = now_ms() + DRAIN_MS;

    kill(-1, SIGKILL);
    while ((r->output.fd >= 0 || r->own.fd >= 0) && now_ms() < until_ms)
        wait_once(r, signals, until_ms);
    reap(r);
    sink_close(&r->output);
    sink_close(&r->own);
}

static bool
start(Running *r, const BmWorkload *w, const BmCpus *cpus)
{
    int output_fd, own_fd;

    output_fd = sink_open(&r->output, BM_OUTPUT_MAX);
    own_fd = sink_open(&r->own, BM_OWN_LINES_MAX);
    r->status = -1;
    r->pid = output_fd < 0 || own_fd < 0 ? -1 : fork();
    if (r->pid == 0)
        child_start(w, cpus, output_fd, own_fd);
    if (output_fd >= 0)
        close(output_fd);
    if (own_fd >= 0)
        close(own_fd);
    return r->pid > 0;
}

bool
bm_workload_run(const BmWorkload *w, BmPort *p, bool barriers, const BmCpus *cpus, int signals,
                char *why, size_t cap)
{
    char barrier[BM_NAME_MAX + 16];
    Running r = {0};
    uint64_t tracer_ns;
    size_t dropped;
    bool ended;

    bm_collect_clear(w);
    if (!bm_trace_start(w, &tracer_ns, why, cap))
        return false;
    snprintf(barrier, sizeof barrier, "begin:%s", w->name);
    bm_port_line(p, "begin %s", w->name);
    bm_port_barrier(p, barrier, barriers);
    if (!start(&r, w, cpus)) {
        snprintf(why, cap, "workload %s: cannot start a process: %s", w->name, strerror(errno));
        sink_free(&r.output);
        sink_free(&r.own);
        return false;
    }
    ended = wait_for_end(&r, signals, w->timeout_s);
    bm_trace_stop(w);
    clean_up(&r, signals);
    snprintf(barrier, sizeof barrier, "end:%s", w->name);
    bm_port_barrier(p, barrier, barriers);
    bm_trace_send(w, tracer_ns, p);
    dropped = bm_collect_own_lines(p, w, r.own.bytes, r.own.len) + r.own.more;
    bm_collect_output(p, w, r.output.bytes, r.output.len, r.output.more, dropped);
    bm_collect_files(p, w);
    sink_free(&r.output);
    sink_free(&r.own);
    if (!ended) {
        snprintf(why, cap, "workload %s: cannot be killed after its timeout of %u s", w->name,
                 w->timeout_s);
        return false;
    }
    bm_port_line(p, "done %s %d", w->name, r.timed_out ? BM_STATUS_TIMEOUT : r.status);
    return true;
}
