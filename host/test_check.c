/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/check.h"

#include "host/test_root.h"

#define PASS HOST_GRADE_PASS
#define WARN HOST_GRADE_WARN
#define FAIL HOST_GRADE_FAIL
#define CANNOT HOST_GRADE_CANNOT

static void
show(const GPtrArray *lines)
{
    for (guint i = 0; i < lines->len; i++) {
        const HostCheckLine *l = lines->pdata[i];
        g_test_message("%s %s: %s [%s]", host_grade_name(l->grade), l->name, l->message,
                       l->fix ? l->fix : "");
    }
}

static GPtrArray *
check(const Fake *f, const char *partition)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostWish) wish = NULL;

    if (partition) {
        g_autofree char *file = g_build_filename(f->dir, "partition.ini", NULL);
        fake_put(f, "partition.ini", partition);
        wish = host_wish_from_file(file, host_root_ncpus(f->root), &error);
        g_assert_no_error(error);
    }
    GPtrArray *lines = host_check(f->root, wish);
    show(lines);
    return lines;
}

/* Whether check NAME has a line of GRADE whose message has all of WORDS, a `*`-separated list. */
static gboolean
has(const GPtrArray *lines, const char *name, HostGrade grade, const char *words)
{
    g_autofree char *pattern = g_strdup_printf("*%s*", words);

    for (guint i = 0; i < lines->len; i++) {
        const HostCheckLine *l = lines->pdata[i];
        if (!strcmp(l->name, name) && l->grade == grade &&
            g_pattern_match_simple(pattern, l->message))
            return TRUE;
    }
    return FALSE;
}

static guint
count(const GPtrArray *lines, HostGrade grade)
{
    guint n = 0;

    for (guint i = 0; i < lines->len; i++)
        n += ((const HostCheckLine *)lines->pdata[i])->grade == grade;
    return n;
}

static void
test_all_well(void)
{
    g_auto(Fake) f = fake_machine();
    fake_thread(&f, 1, 1, "systemd", 0, "0-1");
    g_autoptr(GPtrArray) lines = check(&f, NULL);

    g_assert_cmpuint(count(lines, PASS), ==, lines->len);
    g_autoptr(GPtrArray) same = check(&f, "[host]\nisolated = 2-N\nhousekeeping = 0-1\n");
    g_assert_cmpuint(count(same, PASS), ==, same->len);
}

/* Nothing there, nothing known: no pass by silence. */
static void
test_nothing_there(void)
{
    g_auto(Fake) f = fake_empty();
    g_autoptr(GPtrArray) lines = check(&f, NULL);

    static const char *const unknown[] = {
        "cpus",     "cmdline", "preempt", "irq",      "cpuset",    "workqueue",   "timers",
        "watchdog", "clock",   "cpuidle", "governor", "microcode", "mitigations", "kvm"};
    for (gsize i = 0; i < G_N_ELEMENTS(unknown); i++)
        g_assert_true(has(lines, unknown[i], CANNOT, ""));
    g_assert_cmpuint(count(lines, FAIL), ==, 0);
}

/* F06: isolated says nothing of nohz_full. */
static void
test_nohz_full_not_built(void)
{
    g_auto(Fake) f = fake_machine();
    fake_put(&f, "proc/cmdline", "isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3\n");
    fake_remove(&f, "sys/devices/system/cpu/nohz_full");
    fake_put(&f, "kmsg",
             "[    0.000000] Housekeeping: nohz unsupported. Build with CONFIG_NO_HZ_FULL\n"
             "[    0.000000] Unknown kernel command line parameters \"nohz_full=2-3 "
             "rcu_nocbs=2-3\", will be passed to user space.\n");
    g_autoptr(GPtrArray) lines = check(&f, NULL);

    g_assert_true(has(lines, "isolation", PASS, "isolcpus: asked for 2-3, in force 2-3"));
    g_assert_true(has(lines, "isolation", FAIL, "nohz_full: asked for 2-3, not in force"));
    g_assert_true(has(lines, "isolation", FAIL, "rcu_nocbs: asked for 2-3, not in force"));
}

/* F07: the file says (null) when the parameter was not given. */
static void
test_null_file(void)
{
    static const char *const contents[] = {"(null)\n", "\n", ""};

    for (gsize i = 0; i < G_N_ELEMENTS(contents); i++) {
        g_auto(Fake) f = fake_machine();
        fake_put(&f, "proc/cmdline", "isolcpus=managed_irq,domain,2-3 rcu_nocbs=2-3\n");
        fake_put(&f, "sys/devices/system/cpu/nohz_full", contents[i]);
        g_autoptr(GPtrArray) lines = check(&f, NULL);
        g_assert_true(has(lines, "isolation", PASS, "nohz_full: asked for none, in force none"));
        g_autoptr(GPtrArray) asked = check(&f, "[host]\nisolated=2-3\n");
        g_assert_true(
            has(asked, "isolation", FAIL, "nohz_full: asked for 2-3, nothing is in force"));
    }
}

/* F08: managed_irq alone isolates from no scheduler domain. */
static void
test_flag_replaces_default(void)
{
    g_auto(Fake) f = fake_machine();
    fake_put(&f, "proc/cmdline", "isolcpus=managed_irq,2-3 nohz_full=2-3 rcu_nocbs=2-3\n");
    fake_put(&f, "sys/devices/system/cpu/isolated", "\n");
    g_autoptr(GPtrArray) lines = check(&f, "[host]\nisolated = 2-3\n");

    g_assert_true(has(lines, "isolation", FAIL, "isolcpus: asked for 2-3, nothing is in force"));
    g_assert_true(has(lines, "isolation", FAIL, "domain"));
}

/* F13, F11: what the lint finds comes with its grade. */
static void
test_cmdline(void)
{
    g_auto(Fake) f = fake_machine();
    fake_put(&f, "proc/cmdline", "isolated_cpus=2-3 nohz-full=2-3 rcu_nocbs=2-3\n");
    fake_put(&f, "sys/devices/system/cpu/isolated", "\n");
    g_autoptr(GPtrArray) lines = check(&f, NULL);
    g_assert_true(has(lines, "cmdline", WARN, "isolated_cpus*isolcpus"));
    g_assert_true(has(lines, "isolation", PASS, "nohz_full: asked for 2-3, in force 2-3"));

    fake_put(&f, "proc/cmdline", "isolcpus=managed_irq,domain,2-N irqaffinity=0-3\n");
    g_autoptr(GPtrArray) overlap = check(&f, NULL);
    g_assert_true(has(overlap, "cmdline", FAIL, "2-3"));
}

/* F16 */
static void
test_preempt(void)
{
    g_auto(Fake) f = fake_machine();
    g_autoptr(GPtrArray) dynamic = check(&f, NULL);
    g_assert_true(has(dynamic, "preempt", PASS, "not a PREEMPT_RT"));
    fake_put(&f, "proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.12\n");
    g_autoptr(GPtrArray) rt = check(&f, NULL);
    g_assert_true(has(rt, "preempt", PASS, "a PREEMPT_RT kernel"));
    fake_put(&f, "sys/kernel/realtime", "0\n");
    g_autoptr(GPtrArray) both = check(&f, NULL);
    g_assert_true(has(both, "preempt", CANNOT, "contradictory*realtime has 0*SMP PREEMPT_RT"));
}

/* F12, F18: membership in possible, present and online, not counts. */
static void
test_cpus(void)
{
    g_auto(Fake) f = fake_machine();
    g_autoptr(GPtrArray) bigger = check(&f, "[host]\nisolated = 4-7\nhousekeeping = 0\n");
    g_assert_true(has(bigger, "cpus", FAIL, "asked for 4-7, host has 0-3, nothing left"));

    fake_put(&f, "sys/devices/system/cpu/possible", "0-47\n");
    fake_put(&f, "sys/devices/system/cpu/present", "0-47\n");
    fake_put(&f, "sys/devices/system/cpu/online", "0-11,24-35\n");
    g_autoptr(GPtrArray) valid = check(&f, "[host]\nisolated = 28-35\nhousekeeping = 0-11\n");
    g_assert_true(has(valid, "cpus", PASS, "online 0-11,24-35"));
    g_autoptr(GPtrArray) offline = check(&f, "[host]\nisolated = 12\nhousekeeping = 0-11\n");
    g_assert_true(has(offline, "cpus", FAIL, "CPU 12 is offline"));
    fake_put(&f, "sys/devices/system/cpu/online", "1-11\n");
    g_autoptr(GPtrArray) zero = check(&f, "[host]\nisolated = 2-3\nhousekeeping = 0-1\n");
    g_assert_true(has(zero, "cpus", FAIL, "housekeeping: CPU 0 is offline"));
    fake_put(&f, "sys/devices/system/cpu/present", "0-35\n");
    g_autoptr(GPtrArray) absent = check(&f, "[host]\nisolated = 40\nhousekeeping = 1\n");
    g_assert_true(has(absent, "cpus", FAIL, "CPU 40 is possible, but not present"));
}

/* F33 */
static void
test_clock(void)
{
    g_auto(Fake) f = fake_machine();
    static const char file[] = "sys/devices/system/clocksource/clocksource0/current_clocksource";

    fake_put(&f, file, "kvm-clock\n");
    g_autoptr(GPtrArray) good = check(&f, NULL);
    g_assert_true(has(good, "clock", PASS, "kvm-clock"));
    static const char *const bad[] = {"hpet", "acpi_pm"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        fake_put(&f, file, bad[i]);
        g_autoptr(GPtrArray) lines = check(&f, NULL);
        g_assert_true(has(lines, "clock", FAIL, "void*tick"));
    }
    fake_put(&f, file, "tsc\n");
    fake_put(&f, "kmsg", "[ 9.1] tsc: Marking TSC unstable due to clocksource watchdog\n");
    g_autoptr(GPtrArray) unstable = check(&f, NULL);
    g_assert_true(has(unstable, "clock", FAIL, "Marking TSC unstable"));
}

/* F35: absent is not 0. */
static void
test_kvm(void)
{
    g_auto(Fake) f = fake_machine();
    g_autoptr(GPtrArray) absent = check(&f, NULL);
    g_assert_true(has(absent, "kvm", PASS, "kvm.halt_poll_ns=200000;*not 0:*kvm.pi_inject_timer"));
    fake_put(&f, "sys/module/kvm/parameters/pi_inject_timer", "0\n");
    g_autoptr(GPtrArray) zero = check(&f, NULL);
    g_assert_true(has(zero, "kvm", WARN, "pi_inject_timer=0"));
    fake_put(&f, "sys/module/kvm/parameters/pi_inject_timer", "1\n");
    fake_put(&f, "sys/module/kvm/parameters/kvmclock_periodic_sync", "Y\n");
    g_autoptr(GPtrArray) one = check(&f, NULL);
    g_assert_true(has(one, "kvm", PASS, "kvm.pi_inject_timer=1"));
    g_assert_true(has(one, "kvm", WARN, "kvmclock_periodic_sync=Y"));
}

static void
test_kernel_noise(void)
{
    g_auto(Fake) f = fake_machine();
    fake_put(&f, "sys/devices/virtual/workqueue/cpumask", "00000000,0000000f\n");
    fake_put(&f, "proc/sys/kernel/timer_migration", "0\n");
    fake_put(&f, "proc/sys/kernel/nmi_watchdog", "1\n");
    fake_put(&f, "proc/sys/kernel/watchdog_cpumask", "0-3\n");
    fake_put(&f, "sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    fake_put(&f, "sys/kernel/mm/ksm/run", "1\n");
    fake_put(&f, "sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave\n");
    fake_put(&f, "sys/devices/system/cpu/cpu3/cpuidle/state3/latency", "133\n");
    fake_put(&f, "sys/devices/system/cpu/cpu3/cpuidle/state3/disable", "0\n");
    fake_put(&f, "sys/devices/system/cpu/cpu3/cpuidle/state3/name", "C6\n");
    fake_put(&f, "sys/devices/system/cpu/cpu2/cpuidle/state3/latency", "133\n");
    fake_put(&f, "sys/devices/system/cpu/cpu2/cpuidle/state3/disable", "1\n");
    fake_put(&f, "sys/devices/system/cpu/vulnerabilities/mds", "Vulnerable\n");
    fake_put(&f, "proc/cpuinfo", "microcode\t: 0x1\nmicrocode\t: 0x2\n");
    g_autoptr(GPtrArray) lines = check(&f, NULL);

    g_assert_true(has(lines, "workqueue", FAIL, "isolated CPU 2-3"));
    g_assert_true(has(lines, "timers", WARN, ""));
    g_assert_true(has(lines, "watchdog", WARN, "NMI watchdog*2-3"));
    g_assert_true(has(lines, "thp", WARN, "[always]"));
    g_assert_true(has(lines, "ksm", WARN, ""));
    g_assert_true(has(lines, "governor", WARN, "CPU 2-3"));
    g_assert_true(has(lines, "cpuidle", WARN, "CPU 3 *C6, 133 us"));
    g_assert_true(has(lines, "mitigations", WARN, "mds"));
    g_assert_true(has(lines, "microcode", WARN, "0x1, 0x2"));
    for (guint i = 0; i < lines->len; i++) {
        const HostCheckLine *l = lines->pdata[i];
        if (l->grade == WARN || l->grade == FAIL)
            g_assert_nonnull(l->fix);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/all-well", test_all_well);
    g_test_add_func("/check/nothing-there", test_nothing_there);
    g_test_add_func("/check/nohz-full-not-built", test_nohz_full_not_built);
    g_test_add_func("/check/null-file", test_null_file);
    g_test_add_func("/check/flag-replaces-default", test_flag_replaces_default);
    g_test_add_func("/check/cmdline", test_cmdline);
    g_test_add_func("/check/preempt", test_preempt);
    g_test_add_func("/check/cpus", test_cpus);
    g_test_add_func("/check/clock", test_clock);
    g_test_add_func("/check/kvm", test_kvm);
    g_test_add_func("/check/kernel-noise", test_kernel_noise);
    return g_test_run();
}
