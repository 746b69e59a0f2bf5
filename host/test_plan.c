/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/plan.h"

#include <string.h>

#include "host/error.h"
#include "host/rules.h"
#include "host/test_fakeroot.h"

#define assert_set(set, list)                                                                      \
    do {                                                                                           \
        g_autofree char *got_ = host_cpulist_format(set);                                          \
        g_assert_cmpstr(got_, ==, list);                                                           \
    } while (0)

/* A machine, a wish, and what comes of it. */
typedef struct {
    HostTopology *t;
    HostPlan *p;
    GPtrArray *findings;
} Case;

static void
case_clear(Case *c)
{
    host_topology_free(c->t);
    host_plan_free(c->p);
    if (c->findings)
        g_ptr_array_unref(c->findings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

static HostTopology *
synthetic(const char *description)
{
    g_autoptr(GError) error = NULL;
    HostTopology *t = host_topology_synthetic(description, &error);
    g_assert_no_error(error);
    return t;
}

static Case
plan_on(HostTopology *t, const HostFacts *facts, const HostWish *wish)
{
    g_autoptr(GError) error = NULL;
    Case c = {.t = t, .p = host_plan_new(t, facts, wish, &error)};

    g_assert_no_error(error);
    c.findings = host_rules_check(c.p, t);
    return c;
}

static Case
plan(const char *description, HostWish wish)
{
    return plan_on(synthetic(description), NULL, &wish);
}

static const HostRuleFinding *
find(const Case *c, const char *rule)
{
    for (guint i = 0; i < c->findings->len; i++) {
        const HostRuleFinding *f = c->findings->pdata[i];
        if (g_str_equal(f->rule, rule))
            return f;
    }
    return NULL;
}

static void
assert_finding(const Case *c, char severity, const char *rule, const char *part)
{
    const HostRuleFinding *f = find(c, rule);

    if (!f || f->severity != severity || !strstr(f->message, part)) {
        for (guint i = 0; i < c->findings->len; i++) {
            f = c->findings->pdata[i];
            g_test_message("%c %s: %s", f->severity, f->rule, f->message);
        }
        g_error("no %c %s with \"%s\"", severity, rule, part);
    }
}

static void
assert_error(const char *description, HostWish wish, const char *part)
{
    g_autoptr(HostTopology) t = synthetic(description);
    g_autoptr(GError) error = NULL;

    g_assert_null(host_plan_new(t, NULL, &wish, &error));
    g_assert_nonnull(error);
    if (!strstr(error->message, part))
        g_error("\"%s\" has no \"%s\"", error->message, part);
}

static const HostPlanItem *
item(const HostPlan *p, const char *name)
{
    for (guint i = 0; i < p->items->len; i++) {
        const HostPlanItem *it = p->items->pdata[i];
        if (g_str_equal(it->name, name))
            return it;
    }
    return NULL;
}

static void
test_plain(void)
{
    g_auto(Case) c = plan("core:4 pu:1", (HostWish){.housekeeping = "0", .isolated = "1-N"});

    g_assert_false(host_rules_refuse(c.findings));
    g_assert_true(g_str_has_prefix(c.p->host_cmdline,
                                   "isolcpus=domain,managed_irq,1-3 nohz_full=1-3 "
                                   "rcu_nocbs=1-3 irqaffinity=0"));
    g_assert_cmpstr(c.p->guest_cmdline, ==,
                    "isolcpus=domain,managed_irq,1-2 nohz_full=1-2 rcu_nocbs=1-2 irqaffinity=0");
    g_assert_cmpuint(c.p->vcpus, ==, 3);
    assert_set(c.p->vcpu_pins[0], "1");
    assert_set(c.p->vcpu_pins[2], "3");
    assert_set(c.p->emulator_pin, "0");
    for (guint i = 0; i < c.p->items->len; i++)
        g_assert_cmpstr(((HostPlanItem *)c.p->items->pdata[i])->why, !=, "");
}

/* F02: N is the last CPU of the machine planned for, and a descending range is an error. */
static void
test_f02(void)
{
    g_auto(Case) c = plan("core:16 pu:1", (HostWish){.isolated = "4-N"});

    assert_set(c.p->isolated, "4-15");
    assert_set(c.p->housekeeping, "0-3");
    g_assert_nonnull(strstr(c.p->host_cmdline, "nohz_full=4-15 "));
    assert_error("core:4 pu:1", (HostWish){.isolated = "4-N"}, "descending");
}

/* F10: a housekeeping CPU is demanded. */
static void
test_f10(void)
{
    static const char *const all[] = {"0-N", "all"};

    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        g_auto(Case) c = plan("core:4 pu:1", (HostWish){.isolated = all[i]});
        g_assert_true(host_rules_refuse(c.findings));
        assert_finding(&c, 'E', "no-housekeeping", "0-3 asked for");
        assert_finding(&c, 'E', "no-housekeeping", "CPU 0");
        assert_finding(&c, 'E', "no-housekeeping", "1-3 is in force");
    }
    g_auto(Case) zero = plan("core:4 pu:1", (HostWish){.isolated = "0"});
    g_assert_true(host_rules_refuse(zero.findings));
    assert_finding(&zero, 'E', "cmdline-nohz_full", "nothing is left in force");
}

/* F11: irqaffinity over the isolated CPUs, with the overlap. */
static void
test_f11(void)
{
    g_auto(Case) c = plan(
        "core:16 pu:1",
        (HostWish){.isolated = "4-N", .isolcpus = "managed_irq,domain", .irqaffinity = "0-15"});
    g_assert_true(host_rules_refuse(c.findings));
    assert_finding(&c, 'E', "cmdline-irqaffinity", "4-15");
    g_auto(Case) good =
        plan("core:16 pu:1", (HostWish){.isolated = "4-N", .isolcpus = "managed_irq,domain"});
    g_assert_false(host_rules_refuse(good.findings));
    g_assert_nonnull(strstr(good.p->host_cmdline, "irqaffinity=0-3"));
}

/* F12: a profile for a bigger host plans nothing, not even in part. */
static void
test_f12(void)
{
    assert_error("core:4 pu:1", (HostWish){.isolated = "4-7"},
                 "asked for 4-7, the machine has 0-3, nothing left");
    assert_error("core:4 pu:1", (HostWish){.isolated = "2-7"}, "asked for 2-7");
    assert_error("core:4 pu:1", (HostWish){.housekeeping = "0", .isolated = "1-3,9"}, "0-3");
    assert_error("core:4 pu:1", (HostWish){0}, "say which CPUs");
    assert_error("core:4 pu:1", (HostWish){.isolated = ""}, "nothing to plan");
    assert_error("core:4 pu:1", (HostWish){.isolated = "0-3,^0"}, "1-3");
}

/* F18: membership and not counts; offline is said of the CPU. */
static Case
f18(const char *online, HostWish wish)
{
    g_auto(FakeRoot) f = fake_new("0-47", "0-47", online);
    g_autoptr(HostRoot) root = fake_open(&f);
    g_autoptr(HostCpuset) set = host_cpulist_parse(online, HOST_CPULIST_KERNEL, 0, NULL, NULL);
    g_autoptr(GError) error = NULL;
    unsigned int cpu;

    hwloc_bitmap_foreach_begin(cpu, set)
    {
        fake_cpu(&f, cpu, "topology/core_cpus_list=%u", cpu);
    }
    hwloc_bitmap_foreach_end();
    HostTopology *t = host_topology_read(root, &error);
    g_assert_no_error(error);
    return plan_on(t, NULL, &wish);
}

static void
test_f18(void)
{
    g_auto(Case) valid = f18("0-11,24-35", (HostWish){.isolated = "28-35"});
    g_assert_false(host_rules_refuse(valid.findings));
    assert_set(valid.p->vcpu_pins[7], "35");

    g_auto(Case) offline = f18("0-11,24-35", (HostWish){.isolated = "12"});
    g_assert_true(host_rules_refuse(offline.findings));
    assert_finding(&offline, 'E', "cpu-offline", "CPU 12 is offline");

    g_auto(Case) no_zero =
        f18("1-11,24-35", (HostWish){.housekeeping = "0-1", .isolated = "28-35"});
    assert_finding(&no_zero, 'E', "cpu-offline", "CPU 0 is offline");
}

/* F19: pins over kinds; nothing to tell kinds by is said. */
static void
test_f19(void)
{
    const char *const pins[] = {"0=3", "1=4", NULL};
    g_auto(FakeRoot) f = fake_new("0-7", "0-7", "0-7");
    g_autoptr(HostRoot) root = fake_open(&f);
    g_autoptr(GError) error = NULL;

    for (unsigned int cpu = 0; cpu < 8; cpu++)
        fake_cpu(&f, cpu, "cpu_capacity=%d", cpu < 4 ? 446 : 1024);
    HostTopology *t = host_topology_read(root, &error);
    g_assert_no_error(error);
    g_auto(Case) c =
        plan_on(t, NULL, &(HostWish){.housekeeping = "0", .isolated = "1-7", .vcpu_pins = pins});
    assert_finding(&c, 'W', "mixed-kinds", "CPU 4 (capacity 1024), CPU 3 (capacity 446)");
    g_assert_null(find(&c, "kinds-unknown"));

    /* Left to itself the plan keeps to one kind. */
    t = host_topology_read(root, &error);
    g_assert_no_error(error);
    g_auto(Case) own = plan_on(t, NULL, &(HostWish){.isolated = "1-7", .vcpus = 4});
    g_assert_null(find(&own, "mixed-kinds"));
    assert_set(own.p->vcpu_pins[0], "4");

    g_auto(Case) unknown = plan("core:4 pu:1", (HostWish){.isolated = "1"});
    assert_finding(&unknown, 'N', "kinds-unknown", "one kind is assumed");
}

/* F22: vCPUs floating over domain-isolated CPUs. */
static void
test_f22(void)
{
    const char *const pins[] = {"*=3-18", NULL};
    g_auto(Case) c =
        plan("core:20 pu:1", (HostWish){.isolated = "3-18", .vcpus = 16, .vcpu_pins = pins});

    g_assert_true(host_rules_refuse(c.findings));
    assert_finding(&c, 'E', "pin-floating", "vCPU 0-15");
    assert_finding(&c, 'E', "pin-floating", "CPU 3");
    /* Without domain isolation the scheduler balances. */
    g_auto(Case) balanced =
        plan("core:20 pu:1",
             (HostWish){.isolated = "3-18", .vcpus = 16, .isolcpus = "nohz", .vcpu_pins = pins});
    g_assert_null(find(&balanced, "pin-floating"));
    /* One each. */
    g_auto(Case) single = plan("core:20 pu:1", (HostWish){.isolated = "3-18", .vcpus = 16});
    g_assert_false(host_rules_refuse(single.findings));
    assert_set(single.p->vcpu_pins[15], "18");
}

/* F31: offline, then online. */
static void
test_f31(void)
{
    const char *const pins[] = {"0=3", NULL};
    const HostWish wish = {.isolated = "1-2", .vcpus = 1, .vcpu_pins = pins};
    g_auto(Case) refused = f18("0-2", wish);
    g_auto(Case) accepted = f18("0-3", wish);

    g_assert_true(host_rules_refuse(refused.findings));
    assert_finding(&refused, 'E', "pin-offline", "CPU 3");
    g_assert_false(host_rules_refuse(accepted.findings));
    /* Absent is not offline. */
    const char *const far[] = {"0=60", NULL};
    g_auto(Case) absent = f18("0-3", (HostWish){.isolated = "1-2", .vcpu_pins = far});
    assert_finding(&absent, 'E', "pin-absent", "60");
}

/* F32: guest threads that aren't host siblings; only the kernel's numbers count. */
static void
test_f32(void)
{
    const char *const copied[] = {"0=4", "1=5", "2=6", "3=7", NULL};
    g_auto(Case) off =
        plan("core:8 pu:1",
             (HostWish){.isolated = "2-7", .vcpus = 4, .guest_threads = 2, .vcpu_pins = copied});
    assert_finding(&off, 'W', "guest-threads", "vCPUs 0 and 1");
    assert_finding(&off, 'W', "guest-threads", "CPUs 4 and 5 are not siblings on the host");
    g_assert_nonnull(strstr(find(&off, "guest-threads")->advice, "not lstopo's logical ones"));

    /* The same numbers are siblings where lstopo's logical numbers are the kernel's... */
    g_auto(Case) adjacent =
        plan("core:4 pu:2",
             (HostWish){.isolated = "2-7", .vcpus = 4, .guest_threads = 2, .vcpu_pins = copied});
    g_assert_null(find(&adjacent, "guest-threads"));
    /* ... and are not where the kernel counts the second threads after all first ones. */
    g_auto(Case) apart = plan(
        "core:8 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)",
        (HostWish){.isolated = "2-7,10-15", .vcpus = 4, .guest_threads = 2, .vcpu_pins = copied});
    assert_finding(&apart, 'W', "guest-threads", "CPUs 4 and 5");
}

static void
test_smt(void)
{
    g_auto(Case) split = plan("core:4 pu:2", (HostWish){.housekeeping = "0", .isolated = "1-7"});
    assert_finding(&split, 'E', "smt-split", "CPU 1 is isolated, but shares its core with CPU 0");

    g_auto(Case) apart = plan("core:4 pu:2", (HostWish){.isolated = "2-7"});
    g_assert_false(host_rules_refuse(apart.findings));
    g_assert_cmpuint(apart.p->vcpus, ==, 3);
    assert_set(apart.p->vcpu_pins[1], "4");

    g_auto(Case) too_many = plan("core:4 pu:2", (HostWish){.isolated = "2-7", .vcpus = 4});
    assert_finding(&too_many, 'E', "too-few-cpus", "4 vCPUs");

    g_auto(Case) shared =
        plan("core:4 pu:2", (HostWish){.isolated = "2-7", .vcpus = 6, .share_cores = TRUE});
    g_assert_false(host_rules_refuse(shared.findings));
    g_assert_cmpuint(shared.p->guest_threads, ==, 2);
    g_assert_null(find(&shared, "pin-siblings"));
    /* The guest's own housekeeping is a whole core of it. */
    g_assert_nonnull(strstr(shared.p->guest_cmdline, "nohz_full=2-5"));

    const char *const siblings[] = {"0=2", "1=3", NULL};
    g_auto(Case) unasked =
        plan("core:4 pu:2", (HostWish){.isolated = "2-7", .vcpu_pins = siblings});
    assert_finding(&unasked, 'W', "pin-siblings", "CPUs 2 and 3");
    const char *const same[] = {"0=2", "1=2", NULL};
    g_auto(Case) one = plan("core:4 pu:2", (HostWish){.isolated = "2-7", .vcpu_pins = same});
    assert_finding(&one, 'E', "pin-shared", "CPU 2");
}

static void
test_numa(void)
{
    const char *machine = "numa:2 core:4 pu:1";
    g_auto(Case) c = plan(machine, (HostWish){.housekeeping = "0,4", .isolated = "1-3,5-7"});
    g_assert_cmpint(c.p->node, ==, 0);
    g_assert_cmpuint(c.p->vcpus, ==, 3);
    assert_set(c.p->emulator_pin, "0");

    /* Four don't fit on one node: planned across, with a warning. */
    g_auto(Case) across =
        plan(machine, (HostWish){.housekeeping = "0,4", .isolated = "1-3,5-7", .vcpus = 4});
    g_assert_cmpint(across.p->node, ==, -1);
    assert_finding(&across, 'W', "numa-span", "1-3,5");

    /* Memory goes where the vCPUs are. */
    g_auto(Case) memory =
        plan(machine, (HostWish){.housekeeping = "0-3", .isolated = "5-7", .memory_mib = 1025});
    g_assert_cmpint(memory.p->node, ==, 1);
    g_assert_nonnull(strstr(memory.p->host_cmdline, "hugepagesz=2M hugepages=1:513"));
    assert_set(memory.p->emulator_pin, "0-3");
}

static void
test_fifo(void)
{
    g_auto(Case) good = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .fifo_priority = 1});
    g_assert_false(host_rules_refuse(good.findings));
    g_assert_cmpstr(item(good.p, "kernel.sched_rt_runtime_us")->value, ==, "-1");
    assert_finding(&good, 'W', "fifo-starves", "SCHED_FIFO");

    g_auto(Case) bad = plan(
        "core:4 pu:1", (HostWish){.isolated = "1-3", .fifo_priority = 1, .emulatorpin = "0-1"});
    assert_finding(&bad, 'E', "fifo-emulator", "(1)");
    g_auto(Case) none =
        plan("core:4 pu:1", (HostWish){.isolated = "1-3", .fifo_priority = 1, .emulatorpin = ""});
    assert_finding(&none, 'E', "fifo-emulator", "not pinned");
    g_auto(Case) nowhere = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .emulatorpin = ""});
    assert_finding(&nowhere, 'E', "emulator-unpinned", "no CPU");
    g_auto(Case) other = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .emulatorpin = "0-1"});
    assert_finding(&other, 'E', "emulator-isolated", "1");
    g_assert_null(item(other.p, "kernel.sched_rt_runtime_us"));
}

/* 600 CPUs, every second one isolated: four lists of 1.1 KiB each. */
static void
test_cmdline_length(void)
{
    g_auto(Case) c = plan("core:600 pu:1", (HostWish){.isolated = "1-N:1/2", .vcpus = 1});
    g_assert_true(host_rules_refuse(c.findings));
    assert_finding(&c, 'E', "cmdline-length", "2047");

    /* The limit itself: 2047 bytes pass, 2048 don't. */
    for (guint over = 0; over < 2; over++) {
        g_auto(Case) bare = plan("core:4 pu:1", (HostWish){.isolated = "1-3"});
        gsize rest = HOST_COMMAND_LINE_SIZE - 1 - strlen(bare.p->host_cmdline) - 1 + over;
        g_autofree char *other = g_strnfill(rest, 'x');
        g_auto(Case) edge = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .cmdline = other});
        g_assert_true(host_rules_refuse(edge.findings) == (over == 1));
        g_assert_true((find(&edge, "cmdline-length") != NULL) == (over == 1));
    }
}

static void
test_flags(void)
{
    g_auto(Case) c = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .isolcpus = "managed_irq"});
    assert_finding(&c, 'E', "cmdline-isolcpus", "`domain` is missing");
    /* What is there already is judged with it. */
    g_auto(Case) twice =
        plan("core:4 pu:1", (HostWish){.isolated = "1-3", .cmdline = "quiet irqaffinity=0-3"});
    assert_finding(&twice, 'W', "cmdline-irqaffinity", "2 times");
    static const char *const bad[] = {"", "domain quiet", "domain,1", "Domain", "domain\"x"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        assert_error("core:4 pu:1", (HostWish){.isolated = "1-3", .isolcpus = bad[i]},
                     "want flags");
    g_auto(Case) without = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .isolcpus = "none"});
    g_assert_true(g_str_has_prefix(without.p->host_cmdline, "nohz_full=1-3 "));
    g_auto(Case) tsc = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .tsc = HOST_TSC_RELIABLE});
    assert_finding(&tsc, 'W', "tsc-reliable", "switches off");
    g_assert_nonnull(strstr(tsc.p->host_cmdline, " tsc=reliable"));
    g_assert_null(strstr(c.p->host_cmdline, "tsc="));
}

static void
test_sets(void)
{
    g_auto(Case) both = plan("core:4 pu:1", (HostWish){.housekeeping = "0-1", .isolated = "1-3"});
    assert_finding(&both, 'E', "overlap", "1");
    g_auto(Case) neither = plan("core:4 pu:1", (HostWish){.housekeeping = "0", .isolated = "3"});
    assert_finding(&neither, 'N', "unassigned", "1-2");
    g_assert_false(host_rules_refuse(neither.findings));
    const char *const off[] = {"0=0", NULL};
    g_auto(Case) out = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .vcpu_pins = off});
    assert_finding(&out, 'W', "pin-not-isolated", "0");
    const char *const empty[] = {"0=^1", NULL};
    g_auto(Case) hollow = plan("core:4 pu:1", (HostWish){.isolated = "1-3", .vcpu_pins = empty});
    assert_finding(&hollow, 'E', "pin-empty", "vCPU 0");
}

static void
test_bad_wishes(void)
{
    static const struct {
        const char *pin, *message;
    } bad[] = {
        {"3", "VCPU=CPUS"},      {"=3", "VCPU=CPUS"},           {"x=3", "VCPU=CPUS"},
        {"-1=3", "VCPU=CPUS"},   {"9999999999=3", "VCPU=CPUS"}, {"0=3-", "vcpupin 0=3-:"},
        {"0=N", "vcpupin 0=N:"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        const char *const pins[] = {bad[i].pin, NULL};
        assert_error("core:4 pu:1", (HostWish){.isolated = "1-3", .vcpu_pins = pins},
                     bad[i].message);
    }
    const char *const beyond[] = {"2=3", NULL};
    assert_error("core:4 pu:1", (HostWish){.isolated = "1-3", .vcpus = 2, .vcpu_pins = beyond},
                 "vCPUs 0-1");
    assert_error("core:4 pu:1", (HostWish){.isolated = "1-3", .vcpus = 5000}, "at most");
    assert_error("core:4 pu:1", (HostWish){.isolated = "1-3", .vcpus = 3, .guest_threads = 2},
                 "does not divide");
}

/* KVM's parameters: those this kernel has, and only where they differ from what is in force. */
static void
test_module_params(void)
{
    g_auto(FakeRoot) f = fake_new("0-3", "0-3", "0-3");
    g_autoptr(HostRoot) root = fake_open(&f);
    fake_write(&f, "sys/module/kvm/parameters/halt_poll_ns", "200000\n");
    fake_write(&f, "sys/module/kvm/parameters/lapic_timer_advance", "Y\n");
    fake_write(&f, "sys/module/kvm_intel/parameters/enable_apicv", "N\n");
    g_autoptr(HostFacts) facts = host_facts_read(root);
    g_auto(Case) c =
        plan_on(synthetic("core:4 pu:1"), facts, &(HostWish){.isolated = "1-3", .vcpus = 1});

    g_assert_cmpstr(item(c.p, "kvm.halt_poll_ns")->now, ==, "200000");
    g_assert_null(item(c.p, "kvm.pi_inject_timer"));
    g_assert_null(item(c.p, "kvm.lapic_timer_advance_ns"));
    g_assert_null(item(c.p, "kvm.lapic_timer_advance")); /* as it should be already */
    g_assert_nonnull(strstr(c.p->host_cmdline, " kvm_intel.enable_apicv=Y"));
    g_assert_null(strstr(c.p->host_cmdline, "kvm_amd"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plan/plain", test_plain);
    g_test_add_func("/plan/f02-last-cpu", test_f02);
    g_test_add_func("/plan/f10-cpu-0", test_f10);
    g_test_add_func("/plan/f11-irqaffinity", test_f11);
    g_test_add_func("/plan/f12-bigger-host", test_f12);
    g_test_add_func("/plan/f18-offline", test_f18);
    g_test_add_func("/plan/f19-kinds", test_f19);
    g_test_add_func("/plan/f22-floating", test_f22);
    g_test_add_func("/plan/f31-pin-offline", test_f31);
    g_test_add_func("/plan/f32-guest-threads", test_f32);
    g_test_add_func("/plan/smt", test_smt);
    g_test_add_func("/plan/numa", test_numa);
    g_test_add_func("/plan/fifo", test_fifo);
    g_test_add_func("/plan/cmdline-length", test_cmdline_length);
    g_test_add_func("/plan/flags", test_flags);
    g_test_add_func("/plan/sets", test_sets);
    g_test_add_func("/plan/bad-wishes", test_bad_wishes);
    g_test_add_func("/plan/module-params", test_module_params);
    return g_test_run();
}
