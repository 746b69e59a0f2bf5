/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/observe.h"

static void
timer_figures(const HostObservation *o, const HostCpuset *housekeeping, HostFigures *f)
{
    f->have_timers = o->state[HOST_OBSERVE_TIMERS].have;
    for (guint i = 0; i < o->timers->len; i++) {
        const HostTimerCount *t = &g_array_index(o->timers, HostTimerCount, i);
        if (!t->ours)
            continue;
        f->timers += t->expiries;
        if (t->local)
            f->timers_local += t->expiries;
        if (housekeeping && hwloc_bitmap_isset(housekeeping, t->cpu))
            f->timers_on_housekeeping += t->expiries;
    }
    if (f->timers)
        f->housekeeping_share = (double)f->timers_on_housekeeping / (double)f->timers;
}

static void
exit_figures(const HostObservation *o, const HostCpuset *vcpu_cpus, HostFigures *f)
{
    f->have_exits = o->state[HOST_OBSERVE_EXITS].have;
    for (guint i = 0; i < o->exits->len; i++) {
        const HostExitCount *e = &g_array_index(o->exits, HostExitCount, i);
        f->exits += e->count;
        if (host_exit_is_external_interrupt(e->vendor, e->code) && vcpu_cpus &&
            hwloc_bitmap_isset(vcpu_cpus, e->cpu))
            f->external_interrupts += e->count;
    }
    if (o->duration_ns)
        f->exits_per_second = (double)f->exits * 1e9 / (double)o->duration_ns;
    if (f->timers)
        f->exits_per_timer = (double)f->exits / (double)f->timers;
}

static void
foreign_figures(const HostObservation *o, HostFigures *f)
{
    f->have_foreign = o->state[HOST_OBSERVE_FOREIGN].have;
    for (guint i = 0; i < o->foreign->len; i++) {
        const HostForeignTask *t = &g_array_index(o->foreign, HostForeignTask, i);
        f->foreign_ns += t->run_ns;
        f->foreign_lab_ns += t->lab ? t->run_ns : 0;
        f->foreign_longest_ns = MAX(f->foreign_longest_ns, t->longest_ns);
    }
}

/* One source for all CPUs, or the sum would be of two kinds. */
static void
tick_figures(const HostObservation *o, HostFigures *f)
{
    gboolean expiries = o->ticks->len > 0, interrupts = expiries;
    guint64 by_expiry = 0, by_interrupt = 0;

    for (guint i = 0; i < o->ticks->len; i++) {
        const HostTickCount *t = &g_array_index(o->ticks, HostTickCount, i);
        expiries = expiries && t->have_expiries;
        interrupts = interrupts && t->have_interrupts;
        by_expiry += t->expiries;
        by_interrupt += t->timer_interrupts;
    }
    f->have_ticks = o->state[HOST_OBSERVE_TICKS].have && (expiries || interrupts);
    f->ticks_are_expiries = expiries;
    f->ticks = expiries ? by_expiry : by_interrupt;
}

void
host_figures(const HostObservation *o, const HostCpuset *housekeeping, const HostCpuset *vcpu_cpus,
             HostFigures *f)
{
    *f = (HostFigures){0};
    timer_figures(o, housekeeping, f);
    exit_figures(o, vcpu_cpus, f);
    foreign_figures(o, f);
    tick_figures(o, f);
    f->have_interrupts = o->state[HOST_OBSERVE_INTERRUPTS].have;
    for (guint i = 0; i < o->interrupts->len; i++) {
        const HostInterruptCount *c = &g_array_index(o->interrupts, HostInterruptCount, i);
        f->interrupts += c->softirq ? 0 : c->count;
    }
}
