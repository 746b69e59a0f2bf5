/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/partition.h"

#include <string.h>

char *
host_partition_cmdline(const HostPartition *p)
{
    if (hwloc_bitmap_iszero(p->isolated))
        return g_strdup("");

    GString *line = g_string_new(NULL);
    g_autofree char *isolated = host_cpulist_format(p->isolated);
    g_autofree char *housekeeping = host_cpulist_format(p->housekeeping);
    if (p->isolcpus)
        g_string_append_printf(line, "isolcpus=%s,%s ", p->isolcpus, isolated);
    if (p->nohz_full)
        g_string_append_printf(line, "nohz_full=%s ", isolated);
    if (p->rcu_nocbs)
        g_string_append_printf(line, "rcu_nocbs=%s ", isolated);
    g_string_append_printf(line, "irqaffinity=%s", housekeeping);
    return g_string_free(line, FALSE);
}

static gboolean
has_flag(const char *flags, const char *flag)
{
    g_auto(GStrv) words = g_strsplit(flags ? flags : "", ",", -1);
    return g_strv_contains((const char *const *)words, flag);
}

void
host_partition_wanted(const HostPartition *p, HostCpuset **nohz_full, HostCpuset **domain,
                      HostCpuset **rcu_nocbs)
{
    gboolean nohz = p->nohz_full || has_flag(p->isolcpus, "nohz");

    *nohz_full = nohz ? hwloc_bitmap_dup(p->isolated) : hwloc_bitmap_alloc();
    *domain =
        has_flag(p->isolcpus, "domain") ? hwloc_bitmap_dup(p->isolated) : hwloc_bitmap_alloc();
    *rcu_nocbs = nohz || p->rcu_nocbs ? hwloc_bitmap_dup(p->isolated) : hwloc_bitmap_alloc();
}
