/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the counters of an observer counted, as rows of an observation. Pure. */
#include <string.h>

#include "host/observe_private.h"

/* A character that begins what a compiler or linker adds to a function's name. */
static gboolean
same_function(const char *symbol, gsize len, const char *const *names)
{
    for (guint i = 0; names[i]; i++) {
        gsize n = strlen(names[i]);
        if (len >= n && memcmp(symbol, names[i], n) == 0 && (len == n || symbol[n] == '.'))
            return TRUE;
    }
    return FALSE;
}

GArray *
host_kallsyms_find(const char *text, const char *const *names)
{
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(guint64));
    gboolean hidden = FALSE;

    for (const char *line = text; line && *line;) {
        char *end;
        guint64 address = g_ascii_strtoull(line, &end, 16);
        const char *next = strchr(line, '\n');
        /* "ffffffff812c81d0 t apic_timer_fn\t[kvm]" */
        if (end != line && end[0] == ' ' && strchr("tTwW", end[1]) && end[1] && end[2] == ' ') {
            const char *symbol = end + 3;
            if (same_function(symbol, strcspn(symbol, "\t\n "), names)) {
                hidden |= address == 0;
                g_array_append_val(found, address);
            }
        }
        line = next ? next + 1 : NULL;
    }
    return hidden ? NULL : g_steal_pointer(&found);
}

static gboolean
is_one_of(const GArray *functions, guint64 address)
{
    for (guint i = 0; functions && i < functions->len; i++)
        if (g_array_index(functions, guint64, i) == address)
            return TRUE;
    return FALSE;
}

static int
most_exits_first(gconstpointer a, gconstpointer b)
{
    const HostExitCount *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The event's field isa is the same for all exits of a machine, so its sum over the hits says which
 * it is, without a key that would cost one of the three there can be. */
static HostExitVendor
vendor_of(const HostHistEntry *e)
{
    if (e->hits > 0 && e->sum / e->hits == HOST_EXIT_VMX && e->sum % e->hits == 0)
        return HOST_EXIT_VMX;
    if (e->hits > 0 && e->sum / e->hits == HOST_EXIT_SVM && e->sum % e->hits == 0)
        return HOST_EXIT_SVM;
    return HOST_EXIT_UNKNOWN_VENDOR;
}

void
host_observe_exits(const HostHist *exits, GHashTable *threads, HostObservation *o)
{
    for (guint i = 0; i < exits->entries->len; i++) {
        const HostHistEntry *e = &g_array_index(exits->entries, HostHistEntry, i);
        pid_t tid = (pid_t)e->keys[1];
        if (g_hash_table_size(threads) && !g_hash_table_contains(threads, GINT_TO_POINTER(tid)))
            continue;
        HostExitCount c = {.vendor = vendor_of(e),
                           .code = e->keys[0],
                           .tid = tid,
                           .cpu = (unsigned int)e->keys[2],
                           .count = e->hits};
        c.name = host_exit_name(c.vendor, c.code);
        g_array_append_val(o->exits, c);
    }
    g_array_sort(o->exits, most_exits_first);
}

GArray *
host_exits_by_reason(const HostObservation *o)
{
    GArray *reasons = g_array_new(FALSE, FALSE, sizeof(HostExitCount));

    for (guint i = 0; i < o->exits->len; i++) {
        const HostExitCount *e = &g_array_index(o->exits, HostExitCount, i);
        HostExitCount *sum = NULL;
        for (guint r = 0; r < reasons->len && !sum; r++) {
            HostExitCount *have = &g_array_index(reasons, HostExitCount, r);
            if (have->vendor == e->vendor && have->code == e->code)
                sum = have;
        }
        if (sum) {
            sum->count += e->count;
        } else {
            HostExitCount first = *e;
            first.tid = 0;
            first.cpu = 0;
            g_array_append_val(reasons, first);
        }
    }
    g_array_sort(reasons, most_exits_first);
    return reasons;
}

static HostTimerCount *
timer_row(GArray *timers, GHashTable *index, guint64 timer, unsigned int cpu)
{
    g_autofree char *key = g_strdup_printf("%" G_GINT64_MODIFIER "x-%u", timer, cpu);
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, key));

    if (!at) {
        HostTimerCount row = {.timer = timer, .cpu = cpu};
        g_array_append_val(timers, row);
        at = timers->len;
        g_hash_table_insert(index, g_steal_pointer(&key), GUINT_TO_POINTER(at));
    }
    return &g_array_index(timers, HostTimerCount, at - 1);
}

typedef struct {
    guint64 timer;
    pid_t tid;
    guint64 starts;
} Starter;

/*
 * Who starts each timer most: its vCPU, which sets it up from its own thread. A periodic one is
 * started anew where it expires, under the name of whoever was interrupted there, so vCPU threads
 * go first. timer -> Starter *.
 */
static GHashTable *
find_starters(const HostHist *starts, GHashTable *threads)
{
    g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    GHashTable *best = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    GHashTableIter iter;
    gpointer value;

    for (guint i = 0; starts && i < starts->entries->len; i++) {
        const HostHistEntry *e = &g_array_index(starts->entries, HostHistEntry, i);
        g_autofree char *key =
            g_strdup_printf("%" G_GINT64_MODIFIER "x-%d", e->keys[0], (int)e->keys[1]);
        Starter *s = g_hash_table_lookup(sums, key);
        if (!s) {
            s = g_new0(Starter, 1);
            s->timer = e->keys[0];
            s->tid = (pid_t)e->keys[1];
            g_hash_table_insert(sums, g_steal_pointer(&key), s);
        }
        s->starts += e->hits;
    }
    g_hash_table_iter_init(&iter, sums);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Starter *s = value, *have = g_hash_table_lookup(best, &s->timer);
        gboolean vcpu = g_hash_table_contains(threads, GINT_TO_POINTER(s->tid));
        gboolean have_vcpu = have && g_hash_table_contains(threads, GINT_TO_POINTER(have->tid));
        if (!have || (vcpu && !have_vcpu) || (vcpu == have_vcpu && s->starts > have->starts))
            g_hash_table_insert(best, g_memdup2(&s->timer, sizeof(s->timer)),
                                g_memdup2(s, sizeof(*s)));
    }
    return best;
}

static int
by_timer_then_cpu(gconstpointer a, gconstpointer b)
{
    const HostTimerCount *x = a, *y = b;

    if (x->timer != y->timer)
        return x->timer < y->timer ? -1 : 1;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

void
host_observe_timers(const HostHist *expiries, const HostHist *starts, const GArray *functions,
                    GHashTable *threads, HostObservation *o)
{
    g_autoptr(GHashTable) index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) starters = find_starters(starts, threads);

    for (guint i = 0; i < expiries->entries->len; i++) {
        const HostHistEntry *e = &g_array_index(expiries->entries, HostHistEntry, i);
        if (is_one_of(functions, e->keys[0]))
            timer_row(o->timers, index, e->keys[1], (unsigned int)e->keys[2])->expiries += e->hits;
    }
    for (guint i = 0; starts && i < starts->entries->len; i++) {
        const HostHistEntry *e = &g_array_index(starts->entries, HostHistEntry, i);
        const Starter *s = g_hash_table_lookup(starters, &e->keys[0]);
        HostTimerCount *row = timer_row(o->timers, index, e->keys[0], (unsigned int)e->keys[2]);
        row->starts += e->hits;
        row->local |= s && s->tid == (pid_t)e->keys[1];
    }
    for (guint i = 0; i < o->timers->len; i++) {
        HostTimerCount *row = &g_array_index(o->timers, HostTimerCount, i);
        const Starter *s = g_hash_table_lookup(starters, &row->timer);
        row->tid = s ? s->tid : 0;
        row->ours = !starts || g_hash_table_size(threads) == 0 ||
                    (s && g_hash_table_contains(threads, GINT_TO_POINTER(s->tid)));
    }
    g_array_sort(o->timers, by_timer_then_cpu);
}

static HostTickCount *
tick_row(HostObservation *o, guint64 cpu)
{
    for (guint i = 0; i < o->ticks->len; i++) {
        HostTickCount *row = &g_array_index(o->ticks, HostTickCount, i);
        if (row->cpu == cpu)
            return row;
    }
    return NULL;
}

void
host_observe_ticks(const HostHist *expiries, const HostHist *stops, const GArray *functions,
                   HostObservation *o)
{
    for (guint i = 0; i < o->ticks->len; i++) {
        HostTickCount *row = &g_array_index(o->ticks, HostTickCount, i);
        row->have_expiries = expiries != NULL;
        row->have_stops = stops != NULL;
    }
    for (guint i = 0; expiries && i < expiries->entries->len; i++) {
        const HostHistEntry *e = &g_array_index(expiries->entries, HostHistEntry, i);
        HostTickCount *row = tick_row(o, e->keys[2]);
        if (row && is_one_of(functions, e->keys[0]))
            row->expiries += e->hits;
    }
    for (guint i = 0; stops && i < stops->entries->len; i++) {
        const HostHistEntry *e = &g_array_index(stops->entries, HostHistEntry, i);
        HostTickCount *row = tick_row(o, e->keys[2]);
        if (!row)
            continue;
        if (e->keys[0]) {
            row->stopped += e->hits;
        } else {
            row->kept_running += e->hits;
            row->dependencies |= e->keys[1];
        }
    }
}
