/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/observe_interrupts.h"

#include <string.h>

#include "host/error.h"

typedef struct {
    char *label, *description;
    guint64 *counts; /* one for each of HostInterrupts.cpus */
} Row;

struct HostInterrupts {
    GArray *cpus;    /* unsigned int: those asked for that have a column, in its order */
    GArray *columns; /* guint: which one */
    guint n_columns;
    GPtrArray *rows; /* Row * */
    HostCpuset *wanted;
};

static void
row_free(gpointer data)
{
    Row *row = data;

    g_free(row->label);
    g_free(row->description);
    g_free(row->counts);
    g_free(row);
}

void
host_interrupts_free(HostInterrupts *i)
{
    if (!i)
        return;
    g_array_unref(i->cpus);
    g_array_unref(i->columns);
    g_ptr_array_unref(i->rows);
    hwloc_bitmap_free(i->wanted);
    g_free(i);
}

static gboolean
refuse(GError **error, guint line, const char *what)
{
    g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "interrupt counts, line %u: %s", line, what);
    return FALSE;
}

/* Decimal at *AT, which moves behind it. */
static gboolean
take_number(const char **at, guint64 *n)
{
    const char *start = *at;

    *n = 0;
    for (; g_ascii_isdigit(**at); (*at)++)
        if (!g_uint64_checked_mul(n, *n, 10) || !g_uint64_checked_add(n, *n, (guint64)(**at - '0')))
            return FALSE;
    return *at > start;
}

/* "CPU0 CPU2 ...": offline CPUs have no column. */
static gboolean
parse_header(HostInterrupts *i, const char *at, GError **error)
{
    unsigned int last = 0;

    for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
        guint64 cpu = 0;
        if (!g_str_has_prefix(at, "CPU"))
            return refuse(error, 1, "a row of CPU0, CPU1, ... expected");
        at += strlen("CPU");
        if (!take_number(&at, &cpu) || (*at && *at != ' ') || cpu > HOST_CPULIST_MAX_CPU)
            return refuse(error, 1, "a CPU's name has no such number");
        if (i->n_columns && cpu <= last)
            return refuse(error, 1, "the CPUs are not in order");
        last = (unsigned int)cpu;
        if (hwloc_bitmap_isset(i->wanted, last)) {
            g_array_append_val(i->cpus, last);
            g_array_append_val(i->columns, i->n_columns);
        }
        i->n_columns++;
    }
    return i->n_columns > 0 || refuse(error, 1, "a row of CPU0, CPU1, ... expected");
}

/* White space of any length becomes one space. */
static char *
squeeze(const char *text)
{
    GString *s = g_string_new(NULL);

    for (const char *c = text; *c; c++) {
        gboolean space = g_ascii_isspace(*c);
        if (!space || (s->len && s->str[s->len - 1] != ' '))
            g_string_append_c(s, space ? ' ' : *c);
    }
    return g_strchomp(g_string_free(s, FALSE));
}

static gboolean
parse_row(HostInterrupts *i, const char *at, guint line, GError **error)
{
    at += strspn(at, " ");
    if (!*at)
        return TRUE;
    gsize len = strcspn(at, ": ");
    if (at[len] != ':' || len == 0 || len > 64)
        return refuse(error, line, "\"NAME:\" expected");
    g_autofree char *label = g_strndup(at, len);
    g_autofree guint64 *counts = g_new0(guint64, MAX(i->cpus->len, 1));
    at += len + 1;
    guint taken = 0;
    for (guint column = 0; column < i->n_columns; column++) {
        guint64 n;
        at += strspn(at, " ");
        if (!*at || !g_ascii_isdigit(*at))
            return TRUE; /* a number for the whole machine: ERR, MIS */
        if (!take_number(&at, &n) || (*at && *at != ' '))
            return refuse(error, line, "a count is no number");
        if (taken < i->columns->len && g_array_index(i->columns, guint, taken) == column)
            counts[taken++] = n;
    }
    if ((guint64)(i->rows->len + 1) * MAX(i->cpus->len, 1) > HOST_INTERRUPTS_MAX_CELLS)
        return refuse(error, line, "more counts than any machine has");
    Row *row = g_new0(Row, 1);
    row->label = g_steal_pointer(&label);
    row->description = squeeze(at);
    row->counts = g_steal_pointer(&counts);
    g_ptr_array_add(i->rows, row);
    return TRUE;
}

HostInterrupts *
host_interrupts_parse(const char *text, const HostCpuset *cpus, GError **error)
{
    g_autoptr(HostInterrupts) i = g_new0(HostInterrupts, 1);
    guint line = 0;

    i->cpus = g_array_new(FALSE, FALSE, sizeof(unsigned int));
    i->columns = g_array_new(FALSE, FALSE, sizeof(guint));
    i->rows = g_ptr_array_new_with_free_func(row_free);
    i->wanted = hwloc_bitmap_dup(cpus);
    while (text) {
        const char *end = strchr(text, '\n');
        g_autofree char *row = end ? g_strndup(text, (gsize)(end - text)) : g_strdup(text);
        line++;
        if (line == 1 ? !parse_header(i, row, error) : !parse_row(i, row, line, error))
            return NULL;
        text = end ? end + 1 : NULL;
    }
    return g_steal_pointer(&i);
}

static void
count_clear(gpointer data)
{
    HostInterruptCount *c = data;

    g_free(c->label);
    g_free(c->description);
}

GArray *
host_interrupt_counts_new(void)
{
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(HostInterruptCount));

    g_array_set_clear_func(counts, count_clear);
    return counts;
}

/* A number may be given to another device meanwhile, so both texts have to agree. */
static char *
row_key(const Row *row)
{
    return g_strdup_printf("%s:%s", row->label, row->description);
}

static int
cpu_index(const HostInterrupts *i, unsigned int cpu)
{
    for (guint c = 0; c < i->cpus->len; c++)
        if (g_array_index(i->cpus, unsigned int, c) == cpu)
            return (int)c;
    return -1;
}

void
host_interrupts_delta(const HostInterrupts *before, const HostInterrupts *after, gboolean softirq,
                      GArray *counts, HostCpuset *missing)
{
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint r = 0; r < before->rows->len; r++)
        g_hash_table_insert(known, row_key(before->rows->pdata[r]), before->rows->pdata[r]);
    if (missing)
        hwloc_bitmap_copy(missing, after->wanted);
    for (guint c = 0; c < after->cpus->len; c++) {
        unsigned int cpu = g_array_index(after->cpus, unsigned int, c);
        int c_before = cpu_index(before, cpu);
        if (c_before < 0)
            continue;
        if (missing)
            hwloc_bitmap_clr(missing, cpu);
        for (guint r = 0; r < after->rows->len; r++) {
            const Row *row = after->rows->pdata[r];
            g_autofree char *key = row_key(row);
            const Row *old = g_hash_table_lookup(known, key);
            guint64 n = row->counts[c], was = old ? old->counts[c_before] : 0;
            guint64 more = n >= was ? n - was : (guint32)(n - was);
            if (more == 0)
                continue;
            HostInterruptCount count = {.cpu = cpu,
                                        .softirq = softirq,
                                        .label = g_strdup(row->label),
                                        .description = g_strdup(row->description),
                                        .count = more};
            g_array_append_val(counts, count);
        }
    }
}

gboolean
host_interrupt_is_timer(const HostInterruptCount *c)
{
    return !c->softirq &&
           (g_str_equal(c->label, "LOC") || g_str_has_suffix(c->description, " arch_timer"));
}
