/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/export.h"

#include <string.h>

#include "host/cmdline.h"

static const char *const names[HOST_EXPORTS] = {"cmdline", "guest-cmdline", "libvirt", "tuned",
                                                "systemd"};

const char *
host_export_name(HostExport what)
{
    return names[what];
}

gboolean
host_export_from_name(const char *name, HostExport *what)
{
    for (guint i = 0; i < HOST_EXPORTS; i++) {
        if (g_str_equal(name, names[i])) {
            *what = (HostExport)i;
            return TRUE;
        }
    }
    return FALSE;
}

/* cpu-partitioning adds nohz_full= by itself from isolated_cores; twice would be once too often. */
static char *
cmdline_without_nohz_full(const HostPlan *p)
{
    g_autoptr(GPtrArray) params = host_cmdline_split(p->host_cmdline, NULL);

    for (guint i = params->len; i > 0; i--) {
        const HostParam *param = params->pdata[i - 1];
        if (host_param_name_equal(param->name, "nohz_full"))
            g_ptr_array_remove_index(params, i - 1);
    }
    return host_cmdline_join(params);
}

/* "kvm.halt_poll_ns" -> its file. */
static char *
module_path(const char *name)
{
    g_auto(GStrv) parts = g_strsplit(name, ".", 2);
    return g_strdup_printf("/sys/module/%s/parameters/%s", parts[0], parts[1]);
}

/* tuned's profiles/cpu-partitioning/tuned.conf and its plugins' documentation. */
char *
host_export_tuned(const HostPlan *p)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autofree char *isolated = host_cpulist_format(p->isolated);
    g_autofree char *summary = g_strdup_printf("CPU partition with isolated CPUs %s", isolated);
    g_autofree char *line = cmdline_without_nohz_full(p);
    g_autofree char *appended = g_strconcat("+", line, NULL);

    g_key_file_set_string(file, "main", "summary", summary);
    g_key_file_set_string(file, "main", "include", "cpu-partitioning");
    g_key_file_set_comment(file, "main", NULL,
                           " SPDX-License-Identifier: GPL-2.0-or-later\n"
                           " /etc/tuned/profiles/nohzlab/tuned.conf (older tuned: "
                           "/etc/tuned/nohzlab/tuned.conf), then: tuned-adm profile nohzlab",
                           NULL);
    g_key_file_set_string(file, "variables", "isolated_cores", isolated);
    for (guint i = 0; i < p->items->len; i++) {
        const HostPlanItem *item = p->items->pdata[i];
        if (item->kind == HOST_ITEM_SYSCTL)
            g_key_file_set_string(file, "sysctl", item->name, item->value);
        if (item->kind == HOST_ITEM_MODULE) {
            g_autofree char *path = module_path(item->name);
            g_key_file_set_string(file, "sysfs", path, item->value);
        }
    }
    g_key_file_set_comment(file, "sysctl", "kernel.timer_migration",
                           " cpu-partitioning sets 0, which keeps guest timers on isolated CPUs",
                           NULL);
    g_key_file_set_string(file, "bootloader", "cmdline_nohzlab", appended);
    g_key_file_set_comment(file, "bootloader", "cmdline_nohzlab",
                           " nohz_full= comes from cpu-partitioning", NULL);
    return g_key_file_to_data(file, NULL, NULL);
}

static void
add_drop_in(GString *out, const char *path, const char *section, const char *key, const char *value,
            const char *why)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autofree char *head = g_strdup_printf(" %s\n %s", path, why);

    g_key_file_set_string(file, section, key, value);
    g_key_file_set_comment(file, section, NULL, head, NULL);
    g_autofree char *text = g_key_file_to_data(file, NULL, NULL);
    g_string_append_printf(out, "%s%s", out->len ? "\n" : "", text);
}

/* systemd-system.conf(5) CPUAffinity=, systemd.resource-control(5) AllowedCPUs=. */
char *
host_export_systemd(const HostPlan *p)
{
    static const char *const slices[] = {"system.slice", "user.slice", "init.scope"};
    GString *out = g_string_new(NULL);
    g_autofree char *cpus = host_cpulist_format(p->housekeeping);

    add_drop_in(out, "/etc/systemd/system.conf.d/50-nohzlab.conf", "Manager", "CPUAffinity", cpus,
                "What systemd starts begins on these CPUs; libvirt pins guests by itself.");
    for (gsize i = 0; i < G_N_ELEMENTS(slices); i++) {
        g_autofree char *path =
            g_strdup_printf("/etc/systemd/system/%s.d/50-nohzlab.conf", slices[i]);
        add_drop_in(out, path, g_str_has_suffix(slices[i], ".scope") ? "Scope" : "Slice",
                    "AllowedCPUs", cpus,
                    "Nothing in it can widen its affinity beyond these CPUs (cgroup v2 with "
                    "cpuset). Guests are in machine.slice.");
    }
    return g_string_free(out, FALSE);
}

char *
host_export(const HostPlan *p, HostExport what)
{
    switch (what) {
    case HOST_EXPORT_CMDLINE:
        return g_strconcat(p->host_cmdline, "\n", NULL);
    case HOST_EXPORT_GUEST_CMDLINE:
        return g_strconcat(p->guest_cmdline, "\n", NULL);
    case HOST_EXPORT_LIBVIRT:
        return host_export_libvirt(p);
    case HOST_EXPORT_TUNED:
        return host_export_tuned(p);
    case HOST_EXPORT_SYSTEMD:
        return host_export_systemd(p);
    case HOST_EXPORTS:
        break;
    }
    g_return_val_if_reached(NULL);
}
