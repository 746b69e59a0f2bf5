/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/isolation.h"

#include <gio/gio.h>
#include <string.h>

static GPtrArray *
lines(const char *text)
{
    GPtrArray *kmsg = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) parts = g_strsplit(text, "\n", -1);
    for (guint i = 0; parts[i]; i++)
        if (*parts[i])
            g_ptr_array_add(kmsg, g_strdup(parts[i]));
    return kmsg;
}

static HostCpuset *
set(const char *list)
{
    return list ? host_cpulist_parse(list, HOST_CPULIST_KERNEL, 0, NULL, NULL) : NULL;
}

static void
assert_effective(HostEffective e, HostState state, const char *list)
{
    g_autofree char *got = host_cpulist_format(e.cpus);
    g_assert_cmpint(e.state, ==, state);
    g_assert_cmpstr(got, ==, list);
    host_effective_clear(&e);
}

static void
test_files(void)
{
    static const struct {
        const char *contents;
        HostState state;
        const char *list;
    } files[] = {
        {"(null)\n", HOST_STATE_OFF, ""},     {"  (null)\n", HOST_STATE_OFF, ""},
        {"\n", HOST_STATE_OFF, ""},           {"", HOST_STATE_OFF, ""},
        {"2-3\n", HOST_STATE_ON, "2-3"},      {"1-3,8", HOST_STATE_ON, "1-3,8"},
        {NULL, HOST_STATE_NOT_BUILT, ""},     {"1-", HOST_STATE_UNKNOWN, ""},
        {"all\n", HOST_STATE_UNKNOWN, ""}, /* the kernel never prints that */
        {"2-3\n4\n", HOST_STATE_UNKNOWN, ""}, {"Permission denied", HOST_STATE_UNKNOWN, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        const HostKernelView nohz = {.sysfs_nohz_full = files[i].contents, .ncpus = 4};
        assert_effective(host_nohz_full_effective(&nohz), files[i].state, files[i].list);
        const HostKernelView isolated = {.sysfs_isolated = files[i].contents, .ncpus = 4};
        assert_effective(host_isolated_effective(&isolated), files[i].state, files[i].list);
    }
}

static void
test_rcu_nocbs(void)
{
    static const struct {
        const char *kmsg;
        HostState state;
        const char *list;
    } cases[] = {
        {"rcu: \tOffload RCU callbacks from CPUs: 1-3.", HOST_STATE_ON, "1-3"},
        {"[    0.000000] rcu: \tOffload RCU callbacks from CPUs: 1-3,8.", HOST_STATE_ON, "1-3,8"},
        {"[    0.076080] rcu: \tOffload RCU callbacks from CPUs: 0-15.\r", HOST_STATE_ON, "0-15"},
        {"<6>[    0.000000][    T0] rcu:     Offload RCU callbacks from CPUs: 1.", HOST_STATE_ON,
         "1"},
        {"\tOffload RCU callbacks from CPUs: 2.", HOST_STATE_ON, "2"},
        {"rcu: \tOffload RCU callbacks from CPUs: (none).", HOST_STATE_OFF, ""},
        {"x\nrcu: \tOffload RCU callbacks from CPUs: 1.\nrcu: \tOffload RCU callbacks from CPUs: "
         "1.",
         HOST_STATE_ON, "1"},
        {"rcu: \tOffload RCU callbacks from CPUs: 1.\nrcu: \tOffload RCU callbacks from CPUs: 2.",
         HOST_STATE_UNKNOWN, ""},
        {"rcu: \tOffload RCU callbacks from CPUs: 1-3", HOST_STATE_UNKNOWN, ""}, /* cut short */
        {"rcu: \tOffload RCU callbacks from CPUs: .", HOST_STATE_UNKNOWN, ""},
        {"rcu: \tOffload RCU callbacks from CPUs: 1-x.", HOST_STATE_UNKNOWN, ""},
        {"Command line: x=\"Offload RCU callbacks from CPUs: 1-3.\"", HOST_STATE_UNKNOWN, ""},
        {"", HOST_STATE_UNKNOWN, ""},
        {"Unknown kernel command line parameters \"rcu_nocbs=2-3\", will be passed to user space.",
         HOST_STATE_NOT_BUILT, ""},
        {"[    0.0] Unknown kernel command line parameters \"a rcu-nocbs=2 b\", will be passed to "
         "user space.",
         HOST_STATE_NOT_BUILT, ""},
        {"Unknown kernel command line parameters \"rcu_nocbsx=2-3\", will be passed to user space.",
         HOST_STATE_UNKNOWN, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GPtrArray) kmsg = lines(cases[i].kmsg);
        const HostKernelView v = {.kmsg = kmsg, .ncpus = 16};
        assert_effective(host_rcu_nocbs_effective(&v), cases[i].state, cases[i].list);
    }
    const HostKernelView nothing = {.ncpus = 4};
    assert_effective(host_rcu_nocbs_effective(&nothing), HOST_STATE_UNKNOWN, "");

    /* The quotes are lost in the kernel's list: this one is part of another parameter's value. */
    g_autoptr(GPtrArray) inside = lines("Unknown kernel command line parameters \"x=a "
                                        "rcu_nocbs=2\", will be passed to user space.");
    const HostKernelView v = {.kmsg = inside, .cmdline = "x=\"a rcu_nocbs=2\"", .ncpus = 4};
    assert_effective(host_rcu_nocbs_effective(&v), HOST_STATE_UNKNOWN, "");
}

typedef struct {
    const char *effective;
    gboolean ok;
    const char *words[4]; /* all in the message */
} Verdict;

typedef struct {
    const char *what;
    const char *cmdline, *nohz_full, *isolated;
    const char *kmsg; /* NULL: none kept */
    const char *want[3];
    Verdict verdicts[3]; /* nohz_full, isolcpus, rcu_nocbs */
} Compare;

static const Compare compares[] = {
    {"all in force",
     "isolcpus=1-3 nohz_full=1-3 rcu_nocbs=1-3",
     "1-3\n",
     "1-3\n",
     "[    0.000000] rcu: \tOffload RCU callbacks from CPUs: 1-3.",
     {"1-3", "1-3", "1-3"},
     {{"1-3", TRUE, {0}}, {"1-3", TRUE, {0}}, {"1-3", TRUE, {0}}}},
    {"nothing asked, nothing in force",
     "quiet",
     "(null)\n",
     "\n",
     "",
     {NULL, NULL, ""},
     {{"none", TRUE, {0}}, {"none", TRUE, {0}}, {"unknown", TRUE, {0}}}},
    {"nothing asked, and the kernel has none of it",
     "quiet",
     NULL,
     "",
     NULL,
     {NULL, NULL, NULL},
     {{"not built in", TRUE, {0}}, {"none", TRUE, {0}}, {"unknown", TRUE, {0}}}},
    {"nohz_full implies rcu_nocbs",
     "nohz_full=1-3",
     "1-3",
     "",
     "rcu: \tOffload RCU callbacks from CPUs: 1-3.",
     {"1-3", NULL, NULL},
     {{"1-3", TRUE, {0}}, {"none", TRUE, {0}}, {"1-3", TRUE, {0}}}},
    {"rcu_nocbs asked for less than nohz_full implies",
     "nohz_full=1-3 rcu_nocbs=2",
     "1-3",
     "",
     "rcu: \tOffload RCU callbacks from CPUs: 1-3.",
     {"1-3", NULL, "2"},
     {{"1-3", TRUE, {0}}, {"none", TRUE, {0}}, {"1-3", TRUE, {0}}}},
    {"asked for, and the kernel cannot",
     "isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3",
     NULL,
     "2-3\n",
     "[    0.000000] Housekeeping: nohz unsupported. Build with CONFIG_NO_HZ_FULL\n"
     "[    0.000000] Unknown kernel command line parameters \"nohz_full=2-3 rcu_nocbs=2-3\", will "
     "be "
     "passed to user space.",
     {"2-3", "2-3", "2-3"},
     {{"not built in",
       FALSE,
       {"asked for 2-3", "Housekeeping: nohz unsupported", "\"nohz_full=2-3 rcu"}},
      {"2-3", TRUE, {0}},
      {"not built in", FALSE, {"asked for 2-3", "Unknown kernel command line parameters"}}}},
    {"CPU 0 in nohz_full",
     "nohz_full=0-3 isolcpus=all",
     "1-3",
     "",
     "Housekeeping: must include one present CPU, using boot CPU:0",
     {"0-3", NULL, NULL},
     {{"1-3",
       FALSE,
       {"asked for 0-3, in force 1-3", "CPU 0 was removed by the kernel", "using boot CPU:0"}},
      {"none", TRUE, {0}},
      {"unknown", TRUE, {0}}}},
    {"CPU 0 alone",
     "isolcpus=0 nohz_full=0",
     "(null)",
     "\n",
     "Housekeeping: must include one present CPU, using boot CPU:0",
     {"0", "0", NULL},
     {{"none", FALSE, {"asked for 0, nothing", "CPU 0 was removed", "nothing is left in force"}},
      {"none", FALSE, {"asked for 0, nothing", "CPU 0 was removed", "nothing is left in force"}},
      {"unknown", TRUE, {0}}}},
    {"CPU 0 keeps the time",
     "nohz_full=0-2",
     "1-2",
     "",
     "[    0.01] NO_HZ: Clearing 0 from nohz_full range for timekeeping",
     {"0-2", NULL, NULL},
     {{"1-2", FALSE, {"CPU 0 was removed by the kernel", "NO_HZ: Clearing 0"}},
      {"none", TRUE, {0}},
      {"unknown", TRUE, {0}}}},
    {"managed_irq instead of domain",
     "isolcpus=managed_irq,2-3",
     "",
     "",
     "",
     {NULL, "2-3", NULL},
     {{"none", TRUE, {0}},
      {"none", FALSE, {"missing 2-3", "`domain` is missing"}},
      {"unknown", TRUE, {0}}}},
    {"misspelt",
     "isolated_cpus=2-3 nohz-full=2-3",
     "2-3",
     "",
     "",
     {"2-3", "2-3", NULL},
     {{"2-3", TRUE, {0}},
      {"none", FALSE, {"isolated_cpus", "did you mean isolcpus?"}},
      {"unknown", TRUE, {0}}}},
    {"not on the command line",
     "quiet",
     "",
     "",
     "",
     {"1", "1", "1"},
     {{"none", FALSE, {"nohz_full= is not on the kernel command line"}},
      {"none", FALSE, {"isolcpus= is not on the kernel command line"}},
      {"unknown", FALSE, {"unknown", "Offload RCU callbacks"}}}},
    {"other CPUs than asked",
     "isolcpus=2-4 nohz_full=3-4",
     "3-4",
     "2-4",
     "rcu: \tOffload RCU callbacks from CPUs: 0-5.",
     {"2-3", "2-4,6", "5"},
     {{"3-4", FALSE, {"missing 2", "not asked for 4"}},
      {"2-4", FALSE, {"missing 6"}},
      {"0-5", FALSE, {"not asked for 0-2"}}}},
    {"in force though not asked for",
     "quiet",
     "1",
     "2",
     "rcu: \tOffload RCU callbacks from CPUs: 3.",
     {NULL, NULL, NULL},
     {{"1", FALSE, {"asked for none", "not asked for 1"}},
      {"2", FALSE, {"not asked for 2"}},
      {"3", FALSE, {"not asked for 3"}}}},
    {"bad list, all offloaded",
     "rcu_nocbs=1-x",
     "",
     "",
     "rcu: rcu_nocbs= bad CPU range, all CPUs set\nrcu: \tOffload RCU callbacks from CPUs: 0-7.",
     {NULL, NULL, "1-3"},
     {{"none", TRUE, {0}},
      {"none", TRUE, {0}},
      {"0-7", FALSE, {"not asked for 0,4-7", "character 3", "bad CPU range"}}}},
    {"unreadable is never anything else",
     "",
     "what?",
     "1-2-3",
     "rcu: \tOffload RCU callbacks from CPUs: 1,2",
     {NULL, NULL, NULL},
     {{"unknown", FALSE, {"unknown", "/nohz_full"}},
      {"unknown", FALSE, {"unknown", "/isolated"}},
      {"unknown", FALSE, {"unknown"}}}},
    {"no messages and no command line: rcu_nocbs can be anything",
     NULL,
     "",
     "",
     NULL,
     {NULL, NULL, NULL},
     {{"none", TRUE, {0}}, {"none", TRUE, {0}}, {"unknown", FALSE, {"unknown"}}}},
    {"nohz_full is never inferred from isolated",
     "isolcpus=2-3 nohz_full=2-3",
     "",
     "2-3",
     "Housekeeping: nohz_full= must match isolcpus=",
     {"2-3", "2-3", NULL},
     {{"none", FALSE, {"missing 2-3", "must match isolcpus="}},
      {"2-3", TRUE, {0}},
      {"unknown", TRUE, {0}}}},
};

static void
check_verdict(const HostIsolationCheck *check, const Verdict *want)
{
    g_test_message("  %s: %s", check->parameter, check->message ? check->message : "ok");
    g_assert_cmpstr(check->effective, ==, want->effective);
    g_assert_cmpint(check->ok, ==, want->ok);
    g_assert_cmpint(check->message == NULL, ==, want->ok);
    for (gsize i = 0; i < G_N_ELEMENTS(want->words) && want->words[i]; i++)
        g_assert_nonnull(strstr(check->message, want->words[i]));
}

static void
test_compare(void)
{
    static const char *const parameters[] = {"nohz_full", "isolcpus", "rcu_nocbs"};
    for (gsize i = 0; i < G_N_ELEMENTS(compares); i++) {
        const Compare *c = &compares[i];
        g_test_message("%s", c->what);
        g_autoptr(GPtrArray) kmsg = c->kmsg ? lines(c->kmsg) : NULL;
        const HostKernelView v = {.cmdline = c->cmdline,
                                  .sysfs_nohz_full = c->nohz_full,
                                  .sysfs_isolated = c->isolated,
                                  .kmsg = kmsg,
                                  .ncpus = 8};
        g_autoptr(HostCpuset) nohz_full = set(c->want[0]);
        g_autoptr(HostCpuset) isolated = set(c->want[1]);
        g_autoptr(HostCpuset) rcu_nocbs = set(c->want[2]);
        g_autoptr(GPtrArray) checks = host_isolation_compare(&v, nohz_full, isolated, rcu_nocbs);
        g_assert_cmpuint(checks->len, ==, 3);
        for (guint j = 0; j < 3; j++) {
            const HostIsolationCheck *check = checks->pdata[j];
            g_assert_cmpstr(check->parameter, ==, parameters[j]);
            g_assert_cmpstr(check->requested, ==, c->want[j] && *c->want[j] ? c->want[j] : "none");
            check_verdict(check, &c->verdicts[j]);
        }
    }
}

/* What a hostile guest sends stays short and printable in our messages. */
static void
test_hostile(void)
{
    g_autoptr(GPtrArray) kmsg = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < 200; i++) {
        g_autofree char *fill = g_strnfill(5000, '\x1b');
        g_ptr_array_add(kmsg, g_strdup_printf("Housekeeping: \xff%s", fill));
    }
    g_ptr_array_add(
        kmsg, g_strdup("Housekeeping: must include one present CPU, using boot CPU:99999999999"));
    g_ptr_array_add(kmsg, g_strdup("[[[<<<"));
    g_ptr_array_add(kmsg, g_strdup("Unknown kernel command line parameters \""));
    const HostKernelView v = {
        .cmdline = "nohz_full=\xff\x1b,", .sysfs_nohz_full = "", .kmsg = kmsg, .ncpus = 4};
    g_autoptr(HostCpuset) want = set("1-3");
    g_autoptr(GPtrArray) checks = host_isolation_compare(&v, want, want, want);
    for (guint i = 0; i < checks->len; i++) {
        const HostIsolationCheck *check = checks->pdata[i];
        g_assert_false(check->ok);
        g_assert_true(g_utf8_validate(check->message, -1, NULL));
        g_assert_null(strchr(check->message, '\x1b'));
        g_assert_cmpuint(strlen(check->message), <, 3000);
    }
}

static void
test_clock(void)
{
    static const struct {
        const char *name;
        const char *kmsg;
        const char *problem; /* NULL: none */
    } clocks[] = {
        {"tsc", NULL, NULL},
        {"tsc\n",
         "tsc: Detected 2000.000 MHz processor\nsched_clock: Marking stable (1, 2)->(3, 4)", NULL},
        {"kvm-clock", "", NULL},
        {"hpet", NULL, "hpet"},
        {"acpi_pm", NULL, "acpi_pm"},
        {"jiffies", NULL, "jiffies"},
        {"tsc-early", NULL, "tsc-early"},
        {"", NULL, "unknown"},
        {NULL, NULL, "unknown"},
        {"tsc", "[ 3007.005854] tsc: Marking TSC unstable due to clocksource watchdog",
         "Marking TSC unstable due to clocksource watchdog"},
        {"kvm-clock", "tsc: Marking TSC unstable due to clocksource watchdog", "TSC is unstable"},
        {"hpet", "Measured 235 cycles TSC warp between CPUs, turning off TSC clock.",
         "TSC is unstable"},
        {"tsc",
         "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because "
         "the skew "
         "is too large:",
         "TSC is unstable"},
        {"tsc", "sched_clock: Marking unstable (1, 2)<-(3, -4)", "TSC is unstable"},
        {"tsc", "Kernel command line: note=\"Marking TSC unstable\"", NULL},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(clocks); i++) {
        g_autoptr(GPtrArray) kmsg = clocks[i].kmsg ? lines(clocks[i].kmsg) : NULL;
        g_autofree char *problem = host_clock_problem(clocks[i].name, kmsg);
        if (!clocks[i].problem) {
            g_assert_cmpstr(problem, ==, NULL);
            continue;
        }
        g_assert_nonnull(problem);
        g_assert_nonnull(strstr(problem, clocks[i].problem));
    }
    g_autofree char *hpet = host_clock_problem("hpet", NULL);
    g_assert_nonnull(strstr(hpet, "void"));
    g_assert_nonnull(strstr(hpet, "tick"));
}

static void
test_realtime(void)
{
    static const struct {
        const char *file, *version;
        int rt;            /* -1: an error */
        const char *words; /* in the error */
    } kernels[] = {
        {NULL, "#1 SMP PREEMPT_RT Debian 6.12.1-1 (2025-01-01)", TRUE, NULL},
        {"1\n", "#1 SMP PREEMPT_RT Debian 6.1.1-1 (2023-01-01)", TRUE, NULL},
        {"1", "#1 SMP PREEMPT RT Debian 4.19.1-1", TRUE, NULL},
        {NULL, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.1-1", FALSE, NULL},
        {"0\n", "#1 SMP PREEMPT_DYNAMIC", FALSE, NULL},
        {NULL, "#1 SMP PREEMPT Thu RT", FALSE, NULL},
        {NULL, "#1 SMP PREEMPT_RTX", FALSE, NULL},
        {"0", "#1 SMP PREEMPT_RT", -1, "/sys/kernel/realtime has 0"},
        {"1", "#1 SMP PREEMPT_DYNAMIC", -1, "PREEMPT_DYNAMIC"},
        {"yes", "#1 SMP PREEMPT_RT", -1, "expected 0 or 1"},
        {"", "#1 SMP PREEMPT_RT", -1, "expected 0 or 1"},
        {"1", NULL, -1, "no uname -v"},
        {NULL, "", -1, "no uname -v"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autoptr(GError) error = NULL;
        gboolean rt = 7;
        gboolean done = host_is_realtime(kernels[i].file, kernels[i].version, &rt, &error);
        if (kernels[i].rt < 0) {
            g_assert_false(done);
            g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
            g_assert_nonnull(strstr(error->message, kernels[i].words));
            g_assert_cmpint(rt, ==, 7);
            continue;
        }
        g_assert_no_error(error);
        g_assert_true(done);
        g_assert_cmpint(rt, ==, kernels[i].rt);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/host/isolation/files", test_files);
    g_test_add_func("/host/isolation/rcu-nocbs", test_rcu_nocbs);
    g_test_add_func("/host/isolation/compare", test_compare);
    g_test_add_func("/host/isolation/hostile", test_hostile);
    g_test_add_func("/host/isolation/clock", test_clock);
    g_test_add_func("/host/isolation/realtime", test_realtime);
    return g_test_run();
}
