/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evaluates a window that has ended. */
#include "host/error.h"
#include "host/observe_state.h"

static HostObservation *
observation_new(const HostObserver *o)
{
    HostObservation *r = g_new0(HostObservation, 1);

    for (guint i = 0; i < HOST_OBSERVERS; i++) {
        r->state[i] = o->state[i];
        r->state[i].why_not = g_strdup(o->state[i].why_not);
        r->state[i].incomplete = NULL;
    }
    r->start_ns = o->start_ns;
    r->duration_ns = o->stop_ns > o->start_ns ? o->stop_ns - o->start_ns : 0;
    r->exits = g_array_new(FALSE, FALSE, sizeof(HostExitCount));
    r->timers = g_array_new(FALSE, FALSE, sizeof(HostTimerCount));
    r->foreign = g_array_new(FALSE, FALSE, sizeof(HostForeignTask));
    r->interrupts = host_interrupt_counts_new();
    r->ticks = g_array_new(FALSE, FALSE, sizeof(HostTickCount));
    r->targets = g_array_new(FALSE, FALSE, sizeof(HostTargetCount));
    return r;
}

void
host_observation_free(HostObservation *o)
{
    if (!o)
        return;
    for (guint i = 0; i < HOST_OBSERVERS; i++) {
        g_free(o->state[i].why_not);
        g_free(o->state[i].incomplete);
    }
    g_array_unref(o->exits);
    g_array_unref(o->timers);
    g_array_unref(o->foreign);
    g_array_unref(o->interrupts);
    g_array_unref(o->ticks);
    g_array_unref(o->targets);
    g_free(o);
}

static void
lose(HostObservation *r, HostObserve which, const char *why)
{
    r->state[which].have = FALSE;
    g_free(r->state[which].why_not);
    r->state[which].why_not = g_strdup(why);
}

static void incomplete(HostObservation *r, HostObserve which, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static void
incomplete(HostObservation *r, HostObserve which, const char *format, ...)
{
    g_autofree char *before = r->state[which].incomplete;
    va_list args;

    va_start(args, format);
    g_autofree char *why = g_strdup_vprintf(format, args);
    va_end(args);
    r->state[which].incomplete = g_strconcat(before ? before : "", before ? "; " : "", why, NULL);
}

/* Counter NUMBER of O, or NULL; WHICH loses its numbers when it was there and can't be read. */
static const HostHist *
counter(const HostObserver *o, HostObservation *r, int number, HostObserve which)
{
    g_autoptr(GError) error = NULL;

    if (!o->counters || number < 0 || !r->state[which].have)
        return NULL;
    const HostHist *h = host_counters_get(o->counters, number, &error);
    if (!h)
        lose(r, which, error->message);
    else if (h->uncounted)
        incomplete(r, which, "up to %" G_GUINT64_FORMAT " events were not counted", h->uncounted);
    return h;
}

static void
read_interrupts(const HostObserver *o, HostObservation *r)
{
    g_autoptr(HostCpuset) missing = hwloc_bitmap_alloc();

    for (guint i = 0; i < HOST_INTERRUPT_FILES; i++) {
        if (!o->before[i] || !o->after[i]) {
            lose(r, HOST_OBSERVE_INTERRUPTS, "/proc/interrupts or /proc/softirqs can't be read");
            return;
        }
        host_interrupts_delta(o->before[i], o->after[i], i == HOST_SOFT_INTERRUPTS, r->interrupts,
                              missing);
        if (!hwloc_bitmap_iszero(missing)) {
            g_autofree char *list = host_cpulist_format(missing);
            incomplete(r, HOST_OBSERVE_INTERRUPTS, "CPUs %s were not online all the time", list);
        }
    }
}

/* A row for each isolated CPU, with the local timer's interrupts. */
static void
read_timer_interrupts(const HostObserver *o, HostObservation *r)
{
    g_autoptr(GArray) counts = host_interrupt_counts_new();
    g_autoptr(HostCpuset) missing = hwloc_bitmap_dup(o->isolated);
    const HostInterrupts *before = o->before[HOST_HARD_INTERRUPTS];
    const HostInterrupts *after = o->after[HOST_HARD_INTERRUPTS];
    int cpu;

    if (before && after)
        host_interrupts_delta(before, after, FALSE, counts, missing);
    hwloc_bitmap_foreach_begin(cpu, o->isolated)
        HostTickCount t = {.cpu = (unsigned int)cpu,
                           .have_interrupts = !hwloc_bitmap_isset(missing, (unsigned int)cpu)};
    for (guint i = 0; i < counts->len; i++) {
        const HostInterruptCount *c = &g_array_index(counts, HostInterruptCount, i);
        if (c->cpu == t.cpu && host_interrupt_is_timer(c))
            t.timer_interrupts += c->count;
    }
    g_array_append_val(r->ticks, t);
    hwloc_bitmap_foreach_end();
}

static void
read_foreign(HostObserver *o, HostObservation *r)
{
    g_autoptr(GError) error = NULL;
    GArray *tasks = host_foreign_read(o->foreign, o->start_ns, o->stop_ns, o->lab,
                                      &r->state[HOST_OBSERVE_FOREIGN].incomplete, &error);

    if (!tasks) {
        lose(r, HOST_OBSERVE_FOREIGN, error->message);
        return;
    }
    g_array_unref(r->foreign);
    r->foreign = tasks;
}

static void
read_targets(HostObserver *o, HostObservation *r)
{
    g_autoptr(GError) error = NULL;
    GArray *counts =
        host_targets_read(o->targets, &r->state[HOST_OBSERVE_TARGETS].incomplete, &error);

    if (!counts) {
        lose(r, HOST_OBSERVE_TARGETS, error->message);
        return;
    }
    g_array_unref(r->targets);
    r->targets = counts;
}

static void
read_counters(HostObserver *o, HostObservation *r)
{
    g_autoptr(GError) error = NULL;

    if (!o->counters)
        return;
    if (!host_counters_collect(o->counters, &error)) {
        if (r->state[HOST_OBSERVE_EXITS].have)
            lose(r, HOST_OBSERVE_EXITS, error->message);
        if (r->state[HOST_OBSERVE_TIMERS].have)
            lose(r, HOST_OBSERVE_TIMERS, error->message);
        return;
    }
    const HostHist *exits = counter(o, r, o->numbers.exits, HOST_OBSERVE_EXITS);
    const HostHist *expiries = counter(o, r, o->numbers.expiries, HOST_OBSERVE_TIMERS);
    const HostHist *starts = counter(o, r, o->numbers.starts, HOST_OBSERVE_TIMERS);
    if (exits)
        host_observe_exits(exits, o->threads, r);
    if (expiries && r->state[HOST_OBSERVE_TIMERS].have)
        host_observe_timers(expiries, starts, o->lapic, o->threads, r);
    expiries = o->tick ? counter(o, r, o->numbers.expiries, HOST_OBSERVE_TICKS) : NULL;
    const HostHist *stops = counter(o, r, o->numbers.stops, HOST_OBSERVE_TICKS);
    if (r->state[HOST_OBSERVE_TICKS].have)
        host_observe_ticks(expiries, stops, o->tick, r);
}

HostObservation *
host_observer_read(HostObserver *o, GError **error)
{
    if (!o->ended) {
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                            "no observed window has ended that was not read yet");
        return NULL;
    }
    HostObservation *r = observation_new(o);
    o->ended = FALSE;
    if (r->state[HOST_OBSERVE_TICKS].have)
        read_timer_interrupts(o, r);
    if (r->state[HOST_OBSERVE_INTERRUPTS].have)
        read_interrupts(o, r);
    if (o->foreign)
        read_foreign(o, r);
    if (o->targets)
        read_targets(o, r);
    read_counters(o, r);
    return r;
}
