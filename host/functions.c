/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/functions.h"

#include <string.h>
#include <tracefs.h>

#include "host/error.h"
#include "host/observe_private.h"

#define MARKER "-functions" /* end of our instance's name: the top level may be ours */
#define BUFFER_KIB "8192"   /* a CPU */
#define KALLSYMS "/proc/kallsyms"
#define POSSIBLE "/sys/devices/system/cpu/possible"

struct HostFunctions {
    HostTrace *trace; /* ours */
    HostTrace *where; /* trace, or NULL: the top level (before Linux 6.11) */
    struct tep_handle *tep;
    struct tep_event *event;
    struct tep_format_field *func, *depth, *calltime, *rettime;
    char *kallsyms;
};

/* The kernel's masks have eight hexadecimal digits between commas. g_free. */
static char *
mask_text(const HostCpuset *cpus)
{
    char *text = NULL;

    hwloc_bitmap_asprintf(&text, cpus);
    g_autoptr(GString) mask = g_string_new(text);
    free(text);
    g_string_replace(mask, "0x", "", 0);
    return g_strdup(mask->str);
}

static void
top_level_restore(void)
{
    g_autofree char *text = NULL;
    g_autoptr(HostCpuset) possible = NULL;

    host_trace_write(NULL, "tracing_on", "0", NULL);
    host_trace_write(NULL, "current_tracer", "nop", NULL);
    host_trace_write(NULL, "trace_options", "sleep-time", NULL);
    host_trace_write(NULL, "trace_options", "overwrite", NULL);
    host_trace_truncate(NULL, "trace", NULL);
    host_trace_write(NULL, "buffer_size_kb", "1408", NULL); /* as a kernel starts with */
    if (g_file_get_contents(POSSIBLE, &text, NULL, NULL))
        possible = host_cpulist_parse(g_strchomp(text), HOST_CPULIST_TOOL, 0, NULL, NULL);
    g_autofree char *all = possible ? mask_text(possible) : NULL;
    if (all)
        host_trace_write(NULL, "tracing_cpumask", all, NULL);
    host_trace_write(NULL, "tracing_on", "1", NULL);
}

void
host_functions_recover(const char *name)
{
    if (g_str_has_suffix(name, MARKER) &&
        host_trace_first_line_is(NULL, "current_tracer", "function_graph"))
        top_level_restore();
}

/* Of a call only its end is read; which CPUs are traced is the caller's to sort out at the top
 * level, where the mask would outlive us. */
static gboolean
enable(HostTrace *where, const char *mask, GError **error)
{
    return host_trace_write(where, "tracing_on", "0", error) &&
           host_trace_write(where, "tracing_cpumask", mask, error) &&
           host_trace_write(where, "trace_options", "nooverwrite", error) &&
           host_trace_write(where, "buffer_size_kb", BUFFER_KIB, error) &&
           host_trace_write(where, "current_tracer", "function_graph", error);
}

static gboolean
use_top_level(HostFunctions *f, const char *mask, GError **error)
{
    if (!host_trace_top_level_unused(error))
        return FALSE;
    f->where = NULL;
    host_trace_write(NULL, "trace_options", "nosleep-time", NULL);
    return enable(NULL, mask, error);
}

static gboolean
find_fields(HostFunctions *f, GError **error)
{
    f->tep = host_trace_events_new(error);
    f->event = f->tep ? host_trace_event(f->tep, "ftrace", "funcgraph_exit", error) : NULL;
    if (!f->event)
        return FALSE;
    f->func = tep_find_field(f->event, "func");
    f->depth = tep_find_field(f->event, "depth");
    f->calltime = tep_find_field(f->event, "calltime");
    f->rettime = tep_find_field(f->event, "rettime");
    if (f->func && f->depth && f->calltime && f->rettime)
        return TRUE;
    g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                        "this kernel's event ftrace:funcgraph_exit has no calltime and rettime");
    return FALSE;
}

static gboolean
set_up(HostFunctions *f, const char *name, const HostCpuset *cpus, GError **error)
{
    g_autofree char *mask = mask_text(cpus);

    f->trace = f->where = host_trace_new(name, error);
    return f->trace && find_fields(f, error) &&
           g_file_get_contents(KALLSYMS, &f->kallsyms, NULL, error) &&
           (enable(f->trace, mask, NULL) || use_top_level(f, mask, error));
}

HostFunctions *
host_functions_new(const char *token, const HostCpuset *cpus, GError **error)
{
    g_autofree char *name = g_strconcat(HOST_TRACE_PREFIX, token, MARKER, NULL);

    if (!host_trace_has_function_graph(error))
        return NULL;
    g_autoptr(HostFunctions) f = g_new0(HostFunctions, 1);
    return set_up(f, name, cpus, error) ? g_steal_pointer(&f) : NULL;
}

void
host_functions_free(HostFunctions *f)
{
    if (!f)
        return;
    if (f->trace && !f->where)
        top_level_restore();
    if (f->tep)
        tep_free(f->tep);
    if (f->trace)
        host_trace_free(f->trace);
    g_free(f->kallsyms);
    g_free(f);
}

gboolean
host_functions_start(HostFunctions *f, GError **error)
{
    return host_trace_truncate(f->where, "trace", error) &&
           host_trace_write(f->where, "tracing_on", "1", error);
}

gboolean
host_functions_stop(HostFunctions *f, GError **error)
{
    return host_trace_write(f->where, "tracing_on", "0", error);
}

typedef struct {
    const HostFunctions *f;
    HostFunctionTree *tree;
} Reading;

static int
add_call(struct tep_event *event, struct tep_record *record, int cpu G_GNUC_UNUSED, void *data)
{
    const Reading *r = data;
    const HostFunctions *f = r->f;
    unsigned long long func, depth, began, ended;

    if (event->id == f->event->id && tep_read_number_field(f->func, record->data, &func) == 0 &&
        tep_read_number_field(f->depth, record->data, &depth) == 0 &&
        tep_read_number_field(f->calltime, record->data, &began) == 0 &&
        tep_read_number_field(f->rettime, record->data, &ended) == 0)
        host_function_tree_add(r->tree, tep_data_pid(f->tep, record), (int)depth, func, began,
                               ended);
    return 0;
}

GPtrArray *
host_functions_read(HostFunctions *f, char **incomplete, GError **error)
{
    g_autoptr(HostFunctionTree) tree = host_function_tree_new();
    Reading r = {f, tree};

    if (tracefs_iterate_raw_events(f->tep, f->where ? host_trace_instance(f->where) : NULL, NULL, 0,
                                   add_call, &r) < 0) {
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_IO, "the trace buffers can't be read");
        return NULL;
    }
    guint64 lost = host_trace_lost_in_all(f->where);
    if (lost)
        *incomplete = g_strdup_printf("%" G_GUINT64_FORMAT " calls were lost", lost);
    return host_function_tree_counts(tree, f->kallsyms);
}
