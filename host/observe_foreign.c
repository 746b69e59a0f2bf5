/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <tracefs.h>

#include "host/cpumask.h"
#include "host/error.h"
#include "host/observe_private.h"

/* The kernel takes filters of less than a page (kernel/trace/trace_events.c,
 * event_filter_write). */
#define FILTER_MAX 4000

struct HostForeign {
    HostTrace *trace;
    struct tep_handle *tep;
    struct tep_event *event;
    struct tep_format_field *prev_pid, *next_pid, *prev_comm, *next_comm;
    HostCpuset *isolated;
    GHashTable *ours;
    HostHogs *hogs;
    gboolean used; /* its buffers are not empty */
};

static gboolean
find_fields(HostForeign *f, GError **error)
{
    f->tep = host_trace_events_new(error);
    f->event = f->tep ? host_trace_event(f->tep, "sched", "sched_switch", error) : NULL;
    if (!f->event)
        return FALSE;
    f->prev_pid = tep_find_field(f->event, "prev_pid");
    f->next_pid = tep_find_field(f->event, "next_pid");
    f->prev_comm = tep_find_field(f->event, "prev_comm");
    f->next_comm = tep_find_field(f->event, "next_comm");
    if (f->prev_pid && f->next_pid && f->prev_comm && f->next_comm)
        return TRUE;
    g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                        "this kernel's sched:sched_switch lacks prev_pid, next_pid or their names");
    return FALSE;
}

/* Keeps the events in which a foreign task comes or goes: those of a vCPU that halts and wakes a
 * thousand times a second would fill any buffer. */
static char *
switch_filter(GHashTable *ours)
{
    g_autoptr(GString) prev = g_string_new("prev_pid != 0");
    g_autoptr(GString) next = g_string_new("next_pid != 0");
    GHashTableIter iter;
    gpointer tid;

    g_hash_table_iter_init(&iter, ours);
    while (g_hash_table_iter_next(&iter, &tid, NULL)) {
        g_string_append_printf(prev, " && prev_pid != %d", GPOINTER_TO_INT(tid));
        g_string_append_printf(next, " && next_pid != %d", GPOINTER_TO_INT(tid));
    }
    return g_strdup_printf("(%s) || (%s)", prev->str, next->str);
}

static gboolean
set_up(HostForeign *f, unsigned int buffer_kib, GError **error)
{
    g_autofree char *mask = host_cpumask_format(f->isolated);
    g_autofree char *filter = switch_filter(f->ours);

    if (!find_fields(f, error) || !host_trace_buffers(f->trace, f->isolated, buffer_kib, error))
        return FALSE;
    if (!host_trace_write(f->trace, "tracing_cpumask", mask, error))
        return FALSE;
    return (strlen(filter) > FILTER_MAX ||
            host_trace_write(f->trace, "events/sched/sched_switch/filter", filter, error)) &&
           host_trace_write(f->trace, "events/sched/sched_switch/enable", "1", error);
}

HostForeign *
host_foreign_new(const char *name, const HostCpuset *isolated, GHashTable *ours,
                 unsigned int buffer_kib, GError **error)
{
    if (hwloc_bitmap_iszero(isolated)) {
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "no CPU is isolated");
        return NULL;
    }
    HostTrace *trace = host_trace_new(name, error);
    if (!trace)
        return NULL;
    HostForeign *f = g_new0(HostForeign, 1);
    f->trace = trace;
    f->isolated = hwloc_bitmap_dup(isolated);
    f->ours = ours;
    if (set_up(f, buffer_kib, error))
        return f;
    host_foreign_free(f);
    return NULL;
}

void
host_foreign_free(HostForeign *f)
{
    if (!f)
        return;
    if (f->tep)
        tep_free(f->tep);
    host_hogs_free(f->hogs);
    hwloc_bitmap_free(f->isolated);
    host_trace_free(f->trace);
    g_free(f);
}

gboolean
host_foreign_start(HostForeign *f, GError **error)
{
    host_hogs_free(f->hogs);
    f->hogs = host_hogs_new(f->isolated, f->ours);
    /* Emptying waits for a grace period of RCU, so it is not done for nothing. */
    if (f->used && !host_trace_truncate(f->trace, "trace", error))
        return FALSE;
    f->used = TRUE;
    return host_trace_write(f->trace, "tracing_on", "1", error);
}

gboolean
host_foreign_stop(HostForeign *f, GError **error)
{
    return host_trace_write(f->trace, "tracing_on", "0", error);
}

typedef struct {
    HostForeign *f;
    HostSwitches *switches;
} Reading;

static void
copy_comm(const struct tep_format_field *field, const struct tep_record *record, char comm[16])
{
    gsize len = MIN(field->size, 15);

    comm[0] = '\0';
    if (field->offset < 0 || field->offset + (int)len > record->size)
        return;
    memcpy(comm, (const char *)record->data + field->offset, len);
    comm[len] = '\0';
}

static int
add_switch(struct tep_event *event, struct tep_record *record, int cpu, void *data)
{
    Reading *r = data;
    unsigned long long prev, next;
    char prev_comm[16], next_comm[16];

    if (event->id != r->f->event->id ||
        tep_read_number_field(r->f->prev_pid, record->data, &prev) != 0 ||
        tep_read_number_field(r->f->next_pid, record->data, &next) != 0)
        return 0;
    copy_comm(r->f->prev_comm, record, prev_comm);
    copy_comm(r->f->next_comm, record, next_comm);
    HostSwitch s = {.cpu = (unsigned int)cpu,
                    .at_ns = record->ts,
                    .prev_tid = (int)prev,
                    .next_tid = (int)next,
                    .prev_comm = prev_comm,
                    .next_comm = next_comm};
    host_switches_add(r->switches, &s);
    return 0;
}

static gboolean
end_cpu(HostForeign *f, HostSwitches *s, unsigned int cpu, GString *incomplete, GError **error)
{
    guint64 entries, lost, covered_ns;
    char comm[16];

    if (!host_trace_lost(f->trace, cpu, &entries, &lost, error))
        return FALSE;
    if (!host_switches_seen(s, cpu) && !lost) {
        int tid = host_hogs_find(f->hogs, cpu, comm);
        if (tid > 0)
            host_switches_add_whole(s, cpu, tid, comm);
        else if (tid < 0)
            g_string_append_printf(incomplete,
                                   "%sCPU %u had no switch, and without /proc/PID/schedstat it is "
                                   "not known whether a task ran there all the time",
                                   incomplete->len ? "; " : "", cpu);
    }
    host_switches_end(s, cpu, lost, &covered_ns);
    if (lost)
        g_string_append_printf(incomplete,
                               "%sCPU %u lost %" G_GUINT64_FORMAT
                               " switches, only its first %" G_GUINT64_FORMAT " us are known",
                               incomplete->len ? "; " : "", cpu, lost, covered_ns / 1000);
    return TRUE;
}

GArray *
host_foreign_read(HostForeign *f, guint64 start_ns, guint64 stop_ns, GHashTable *lab,
                  char **incomplete, GError **error)
{
    g_autoptr(HostSwitches) switches = host_switches_new(start_ns, stop_ns, f->ours, lab);
    g_autoptr(GString) why = g_string_new(NULL);
    Reading r = {.f = f, .switches = switches};
    int cpu;

    if (tracefs_iterate_raw_events(f->tep, host_trace_instance(f->trace), NULL, 0, add_switch, &r) <
        0) {
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_IO, "the trace buffers can't be read");
        return NULL;
    }
    hwloc_bitmap_foreach_begin(
        cpu, f->isolated) if (!end_cpu(f, switches, (unsigned int)cpu, why, error)) return NULL;
    hwloc_bitmap_foreach_end();
    if (host_switches_contradictions(switches))
        g_string_append_printf(why, "%s%" G_GUINT64_FORMAT " switches contradict each other",
                               why->len ? "; " : "", host_switches_contradictions(switches));
    *incomplete = why->len ? g_strdup(why->str) : NULL;
    return host_switches_tasks(switches);
}
