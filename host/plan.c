/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/plan.h"

#include <string.h>

#include "host/error.h"
#include "host/partition.h"
#include "host/placement.h"
#include "host/plan_items.h"
#include "host/quote.h"

#define DEFAULT_ISOLCPUS "domain,managed_irq"

static void
item_free(gpointer p)
{
    HostPlanItem *i = p;

    g_free(i->name);
    g_free(i->value);
    g_free(i->why);
    g_free(i->now);
    g_free(i);
}

void
host_plan_free(HostPlan *p)
{
    if (!p)
        return;
    for (unsigned int v = 0; p->vcpu_pins && v < p->vcpus; v++)
        hwloc_bitmap_free(p->vcpu_pins[v]);
    g_free(p->vcpu_pins);
    hwloc_bitmap_free(p->housekeeping);
    hwloc_bitmap_free(p->isolated);
    hwloc_bitmap_free(p->irqaffinity);
    hwloc_bitmap_free(p->emulator_pin);
    g_free(p->isolcpus);
    g_free(p->host_cmdline);
    g_free(p->other_cmdline);
    g_free(p->guest_cmdline);
    g_free(p->shortage);
    g_ptr_array_unref(p->items);
    g_ptr_array_unref(p->warnings);
    g_free(p);
}

const char *
host_item_kind_name(HostItemKind kind)
{
    static const char *const names[] = {"host kernel", "guest kernel", "sysctl", "module", "guest"};

    return names[kind];
}

/* A list of CPUs of this machine, whose `N` is the last one present: sockets that are possible but
 * empty are no CPUs to plan with. WHAT names it in the message. */
static HostCpuset *
read_list(HostPlan *p, const HostTopology *t, const char *what, const char *text,
          HostCpulistDialect dialect, GError **error)
{
    g_autoptr(GError) reason = NULL;
    HostCpuset *set = host_cpulist_parse(
        text, dialect, (unsigned int)host_cpuset_last(t->present) + 1, p->warnings, &reason);

    if (set)
        return set;
    if (g_error_matches(reason, HOST_CPULIST_ERROR, HOST_CPULIST_ERROR_RANGE)) {
        /* Say what is left of the wish, not only which character is out of range. */
        g_autoptr(HostCpuset) asked = host_cpulist_parse(text, dialect, 0, NULL, NULL);
        g_autofree char *shortfall =
            asked ? host_cpuset_shortfall(asked, t->present,
                                          g_str_equal(t->source, "this machine") ? t->source
                                                                                 : "the machine")
                  : NULL;
        if (shortfall) {
            g_set_error(error, HOST_CPULIST_ERROR, HOST_CPULIST_ERROR_RANGE, "%s: %s", what,
                        shortfall);
            return NULL;
        }
    }
    g_propagate_prefixed_error(error, g_steal_pointer(&reason), "%s: ", what);
    return NULL;
}

static gboolean
read_sets(HostPlan *p, const HostTopology *t, const HostWish *w, GError **error)
{
    const HostCpulistDialect dialect = HOST_CPULIST_KERNEL;

    if (!w->housekeeping && !w->isolated) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "say which CPUs are housekeeping, or which are isolated, or both");
        return FALSE;
    }
    if (w->housekeeping &&
        !(p->housekeeping = read_list(p, t, "housekeeping", w->housekeeping, dialect, error)))
        return FALSE;
    if (w->isolated && !(p->isolated = read_list(p, t, "isolated", w->isolated, dialect, error)))
        return FALSE;
    if (!p->housekeeping) {
        p->housekeeping = hwloc_bitmap_alloc();
        hwloc_bitmap_andnot(p->housekeeping, t->online, p->isolated);
    }
    if (!p->isolated) {
        p->isolated = hwloc_bitmap_alloc();
        hwloc_bitmap_andnot(p->isolated, t->online, p->housekeeping);
    }
    if (hwloc_bitmap_iszero(p->isolated)) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "no CPU is left to isolate: there is nothing to plan");
        return FALSE;
    }
    p->irqaffinity = w->irqaffinity ? read_list(p, t, "irqaffinity", w->irqaffinity, dialect, error)
                                    : hwloc_bitmap_dup(p->housekeeping);
    return p->irqaffinity != NULL;
}

/* What is not a list of words would end up on the command line as other parameters. Which words the
 * kernel knows, the rules say. */
static gboolean
read_flags(HostPlan *p, const HostWish *w, GError **error)
{
    const char *flags = w->isolcpus ? w->isolcpus : DEFAULT_ISOLCPUS;

    p->isolcpus = g_strdup(g_str_equal(flags, "none") ? "" : flags);
    if (*flags && strspn(flags, "abcdefghijklmnopqrstuvwxyz_,") == strlen(flags))
        return TRUE;
    g_autofree char *shown = host_quote(flags, 60);
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "isolcpus \"%s\": want flags with commas between them (domain, managed_irq, nohz), "
                "or none",
                shown);
    return FALSE;
}

/* The emulator's threads: near the vCPUs, so on their node when a housekeeping CPU is there. */
static gboolean
place_emulator(HostPlan *p, const HostTopology *t, const HostWish *w, GError **error)
{
    if (w->emulatorpin) {
        p->emulator_pin = read_list(p, t, "emulatorpin", w->emulatorpin, HOST_CPULIST_TOOL, error);
        return p->emulator_pin != NULL;
    }
    p->emulator_pin = hwloc_bitmap_alloc();
    for (guint i = 0; i < t->nodes->len; i++) {
        const HostNode *node = t->nodes->pdata[i];
        if (p->node >= 0 && node->number == (unsigned int)p->node)
            hwloc_bitmap_and(p->emulator_pin, p->housekeeping, node->cpus);
    }
    if (hwloc_bitmap_iszero(p->emulator_pin))
        hwloc_bitmap_and(p->emulator_pin, p->housekeeping, t->online);
    return TRUE;
}

static void
write_guest_cmdline(HostPlan *p)
{
    g_autoptr(HostCpuset) housekeeping = hwloc_bitmap_alloc();
    g_autoptr(HostCpuset) isolated = hwloc_bitmap_alloc();

    /* The first core of the guest does its housekeeping, so a guest of one core isolates nothing.
     */
    hwloc_bitmap_set_range(housekeeping, 0, (int)p->guest_threads - 1);
    if (p->vcpus > p->guest_threads)
        hwloc_bitmap_set_range(isolated, p->guest_threads, (int)p->vcpus - 1);
    const HostPartition guest = {
        .ncpus = p->vcpus,
        .housekeeping = housekeeping,
        .isolated = isolated,
        .nohz_full = TRUE,
        .rcu_nocbs = TRUE,
        .isolcpus = DEFAULT_ISOLCPUS,
    };
    p->guest_cmdline = host_partition_cmdline(&guest);
}

HostPlan *
host_plan_new(const HostTopology *t, const HostFacts *facts, const HostWish *w, GError **error)
{
    g_autoptr(HostPlan) p = g_new0(HostPlan, 1);

    p->items = g_ptr_array_new_with_free_func(item_free);
    p->warnings = g_ptr_array_new_with_free_func(g_free);
    p->ncpus = host_topology_ncpus(t);
    if (!read_flags(p, w, error))
        return NULL;
    p->other_cmdline = g_strdup(w->cmdline ? w->cmdline : "");
    p->share_cores = w->share_cores;
    p->fifo_priority = w->fifo_priority;
    p->memory_mib = w->memory_mib;
    p->tsc = w->tsc;
    if (!read_sets(p, t, w, error) || !host_placement(p, t, w, error) ||
        !place_emulator(p, t, w, error))
        return NULL;
    if (p->memory_mib)
        p->page_kib = facts && facts->huge_1g && p->memory_mib % 1024 == 0 ? 1024 * 1024 : 2048;

    const HostPartition host = {
        .ncpus = p->ncpus,
        /* Only irqaffinity= is made of it. */
        .housekeeping = p->irqaffinity,
        .isolated = p->isolated,
        .nohz_full = TRUE,
        .rcu_nocbs = TRUE,
        .isolcpus = *p->isolcpus ? p->isolcpus : NULL,
    };
    p->host_cmdline = host_partition_cmdline(&host);
    write_guest_cmdline(p);
    host_plan_add_items(p, t, facts);
    return g_steal_pointer(&p);
}
