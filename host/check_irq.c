/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts that may arrive on isolated CPUs: judged by where the kernel really sends them
 * (effective_affinity_list), counted by /proc/interrupts.
 */
#include <string.h>

#include "host/check_private.h"
#include "host/cpumask.h"

#define MAX_NAMED 4
#define MAX_CPUS_SAID 64

typedef struct {
    char *number, *name;
    guint64 *counts; /* one per column */
} Irq;

typedef struct {
    GArray *columns; /* unsigned int: the CPU of each; offline CPUs have none */
    GPtrArray *irqs; /* Irq * */
} Interrupts;

static void
irq_free(Irq *i)
{
    g_free(i->number);
    g_free(i->name);
    g_free(i->counts);
    g_free(i);
}

static void
interrupts_free(Interrupts *t)
{
    g_array_unref(t->columns);
    g_ptr_array_unref(t->irqs);
    g_free(t);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Interrupts, interrupts_free)

/* "  CPU0  CPU2": one column each. */
static void
parse_header(Interrupts *t, const char *line)
{
    g_auto(GStrv) words = g_strsplit_set(line, " \t", -1);

    for (char **word = words; *word; word++) {
        guint64 cpu;
        if (g_str_has_prefix(*word, "CPU") &&
            g_ascii_string_to_unsigned(*word + 3, 10, 0, HOST_CPULIST_MAX_CPU, &cpu, NULL)) {
            unsigned int n = (unsigned int)cpu;
            g_array_append_val(t->columns, n);
        }
    }
}

/* What stands behind the last two spaces: the names of the drivers' handlers. */
static char *
handler_name(const char *rest)
{
    g_autofree char *text = g_strstrip(g_strdup(rest));
    const char *name = text;

    for (const char *p = strstr(text, "  "); p; p = strstr(p + 1, "  "))
        name = p + 2;
    return g_strdup(name);
}

/* " 45:   0   12  PCI-MSI 1-edge   nvme0q1"; rows without a number are the CPU's own. */
static void
parse_row(Interrupts *t, const char *line)
{
    const char *p = line + strspn(line, " ");
    gsize digits = strspn(p, "0123456789");

    if (!digits || digits > 9 || p[digits] != ':')
        return;
    Irq *irq = g_new0(Irq, 1);
    irq->number = g_strndup(p, digits);
    irq->counts = g_new0(guint64, t->columns->len + 1);
    p += digits + 1;
    for (guint i = 0; i < t->columns->len; i++) {
        char *end;
        guint64 n = g_ascii_strtoull(p, &end, 10);
        if (end == p)
            break;
        irq->counts[i] = n;
        p = end;
    }
    irq->name = handler_name(p);
    g_ptr_array_add(t->irqs, irq);
}

static Interrupts *
read_interrupts(const HostRoot *root)
{
    g_autofree char *text = host_root_read(root, "proc/interrupts", NULL, NULL);

    if (!text)
        return NULL;
    Interrupts *t = g_new0(Interrupts, 1);
    t->columns = g_array_new(FALSE, FALSE, sizeof(unsigned int));
    t->irqs = g_ptr_array_new_with_free_func((GDestroyNotify)irq_free);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (line == lines)
            parse_header(t, *line);
        else
            parse_row(t, *line);
    }
    return t;
}

static const Irq *
find_irq(const Interrupts *t, const char *number)
{
    for (guint i = 0; t && i < t->irqs->len; i++) {
        const Irq *irq = t->irqs->pdata[i];
        if (!strcmp(irq->number, number))
            return irq;
    }
    return NULL;
}

static guint64
count_on(const Interrupts *t, const Irq *irq, unsigned int cpu)
{
    for (guint i = 0; irq && i < t->columns->len; i++)
        if (g_array_index(t->columns, unsigned int, i) == cpu)
            return irq->counts[i];
    return 0;
}

/* What is found on one isolated CPU. */
typedef struct {
    guint fired, silent;
    guint64 count;
    GString *named;
    char *first; /* number of one that can be moved, as far as is known */
    gboolean managed;
} Found;

static void
found_free(Found *f)
{
    g_string_free(f->named, TRUE);
    g_free(f->first);
    g_free(f);
}

/* Only debugfs tells that the kernel, not the user, places an interrupt (kernel/irq/debugfs.c). */
static gboolean
is_managed(const HostRoot *root, const char *number)
{
    g_autofree char *path = g_strdup_printf("sys/kernel/debug/irq/irqs/%s", number);
    g_autofree char *text = host_root_read(root, path, NULL, NULL);

    return text && strstr(text, "IRQD_AFFINITY_MANAGED");
}

static void
add_violation(HostChecker *c, GHashTable *by_cpu, const Interrupts *t, const char *number,
              unsigned int cpu)
{
    const Irq *irq = find_irq(t, number);
    guint64 count = count_on(t, irq, cpu);
    Found *f = g_hash_table_lookup(by_cpu, GUINT_TO_POINTER(cpu));

    if (!f) {
        f = g_new0(Found, 1);
        f->named = g_string_new(NULL);
        g_hash_table_insert(by_cpu, GUINT_TO_POINTER(cpu), f);
    }
    if (f->fired + f->silent < MAX_NAMED)
        g_string_append_printf(f->named, "%s%s %s (%" G_GUINT64_FORMAT ")",
                               f->named->len ? ", " : "", number, irq ? irq->name : "unnamed",
                               count);
    f->count += count;
    if (count)
        f->fired++;
    else
        f->silent++;
    gboolean managed = is_managed(c->root, number);
    f->managed |= managed;
    if (!managed && !f->first)
        f->first = g_strdup(number);
}

static char *
fix_of(const HostChecker *c, const Found *f)
{
    if (f->first)
        return g_strdup_printf("nohzlab host apply, or: echo %s > /proc/irq/%s/smp_affinity_list"
                               " (an I/O error means that the kernel manages it: boot with "
                               "isolcpus=managed_irq,domain,%s, or give the driver fewer queues)",
                               c->housekeeping_list, f->first, c->isolated_list);
    return g_strdup_printf("the kernel manages it and lets nobody move it: boot with "
                           "isolcpus=managed_irq,domain,%s, or give the driver fewer queues",
                           c->isolated_list);
}

static void
say_found(HostChecker *c, GHashTable *by_cpu)
{
    unsigned int cpu, said = 0;

    hwloc_bitmap_foreach_begin(cpu, c->isolated)
    {
        const Found *f = g_hash_table_lookup(by_cpu, GUINT_TO_POINTER(cpu));
        guint n = f ? f->fired + f->silent : 0;
        if (!f || said++ >= MAX_CPUS_SAID)
            continue;
        host_check_say(c, f->fired ? HOST_GRADE_FAIL : HOST_GRADE_WARN, fix_of(c, f),
                       "isolated CPU %u: %u interrupt%s may arrive here, %" G_GUINT64_FORMAT
                       " did since boot%s: %s%s",
                       cpu, n, n == 1 ? "" : "s", f->count,
                       f->fired ? "" : " (so it is a lesser violation)", f->named->str,
                       n > MAX_NAMED ? ", ..." : "");
    }
    hwloc_bitmap_foreach_end();
    if (said > MAX_CPUS_SAID)
        host_check_say(c, HOST_GRADE_FAIL, g_strdup("nohzlab host apply"),
                       "%u more isolated CPUs have interrupts", said - MAX_CPUS_SAID);
}

static void
check_default(HostChecker *c)
{
    g_autofree char *text = host_root_line(c->root, "proc/irq/default_smp_affinity");
    g_autoptr(HostCpuset) mask = text ? host_cpumask_parse(text) : NULL;

    if (!mask) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL,
                       "where new interrupts go is unknown: proc/irq/default_smp_affinity can't be "
                       "read");
        return;
    }
    hwloc_bitmap_and(mask, mask, c->isolated);
    g_autofree char *list = host_cpulist_format(mask);
    if (*list)
        host_check_say(c, HOST_GRADE_WARN,
                       g_strdup("nohzlab host apply, or boot with irqaffinity="),
                       "new interrupts may be placed on isolated CPU %s "
                       "(proc/irq/default_smp_affinity)",
                       list);
}

void
host_check_irqs(HostChecker *c)
{
    g_autoptr(GPtrArray) numbers = host_root_list(c->root, "proc/irq");
    g_autoptr(Interrupts) t = read_interrupts(c->root);
    g_autoptr(GHashTable) by_cpu =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)found_free);
    guint looked_at = 0, unread = 0;
    guint before = c->lines->len;

    if (!numbers || !t) {
        host_check_say(c, HOST_GRADE_CANNOT, NULL, "proc/irq or proc/interrupts can't be read");
        return;
    }
    if (hwloc_bitmap_iszero(c->isolated)) {
        host_check_say(c, HOST_GRADE_PASS, NULL, "no CPU is isolated, so none must be left alone");
        return;
    }
    for (guint i = 0; i < numbers->len; i++) {
        const char *number = numbers->pdata[i];
        if (!g_ascii_isdigit(*number))
            continue;
        g_autofree char *effective = g_strdup_printf("proc/irq/%s/effective_affinity_list", number);
        g_autofree char *asked = g_strdup_printf("proc/irq/%s/smp_affinity_list", number);
        g_autoptr(HostCpuset) cpus = host_root_cpulist(c->root, effective);
        /* Kernels without the file (no interrupt controller that sends to one CPU): to any of those
         * allowed. */
        if (!cpus)
            cpus = host_root_cpulist(c->root, asked);
        looked_at++;
        unread += !cpus;
        if (!cpus)
            continue;
        hwloc_bitmap_and(cpus, cpus, c->isolated);
        unsigned int cpu;
        hwloc_bitmap_foreach_begin(cpu, cpus) add_violation(c, by_cpu, t, number, cpu);
        hwloc_bitmap_foreach_end();
    }
    say_found(c, by_cpu);
    check_default(c);
    if (unread)
        host_check_say(c, HOST_GRADE_CANNOT, NULL,
                       "the affinity of %u of %u interrupts can't be read", unread, looked_at);
    if (c->lines->len == before)
        host_check_say(c, HOST_GRADE_PASS, NULL,
                       "none of %u interrupts arrives on isolated CPUs %s", looked_at,
                       c->isolated_list);
}
