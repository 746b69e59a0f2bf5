/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/functions.h"

#include <math.h>
#include <string.h>

#define DEPTH_MAX 128 /* FTRACE_RETFUNC_DEPTH is 50 */

/* What the open calls of a task have seen of calls one deeper. */
typedef struct {
    guint64 child_ns[DEPTH_MAX + 2];
    guint64 children[DEPTH_MAX + 2];
} Task;

struct HostFunctionTree {
    GHashTable *tasks;     /* pid -> Task * */
    GHashTable *functions; /* &address -> HostFunctionCount * */
};

static void
count_free(gpointer data)
{
    HostFunctionCount *c = data;

    g_free(c->name);
    g_array_unref(c->sample);
    g_free(c);
}

HostFunctionTree *
host_function_tree_new(void)
{
    HostFunctionTree *t = g_new0(HostFunctionTree, 1);

    t->tasks = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    t->functions = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, count_free);
    return t;
}

void
host_function_tree_free(HostFunctionTree *t)
{
    if (!t)
        return;
    g_hash_table_unref(t->tasks);
    g_hash_table_unref(t->functions);
    g_free(t);
}

static Task *
task_of(HostFunctionTree *t, pid_t pid)
{
    Task *task = g_hash_table_lookup(t->tasks, GINT_TO_POINTER(pid));

    if (!task) {
        task = g_new0(Task, 1);
        g_hash_table_insert(t->tasks, GINT_TO_POINTER(pid), task);
    }
    return task;
}

static HostFunctionCount *
function_of(HostFunctionTree *t, guint64 address)
{
    HostFunctionCount *c = g_hash_table_lookup(t->functions, &address);

    if (!c) {
        c = g_new0(HostFunctionCount, 1);
        c->address = address;
        c->sample = g_array_new(FALSE, FALSE, sizeof(HostFunctionCall));
        g_hash_table_insert(t->functions, &c->address, c);
    }
    return c;
}

void
host_function_tree_add(HostFunctionTree *t, pid_t pid, int depth, guint64 address, guint64 began_ns,
                       guint64 ended_ns)
{
    if (depth < 0 || depth > DEPTH_MAX || ended_ns < began_ns)
        return;
    Task *task = task_of(t, pid);
    HostFunctionCount *c = function_of(t, address);
    guint64 all = ended_ns - began_ns;
    guint64 children = task->children[depth + 1];
    guint64 others = MIN(task->child_ns[depth + 1], all);

    /* Callees of a call that was open before tracing began had no caller that ended: never mind. */
    task->child_ns[depth + 1] = task->children[depth + 1] = 0;
    task->child_ns[depth] += all;
    task->children[depth]++;
    c->calls++;
    const HostFunctionCall call = {all - others, children};
    if (c->sample->len < HOST_FUNCTION_SAMPLE)
        g_array_append_val(c->sample, call);
}

static int
by_address(gconstpointer a, gconstpointer b)
{
    const HostFunctionCount *x = *(HostFunctionCount *const *)a,
                            *y = *(HostFunctionCount *const *)b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* "ffffffff812c81d0 t apic_timer_fn\t[kvm]" */
static void
name_functions(GHashTable *functions, const char *text)
{
    for (const char *line = text; line && *line;) {
        char *end;
        guint64 address = g_ascii_strtoull(line, &end, 16);
        const char *next = strchr(line, '\n');
        HostFunctionCount *c = g_hash_table_lookup(functions, &address);
        if (c && !c->name && end != line && end[0] == ' ' && end[1] && end[2] == ' ')
            c->name = g_strndup(end + 3, strcspn(end + 3, "\t\n "));
        line = next ? next + 1 : NULL;
    }
}

GPtrArray *
host_function_tree_counts(HostFunctionTree *t, const char *kallsyms)
{
    GPtrArray *counts = g_ptr_array_new_with_free_func(count_free);
    GHashTableIter iter;
    gpointer value;

    name_functions(t->functions, kallsyms);
    g_hash_table_iter_init(&iter, t->functions);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        HostFunctionCount *c = value;
        g_hash_table_iter_steal(&iter);
        if (!c->name)
            c->name = g_strdup("?");
        g_ptr_array_add(counts, c);
    }
    g_ptr_array_sort(counts, by_address);
    return counts;
}

static int
by_value(gconstpointer a, gconstpointer b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of an even number the lower of the two in the middle. NaN: of none. */
static double
median(GArray *values)
{
    g_array_sort(values, by_value);
    return values->len ? g_array_index(values, double, (values->len - 1) / 2) : NAN;
}

/* What is left of a call for each function it called; NaN when it called none. */
static double
left_for_children(const HostFunctionCount *c, double inside)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));

    for (guint i = 0; i < c->sample->len; i++) {
        const HostFunctionCall *call = &g_array_index(c->sample, HostFunctionCall, i);
        double left = MAX((double)call->self_ns - inside, 0) / MAX(call->children, 1);
        if (call->children)
            g_array_append_val(values, left);
    }
    return median(values);
}

void
host_functions_overhead(const GPtrArray *counts, double *inside_ns, double *outside_ns)
{
    double inside = G_MAXDOUBLE, outside = G_MAXDOUBLE;

    for (guint i = 0; i < counts->len; i++) {
        const GArray *sample = ((const HostFunctionCount *)counts->pdata[i])->sample;
        for (guint k = 0; k < sample->len; k++) {
            const HostFunctionCall *call = &g_array_index(sample, HostFunctionCall, k);
            if (!call->children)
                inside = MIN(inside, (double)call->self_ns);
        }
    }
    *inside_ns = inside == G_MAXDOUBLE ? 0 : inside;
    for (guint i = 0; i < counts->len; i++) {
        double left = left_for_children(counts->pdata[i], *inside_ns);
        if (!isnan(left))
            outside = MIN(outside, left);
    }
    *outside_ns = outside == G_MAXDOUBLE ? 0 : outside;
}

double
host_function_own(const HostFunctionCount *c, double inside_ns, double outside_ns)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));

    for (guint i = 0; i < c->sample->len; i++) {
        const HostFunctionCall *call = &g_array_index(c->sample, HostFunctionCall, i);
        double own =
            MAX((double)call->self_ns - inside_ns - outside_ns * (double)call->children, 0);
        g_array_append_val(values, own);
    }
    return values->len ? median(values) : 0;
}
