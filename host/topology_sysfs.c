/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A Linux machine's topology from its files: Documentation/admin-guide/cputopology.rst. */
#include "host/error.h"
#include "host/topology_private.h"

#define CPU_DIR "sys/devices/system/cpu"
#define NODE_DIR "sys/devices/system/node"

/* A list the kernel wrote: plain ranges, no N. ERROR names the file. */
static HostCpuset *
parse_file(const HostRoot *root, const char *name, const char *text, GError **error)
{
    g_autoptr(GError) reason = NULL;
    HostCpuset *set = host_cpulist_parse(text, HOST_CPULIST_KERNEL, 0, NULL, &reason);

    if (!set) {
        g_autofree char *path = g_build_filename(host_root_path(root), name, NULL);
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "%s: %s", path, reason->message);
    }
    return set;
}

static HostCpuset *
read_set(const HostRoot *root, const char *what, GError **error)
{
    g_autofree char *name = g_strdup_printf(CPU_DIR "/%s", what);
    g_autofree char *text = host_root_line(root, name);

    if (!text) {
        g_autofree char *path = g_build_filename(host_root_path(root), name, NULL);
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "%s can't be read", path);
        return NULL;
    }
    return parse_file(root, name, text, error);
}

/* core_cpus_list is thread_siblings_list's name since 5.3. NULL without ERROR: neither is there. */
static HostCpuset *
read_siblings(const HostRoot *root, unsigned int cpu, GError **error)
{
    static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *name = g_strdup_printf(CPU_DIR "/cpu%u/topology/%s", cpu, names[i]);
        g_autofree char *text = host_root_line(root, name);
        if (text)
            return parse_file(root, name, text, error);
    }
    return NULL;
}

/* The width of a core comes from the lists, whatever their shape. */
static gboolean
read_cores(HostTopology *t, const HostRoot *root, GError **error)
{
    g_autoptr(HostCpuset) seen = hwloc_bitmap_alloc();
    unsigned int cpu, unknown = 0;

    hwloc_bitmap_foreach_begin(cpu, t->online)
    {
        g_autoptr(GError) reason = NULL;
        if (hwloc_bitmap_isset(seen, cpu))
            continue;
        g_autoptr(HostCpuset) core = read_siblings(root, cpu, &reason);
        if (reason) {
            g_propagate_error(error, g_steal_pointer(&reason));
            return FALSE;
        }
        if (!core) {
            core = hwloc_bitmap_alloc();
            unknown++;
        }
        hwloc_bitmap_set(core, cpu);
        hwloc_bitmap_and(core, core, t->online);
        if (hwloc_bitmap_intersects(core, seen)) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_IO,
                        CPU_DIR "/cpu%u/topology: its core overlaps another one", cpu);
            return FALSE;
        }
        hwloc_bitmap_or(seen, seen, core);
        g_ptr_array_add(t->cores, g_steal_pointer(&core));
    }
    hwloc_bitmap_foreach_end();
    if (unknown)
        g_ptr_array_add(t->warnings,
                        g_strdup_printf("the kernel does not say which CPUs share a core (%u CPUs "
                                        "without topology/core_cpus_list): each is taken for one",
                                        unknown));
    return TRUE;
}

static gboolean
read_nodes(HostTopology *t, const HostRoot *root, GError **error)
{
    g_autofree char *text = host_root_line(root, NODE_DIR "/online");
    g_autoptr(HostCpuset) numbers = NULL;
    unsigned int number;

    if (!text) {
        host_topology_add_node(t, 0, hwloc_bitmap_dup(t->online));
        return TRUE;
    }
    numbers = parse_file(root, NODE_DIR "/online", text, error);
    if (!numbers)
        return FALSE;
    hwloc_bitmap_foreach_begin(number, numbers)
    {
        g_autofree char *name = g_strdup_printf(NODE_DIR "/node%u/cpulist", number);
        g_autofree char *list = host_root_line(root, name);
        g_autoptr(HostCpuset) cpus = list ? parse_file(root, name, list, error) : NULL;
        if (list && !cpus)
            return FALSE;
        if (!cpus)
            continue;
        hwloc_bitmap_and(cpus, cpus, t->online);
        /* A node of memory only has no CPU to pin to. */
        if (!hwloc_bitmap_iszero(cpus))
            host_topology_add_node(t, number, g_steal_pointer(&cpus));
    }
    hwloc_bitmap_foreach_end();
    if (!t->nodes->len)
        host_topology_add_node(t, 0, hwloc_bitmap_dup(t->online));
    return TRUE;
}

HostTopology *
host_topology_read(const HostRoot *root, GError **error)
{
    g_autoptr(HostTopology) t =
        host_topology_new(host_root_is_machine(root) ? "this machine" : host_root_path(root));

    t->possible = read_set(root, "possible", error);
    t->present = t->possible ? read_set(root, "present", error) : NULL;
    t->online = t->present ? read_set(root, "online", error) : NULL;
    if (!t->online)
        return NULL;
    if (!hwloc_bitmap_isincluded(t->online, t->present) ||
        !hwloc_bitmap_isincluded(t->present, t->possible) || hwloc_bitmap_iszero(t->online)) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO,
                    CPU_DIR ": online, present and possible contradict each other");
        return NULL;
    }
    if (!read_cores(t, root, error) || !read_nodes(t, root, error))
        return NULL;
    host_kinds_read(t, root);
    return g_steal_pointer(&t);
}
