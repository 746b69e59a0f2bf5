/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One file of a machine holds what it likes: the checks and the journal of knobs must take it. The
 * first byte says which file. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/check.h"
#include "host/knobs.h"
#include "host/test_root.h"

#define JOURNAL "state/host-journal"

static const char *const files[] = {
    "proc/interrupts",
    "proc/self/mountinfo",
    "proc/cmdline",
    "kmsg",
    "proc/irq/45/effective_affinity_list",
    "proc/7/task/7/stat",
    "proc/7/task/7/status",
    "proc/500/environ",
    "etc/default/irqbalance",
    "var/lib/dpkg/status",
    "sys/devices/system/cpu/possible",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/isolated",
    "sys/devices/virtual/workqueue/cpumask",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "sys/fs/cgroup/a/cpuset.cpus.partition",
    "sys/devices/system/cpu/cpufreq/policy2/affected_cpus",
    "proc/cpuinfo",
    "partition.ini",
    JOURNAL,
};

static Fake fake;

static void
clean_up(void)
{
    fake_clear(&fake);
}

static void
set_up(void)
{
    if (access("/dev/shm", W_OK) == 0)
        g_setenv("TMPDIR", "/dev/shm", TRUE);
    fake = fake_machine();
    fake_thread(&fake, 7, 7, "x", 0, "0-3");
    fake_thread(&fake, 500, 500, "irqbalance", 0, "0-1");
    atexit(clean_up);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > 65536)
        return 0;
    if (!fake.root)
        set_up();
    const char *name = files[*data % G_N_ELEMENTS(files)];
    g_autofree char *path = g_build_filename(fake.dir, name, NULL);
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *before = NULL;
    gsize len = 0;

    g_mkdir_with_parents(folder, 0755);
    g_file_get_contents(path, &before, &len, NULL);
    FILE *out = fopen(path, "w");
    if (!out)
        return 0;
    /* A right first line, or nothing behind it would be read; half of the inputs do without. */
    if (!strcmp(name, JOURNAL) && *data < 128)
        fprintf(out, "nohzlab-knobs 1 3f0e3b6c-0000-4000-8000-000000000001 %s\n", fake.dir);
    fwrite(data + 1, 1, size - 1, out);
    fclose(out);

    if (!strcmp(name, JOURNAL)) {
        host_knobs_recover(fake.root, path, NULL, NULL);
    } else {
        g_autoptr(HostWish) wish =
            strcmp(name, "partition.ini") ? NULL : host_wish_from_file(path, 4, NULL);
        g_autoptr(GPtrArray) lines = host_check(fake.root, wish);
        for (guint i = 0; i < lines->len; i++) {
            const HostCheckLine *l = lines->pdata[i];
            if (!l->name || !g_utf8_validate(l->message, -1, NULL) || strchr(l->message, '\n'))
                abort();
        }
    }
    unlink(path);
    if (before && (out = fopen(path, "w"))) {
        fwrite(before, 1, len, out);
        fclose(out);
    }
    return 0;
}
