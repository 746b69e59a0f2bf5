/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out which observers this machine can have, and sets them up. */
#include <string.h>

#include "host/error.h"
#include "host/observe_state.h"
#include "host/threads.h"

/* Its tick is tick_sched_timer() before Linux 6.8, tick_nohz_handler() since (kernel/time/
 * tick-sched.c). */
static const char *const tick_functions[] = {"tick_sched_timer", "tick_nohz_handler", NULL};
/* arch/x86/kvm/lapic.c */
static const char *const lapic_functions[] = {"apic_timer_fn", NULL};

/* So many vCPU threads are named in a filter; with more, the rest is sorted out at the end. */
#define FILTER_THREADS 32

void
host_observer_refuse(HostObserver *o, HostObserve which, const GError *why)
{
    HostObserverState *s = &o->state[which];

    s->have = FALSE;
    g_free(s->why_not);
    s->why_not = g_strdup(why->message);
}

/* "common_pid == 3 || common_pid == 4", NULL: no filter. */
static char *
thread_filter(GHashTable *threads)
{
    g_autoptr(GString) s = g_string_new(NULL);
    GHashTableIter iter;
    gpointer tid;

    if (g_hash_table_size(threads) == 0 || g_hash_table_size(threads) > FILTER_THREADS)
        return NULL;
    g_hash_table_iter_init(&iter, threads);
    while (g_hash_table_iter_next(&iter, &tid, NULL))
        g_string_append_printf(s, "%scommon_pid == %d", s->len ? " || " : "", GPOINTER_TO_INT(tid));
    return g_string_free(g_steal_pointer(&s), FALSE);
}

/* "function == 0x1 || function == 0x2" of both lists, each of which may be NULL. */
static char *
function_filter(const GArray *a, const GArray *b)
{
    g_autoptr(GString) s = g_string_new(NULL);
    const GArray *const lists[] = {a, b};

    for (gsize l = 0; l < G_N_ELEMENTS(lists); l++)
        for (guint i = 0; lists[l] && i < lists[l]->len; i++)
            g_string_append_printf(s, "%sfunction == 0x%" G_GINT64_MODIFIER "x",
                                   s->len ? " || " : "", g_array_index(lists[l], guint64, i));
    return g_string_free(g_steal_pointer(&s), FALSE);
}

static GArray *
find_functions(const char *kallsyms, const char *const *names, GError **error)
{
    g_autoptr(GArray) found = host_kallsyms_find(kallsyms, names);

    if (!found)
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                            "/proc/kallsyms hides its addresses (kernel.kptr_restrict)");
    else if (found->len == 0)
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "no %s() in /proc/kallsyms%s",
                    names[0],
                    names == lapic_functions && !g_file_test("/sys/module/kvm", G_FILE_TEST_EXISTS)
                        ? ": kvm module not loaded"
                        : "");
    return found && found->len ? g_steal_pointer(&found) : NULL;
}

static void
set_up_exits(HostObserver *o)
{
    g_autofree char *filter = thread_filter(o->threads);
    const HostCounterSpec spec = {.system = "kvm",
                                  .event = "kvm_exit",
                                  .keys = {"exit_reason", "common_pid", "common_cpu"},
                                  .n_keys = 3,
                                  .value = "isa",
                                  .filter = filter};
    g_autoptr(GError) error = NULL;

    o->numbers.exits = host_counters_add(o->counters, &spec, &error);
    if (o->numbers.exits >= 0)
        return;
    if (!g_file_test("/sys/module/kvm", G_FILE_TEST_EXISTS)) {
        g_clear_error(&error);
        g_set_error_literal(&error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                            "no kvm_exit event: kvm module not loaded");
    }
    host_observer_refuse(o, HOST_OBSERVE_EXITS, error);
}

/* Both kinds of timers in one counter: a second one would cost each timer of the machine another
 * look. */
static void
set_up_expiries(HostObserver *o)
{
    g_autofree char *filter = function_filter(o->lapic, o->tick);
    const HostCounterSpec spec = {.system = "timer",
                                  .event = "hrtimer_expire_entry",
                                  .keys = {"function", "hrtimer", "common_cpu"},
                                  .n_keys = 3,
                                  .filter = filter};
    g_autoptr(GError) error = NULL;

    if (!o->lapic && !o->tick)
        return;
    o->numbers.expiries = host_counters_add(o->counters, &spec, &error);
    if (o->numbers.expiries < 0 && o->state[HOST_OBSERVE_TIMERS].have)
        host_observer_refuse(o, HOST_OBSERVE_TIMERS, error);
}

static void
set_up_starts(HostObserver *o)
{
    g_autofree char *filter = function_filter(o->lapic, NULL);
    const HostCounterSpec spec = {.system = "timer",
                                  .event = "hrtimer_start",
                                  .keys = {"hrtimer", "common_pid", "common_cpu"},
                                  .n_keys = 3,
                                  .filter = filter};

    /* Without it only the share that stayed local is missing. */
    o->numbers.starts = host_counters_add(o->counters, &spec, NULL);
}

static void
set_up_timers(HostObserver *o)
{
    gboolean timers = o->state[HOST_OBSERVE_TIMERS].have;
    gboolean ticks = o->state[HOST_OBSERVE_TICKS].have;
    g_autofree char *kallsyms = NULL;
    g_autoptr(GError) error = NULL;

    if (!timers && !ticks)
        return;
    if (!g_file_get_contents("/proc/kallsyms", &kallsyms, NULL, &error)) {
        if (timers)
            host_observer_refuse(o, HOST_OBSERVE_TIMERS, error);
        return;
    }
    if (timers)
        o->lapic = find_functions(kallsyms, lapic_functions, &error);
    if (error)
        host_observer_refuse(o, HOST_OBSERVE_TIMERS, error);
    if (ticks)
        o->tick = find_functions(kallsyms, tick_functions, NULL);
    set_up_expiries(o);
    if (o->lapic && o->numbers.expiries >= 0)
        set_up_starts(o);
}

static void
set_up_counters(HostObserver *o, const char *name, unsigned int buffer_kib)
{
    static const HostCounterSpec stops = {.system = "timer",
                                          .event = "tick_stop",
                                          .keys = {"success", "dependency", "common_cpu"},
                                          .n_keys = 3};
    g_autoptr(GError) error = NULL;

    if (!o->state[HOST_OBSERVE_EXITS].asked && !o->state[HOST_OBSERVE_TIMERS].asked &&
        !o->state[HOST_OBSERVE_TICKS].asked)
        return;
    o->counters = host_counters_new(name, buffer_kib, &error);
    if (!o->counters) {
        if (o->state[HOST_OBSERVE_EXITS].asked)
            host_observer_refuse(o, HOST_OBSERVE_EXITS, error);
        if (o->state[HOST_OBSERVE_TIMERS].asked)
            host_observer_refuse(o, HOST_OBSERVE_TIMERS, error);
        return;
    }
    if (o->state[HOST_OBSERVE_EXITS].have)
        set_up_exits(o);
    set_up_timers(o);
    if (o->state[HOST_OBSERVE_TICKS].have)
        o->numbers.stops = host_counters_add(o->counters, &stops, NULL);
}

void
host_observer_set_up(HostObserver *o, const char *token, unsigned int buffer_kib)
{
    g_autofree char *name = g_strconcat(HOST_TRACE_PREFIX, token, NULL);
    g_autofree char *foreign = g_strconcat(name, "-foreign", NULL);
    g_autofree char *targets = g_strconcat(name, "-targets", NULL);
    g_autoptr(GError) error = NULL;

    set_up_counters(o, name, buffer_kib);
    if (o->state[HOST_OBSERVE_FOREIGN].asked) {
        o->foreign = host_foreign_new(foreign, o->isolated, o->threads, buffer_kib, &error);
        if (!o->foreign)
            host_observer_refuse(o, HOST_OBSERVE_FOREIGN, error);
        g_clear_error(&error);
    }
    if (o->state[HOST_OBSERVE_TARGETS].asked) {
        o->targets = host_targets_new(targets, buffer_kib, &error);
        if (!o->targets)
            host_observer_refuse(o, HOST_OBSERVE_TARGETS, error);
    }
}
