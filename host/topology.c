/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/topology.h"

#include <errno.h>

#include "host/error.h"
#include "host/quote.h"
#include "host/topology_private.h"

static void
node_free(gpointer p)
{
    HostNode *n = p;
    hwloc_bitmap_free(n->cpus);
    g_free(n);
}

static void
kind_free(gpointer p)
{
    HostCpuKind *k = p;
    hwloc_bitmap_free(k->cpus);
    g_free(k->name);
    g_free(k);
}

GPtrArray *
host_kinds_new(void)
{
    return g_ptr_array_new_with_free_func(kind_free);
}

void
host_kinds_add(GPtrArray *kinds, char *name, HostCpuset *cpus)
{
    HostCpuKind *kind = g_new0(HostCpuKind, 1);

    kind->name = name;
    kind->cpus = cpus;
    g_ptr_array_add(kinds, kind);
}

static void
free_bitmap(gpointer p)
{
    hwloc_bitmap_free(p);
}

HostTopology *
host_topology_new(const char *source)
{
    HostTopology *t = g_new0(HostTopology, 1);

    t->source = host_quote(source, 200);
    t->cores = g_ptr_array_new_with_free_func(free_bitmap);
    t->nodes = g_ptr_array_new_with_free_func(node_free);
    t->kinds = host_kinds_new();
    t->warnings = g_ptr_array_new_with_free_func(g_free);
    return t;
}

void
host_topology_free(HostTopology *t)
{
    if (!t)
        return;
    g_free(t->source);
    g_free(t->kinds_from);
    /* hwloc's free takes NULL. */
    hwloc_bitmap_free(t->possible);
    hwloc_bitmap_free(t->present);
    hwloc_bitmap_free(t->online);
    g_ptr_array_unref(t->cores);
    g_ptr_array_unref(t->nodes);
    g_ptr_array_unref(t->kinds);
    g_ptr_array_unref(t->warnings);
    g_free(t);
}

void
host_topology_add_node(HostTopology *t, unsigned int number, HostCpuset *cpus)
{
    HostNode *node = g_new0(HostNode, 1);

    node->number = number;
    node->cpus = cpus;
    g_ptr_array_add(t->nodes, node);
}

void
host_topology_one_kind(HostTopology *t)
{
    g_ptr_array_set_size(t->kinds, 0);
    host_kinds_add(t->kinds, g_strdup("all"), hwloc_bitmap_dup(t->online));
}

unsigned int
host_topology_ncpus(const HostTopology *t)
{
    return (unsigned int)(host_cpuset_last(t->possible) + 1);
}

const HostCpuset *
host_topology_siblings(const HostTopology *t, unsigned int cpu)
{
    for (guint i = 0; i < t->cores->len; i++) {
        if (hwloc_bitmap_isset(t->cores->pdata[i], cpu))
            return t->cores->pdata[i];
    }
    return NULL;
}

int
host_topology_node(const HostTopology *t, unsigned int cpu)
{
    for (guint i = 0; i < t->nodes->len; i++) {
        const HostNode *node = t->nodes->pdata[i];
        if (hwloc_bitmap_isset(node->cpus, cpu))
            return (int)i;
    }
    return -1;
}

int
host_topology_kind(const HostTopology *t, unsigned int cpu)
{
    for (guint i = 0; i < t->kinds->len; i++) {
        const HostCpuKind *kind = t->kinds->pdata[i];
        if (hwloc_bitmap_isset(kind->cpus, cpu))
            return (int)i;
    }
    return -1;
}

/* hwloc orders kinds by increasing efficiency; ours are fastest first. */
static void
take_kinds(HostTopology *t, hwloc_topology_t from)
{
    int n = hwloc_cpukinds_get_nr(from, 0);

    for (int i = n - 1; i >= 0; i--) {
        HostCpuset *cpus = hwloc_bitmap_alloc();
        hwloc_cpukinds_get_info(from, (unsigned int)i, cpus, NULL, NULL, NULL, 0);
        hwloc_bitmap_and(cpus, cpus, t->online);
        host_kinds_add(t->kinds, g_strdup_printf("kind %d of hwloc", i), cpus);
    }
    if (n > 0)
        t->kinds_from = g_strdup("hwloc's CPU kinds");
    else
        host_topology_one_kind(t);
}

static gboolean
take_objects(HostTopology *t, hwloc_topology_t from, GError **error)
{
    hwloc_const_bitmap_t online = hwloc_topology_get_topology_cpuset(from);
    hwloc_obj_t obj = NULL;

    if (hwloc_bitmap_iszero(online) || hwloc_bitmap_last(online) > HOST_CPULIST_MAX_CPU) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "%s: no CPU, or one above %d",
                    t->source, HOST_CPULIST_MAX_CPU);
        return FALSE;
    }
    t->online = hwloc_bitmap_dup(online);
    t->present = hwloc_bitmap_dup(hwloc_topology_get_complete_cpuset(from));
    hwloc_bitmap_or(t->present, t->present, online);
    t->possible = hwloc_bitmap_dup(t->present);
    while ((obj = hwloc_get_next_obj_by_type(from, HWLOC_OBJ_CORE, obj)))
        g_ptr_array_add(t->cores, hwloc_bitmap_dup(obj->cpuset));
    /* A description without cores: each CPU is one. */
    if (!t->cores->len) {
        unsigned int cpu;
        hwloc_bitmap_foreach_begin(cpu, online)
        {
            HostCpuset *core = hwloc_bitmap_alloc();
            hwloc_bitmap_only(core, cpu);
            g_ptr_array_add(t->cores, core);
        }
        hwloc_bitmap_foreach_end();
    }
    while ((obj = hwloc_get_next_obj_by_type(from, HWLOC_OBJ_NUMANODE, obj))) {
        if (!hwloc_bitmap_iszero(obj->cpuset))
            host_topology_add_node(t, obj->os_index, hwloc_bitmap_dup(obj->cpuset));
    }
    take_kinds(t, from);
    return TRUE;
}

static HostTopology *
load(const char *source, int (*set)(hwloc_topology_t, const char *), GError **error)
{
    g_autoptr(HostTopology) t = host_topology_new(source);
    hwloc_topology_t from;

    if (hwloc_topology_init(&from) != 0)
        g_error("out of memory");
    if (set(from, source) != 0 || hwloc_topology_load(from) != 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "hwloc can't read %s: %s", t->source,
                    g_strerror(errno));
        hwloc_topology_destroy(from);
        return NULL;
    }
    gboolean ok = take_objects(t, from, error);
    hwloc_topology_destroy(from);
    return ok ? g_steal_pointer(&t) : NULL;
}

HostTopology *
host_topology_synthetic(const char *description, GError **error)
{
    return load(description, hwloc_topology_set_synthetic, error);
}

HostTopology *
host_topology_xml(const char *path, GError **error)
{
    return load(path, hwloc_topology_set_xml, error);
}
