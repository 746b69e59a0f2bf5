/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What the tests of host checks and knobs share: a folder that stands for a machine. */
#include <ftw.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "host/root.h"

typedef struct {
    char *dir;
    HostRoot *root;
} Fake;

/* Writes TEXT to PATH (relative) of the machine, whatever is there. */
static inline void
fake_put(const Fake *f, const char *path, const char *text)
{
    g_autofree char *file = g_build_filename(f->dir, path, NULL);
    g_autofree char *folder = g_path_get_dirname(file);
    FILE *out;

    g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
    out = fopen(file, "w"); /* the same file, cut: links and modes stay */
    g_assert_nonnull(out);
    g_assert_cmpint(fputs(text, out), >=, 0);
    g_assert_cmpint(fclose(out), ==, 0);
}

static inline void
fake_remove(const Fake *f, const char *path)
{
    g_autofree char *file = g_build_filename(f->dir, path, NULL);

    g_assert_cmpint(g_unlink(file), ==, 0);
}

/* The text of PATH without white space at its ends. */
static inline char *
fake_get(const Fake *f, const char *path)
{
    g_autofree char *file = g_build_filename(f->dir, path, NULL);
    char *text = NULL;

    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    return g_strstrip(text);
}

static inline Fake
fake_empty(void)
{
    g_autoptr(GError) error = NULL;
    Fake f = {.dir = g_dir_make_tmp("nohzlab-root-XXXXXX", &error)};

    g_assert_no_error(error);
    f.root = host_root_open(f.dir, &error);
    g_assert_no_error(error);
    return f;
}

/* A machine of 4 CPUs that is all well: 2-3 isolated in every way. */
static inline Fake
fake_machine(void)
{
    static const char *const files[][2] = {
        {"proc/cmdline", "root=/dev/vda isolcpus=managed_irq,domain,2-3 nohz_full=2-3 "
                         "rcu_nocbs=2-3 irqaffinity=0-1\n"},
        {"kmsg", "[    0.000000] Linux version 6.1.0\n"
                 "[    0.000000] rcu: \tOffload RCU callbacks from CPUs: 2-3.\n"},
        {"sys/devices/system/cpu/possible", "0-3\n"},
        {"sys/devices/system/cpu/present", "0-3\n"},
        {"sys/devices/system/cpu/online", "0-3\n"},
        {"sys/devices/system/cpu/isolated", "2-3\n"},
        {"sys/devices/system/cpu/nohz_full", "2-3\n"},
        {"proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.0\n"},
        {"proc/sys/kernel/random/boot_id", "3f0e3b6c-0000-4000-8000-000000000001\n"},
        {"proc/sys/kernel/timer_migration", "1\n"},
        {"proc/sys/kernel/nmi_watchdog", "0\n"},
        {"proc/sys/kernel/watchdog", "1\n"},
        {"proc/sys/kernel/watchdog_cpumask", "0-1\n"},
        {"proc/interrupts",
         "           CPU0       CPU1       CPU2       CPU3\n"
         "  1:          9          0          0          0  IO-APIC   1-edge      "
         "i8042\n"
         " 45:         10          7          3          0  PCI-MSI 524288-edge  "
         "    nvme0q1\n"
         "LOC:        100        100          5          5   Local timer "
         "interrupts\n"},
        {"proc/irq/default_smp_affinity", "3\n"},
        {"proc/irq/1/smp_affinity_list", "0-1\n"},
        {"proc/irq/1/effective_affinity_list", "0\n"},
        {"proc/irq/45/smp_affinity_list", "0-1\n"},
        {"proc/irq/45/effective_affinity_list", "1\n"},
        {"proc/self/mountinfo",
         "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n"},
        {"sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n"},
        {"sys/devices/virtual/workqueue/cpumask", "3\n"},
        {"sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n"},
        {"sys/kernel/mm/ksm/run", "0\n"},
        {"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
        {"sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"},
        {"sys/devices/system/cpu/cpuidle/current_governor_ro", "menu\n"},
        {"sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "performance\n"},
        {"sys/devices/system/cpu/cpufreq/policy2/affected_cpus", "2 3\n"},
        {"sys/devices/system/cpu/cpufreq/policy2/scaling_available_governors",
         "performance powersave\n"},
        {"sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"},
        {"sys/module/kvm/parameters/halt_poll_ns", "200000\n"},
        {"proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0xb000040\n\n"
                         "processor\t: 1\nmicrocode\t: 0xb000040\n"},
    };
    Fake f = fake_empty();

    for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
        fake_put(&f, files[i][0], files[i][1]);
    return f;
}

/* A thread of process PID; FLAGS as in /proc/PID/stat, 0x00200000 for a kernel thread. */
static inline void
fake_thread(const Fake *f, int pid, int tid, const char *comm, unsigned int flags,
            const char *allowed)
{
    g_autofree char *folder = g_strdup_printf("proc/%d/task/%d", pid, tid);
    g_autofree char *comm_path = g_strconcat(folder, "/comm", NULL);
    g_autofree char *stat_path = g_strconcat(folder, "/stat", NULL);
    g_autofree char *status_path = g_strconcat(folder, "/status", NULL);
    g_autofree char *process_path = g_strdup_printf("proc/%d/comm", pid);
    g_autofree char *comm_text = g_strdup_printf("%s\n", comm);
    g_autofree char *stat = g_strdup_printf("%d (%s) S 2 0 0 0 -1 %u 0 0 0\n", tid, comm, flags);
    g_autofree char *status = g_strdup_printf(
        "Name:\t%s\nCpus_allowed_list:\t%s\nMems_allowed_list:\t0\n", comm, allowed);

    fake_put(f, comm_path, comm_text);
    fake_put(f, stat_path, stat);
    fake_put(f, status_path, status);
    if (pid == tid)
        fake_put(f, process_path, comm_text);
}

static inline int
fake_remove_entry(const char *path, const struct stat *st G_GNUC_UNUSED, int type G_GNUC_UNUSED,
                  struct FTW *ftw G_GNUC_UNUSED)
{
    return remove(path);
}

static inline void
fake_clear(Fake *f)
{
    host_root_close(f->root);
    nftw(f->dir, fake_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    g_free(f->dir);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fake, fake_clear)
