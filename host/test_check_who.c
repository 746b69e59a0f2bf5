/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may run or arrive on isolated CPUs: interrupts, threads, control groups. */
#include "host/check.h"
#include "host/cpumask.h"
#include "host/irqbalance.h"
#include "host/test_root.h"

#include <sys/stat.h>
#include <unistd.h>

#define KTHREAD 0x00200000u
#define NO_SETAFFINITY 0x04000000u

static const HostCheckLine *
find(const GPtrArray *lines, const char *name, HostGrade grade)
{
    for (guint i = 0; i < lines->len; i++) {
        const HostCheckLine *l = lines->pdata[i];
        if (!strcmp(l->name, name) && l->grade == grade)
            return l;
    }
    return NULL;
}

/* The first line of check NAME and GRADE must match `*PATTERN*`. */
static void
assert_line(const GPtrArray *lines, const char *name, HostGrade grade, const char *pattern)
{
    const HostCheckLine *l = find(lines, name, grade);
    g_autofree char *whole = g_strdup_printf("*%s*", pattern);

    for (guint i = 0; i < lines->len; i++) {
        const HostCheckLine *each = lines->pdata[i];
        if (!strcmp(each->name, name))
            g_test_message("%s: %s", host_grade_name(each->grade), each->message);
    }
    g_assert_nonnull(l);
    g_assert_true(g_pattern_match_simple(whole, l->message));
}

/* F17: judged by effective affinity; a queue that never fired is a lesser violation. */
static void
test_managed_irq(void)
{
    g_auto(Fake) f = fake_machine();
    g_autoptr(GString) head = g_string_new("     ");
    g_autoptr(GString) row = g_string_new(" 77:");

    for (int cpu = 0; cpu < 48; cpu++) {
        g_string_append_printf(head, "      CPU%d", cpu);
        g_string_append(row, "          0");
    }
    g_string_append_printf(head, "\n%s  PCI-MSIX 1-edge      mpi3mr0-msix9\n", row->str);
    fake_put(&f, "proc/interrupts", head->str);
    fake_put(&f, "proc/cmdline", "isolcpus=managed_irq,domain,2-47\n");
    fake_put(&f, "sys/devices/system/cpu/possible", "0-47\n");
    fake_put(&f, "sys/devices/system/cpu/online", "0-47\n");
    fake_put(&f, "proc/irq/77/smp_affinity_list", "0-47\n");
    fake_put(&f, "proc/irq/77/effective_affinity_list", "9\n");
    g_autoptr(GPtrArray) lines = host_check(f.root, NULL);
    assert_line(lines, "irq", HOST_GRADE_WARN, "CPU 9: 1 interrupt*0 did*77 mpi3mr0-msix9 (0)");
    g_assert_null(find(lines, "irq", HOST_GRADE_FAIL));

    /* debugfs tells that nobody can move it. */
    fake_put(&f, "sys/kernel/debug/irq/irqs/77", "dstate:   0x1\n  IRQD_AFFINITY_MANAGED\n");
    g_autoptr(GPtrArray) managed = host_check(f.root, NULL);
    g_assert_nonnull(strstr(find(managed, "irq", HOST_GRADE_WARN)->fix,
                            "the kernel manages it and lets nobody"));
}

static void
test_irq_that_fired(void)
{
    g_auto(Fake) f = fake_machine();
    fake_put(&f, "proc/irq/45/effective_affinity_list", "2\n");
    fake_put(&f, "proc/irq/default_smp_affinity", "f\n");
    g_autoptr(GPtrArray) lines = host_check(f.root, NULL);
    assert_line(lines, "irq", HOST_GRADE_FAIL, "CPU 2: 1 interrupt*3 did*45 nvme0q1 (3)");
    assert_line(lines, "irq", HOST_GRADE_WARN, "new interrupts*CPU 2-3");

    /* No effective affinity in this kernel: to any of those allowed. */
    fake_remove(&f, "proc/irq/45/effective_affinity_list");
    fake_put(&f, "proc/irq/45/smp_affinity_list", "0,3\n");
    g_autoptr(GPtrArray) allowed = host_check(f.root, NULL);
    assert_line(allowed, "irq", HOST_GRADE_WARN, "CPU 3: 1 interrupt*45 nvme0q1 (0)");

    fake_remove(&f, "proc/irq/45/smp_affinity_list");
    g_autoptr(GPtrArray) unknown = host_check(f.root, NULL);
    assert_line(unknown, "irq", HOST_GRADE_CANNOT, "1 of 2 interrupts can't be read");
}

/* Columns are CPUs, and offline ones have none. */
static void
test_irq_columns(void)
{
    g_auto(Fake) f = fake_machine();
    fake_put(&f, "sys/devices/system/cpu/online", "0,3\n");
    fake_put(&f, "proc/interrupts",
             "           CPU0       CPU3\n 45:  5  8  PCI-MSI  nvme0q1\n"
             " 99999999999: 1 1 x  y\n 46:\nERR: 0\n");
    fake_put(&f, "proc/irq/45/effective_affinity_list", "3\n");
    g_autoptr(GPtrArray) lines = host_check(f.root, NULL);
    assert_line(lines, "irq", HOST_GRADE_FAIL, "CPU 3: 1 interrupt*8 did");
}

/* F21 */
static void
test_strays(void)
{
    g_auto(Fake) f = fake_machine();
    fake_thread(&f, 10, 10, "qemu-system-x86", 0, "0-1");
    fake_thread(&f, 10, 11, "CPU 0/KVM", 0, "2");
    fake_thread(&f, 2, 2, "kthreadd", KTHREAD, "0-1");
    fake_thread(&f, 14, 14, "ksoftirqd/2", KTHREAD, "2");
    fake_thread(&f, 15, 15, "cpuhp/3", KTHREAD | NO_SETAFFINITY, "3");
    fake_thread(&f, 16, 16, "migration/2", KTHREAD | NO_SETAFFINITY, "2");
    fake_thread(&f, 17, 17, "kworker/2:1H-kblockd", KTHREAD | NO_SETAFFINITY, "2");
    g_autoptr(GPtrArray) fine = host_check(f.root, NULL);
    assert_line(fine, "tasks", HOST_GRADE_PASS, "7 threads*1 pinned vCPUs*4 kernel threads");

    fake_thread(&f, 200, 200, "cron) S 1 (x", 0, "0-3");
    fake_thread(&f, 30, 30, "kcompactd0", KTHREAD, "0-3");
    fake_thread(&f, 31, 31, "rcuop/2", KTHREAD, "2");
    g_autoptr(GPtrArray) strays = host_check(f.root, NULL);
    assert_line(strays, "tasks", HOST_GRADE_FAIL,
                "1 thread may run on isolated CPUs 2-3: cron*200");
    g_assert_nonnull(strstr(find(strays, "tasks", HOST_GRADE_FAIL)->fix, "taskset -acp 0-1 200"));
    assert_line(strays, "tasks", HOST_GRADE_WARN, "2 kernel threads*kcompactd0*rcuop/2");
}

/* F22: no load balancing there, so all sit on the first one. */
static void
test_floating_vcpus(void)
{
    g_auto(Fake) f = fake_machine();
    fake_thread(&f, 10, 11, "CPU 0/KVM", 0, "2-3");
    fake_thread(&f, 10, 12, "CPU 1/KVM", 0, "2-3");
    g_autoptr(GPtrArray) lines = host_check(f.root, NULL);
    assert_line(lines, "tasks", HOST_GRADE_FAIL, "2 vCPU threads*several*first one");

    g_auto(Fake) other = fake_machine();
    fake_thread(&other, 20, 20, "dpdk", 0, "3");
    fake_thread(&other, 21, 21, "odd", 0, "not a list");
    g_autoptr(GPtrArray) settled = host_check(other.root, NULL);
    assert_line(settled, "tasks", HOST_GRADE_WARN, "1 thread that is no vCPU*dpdk");
    assert_line(settled, "tasks", HOST_GRADE_CANNOT, "1 of 2 threads");
}

/* F20: found from the mounts. */
static void
test_layouts(void)
{
    static const struct {
        const char *mounts, *controllers;
        HostGrade grade;
        const char *words;
    } layouts[] = {
        {"34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n", NULL, HOST_GRADE_PASS,
         "cpuset v1 at /sys/fs/cgroup/cpuset"},
        {"34 31 0:31 / /dev/cg\\040v1 rw - cgroup cgroup rw,cpuset,cpu\n", NULL, HOST_GRADE_PASS,
         "cpuset v1 at /dev/cg v1"},
        {"31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "cpu io memory\n",
         HOST_GRADE_CANNOT, "cpuset is not among its controllers"},
        {"31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "cpuset cpu\n", HOST_GRADE_PASS,
         "cpuset v2 at /sys/fs/cgroup"},
        {"34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
         "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
         NULL, HOST_GRADE_PASS, "cpuset v1*hybrid"},
        {"34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
         "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
         "cpuset\n", HOST_GRADE_PASS, "cpuset v2*hybrid"},
        {"34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", NULL, HOST_GRADE_CANNOT,
         "not its cpuset"},
        {"23 27 0:22 / /sys rw - sysfs sysfs rw\nrubbish - \n", NULL, HOST_GRADE_CANNOT,
         "no cgroups"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(layouts); i++) {
        g_auto(Fake) f = fake_machine();
        fake_put(&f, "proc/self/mountinfo", layouts[i].mounts);
        fake_put(&f, "sys/fs/cgroup/cgroup.controllers",
                 layouts[i].controllers ? layouts[i].controllers : "");
        g_autoptr(GPtrArray) lines = host_check(f.root, NULL);
        assert_line(lines, "cpuset", layouts[i].grade, layouts[i].words);
    }
}

static void
test_partitions(void)
{
    g_auto(Fake) f = fake_machine();
    static const char group[] = "sys/fs/cgroup/rt.slice/cpuset.cpus.";
    g_autofree char *state = g_strconcat(group, "partition", NULL);
    g_autofree char *effective = g_strconcat(group, "effective", NULL);

    /* What a partition isolates need not be on the command line, whether "isolated" shows it or
     * not. */
    fake_put(&f, "proc/cmdline", "nohz_full=2-3\n");
    fake_put(&f, state, "isolated\n");
    fake_put(&f, effective, "2-3\n");
    static const char *const shown[] = {"2-3\n", "\n"};
    for (gsize i = 0; i < G_N_ELEMENTS(shown); i++) {
        fake_put(&f, "sys/devices/system/cpu/isolated", shown[i]);
        g_autoptr(GPtrArray) lines = host_check(f.root, NULL);
        assert_line(lines, "cpuset", HOST_GRADE_PASS, "isolated partitions hold CPUs 2-3");
        g_assert_null(find(lines, "isolation", HOST_GRADE_FAIL));
    }
    fake_put(&f, state, "isolated invalid (Cpu list in cpuset.cpus not exclusive)\n");
    g_autoptr(GPtrArray) invalid = host_check(f.root, NULL);
    assert_line(invalid, "cpuset", HOST_GRADE_FAIL, "rt.slice*invalid (Cpu list*not exclusive)");
}

/* F37, against each release's meaning. */
static void
test_irqbalance_meaning(void)
{
    static const struct {
        const char *mask, *list, *version;
        gboolean known, automatic;
        const char *banned;
    } cases[] = {
        {NULL, NULL, "1.9.2", TRUE, TRUE, ""},
        {NULL, "", "1.9.2", TRUE, TRUE, ""},
        {NULL, "", "1.9.5", TRUE, TRUE, ""},
        {NULL, "", "1.9.6", TRUE, FALSE, ""},
        {NULL, "", NULL, FALSE, FALSE, ""},
        {NULL, "-", "1.9.2", TRUE, FALSE, ""},
        {NULL, "0", "1.9.2", TRUE, FALSE, "0"},
        {NULL, "2-3,x,5", "1.9.2", TRUE, FALSE, "2-3"},
        {NULL, "2-3", "1.7.0", TRUE, TRUE, ""},
        {"0", NULL, "1.9.2", TRUE, FALSE, ""},
        {"ff0", NULL, "1.9.2", TRUE, FALSE, "4-11"},
        {"ff0", "2-3", "1.9.2", TRUE, FALSE, "4-11"}, /* the mask comes first */
        {"ff0", NULL, "1.10.0", FALSE, FALSE, "4-11"},
        {"ff0", NULL, NULL, FALSE, FALSE, "4-11"},
        {"", NULL, "1.7.0", TRUE, FALSE, ""},
        {"", "2-3", "1.9.2", TRUE, FALSE, "2-3"},
        {"", NULL, "1.9.2", TRUE, TRUE, ""},
        {"zz", NULL, "1.9.2", FALSE, FALSE, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(HostIrqbalance) b =
            host_irqbalance_meaning(cases[i].mask, cases[i].list, cases[i].version);
        g_autofree char *banned = host_cpulist_format(b.banned);
        g_test_message("%zu: %s", i, b.meaning);
        g_assert_cmpint(b.known, ==, cases[i].known);
        g_assert_cmpint(b.automatic, ==, cases[i].automatic);
        g_assert_cmpstr(banned, ==, cases[i].banned);
    }
}

static void
test_irqbalance_check(void)
{
    g_auto(Fake) f = fake_machine();
    fake_put(&f, "var/lib/dpkg/status",
             "Package: irq\nVersion: 9\n\nPackage: irqbalance\nStatus: install ok installed\n"
             "Version: 1.9.2-1\n\nPackage: z\nVersion: 3\n");
    fake_put(&f, "etc/default/irqbalance",
             "# IRQBALANCE_BANNED_CPULIST=2-3\n"
             "IRQBALANCE_BANNED_CPULIST=\"-\"\n");
    g_autoptr(GPtrArray) stopped = host_check(f.root, NULL);
    assert_line(stopped, "irqbalance", HOST_GRADE_WARN, "not running*1.9.2, etc/default");

    fake_thread(&f, 500, 500, "irqbalance", 0, "0-1");
    g_autoptr(GPtrArray) running = host_check(f.root, NULL);
    assert_line(running, "irqbalance", HOST_GRADE_FAIL, "isolated CPU 2-3*bans no CPU");

    /* Its own environment, not what the file has by now. */
    fake_put(&f, "proc/500/environ", "IRQBALANCE_BANNED_CPULIST=2-3");
    g_autoptr(GPtrArray) environment = host_check(f.root, NULL);
    assert_line(environment, "irqbalance", HOST_GRADE_PASS, "keeps off*its environment");

    fake_put(&f, "proc/500/environ", "IRQBALANCE_BANNED_CPULIST=");
    g_autoptr(GPtrArray) empty = host_check(f.root, NULL);
    assert_line(empty, "irqbalance", HOST_GRADE_PASS, "isolated and nohz_full CPUs by itself");
    fake_remove(&f, "var/lib/dpkg/status");
    g_autoptr(GPtrArray) unknown = host_check(f.root, NULL);
    assert_line(unknown, "irqbalance", HOST_GRADE_CANNOT, "up to irqbalance 1.9.5*newer ones none");
}

static void
test_cpumask(void)
{
    static const char *const bad[] = {"", "g", "0x3", "1,", ",1", "123456789", "1 2", "-1", "+1"};
    static const char *const good[][3] = {{"f", "0-3", "f"},
                                          {"00000001,80000001\n", "0,31-32", "1,80000001"},
                                          {" 0 ", "", "0"},
                                          {"FF0", "4-11", "ff0"}};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_null(host_cpumask_parse(bad[i]));
    for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
        g_autoptr(HostCpuset) set = host_cpumask_parse(good[i][0]);
        g_assert_nonnull(set);
        g_autofree char *list = host_cpulist_format(set);
        g_autofree char *mask = host_cpumask_format(set);
        g_assert_cmpstr(list, ==, good[i][1]);
        g_assert_cmpstr(mask, ==, good[i][2]);
    }
}

/* Links are resolved inside the folder, and a FIFO holds nobody up. */
static void
test_root_stays_inside(void)
{
    g_auto(Fake) f = fake_machine();
    g_autofree char *link = g_build_filename(f.dir, "proc", "escape", NULL);
    g_autofree char *fifo = g_build_filename(f.dir, "proc", "fifo", NULL);

    g_assert_cmpint(symlink("../../../../../etc/passwd", link), ==, 0);
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    g_assert_null(host_root_line(f.root, "proc/escape"));
    g_assert_false(host_root_exists(f.root, "proc/escape"));
    fake_put(&f, "etc/passwd", "inside\n");
    g_autofree char *inside = host_root_line(f.root, "proc/escape");
    g_assert_cmpstr(inside, ==, "inside");
    g_autofree char *nothing = host_root_read(f.root, "proc/fifo", NULL, NULL);
    g_assert_cmpstr(nothing ? nothing : "", ==, "");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/managed-irq", test_managed_irq);
    g_test_add_func("/check/irq-that-fired", test_irq_that_fired);
    g_test_add_func("/check/irq-columns", test_irq_columns);
    g_test_add_func("/check/strays", test_strays);
    g_test_add_func("/check/floating-vcpus", test_floating_vcpus);
    g_test_add_func("/check/layouts", test_layouts);
    g_test_add_func("/check/partitions", test_partitions);
    g_test_add_func("/check/irqbalance-meaning", test_irqbalance_meaning);
    g_test_add_func("/check/irqbalance", test_irqbalance_check);
    g_test_add_func("/check/cpumask", test_cpumask);
    g_test_add_func("/check/root-stays-inside", test_root_stays_inside);
    return g_test_run();
}
