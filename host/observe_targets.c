/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times every call of one function. Kernels before 6.11 have function_graph at the top level only;
 * there it is used when nobody else uses that level, and the name of our instance, which then is
 * nothing but a marker, tells whoever finds it without owner that the top level has to be put back.
 */
#include <string.h>
#include <tracefs.h>

#include "host/error.h"
#include "host/observe_private.h"

#define FUNCTION "get_nohz_timer_target"
#define MARKER "-toplevel"

struct HostTargets {
    HostTrace *trace; /* ours */
    HostTrace *where; /* trace, or NULL: the top level */
    struct tep_handle *tep;
    struct tep_event *event;
    struct tep_format_field *calltime, *rettime;
    gboolean used; /* its buffers are not empty */
};

static void
top_level_restore(void)
{
    host_trace_write(NULL, "tracing_on", "0", NULL);
    host_trace_write(NULL, "current_tracer", "nop", NULL);
    host_trace_truncate(NULL, "set_ftrace_filter", NULL);
    host_trace_truncate(NULL, "trace", NULL);
    host_trace_write(NULL, "tracing_on", "1", NULL);
}

void
host_targets_recover(const char *name)
{
    if (g_str_has_suffix(name, MARKER) &&
        host_trace_first_line_is(NULL, "set_ftrace_filter", FUNCTION))
        top_level_restore();
}

/* The filter comes first: without it the tracer hooks every function there is. */
static gboolean
enable(HostTrace *where, GError **error)
{
    if (!host_trace_write(where, "set_ftrace_filter", FUNCTION, error)) {
        g_prefix_error(error, "this kernel can't trace " FUNCTION "(): ");
        return FALSE;
    }
    return host_trace_write(where, "tracing_on", "0", error) &&
           host_trace_write(where, "current_tracer", "function_graph", error);
}

static gboolean
use_top_level(HostTargets *t, const char *name, GError **error)
{
    g_autofree char *marker = g_strconcat(name, MARKER, NULL);

    if (!host_trace_top_level_unused(error))
        return FALSE;
    host_trace_free(t->trace);
    t->trace = host_trace_new(marker, error);
    t->where = NULL;
    if (!t->trace)
        return FALSE;
    if (enable(NULL, error))
        return TRUE;
    top_level_restore();
    return FALSE;
}

static gboolean
find_fields(HostTargets *t, GError **error)
{
    t->tep = host_trace_events_new(error);
    t->event = t->tep ? host_trace_event(t->tep, "ftrace", "funcgraph_exit", error) : NULL;
    if (!t->event)
        return FALSE;
    t->calltime = tep_find_field(t->event, "calltime");
    t->rettime = tep_find_field(t->event, "rettime");
    if (t->calltime && t->rettime)
        return TRUE;
    g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                        "this kernel's event ftrace:funcgraph_exit has no calltime and rettime");
    return FALSE;
}

static gboolean
set_up(HostTargets *t, const char *name, unsigned int buffer_kib, GError **error)
{
    g_autofree char *size = g_strdup_printf("%u", buffer_kib);

    t->trace = host_trace_new(name, error);
    if (!t->trace || !find_fields(t, error))
        return FALSE;
    if (!host_trace_write(t->trace, "trace_options", "nooverwrite", error) ||
        !host_trace_write(t->trace, "buffer_size_kb", size, error))
        return FALSE;
    t->where = t->trace;
    return enable(t->trace, NULL) || use_top_level(t, name, error);
}

HostTargets *
host_targets_new(const char *name, unsigned int buffer_kib, GError **error)
{
    if (!host_trace_has_function_graph(error))
        return NULL;
    HostTargets *t = g_new0(HostTargets, 1);
    if (set_up(t, name, buffer_kib, error))
        return t;
    /* Whatever failed, nothing of the top level is in force any more. */
    t->where = t->trace;
    host_targets_free(t);
    return NULL;
}

void
host_targets_free(HostTargets *t)
{
    if (!t)
        return;
    if (!t->where)
        top_level_restore();
    if (t->tep)
        tep_free(t->tep);
    host_trace_free(t->trace);
    g_free(t);
}

gboolean
host_targets_start(HostTargets *t, GError **error)
{
    if (t->used && !host_trace_truncate(t->where, "trace", error))
        return FALSE;
    t->used = TRUE;
    return host_trace_write(t->where, "tracing_on", "1", error);
}

gboolean
host_targets_stop(HostTargets *t, GError **error)
{
    return host_trace_write(t->where, "tracing_on", "0", error);
}

typedef struct {
    HostTargets *t;
    GHashTable *cpus; /* number -> HostTargetCount * */
} Reading;

static int
add_call(struct tep_event *event, struct tep_record *record, int cpu, void *data)
{
    Reading *r = data;
    unsigned long long came, left;

    if (event->id != r->t->event->id ||
        tep_read_number_field(r->t->calltime, record->data, &came) != 0 ||
        tep_read_number_field(r->t->rettime, record->data, &left) != 0 || left < came)
        return 0;
    HostTargetCount *c = g_hash_table_lookup(r->cpus, GINT_TO_POINTER(cpu));
    if (!c) {
        c = g_new0(HostTargetCount, 1);
        c->cpu = (unsigned int)cpu;
        c->min_ns = left - came;
        g_hash_table_insert(r->cpus, GINT_TO_POINTER(cpu), c);
    }
    c->calls++;
    c->total_ns += left - came;
    c->min_ns = MIN(c->min_ns, left - came);
    c->max_ns = MAX(c->max_ns, left - came);
    return 0;
}

GArray *
host_targets_read(HostTargets *t, char **incomplete, GError **error)
{
    g_autoptr(GHashTable) cpus = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    Reading r = {.t = t, .cpus = cpus};

    if (tracefs_iterate_raw_events(t->tep, t->where ? host_trace_instance(t->where) : NULL, NULL, 0,
                                   add_call, &r) < 0) {
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_IO, "the trace buffers can't be read");
        return NULL;
    }
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(HostTargetCount));
    for (unsigned int cpu = 0; cpu <= HOST_CPULIST_MAX_CPU; cpu++) {
        const HostTargetCount *c = g_hash_table_lookup(cpus, GUINT_TO_POINTER(cpu));
        if (c)
            g_array_append_vals(counts, c, 1);
    }
    guint64 lost = host_trace_lost_in_all(t->where);
    if (lost)
        *incomplete = g_strdup_printf("%" G_GUINT64_FORMAT " events were lost", lost);
    return counts;
}
