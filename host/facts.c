/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/facts.h"

static void
read_module(HostFacts *f, const HostRoot *root, const char *module)
{
    g_autofree char *path = g_strdup_printf("sys/module/%s/parameters", module);
    g_autoptr(GPtrArray) names = host_root_list(root, path);

    for (guint i = 0; names && i < names->len; i++) {
        const char *name = names->pdata[i];
        char *value = host_root_linef(root, "%s/%s", path, name);
        if (value)
            g_hash_table_replace(f->module_parameters, g_strdup_printf("%s.%s", module, name),
                                 value);
    }
}

HostFacts *
host_facts_read(const HostRoot *root)
{
    HostFacts *f = g_new0(HostFacts, 1);

    f->module_parameters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    read_module(f, root, "kvm");
    f->kvm = g_hash_table_size(f->module_parameters) > 0;
    read_module(f, root, "kvm_intel");
    read_module(f, root, "kvm_amd");
    g_autofree char *pages =
        host_root_line(root, "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages");
    f->huge_1g = pages != NULL;
    return f;
}

void
host_facts_free(HostFacts *f)
{
    if (!f)
        return;
    g_hash_table_unref(f->module_parameters);
    g_free(f);
}
