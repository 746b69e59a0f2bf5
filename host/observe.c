/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/observe.h"

#include <string.h>
#include <time.h>

#include "host/error.h"
#include "host/functions.h"
#include "host/observe_state.h"
#include "host/threads.h"

#define BUFFER_KIB 1024

const char *
host_observe_name(HostObserve o)
{
    static const char *const names[HOST_OBSERVERS] = {"exits",      "timers", "foreign",
                                                      "interrupts", "ticks",  "targets"};

    return names[o];
}

static void
states_clear(HostObserverState *states)
{
    for (guint i = 0; i < HOST_OBSERVERS; i++) {
        g_clear_pointer(&states[i].why_not, g_free);
        g_clear_pointer(&states[i].incomplete, g_free);
    }
}

static void
interrupts_clear(HostObserver *o)
{
    for (guint i = 0; i < HOST_INTERRUPT_FILES; i++) {
        g_clear_pointer(&o->before[i], host_interrupts_free);
        g_clear_pointer(&o->after[i], host_interrupts_free);
    }
}

void
host_observer_free(HostObserver *o)
{
    if (!o)
        return;
    host_targets_free(o->targets);
    host_foreign_free(o->foreign);
    host_counters_free(o->counters);
    interrupts_clear(o);
    states_clear(o->state);
    g_clear_pointer(&o->lapic, g_array_unref);
    g_clear_pointer(&o->tick, g_array_unref);
    g_hash_table_unref(o->threads);
    g_hash_table_unref(o->lab);
    g_array_unref(o->lab_pids);
    hwloc_bitmap_free(o->isolated);
    g_free(o);
}

static gboolean
spec_valid(const HostObserverSpec *spec, GError **error)
{
    gsize len = spec->token ? strlen(spec->token) : 0;
    const char *what = NULL;

    if (len == 0 || len > 64 ||
        strspn(spec->token, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-") != len)
        what = "the token must be 1 to 64 of A-Z, a-z, 0-9, _ and -";
    else if (spec->observers == 0 || (spec->observers & ~HOST_OBSERVE_ALL))
        what = "no observer is asked for, or one that does not exist";
    else if (!spec->isolated || hwloc_bitmap_last(spec->isolated) > HOST_CPULIST_MAX_CPU ||
             (hwloc_bitmap_last(spec->isolated) < 0 && !hwloc_bitmap_iszero(spec->isolated)))
        what = "the set of isolated CPUs is missing, or without end";
    else if (spec->housekeeping && hwloc_bitmap_intersects(spec->housekeeping, spec->isolated))
        what = "a CPU is both isolated and for housekeeping";
    if (what)
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "observing: %s", what);
    return !what;
}

static void
add_threads(HostObserver *o, const GPtrArray *threads)
{
    for (guint i = 0; threads && i < threads->len; i++) {
        const HostThread *t = threads->pdata[i];
        gboolean vcpu = t->kind == HOST_THREAD_VCPU || t->kind == HOST_THREAD_ALL_VCPUS;
        g_hash_table_add(vcpu ? o->threads : o->lab, GINT_TO_POINTER(t->tid));
    }
}

/* Threads come and go; those that are seen once stay in the set. */
static void
find_lab_threads(HostObserver *o)
{
    for (guint i = 0; i < o->lab_pids->len; i++) {
        g_autofree char *path =
            g_strdup_printf("/proc/%d/task", (int)g_array_index(o->lab_pids, pid_t, i));
        g_autoptr(GDir) tasks = g_dir_open(path, 0, NULL);
        const char *tid;
        while (tasks && (tid = g_dir_read_name(tasks)))
            g_hash_table_add(o->lab, GINT_TO_POINTER((int)g_ascii_strtoll(tid, NULL, 10)));
    }
}

static void
read_interrupts(const HostCpuset *cpus, HostInterrupts **files, GError **error)
{
    static const char *const paths[HOST_INTERRUPT_FILES] = {"/proc/interrupts", "/proc/softirqs"};

    for (guint i = 0; i < HOST_INTERRUPT_FILES; i++) {
        g_autofree char *text = NULL;
        GError *own = NULL;
        g_clear_pointer(&files[i], host_interrupts_free);
        if (g_file_get_contents(paths[i], &text, NULL, &own))
            files[i] = host_interrupts_parse(text, cpus, &own);
        if (own) {
            g_prefix_error(&own, "%s: ", paths[i]);
            if (error && *error)
                g_clear_error(error);
            g_propagate_error(error, own);
        }
    }
}

/* Whether the files can be read is tried out, for what is said before anything runs. */
static void
try_interrupts(HostObserver *o)
{
    g_autoptr(GError) error = NULL;

    if (!o->state[HOST_OBSERVE_INTERRUPTS].asked && !o->state[HOST_OBSERVE_TICKS].asked)
        return;
    read_interrupts(o->isolated, o->before, &error);
    if (error && o->state[HOST_OBSERVE_INTERRUPTS].asked)
        host_observer_refuse(o, HOST_OBSERVE_INTERRUPTS, error);
    if (!o->before[HOST_HARD_INTERRUPTS] && o->state[HOST_OBSERVE_TICKS].asked &&
        o->numbers.stops < 0 && !(o->tick && o->numbers.expiries >= 0))
        host_observer_refuse(o, HOST_OBSERVE_TICKS, error);
    interrupts_clear(o);
}

HostObserver *
host_observer_new(const HostObserverSpec *spec, GError **error)
{
    gboolean any = FALSE;

    if (!spec_valid(spec, error))
        return NULL;
    g_autoptr(HostObserver) o = g_new0(HostObserver, 1);
    o->isolated = hwloc_bitmap_dup(spec->isolated);
    o->threads = g_hash_table_new(g_direct_hash, g_direct_equal);
    o->lab = g_hash_table_new(g_direct_hash, g_direct_equal);
    o->lab_pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
    o->numbers = (HostCounterNumbers){-1, -1, -1, -1};
    if (spec->n_lab_pids)
        g_array_append_vals(o->lab_pids, spec->lab_pids, (guint)spec->n_lab_pids);
    add_threads(o, spec->threads);
    for (guint i = 0; i < HOST_OBSERVERS; i++)
        o->state[i].asked = o->state[i].have = (spec->observers & (1U << i)) != 0;

    host_observer_set_up(o, spec->token, spec->buffer_kib ? spec->buffer_kib : BUFFER_KIB);
    try_interrupts(o);
    g_autoptr(GString) why = g_string_new(NULL);
    for (guint i = 0; i < HOST_OBSERVERS; i++) {
        any |= o->state[i].have;
        if (o->state[i].why_not)
            g_string_append_printf(why, "%s%s: %s", why->len ? "; " : "", host_observe_name(i),
                                   o->state[i].why_not);
    }
    if (any)
        return g_steal_pointer(&o);
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "nothing can be observed: %s", why->str);
    return NULL;
}

const HostObserverState *
host_observer_state(const HostObserver *o, HostObserve which)
{
    return &o->state[which];
}

/* CLOCK_MONOTONIC is the trace clock "mono", whose times are compared with these. */
static guint64
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (guint64)t.tv_sec * 1000000000 + (guint64)t.tv_nsec;
}

/* ERROR gets the first failure; the rest is stopped all the same. */
static gboolean
stop_all(HostObserver *o, GError **error)
{
    gboolean ok = !o->counters || host_counters_stop(o->counters, error);

    read_interrupts(o->isolated, o->after, NULL);
    if (o->targets && !host_targets_stop(o->targets, ok ? error : NULL))
        ok = FALSE;
    if (o->foreign && !host_foreign_stop(o->foreign, ok ? error : NULL))
        ok = FALSE;
    return ok;
}

gboolean
host_observer_start(HostObserver *o, GError **error)
{
    if (o->running) {
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                            "observing has already begun");
        return FALSE;
    }
    o->ended = FALSE;
    interrupts_clear(o);
    find_lab_threads(o);
    gboolean ok = (!o->foreign || host_foreign_start(o->foreign, error)) &&
                  (!o->targets || host_targets_start(o->targets, error));
    read_interrupts(o->isolated, o->before, NULL);
    if (!ok || (o->counters && !host_counters_start(o->counters, error))) {
        stop_all(o, NULL);
        return FALSE;
    }
    o->running = TRUE;
    o->start_ns = now_ns();
    return TRUE;
}

gboolean
host_observer_stop(HostObserver *o, GError **error)
{
    if (!o->running) {
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "nothing is being observed");
        return FALSE;
    }
    o->stop_ns = now_ns();
    o->running = FALSE;
    o->ended = stop_all(o, error);
    find_lab_threads(o);
    return o->ended;
}

static void
recover(const char *name)
{
    host_targets_recover(name);
    host_functions_recover(name);
}

guint
host_observers_reap(void)
{
    return host_trace_reap(HOST_TRACE_PREFIX, recover);
}
