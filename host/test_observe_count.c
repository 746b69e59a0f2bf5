/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What observers make of what they read: who ran, exits, timers, ticks, figures. */
#include <string.h>

#include "host/observe_private.h"

static GHashTable *
set_of(const int *tids)
{
    GHashTable *set = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (; tids && *tids; tids++)
        g_hash_table_add(set, GINT_TO_POINTER(*tids));
    return set;
}

static void
add(HostSwitches *s, unsigned int cpu, guint64 at_ns, int prev, int next)
{
    g_autofree char *from = g_strdup_printf("task-%d", prev),
                    *to = g_strdup_printf("task-%d", next);
    HostSwitch e = {.cpu = cpu,
                    .at_ns = at_ns,
                    .prev_tid = prev,
                    .next_tid = next,
                    .prev_comm = from,
                    .next_comm = to};
    host_switches_add(s, &e);
}

static HostForeignTask
task(const GArray *tasks, unsigned int cpu, int tid)
{
    for (guint i = 0; i < tasks->len; i++) {
        const HostForeignTask *t = &g_array_index(tasks, HostForeignTask, i);
        if (t->cpu == cpu && t->tid == tid)
            return *t;
    }
    return (HostForeignTask){0};
}

/* 10 is the vCPU, 20 QEMU's main thread; the window is 1000 to 2000. */
static const int vcpu_10[] = {10, 0}, qemu_20[] = {20, 0};

static void
test_switches(void)
{
    guint64 covered;
    g_autoptr(GHashTable) ours = set_of(vcpu_10), lab = set_of(qemu_20);
    g_autoptr(HostSwitches) s = host_switches_new(1000, 2000, ours, lab);
    add(s, 1, 900, 10, 30);  /* before the window began */
    add(s, 1, 1100, 30, 10); /* 100 in it */
    add(s, 1, 1200, 10, 0);
    add(s, 1, 1300, 0, 20);
    add(s, 1, 1350, 20, 30); /* one foreign task after the other */
    add(s, 1, 1500, 30, 0);
    add(s, 1, 1990, 0, 40);
    add(s, 1, 2500, 40, 0);  /* after its end */
    add(s, 2, 1600, 50, 10); /* was there from the start */
    add(s, 2, 1700, 10, 50); /* and stayed until the end */
    host_switches_add_whole(s, 3, 60, "hog");
    host_switches_add_whole(s, 3, 10, "vcpu");
    host_switches_end(s, 1, 0, &covered);
    g_assert_cmpuint(covered, ==, 1000);
    host_switches_end(s, 2, 0, &covered);
    g_assert_false(host_switches_seen(s, 3));
    g_assert_true(host_switches_seen(s, 2));
    g_assert_cmpuint(host_switches_contradictions(s), ==, 0);

    g_autoptr(GArray) tasks = host_switches_tasks(s);
    g_assert_cmpuint(tasks->len, ==, 5);
    HostForeignTask t = task(tasks, 1, 30);
    g_assert_cmpuint(t.run_ns, ==, 250);
    g_assert_cmpuint(t.longest_ns, ==, 150);
    g_assert_cmpuint(t.stretches, ==, 2);
    g_assert_cmpstr(t.comm, ==, "task-30");
    g_assert_false(t.lab);
    t = task(tasks, 1, 20);
    g_assert_cmpuint(t.run_ns, ==, 50);
    g_assert_true(t.lab);
    g_assert_cmpuint(task(tasks, 1, 40).run_ns, ==, 10);
    g_assert_cmpuint(task(tasks, 2, 50).run_ns, ==, 900);
    g_assert_cmpuint(task(tasks, 3, 60).run_ns, ==, 1000);
    /* By CPU, the longest first. */
    g_assert_cmpint(g_array_index(tasks, HostForeignTask, 0).tid, ==, 30);
    g_assert_cmpint(g_array_index(tasks, HostForeignTask, 4).tid, ==, 60);
}

/* What is lost is not made up. */
static void
test_switches_lost(void)
{
    guint64 covered;
    g_autoptr(GHashTable) ours = set_of(vcpu_10), lab = set_of(NULL);
    g_autoptr(HostSwitches) s = host_switches_new(1000, 2000, ours, lab);
    add(s, 1, 1100, 10, 30);
    add(s, 1, 1200, 30, 31);
    host_switches_end(s, 1, 5, &covered);
    g_assert_cmpuint(covered, ==, 200);
    host_switches_end(s, 2, 3, &covered);
    g_assert_cmpuint(covered, ==, 0);
    add(s, 4, 1100, 10, 0);
    add(s, 4, 1500, 30, 0); /* came unseen */
    add(s, 4, 1600, 0, 30);
    add(s, 4, 1700, 10, 0); /* went unseen */
    host_switches_end(s, 4, 0, &covered);
    g_assert_cmpuint(host_switches_contradictions(s), ==, 2);
    g_autoptr(GArray) tasks = host_switches_tasks(s);
    g_assert_cmpuint(tasks->len, ==, 1);
    g_assert_cmpuint(task(tasks, 1, 30).run_ns, ==, 100);
}

static void
test_switches_many(void)
{
    guint64 covered;
    g_autoptr(GHashTable) none = set_of(NULL);
    g_autoptr(HostSwitches) s = host_switches_new(0, 1000000, none, none);
    for (int i = 1; i <= 10000; i++)
        add(s, 0, (guint64)i * 10, i, i + 1);
    host_switches_end(s, 0, 0, &covered);
    g_autoptr(GArray) tasks = host_switches_tasks(s);
    g_assert_cmpuint(tasks->len, ==, HOST_FOREIGN_MAX + 1);
    guint64 sum = 0;
    for (guint i = 0; i < tasks->len; i++)
        sum += g_array_index(tasks, HostForeignTask, i).run_ns;
    g_assert_cmpuint(sum, ==, 1000000);
    g_assert_cmpstr(task(tasks, 0, -1).comm, ==, "(more tasks)");
    g_assert_cmpuint(task(tasks, 0, -1).stretches, ==, 10001 - HOST_FOREIGN_MAX);
}

static void
put(HostHist *h, guint64 a, guint64 b, guint64 c, guint64 hits, guint64 sum)
{
    HostHistEntry e = {.keys = {a, b, c}, .hits = hits, .sum = sum};
    g_array_append_val(h->entries, e);
}

static HostObservation *
observation(void)
{
    HostObservation *o = g_new0(HostObservation, 1);
    o->exits = g_array_new(FALSE, FALSE, sizeof(HostExitCount));
    o->timers = g_array_new(FALSE, FALSE, sizeof(HostTimerCount));
    o->foreign = g_array_new(FALSE, FALSE, sizeof(HostForeignTask));
    o->interrupts = host_interrupt_counts_new();
    o->ticks = g_array_new(FALSE, TRUE, sizeof(HostTickCount));
    o->targets = g_array_new(FALSE, FALSE, sizeof(HostTargetCount));
    o->duration_ns = 2000000000;
    for (guint i = 0; i < HOST_OBSERVERS; i++)
        o->state[i].have = TRUE;
    return o;
}

static void
test_exits(void)
{
    g_autoptr(HostObservation) o = observation();
    g_autoptr(HostHist) h = host_hist_new();
    g_autoptr(GHashTable) ours = set_of((const int[]){10, 11, 0});
    put(h, 0x78, 10, 1, 2000, 4000);
    put(h, 0x60, 10, 1, 400, 800);
    put(h, 0x60, 10, 0, 7, 14); /* on a CPU where no vCPU belongs */
    put(h, 0x60, 11, 1, 100, 200);
    put(h, 131072, 10, 1, 3, 6);
    put(h, 131073, 10, 1, 2, 4);
    put(h, 12, 99, 2, 50, 50); /* another guest's */
    put(h, 5, 11, 1, 2, 3);    /* neither vendor's */
    host_observe_exits(h, ours, o);
    g_assert_cmpuint(o->exits->len, ==, 7);
    const HostExitCount *e = &g_array_index(o->exits, HostExitCount, 0);
    g_assert_cmpstr(e->name, ==, "HLT");
    g_assert_cmpint(e->vendor, ==, HOST_EXIT_SVM);
    g_assert_cmpint(e->tid, ==, 10);

    g_autoptr(GArray) reasons = host_exits_by_reason(o);
    g_assert_cmpuint(reasons->len, ==, 5);
    e = &g_array_index(reasons, HostExitCount, 1);
    g_assert_cmpstr(e->name, ==, "INTR");
    g_assert_cmpuint(e->count, ==, 507);
    e = &g_array_index(reasons, HostExitCount, 2); /* unknown ones are kept apart */
    g_assert_null(e->name);
    g_assert_cmpuint(e->code, ==, 131072);
    g_assert_cmpuint(e->count, ==, 3);

    HostFigures f;
    g_autoptr(HostCpuset) one = hwloc_bitmap_alloc();
    hwloc_bitmap_set(one, 1);
    host_figures(o, NULL, one, &f);
    g_assert_true(f.have_exits);
    g_assert_cmpuint(f.exits, ==, 2514);
    g_assert_cmpfloat_with_epsilon(f.exits_per_second, 1257, 1e-9);
    g_assert_cmpuint(f.external_interrupts, ==, 500);
    g_assert_cmpuint(f.timers, ==, 0);
}

static void
test_timers(void)
{
    enum { LAPIC = 0x1000, TICK = 0x2000 };
    g_autoptr(HostObservation) o = observation();
    g_autoptr(HostHist) expiries = host_hist_new(), starts = host_hist_new();
    g_autoptr(GHashTable) ours = set_of(vcpu_10);
    g_autoptr(GArray) lapic = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_array_append_val(lapic, (guint64){LAPIC});
    put(expiries, LAPIC, 0xa, 0, 3046, 0);
    put(expiries, LAPIC, 0xa, 1, 258, 0);
    put(expiries, TICK, 0xc, 1, 77, 0);
    put(expiries, LAPIC, 0xb, 0, 500, 0); /* another guest's */
    put(expiries, LAPIC, 0xd, 0, 1, 0);   /* started before the window */
    put(starts, 0xa, 10, 1, 3000, 0);
    put(starts, 0xa, 77, 0, 9000, 0); /* anew, where it expired, under whoever ran there */
    put(starts, 0xb, 99, 2, 500, 0);
    host_observe_timers(expiries, starts, lapic, ours, o);

    HostFigures f;
    g_autoptr(HostCpuset) zero = hwloc_bitmap_alloc();
    hwloc_bitmap_set(zero, 0);
    host_figures(o, zero, NULL, &f);
    g_assert_true(f.have_timers);
    g_assert_cmpuint(f.timers, ==, 3304);
    g_assert_cmpuint(f.timers_on_housekeeping, ==, 3046);
    g_assert_cmpuint(f.timers_local, ==, 258);
    g_assert_cmpfloat_with_epsilon(f.housekeeping_share, 3046.0 / 3304, 1e-12);
    g_assert_cmpuint(o->timers->len, ==, 5);
    const HostTimerCount *t = &g_array_index(o->timers, HostTimerCount, 0);
    g_assert_cmpuint(t->timer, ==, 0xa);
    g_assert_cmpuint(t->cpu, ==, 0);
    g_assert_cmpint(t->tid, ==, 10);
    g_assert_cmpuint(t->starts, ==, 9000);
    g_assert_false(t->local);
    t = &g_array_index(o->timers, HostTimerCount, 1);
    g_assert_true(t->local && t->ours);
    t = &g_array_index(o->timers, HostTimerCount, 2);
    g_assert_cmpint(t->tid, ==, 99);
    g_assert_false(t->ours);

    /* Without hrtimer_start all are taken for ours, and none is said to be local. */
    g_autoptr(HostObservation) all = observation();
    host_observe_timers(expiries, NULL, lapic, ours, all);
    host_figures(all, zero, NULL, &f);
    g_assert_cmpuint(f.timers, ==, 3805);
    g_assert_cmpuint(f.timers_local, ==, 0);
}

static void
test_ticks(void)
{
    enum { TICK = 0x2000 };
    g_autoptr(HostObservation) o = observation();
    g_autoptr(HostHist) expiries = host_hist_new(), stops = host_hist_new();
    g_autoptr(GArray) tick = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_array_append_val(tick, (guint64){TICK});
    for (unsigned int cpu = 1; cpu <= 2; cpu++) {
        HostTickCount t = {.cpu = cpu, .have_interrupts = TRUE, .timer_interrupts = 10 * cpu};
        g_array_append_val(o->ticks, t);
    }
    HostFigures f;
    host_figures(o, NULL, NULL, &f);
    g_assert_true(f.have_ticks && !f.ticks_are_expiries);
    g_assert_cmpuint(f.ticks, ==, 30);

    put(expiries, TICK, 0xc, 1, 4, 0);
    put(expiries, TICK, 0xd, 0, 4000, 0); /* not isolated */
    put(expiries, 0x1000, 0xa, 2, 9, 0);  /* a guest's timer */
    put(stops, 1, 0, 1, 100, 0);
    put(stops, 0, 4, 1, 2, 0);
    put(stops, 0, 16, 1, 3, 0);
    put(stops, 1, 0, 7, 5, 0);
    host_observe_ticks(expiries, stops, tick, o);
    const HostTickCount *t = &g_array_index(o->ticks, HostTickCount, 0);
    g_assert_cmpuint(t->expiries, ==, 4);
    g_assert_cmpuint(t->stopped, ==, 100);
    g_assert_cmpuint(t->kept_running, ==, 5);
    g_assert_cmpuint(t->dependencies, ==, 20);
    host_figures(o, NULL, NULL, &f);
    g_assert_true(f.have_ticks && f.ticks_are_expiries);
    g_assert_cmpuint(f.ticks, ==, 4);

    /* Nothing known of one CPU: no sum. */
    g_array_index(o->ticks, HostTickCount, 1).have_expiries = FALSE;
    g_array_index(o->ticks, HostTickCount, 1).have_interrupts = FALSE;
    host_figures(o, NULL, NULL, &f);
    g_assert_false(f.have_ticks);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/observe/switches", test_switches);
    g_test_add_func("/observe/switches/lost", test_switches_lost);
    g_test_add_func("/observe/switches/many", test_switches_many);
    g_test_add_func("/observe/exits", test_exits);
    g_test_add_func("/observe/timers", test_timers);
    g_test_add_func("/observe/ticks", test_ticks);
    return g_test_run();
}
