/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/observe_switches.h"

typedef struct {
    gboolean seen;
    int running;      /* the foreign task that runs, or 0 */
    char comm[16];    /* of it */
    guint64 since_ns; /* when it came */
    guint64 last_ns;  /* of the last event */
} Cpu;

struct HostSwitches {
    guint64 start_ns, stop_ns;
    GHashTable *ours, *lab;
    GHashTable *cpus;  /* number -> Cpu * */
    GHashTable *tasks; /* guint64: CPU and tid -> HostForeignTask * */
    guint64 contradictions;
};

HostSwitches *
host_switches_new(guint64 start_ns, guint64 stop_ns, GHashTable *ours, GHashTable *lab)
{
    HostSwitches *s = g_new0(HostSwitches, 1);

    s->start_ns = start_ns;
    s->stop_ns = MAX(start_ns, stop_ns);
    s->ours = ours;
    s->lab = lab;
    s->cpus = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    s->tasks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return s;
}

void
host_switches_free(HostSwitches *s)
{
    if (!s)
        return;
    g_hash_table_unref(s->cpus);
    g_hash_table_unref(s->tasks);
    g_free(s);
}

static gboolean
is_foreign(const HostSwitches *s, int tid)
{
    return tid > 0 && !g_hash_table_contains(s->ours, GINT_TO_POINTER(tid));
}

static Cpu *
cpu_get(HostSwitches *s, unsigned int cpu)
{
    Cpu *c = g_hash_table_lookup(s->cpus, GUINT_TO_POINTER(cpu));

    if (!c) {
        c = g_new0(Cpu, 1);
        c->last_ns = s->start_ns;
        g_hash_table_insert(s->cpus, GUINT_TO_POINTER(cpu), c);
    }
    return c;
}

static HostForeignTask *
task_get(HostSwitches *s, unsigned int cpu, int tid)
{
    gint64 key = (gint64)((guint64)cpu << 32 | (guint32)tid);
    HostForeignTask *t = g_hash_table_lookup(s->tasks, &key);

    if (t)
        return t;
    /* One row of each CPU may go beyond the bound. */
    if (tid != -1 && g_hash_table_size(s->tasks) >= HOST_FOREIGN_MAX)
        return task_get(s, cpu, -1);
    t = g_new0(HostForeignTask, 1);
    t->cpu = cpu;
    t->tid = tid;
    t->lab = tid > 0 && g_hash_table_contains(s->lab, GINT_TO_POINTER(tid));
    g_hash_table_insert(s->tasks, g_memdup2(&key, sizeof(key)), t);
    return t;
}

/* TID ran from FROM to TO; only what lies in the window counts. */
static void
ran(HostSwitches *s, unsigned int cpu, int tid, const char *comm, guint64 from, guint64 to)
{
    from = MAX(from, s->start_ns);
    to = MIN(to, s->stop_ns);
    if (to <= from)
        return;
    HostForeignTask *t = task_get(s, cpu, tid);
    g_strlcpy(t->comm, t->tid == -1 ? "(more tasks)" : comm, sizeof(t->comm));
    t->run_ns += to - from;
    t->longest_ns = MAX(t->longest_ns, to - from);
    t->stretches++;
}

void
host_switches_add(HostSwitches *s, const HostSwitch *e)
{
    Cpu *c = cpu_get(s, e->cpu);

    if (is_foreign(s, e->prev_tid)) {
        if (c->running == e->prev_tid)
            ran(s, e->cpu, e->prev_tid, e->prev_comm, c->since_ns, e->at_ns);
        else if (!c->seen) /* it was there before we looked */
            ran(s, e->cpu, e->prev_tid, e->prev_comm, s->start_ns, e->at_ns);
        else
            s->contradictions++;
    } else if (c->running) {
        s->contradictions++;
    }
    c->seen = TRUE;
    c->last_ns = e->at_ns;
    c->running = is_foreign(s, e->next_tid) ? e->next_tid : 0;
    c->since_ns = e->at_ns;
    g_strlcpy(c->comm, e->next_comm, sizeof(c->comm));
}

void
host_switches_add_whole(HostSwitches *s, unsigned int cpu, int tid, const char *comm)
{
    if (is_foreign(s, tid))
        ran(s, cpu, tid, comm, s->start_ns, s->stop_ns);
}

void
host_switches_end(HostSwitches *s, unsigned int cpu, guint64 lost, guint64 *covered_ns)
{
    Cpu *c = cpu_get(s, cpu);
    guint64 until = lost ? CLAMP(c->last_ns, s->start_ns, s->stop_ns) : s->stop_ns;

    *covered_ns = until - s->start_ns;
    if (!lost && c->running)
        ran(s, cpu, c->running, c->comm, c->since_ns, s->stop_ns);
    c->running = 0;
}

gboolean
host_switches_seen(const HostSwitches *s, unsigned int cpu)
{
    const Cpu *c = g_hash_table_lookup(s->cpus, GUINT_TO_POINTER(cpu));

    return c && c->seen;
}

guint64
host_switches_contradictions(const HostSwitches *s)
{
    return s->contradictions;
}

static int
by_cpu_then_run(gconstpointer a, gconstpointer b)
{
    const HostForeignTask *x = a, *y = b;

    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    if (x->run_ns != y->run_ns)
        return x->run_ns > y->run_ns ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

GArray *
host_switches_tasks(const HostSwitches *s)
{
    GArray *tasks =
        g_array_sized_new(FALSE, FALSE, sizeof(HostForeignTask), g_hash_table_size(s->tasks));
    GHashTableIter iter;
    gpointer task;

    g_hash_table_iter_init(&iter, s->tasks);
    while (g_hash_table_iter_next(&iter, NULL, &task))
        g_array_append_vals(tasks, task, 1);
    g_array_sort(tasks, by_cpu_then_run);
    return tasks;
}
