/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/facts.h"

#include "host/topology.h"

static void
read_module(HostFacts *f, const char *root, const char *module)
{
    g_autofree char *path = g_build_filename(root, "sys/module", module, "parameters", NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        char *value = host_sysfs_text(root, "sys/module/%s/parameters/%s", module, name);
        if (value)
            g_hash_table_replace(f->module_parameters, g_strdup_printf("%s.%s", module, name),
                                 value);
    }
}

HostFacts *
host_facts_read(const char *root)
{
    HostFacts *f = g_new0(HostFacts, 1);
    g_autofree char *huge =
        g_build_filename(root, "sys/kernel/mm/hugepages/hugepages-1048576kB", NULL);

    f->module_parameters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    read_module(f, root, "kvm");
    f->kvm = g_hash_table_size(f->module_parameters) > 0;
    read_module(f, root, "kvm_intel");
    read_module(f, root, "kvm_amd");
    f->huge_1g = g_file_test(huge, G_FILE_TEST_IS_DIR);
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
