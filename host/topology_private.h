/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Between the files that make a HostTopology. */
#include "host/topology.h"

HostTopology *host_topology_new(const char *source);
/* Take over CPUS and NAME. */
void host_topology_add_node(HostTopology *t, unsigned int number, HostCpuset *cpus);
GPtrArray *host_kinds_new(void);
void host_kinds_add(GPtrArray *kinds, char *name, HostCpuset *cpus);
/* All online CPUs in one kind. */
void host_topology_one_kind(HostTopology *t);
