/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "guest/cpus.h"
#include "guest/trace_line.h"

#define TRACEFS "/sys/kernel/tracing"
/* A call takes two records of about 50 bytes: room for some 80,000 calls. The other CPUs record
 * nothing and get next to nothing, or 40 of them would take the guest's memory. */
#define BUFFER_KIB "8192"
#define BUFFER_OTHERS_KIB "8"

/* The system call that does least of those that can be traced: a switch over its argument, some
 * eight instructions. (What answers calls that don't exist belongs to the entry code, which can't.)
 */
#define LEAST "__x64_sys_sched_get_priority_max"
#define LEAST_CALLS 100

typedef struct {
    const char *file, *text;
} Step;

static unsigned int
traced_cpu(const BmWorkload *w)
{
    return w->cpu < 0 ? 0 : (unsigned int)w->cpu;
}

static bool
set(const char *file, const char *text)
{
    char path[128];
    int fd;
    bool good;

    snprintf(path, sizeof path, TRACEFS "/%s", file);
    fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return false;
    good = text[0] == '\0' || write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (close(fd) != 0)
        good = false;
    return good;
}

static bool
mount_tracefs(char *why, size_t cap)
{
    if (mount("tracefs", TRACEFS, "tracefs", 0, NULL) == 0 || errno == EBUSY)
        return true;
    snprintf(why, cap, "this kernel has no tracing: " TRACEFS ": %s", strerror(errno));
    return false;
}

static bool
steps_take(const Step *steps, size_t n, const char *function, char *why, size_t cap)
{
    for (size_t i = 0; i < n; i++) {
        if (set(steps[i].file, steps[i].text))
            continue;
        snprintf(why, cap, "cannot trace %s in this kernel: %s = %.100s: %s", function,
                 steps[i].file, steps[i].text, strerror(errno));
        return false;
    }
    return true;
}

/* Everything but what is traced. */
static bool
prepare(unsigned int cpu, const char *function, char *why, size_t cap)
{
    char mask[BM_CPUMASK_MAX], buffer[64];

    bm_trace_cpumask(mask, cpu);
    snprintf(buffer, sizeof buffer, "per_cpu/cpu%u/buffer_size_kb", cpu);
    const Step steps[] = {
        {"tracing_on", "0"},
        {"buffer_size_kb", BUFFER_OTHERS_KIB},
        {buffer, BUFFER_KIB},
        {"tracing_cpumask", mask},
    };
    return steps_take(steps, sizeof steps / sizeof steps[0], function, why, cap);
}

static bool
start(const char *function, char *why, size_t cap)
{
    const Step steps[] = {
        {"set_ftrace_filter", function},
        {"current_tracer", "function_graph"},
        {"options/funcgraph-cpu", "0"},
        {"options/funcgraph-overhead", "0"},
        {"tracing_on", "1"},
    };
    return steps_take(steps, sizeof steps / sizeof steps[0], function, why, cap);
}

static void
put_away(void)
{
    set("current_tracer", "nop");
    set("set_ftrace_filter", "");
    set("trace", "");
}

/* Calls TAKE with the duration of each of the first MAX calls; returns how many there are. */
static unsigned long
each_call(unsigned int cpu, const char *function, unsigned long max,
          void (*take)(unsigned long i, uint64_t ns, void *data), void *data)
{
    char path[128], line[512];
    unsigned long calls = 0;
    uint64_t ns;
    FILE *f;

    snprintf(path, sizeof path, TRACEFS "/per_cpu/cpu%u/trace", cpu);
    f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (!bm_trace_line(line, function, &ns))
            continue;
        if (calls < max)
            take(calls, ns, data);
        calls++;
    }
    if (f != NULL)
        fclose(f);
    return calls;
}

static void
keep_least(unsigned long i, uint64_t ns, void *data)
{
    uint64_t *least = data;

    if (i == 0 || ns < *least)
        *least = ns;
}

/*
 * What the tracer itself adds to a duration: the system call that does least, traced in the same
 * way. The least of some calls, since an interrupt can only lengthen one. 0: not known.
 */
static uint64_t
calibrate(unsigned int cpu)
{
    BmCpus here = {0}, away;
    uint64_t least = 0;
    char why[256];

    here.bits[cpu / (8 * sizeof here.bits[0])] = 1ul << cpu % (8 * sizeof here.bits[0]);
    bm_cpus_housekeeping(&away);
    if (!start(LEAST, why, sizeof why) || !bm_cpus_pin(&here))
        return 0;
    for (int i = 0; i < LEAST_CALLS; i++)
        sched_get_priority_max(SCHED_OTHER);
    bm_cpus_pin(&away);
    set("tracing_on", "0");
    each_call(cpu, LEAST, LEAST_CALLS, keep_least, &least);
    return least;
}

bool
bm_trace_start(const BmWorkload *w, uint64_t *tracer_ns, char *why, size_t cap)
{
    unsigned int cpu = traced_cpu(w);

    *tracer_ns = 0;
    if (w->trace == NULL)
        return true;
    if (!mount_tracefs(why, cap) || !prepare(cpu, w->trace, why, cap))
        return false;
    *tracer_ns = calibrate(cpu);
    put_away();
    return start(w->trace, why, cap);
}

void
bm_trace_stop(const BmWorkload *w)
{
    if (w->trace != NULL)
        set("tracing_on", "0");
}

/* Records the ring buffer had no room for ("overrun: N" of per_cpu/cpuN/stats). */
static unsigned long
overrun(unsigned int cpu)
{
    char path[128], line[256];
    unsigned long lost = 0;
    FILE *f;

    snprintf(path, sizeof path, TRACEFS "/per_cpu/cpu%u/stats", cpu);
    f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "overrun: %lu", &lost) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return lost;
}

typedef struct {
    BmPort *port;
    unsigned int cpu;
} Sender;

static void
send_call(unsigned long i, uint64_t ns, void *data)
{
    const Sender *s = data;

    bm_port_line(s->port, "batch " BM_TRACE_LOOP " %u %lu measure 1 %lu", s->cpu, i,
                 (unsigned long)ns);
}

void
bm_trace_send(const BmWorkload *w, uint64_t tracer_ns, BmPort *p)
{
    Sender s = {p, traced_cpu(w)};
    unsigned long lost, calls;

    if (w->trace == NULL)
        return;
    lost = overrun(s.cpu);
    calls = each_call(s.cpu, w->trace, BM_TRACE_MAX, send_call, &s);
    bm_port_line(p, "value trace_calls %lu", calls);
    bm_port_line(p, "value trace_lost %lu", lost);
    if (tracer_ns > 0)
        bm_port_line(p, "value tracer_ns %lu", (unsigned long)tracer_ns);
    put_away();
}
