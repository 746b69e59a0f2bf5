/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The CPUs of a machine: which there are, which share a core, a NUMA node, a kind. CPUs are always
 * the kernel's numbers (hwloc calls them OS indices), never hwloc's logical ones.
 *
 * A Linux machine is read from the kernel's own files, because hwloc leaves out offline CPUs and
 * reads masks where the lists are what people write down; descriptions and XML files go through
 * hwloc.
 */
#include <glib.h>

#include "host/cpulist.h"
#include "host/root.h"

typedef struct {
    unsigned int number; /* the kernel's */
    HostCpuset *cpus;    /* online ones */
} HostNode;

typedef struct {
    char *name; /* "cpu_core", "capacity 446", "MIDR 0x410fd490" */
    HostCpuset *cpus;
} HostCpuKind;

typedef struct {
    char *source; /* "this machine", "/some/root", "pack:2 core:4 pu:1" */
    HostCpuset *possible, *present, *online; /* three sets: a CPU can be possible and not there */
    GPtrArray
        *cores; /* HostCpuset *: the online threads of one core, in the order of their first */
    GPtrArray *nodes;    /* HostNode *, at least one */
    GPtrArray *kinds;    /* HostCpuKind *, fastest first where that is known, at least one */
    char *kinds_from;    /* "cpu_capacity", ...; NULL: nothing tells, one kind is assumed */
    GPtrArray *warnings; /* char * */
} HostTopology;

/*
 * A Linux machine. The three sets and every core must be readable;
 * missing NUMA files mean one node. CPU lists are read by the full parser. HOST_ERROR_IO.
 */
HostTopology *host_topology_read(const HostRoot *root, GError **error);
/* An hwloc synthetic description ("pack:2 core:4 pu:2"), all CPUs online. HOST_ERROR_UNSUPPORTED
 * when hwloc refuses it. */
HostTopology *host_topology_synthetic(const char *description, GError **error);
/* What `lstopo FILE.xml` wrote, here or elsewhere. */
HostTopology *host_topology_xml(const char *path, GError **error);
void host_topology_free(HostTopology *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostTopology, host_topology_free)

/* Possible CPUs are 0..this-1: what the kernel's own lists count to. */
unsigned int host_topology_ncpus(const HostTopology *t);
/* The online threads of CPU's core, CPU among them; NULL when it is not online. Borrowed. */
const HostCpuset *host_topology_siblings(const HostTopology *t, unsigned int cpu);
/* Index in NODES or KINDS, -1 when CPU is in none. */
int host_topology_node(const HostTopology *t, unsigned int cpu);
int host_topology_kind(const HostTopology *t, unsigned int cpu);

/*
 * Kinds by a figure of each CPU (capacity, maximum frequency): VALUES[cpu] for the CPUs of SET, 0
 * where unknown. CPUs within HOST_KIND_TOLERANCE_PERCENT of the fastest of their kind belong to it,
 * so that favoured cores (Turbo Boost Max, preferred cores) are no kind of their own. NULL when a
 * value is missing.
 */
#define HOST_KIND_TOLERANCE_PERCENT 10
GPtrArray *host_kinds_by_value(const HostCpuset *set, const guint64 *values, const char *what);
/* Fills in KINDS and KINDS_FROM of a Linux machine whose ONLINE is known: by PMU (cpu_core,
 * cpu_atom), cpu_capacity, MIDR, or the maximum frequency, the first that tells. */
void host_kinds_read(HostTopology *t, const HostRoot *root);
