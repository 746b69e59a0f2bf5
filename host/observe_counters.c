/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/observe_counters.h"

#include <tracefs.h>

#include "host/error.h"

/* Reasons times vCPUs and CPUs, or timers times CPUs; each entry takes about 100 bytes. */
#define HIST_ENTRIES 16384

typedef struct {
    const HostCounterSpec *spec;
    struct tep_event *event;
    struct tep_format_field *keys[HOST_HIST_MAX_KEYS]; /* NULL: common_pid, common_cpu */
    struct tep_format_field *value;
    char *trigger; /* its hist trigger before and after the command, or NULL: events are kept */
    char *condition;
    HostHist *result;
    GHashTable *index;
    GError *error;
} Counter;

struct HostCounters {
    HostTrace *trace;
    struct tep_handle *tep;
    GPtrArray *counters; /* Counter * */
    GPtrArray *specs;    /* HostCounterSpec * */
    unsigned int buffer_kib;
    gboolean keeps_events;
    gboolean used; /* there is something to clear */
};

static void
counter_free(gpointer data)
{
    Counter *k = data;

    g_free(k->trigger);
    g_free(k->condition);
    host_hist_free(k->result);
    g_clear_pointer(&k->index, g_hash_table_unref);
    g_clear_error(&k->error);
    g_free(k);
}

HostCounters *
host_counters_new(const char *name, unsigned int buffer_kib, GError **error)
{
    HostTrace *trace = host_trace_new(name, error);
    if (!trace)
        return NULL;

    g_autoptr(HostCounters) c = g_new0(HostCounters, 1);
    c->trace = trace;
    c->buffer_kib = buffer_kib;
    c->counters = g_ptr_array_new_with_free_func(counter_free);
    c->specs = g_ptr_array_new_with_free_func(g_free);
    c->tep = host_trace_events_new(error);
    return c->tep ? g_steal_pointer(&c) : NULL;
}

void
host_counters_free(HostCounters *c)
{
    if (!c)
        return;
    g_ptr_array_unref(c->counters);
    g_ptr_array_unref(c->specs);
    if (c->tep)
        tep_free(c->tep);
    host_trace_free(c->trace);
    g_free(c);
}

static gboolean
find_field(struct tep_event *event, const char *name, struct tep_format_field **field,
           GError **error)
{
    *field = NULL;
    if (g_str_has_prefix(name, "common_"))
        return TRUE;
    *field = tep_find_field(event, name);
    if (*field)
        return TRUE;
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "this kernel's event %s:%s has no field %s", event->system, event->name, name);
    return FALSE;
}

static gboolean
find_event(HostCounters *c, Counter *k, GError **error)
{
    const HostCounterSpec *s = k->spec;

    k->event = host_trace_event(c->tep, s->system, s->event, error);
    if (!k->event)
        return FALSE;
    for (guint i = 0; i < s->n_keys; i++)
        if (!find_field(k->event, s->keys[i], &k->keys[i], error))
            return FALSE;
    return !s->value || find_field(k->event, s->value, &k->value, error);
}

static char *
event_file(const Counter *k, const char *name)
{
    return g_strdup_printf("events/%s/%s/%s", k->spec->system, k->spec->event, name);
}

/* The trigger with COMMAND (pause, cont, clear); the kernel finds the one that is there by all the
 * rest being equal. */
static gboolean
trigger_command(HostCounters *c, const Counter *k, const char *command, GError **error)
{
    g_autofree char *path = event_file(k, "trigger");
    g_autofree char *text = g_strconcat(k->trigger, ":", command, k->condition, NULL);

    return host_trace_write(c->trace, path, text, error);
}

/* CPU_KEY: "common_cpu", or "cpu" before Linux 5.14. */
static gboolean
make_trigger(HostCounters *c, Counter *k, const char *cpu_key, GError **error)
{
    g_autoptr(GString) s = g_string_new("hist:keys=");

    for (guint i = 0; i < k->spec->n_keys; i++) {
        const char *key = k->spec->keys[i];
        g_string_append_printf(s, "%s%s", i ? "," : "",
                               g_str_equal(key, "common_cpu") ? cpu_key : key);
    }
    g_string_append_printf(s, ":vals=hitcount%s%s:size=%d", k->spec->value ? "," : "",
                           k->spec->value ? k->spec->value : "", HIST_ENTRIES);
    g_free(k->trigger);
    k->trigger = g_strdup(s->str);
    return trigger_command(c, k, "pause", error);
}

/* Events are kept: their buffers have to be there before the first one is enabled. */
static gboolean
keep_events(HostCounters *c, Counter *k, GError **error)
{
    g_autofree char *filter = event_file(k, "filter");
    g_autofree char *enable = event_file(k, "enable");
    g_autofree char *size = g_strdup_printf("%u", c->buffer_kib);
    g_autoptr(HostCpuset) none = hwloc_bitmap_alloc();

    if (!c->keeps_events && (!host_trace_buffers(c->trace, none, c->buffer_kib, error) ||
                             !host_trace_write(c->trace, "buffer_size_kb", size, error)))
        return FALSE;
    c->keeps_events = TRUE;
    return (!k->spec->filter || host_trace_write(c->trace, filter, k->spec->filter, error)) &&
           host_trace_write(c->trace, enable, "1", error);
}

int
host_counters_add(HostCounters *c, const HostCounterSpec *spec, GError **error)
{
    HostCounterSpec *copy = g_memdup2(spec, sizeof(*spec));
    Counter *k = g_new0(Counter, 1);
    k->spec = copy;
    k->condition = spec->filter ? g_strdup_printf(" if %s", spec->filter) : g_strdup("");
    g_ptr_array_add(c->specs, copy);

    g_autofree char *hist = event_file(k, "hist");
    gboolean ok = find_event(c, k, error);
    if (ok && host_trace_exists(c->trace, hist)) {
        ok = make_trigger(c, k, "common_cpu", NULL) || make_trigger(c, k, "cpu", error);
    } else if (ok) {
        ok = keep_events(c, k, error);
    }
    if (!ok) {
        counter_free(k);
        return -1;
    }
    g_ptr_array_add(c->counters, k);
    return (int)c->counters->len - 1;
}

gboolean
host_counters_in_kernel(const HostCounters *c, int counter)
{
    const Counter *k = c->counters->pdata[counter];

    return k->trigger != NULL;
}

static gboolean
command_all(HostCounters *c, const char *command, GError **error)
{
    for (guint i = 0; i < c->counters->len; i++) {
        const Counter *k = c->counters->pdata[i];
        if (k->trigger && !trigger_command(c, k, command, error))
            return FALSE;
    }
    return TRUE;
}

gboolean
host_counters_start(HostCounters *c, GError **error)
{
    for (guint i = 0; i < c->counters->len; i++) {
        Counter *k = c->counters->pdata[i];
        g_clear_pointer(&k->result, host_hist_free);
        g_clear_error(&k->error);
    }
    /* Clearing waits for a grace period of RCU, so it is not done for nothing. */
    if (c->used && ((c->keeps_events && !host_trace_truncate(c->trace, "trace", error)) ||
                    !command_all(c, "clear", error)))
        return FALSE;
    c->used = TRUE;
    return command_all(c, "cont", error) && host_trace_write(c->trace, "tracing_on", "1", error);
}

gboolean
host_counters_stop(HostCounters *c, GError **error)
{
    gboolean ok = host_trace_write(c->trace, "tracing_on", "0", error);

    return command_all(c, "pause", ok ? error : NULL) && ok;
}

static gboolean
event_value(const struct tep_format_field *field, const char *name, struct tep_handle *tep,
            struct tep_record *record, int cpu, guint64 *n)
{
    unsigned long long value = 0;

    if (!field) {
        *n = g_str_equal(name, "common_cpu") ? (guint64)cpu : (guint64)tep_data_pid(tep, record);
        return TRUE;
    }
    if (tep_read_number_field((struct tep_format_field *)field, record->data, &value) != 0)
        return FALSE;
    *n = value;
    return TRUE;
}

static int
count_event(struct tep_event *event, struct tep_record *record, int cpu, void *data)
{
    HostCounters *c = data;

    for (guint i = 0; i < c->counters->len; i++) {
        Counter *k = c->counters->pdata[i];
        guint64 keys[HOST_HIST_MAX_KEYS] = {0}, sum = 0;
        if (k->trigger || k->event->id != event->id)
            continue;
        gboolean ok = TRUE;
        for (guint n = 0; n < k->spec->n_keys; n++)
            ok = ok && event_value(k->keys[n], k->spec->keys[n], c->tep, record, cpu, &keys[n]);
        if (k->value)
            ok = ok && event_value(k->value, k->spec->value, c->tep, record, cpu, &sum);
        if (ok)
            host_hist_add(k->result, k->index, keys, 1, sum);
        else
            k->result->uncounted++;
    }
    return 0;
}

static gboolean
collect_events(HostCounters *c, GError **error)
{
    guint64 entries, lost, all_lost = 0;

    for (guint i = 0; i < c->counters->len; i++) {
        Counter *k = c->counters->pdata[i];
        if (k->trigger)
            continue;
        g_clear_pointer(&k->index, g_hash_table_unref);
        k->result = host_hist_new();
        k->index = host_hist_index_new();
    }
    if (tracefs_iterate_raw_events(c->tep, host_trace_instance(c->trace), NULL, 0, count_event, c) <
        0) {
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_IO, "the trace buffers can't be read");
        return FALSE;
    }
    for (unsigned int cpu = 0; cpu <= HOST_CPULIST_MAX_CPU; cpu++) {
        g_autofree char *folder = g_strdup_printf("per_cpu/cpu%u", cpu);
        if (!host_trace_exists(c->trace, folder))
            continue;
        if (!host_trace_lost(c->trace, cpu, &entries, &lost, error))
            return FALSE;
        all_lost += lost;
    }
    /* Whose events they were is not known. */
    for (guint i = 0; i < c->counters->len; i++) {
        Counter *k = c->counters->pdata[i];
        if (!k->trigger)
            k->result->uncounted += all_lost;
    }
    return TRUE;
}

gboolean
host_counters_collect(HostCounters *c, GError **error)
{
    for (guint i = 0; i < c->counters->len; i++) {
        Counter *k = c->counters->pdata[i];
        if (!k->trigger)
            continue;
        gsize len = 0;
        g_autofree char *path = event_file(k, "hist");
        g_autofree char *text =
            host_trace_read(c->trace, path, HOST_HIST_MAX_BYTES, &len, &k->error);
        if (text)
            k->result = host_hist_parse(text, len, k->spec->keys, k->spec->n_keys, k->spec->value,
                                        &k->error);
        if (!k->result)
            g_prefix_error(&k->error, "%s: ", path);
    }
    return !c->keeps_events || collect_events(c, error);
}

const HostHist *
host_counters_get(const HostCounters *c, int counter, GError **error)
{
    const Counter *k = c->counters->pdata[counter];

    if (!k->result)
        g_set_error_literal(error, HOST_ERROR, HOST_ERROR_IO,
                            k->error ? k->error->message : "nothing was collected");
    return k->result;
}
