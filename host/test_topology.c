/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/topology.h"

#include <string.h>

#include "host/error.h"
#include "host/facts.h"
#include "host/test_fakeroot.h"

#define assert_set(set, list)                                                                      \
    do {                                                                                           \
        g_autofree char *got_ = host_cpulist_format(set);                                          \
        g_assert_cmpstr(got_, ==, list);                                                           \
    } while (0)

static HostTopology *
read_ok(const FakeRoot *f)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostRoot) root = fake_open(f);
    HostTopology *t = host_topology_read(root, &error);

    g_assert_no_error(error);
    g_assert_nonnull(t);
    return t;
}

/* F05: sibling lists come in every shape; the width comes from the data. */
static void
test_siblings(void)
{
    static const struct {
        const char *online, *list;
        unsigned int cpu;
        int width;
    } shapes[] = {
        {"0-11", "10-11", 10, 2}, {"0-11", "2,10", 2, 2}, {"0-11", "2,10", 10, 2},
        {"0-3", "3", 3, 1},       {"0-7", "4-7", 4, 4},   {"0-7", "4-7", 6, 4},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++) {
        for (int newer = 0; newer < 2; newer++) {
            g_auto(FakeRoot) f = fake_new(shapes[i].online, shapes[i].online, shapes[i].online);
            g_autoptr(HostCpuset) core =
                host_cpulist_parse(shapes[i].list, HOST_CPULIST_KERNEL, 0, NULL, NULL);
            unsigned int cpu;
            hwloc_bitmap_foreach_begin(cpu, core)
            {
                fake_cpu(&f, cpu, "topology/%s=%s",
                         newer ? "core_cpus_list" : "thread_siblings_list", shapes[i].list);
            }
            hwloc_bitmap_foreach_end();
            g_autoptr(HostTopology) t = read_ok(&f);
            const HostCpuset *got = host_topology_siblings(t, shapes[i].cpu);
            g_assert_cmpint(hwloc_bitmap_weight(got), ==, shapes[i].width);
            assert_set(got, shapes[i].list);
            /* The other CPUs have no list: said, and each is a core. */
            g_assert_cmpuint(t->warnings->len, ==, 1);
        }
    }
}

/* SMT off is no error: no list has two CPUs. */
static void
test_smt_off(void)
{
    g_auto(FakeRoot) f = fake_new("0-3\n", "0-3\n", "0,2\n");
    fake_cpu(&f, 0, "topology/core_cpus_list=0");
    fake_cpu(&f, 2, "topology/core_cpus_list=2");
    g_autoptr(HostTopology) t = read_ok(&f);

    g_assert_cmpuint(t->cores->len, ==, 2);
    g_assert_cmpuint(t->warnings->len, ==, 0);
    g_assert_null(host_topology_siblings(t, 1));
}

/* F18: three sets, and CPU 0 may be offline. */
static void
test_three_sets(void)
{
    g_auto(FakeRoot) f = fake_new("0-63\n", "0-47\n", "1-11,24-35\n");
    fake_write(&f, "sys/devices/system/node/online", "0-1\n");
    fake_write(&f, "sys/devices/system/node/node0/cpulist", "0-23\n");
    fake_write(&f, "sys/devices/system/node/node1/cpulist", "24-47\n");
    g_autoptr(HostTopology) t = read_ok(&f);

    assert_set(t->possible, "0-63");
    assert_set(t->present, "0-47");
    assert_set(t->online, "1-11,24-35");
    g_assert_cmpuint(host_topology_ncpus(t), ==, 64);
    g_assert_cmpuint(t->nodes->len, ==, 2);
    g_assert_cmpint(host_topology_node(t, 35), ==, 1);
    g_assert_cmpint(host_topology_node(t, 36), ==, -1);
}

static void
test_memory_only_node(void)
{
    g_auto(FakeRoot) f = fake_new("0-1", "0-1", "0-1");
    fake_write(&f, "sys/devices/system/node/online", "0,4\n");
    fake_write(&f, "sys/devices/system/node/node0/cpulist", "\n");
    fake_write(&f, "sys/devices/system/node/node4/cpulist", "0-1\n");
    g_autoptr(HostTopology) t = read_ok(&f);

    g_assert_cmpuint(t->nodes->len, ==, 1);
    g_assert_cmpuint(((HostNode *)t->nodes->pdata[0])->number, ==, 4);
}

static HostTopology *
with_kinds(FakeRoot *f, unsigned int ncpus, const char *file, const char *const *values)
{
    for (unsigned int cpu = 0; cpu < ncpus; cpu++)
        fake_cpu(f, cpu, "%s=%s", file, values[cpu]);
    return read_ok(f);
}

/* F19: by capacity. */
static void
test_capacity(void)
{
    static const char *const values[] = {"446",  "446",  "446",  "446",
                                         "1024", "1024", "1024", "1024"};
    g_auto(FakeRoot) f = fake_new("0-7", "0-7", "0-7");
    g_autoptr(HostTopology) t = with_kinds(&f, 8, "cpu_capacity", values);

    g_assert_cmpstr(t->kinds_from, ==, "cpu_capacity");
    g_assert_cmpuint(t->kinds->len, ==, 2);
    assert_set(((HostCpuKind *)t->kinds->pdata[0])->cpus, "4-7");
    assert_set(((HostCpuKind *)t->kinds->pdata[1])->cpus, "0-3");
    g_assert_cmpint(host_topology_kind(t, 3), ==, 1);
}

/* F19: four favoured cores of 5.8 GHz among twelve of 5.5 GHz are no kind of their own. */
static void
test_favoured_cores(void)
{
    const char *values[16];
    g_auto(FakeRoot) f = fake_new("0-15", "0-15", "0-15");

    for (guint i = 0; i < 16; i++)
        values[i] = i % 4 == 0 ? "5800000" : "5500000";
    g_autoptr(HostTopology) t = with_kinds(&f, 16, "cpufreq/cpuinfo_max_freq", values);
    g_assert_cmpuint(t->kinds->len, ==, 1);
    g_assert_cmpstr(t->kinds_from, ==, "maximum frequency");
    assert_set(((HostCpuKind *)t->kinds->pdata[0])->cpus, "0-15");
}

/* A slope of steps within the tolerance is still cut where the whole difference exceeds it. */
static void
test_tolerance(void)
{
    const guint64 slope[] = {1000, 950, 905, 899, 860, 809, 808};
    g_autoptr(HostCpuset) all = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(all, 0, 6);
    g_autoptr(GPtrArray) kinds = host_kinds_by_value(all, slope, "x");

    g_assert_cmpuint(kinds->len, ==, 3);
    assert_set(((HostCpuKind *)kinds->pdata[0])->cpus, "0-2");
    assert_set(((HostCpuKind *)kinds->pdata[1])->cpus, "3-4");
    const guint64 hole[] = {1000, 0, 905, 899, 860, 809, 808};
    g_assert_null(host_kinds_by_value(all, hole, "x"));
}

static void
test_midr(void)
{
    /* The last is another revision of the same part. */
    static const char *const values[] = {"0x00000000410fd034", "0x00000000410fd083",
                                         "0x00000000410fd030"};
    g_auto(FakeRoot) f = fake_new("0-2", "0-2", "0-2");
    g_autoptr(HostTopology) t = with_kinds(&f, 3, "regs/identification/midr_el1", values);

    g_assert_cmpstr(t->kinds_from, ==, "MIDR");
    g_assert_cmpuint(t->kinds->len, ==, 2);
    assert_set(((HostCpuKind *)t->kinds->pdata[0])->cpus, "0,2");
}

static void
test_pmu(void)
{
    g_auto(FakeRoot) f = fake_new("0-5", "0-5", "0-5");
    fake_write(&f, "sys/bus/event_source/devices/cpu_core/cpus", "0-3\n");
    fake_write(&f, "sys/bus/event_source/devices/cpu_atom/cpus", "4-5\n");
    g_autoptr(HostTopology) t = read_ok(&f);

    g_assert_cmpstr(t->kinds_from, ==, "PMUs' cpus files");
    g_assert_cmpuint(t->kinds->len, ==, 2);
    g_assert_cmpint(host_topology_kind(t, 5), ==, 1);
}

/* Nothing tells, or it tells nonsense: one kind, and no claim about where that comes from. */
static void
test_kinds_unknown(void)
{
    static const char *const broken[] = {NULL, "-1", "0", "", "1024x", "99999999999999999999"};

    for (gsize i = 0; i < G_N_ELEMENTS(broken); i++) {
        g_auto(FakeRoot) f = fake_new("0-1", "0-1", "0-1");
        if (broken[i]) {
            fake_cpu(&f, 0, "cpu_capacity=1024");
            fake_cpu(&f, 1, "cpu_capacity=%s", broken[i]);
        }
        g_autoptr(HostTopology) t = read_ok(&f);
        g_assert_null(t->kinds_from);
        g_assert_cmpuint(t->kinds->len, ==, 1);
    }
}

static void
test_refused(void)
{
    static const struct {
        const char *possible, *present, *online, *core, *message;
    } cases[] = {
        {"0-3", "0-3", "", NULL, "contradict"},      {"0-3", "0-3", "0-4", NULL, "contradict"},
        {"0-3", "0-4", "0-3", NULL, "contradict"},   {"0-3", "0-3", "0-", NULL, "cpu/online"},
        {"0-99999", "0", "0", NULL, "cpu/possible"}, {"0-3", "0-3", "0-3", "0-x", "core_cpus_list"},
        {"0-3", "0-3", "0-3", "0-1", NULL},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(FakeRoot) f = fake_new(cases[i].possible, cases[i].present, cases[i].online);
        g_autoptr(HostRoot) root = fake_open(&f);
        g_autoptr(GError) error = NULL;
        if (cases[i].core)
            fake_cpu(&f, 0, "topology/core_cpus_list=%s", cases[i].core);
        g_autoptr(HostTopology) t = host_topology_read(root, &error);
        if (!cases[i].message) {
            g_assert_no_error(error);
            continue;
        }
        g_assert_null(t);
        g_assert_error(error, HOST_ERROR, HOST_ERROR_IO);
        g_assert_nonnull(strstr(error->message, cases[i].message));
    }
}

/* Two cores that claim the same CPU. */
static void
test_overlap(void)
{
    g_auto(FakeRoot) f = fake_new("0-2", "0-2", "0-2");
    fake_cpu(&f, 0, "topology/core_cpus_list=0-1");
    fake_cpu(&f, 2, "topology/core_cpus_list=1-2");
    g_autoptr(HostRoot) root = fake_open(&f);
    g_autoptr(GError) error = NULL;

    g_assert_null(host_topology_read(root, &error));
    g_assert_error(error, HOST_ERROR, HOST_ERROR_IO);
}

static void
test_synthetic(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostTopology) t = host_topology_synthetic("numa:2 core:4 pu:2", &error);

    g_assert_no_error(error);
    g_assert_cmpuint(host_topology_ncpus(t), ==, 16);
    g_assert_cmpuint(t->cores->len, ==, 8);
    g_assert_cmpuint(t->nodes->len, ==, 2);
    assert_set(host_topology_siblings(t, 3), "2-3");
    g_assert_cmpint(host_topology_node(t, 8), ==, 1);
    g_assert_null(host_topology_synthetic("core:0", &error));
    g_assert_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED);
    g_clear_error(&error);
    g_assert_null(host_topology_xml("/nonexistent.xml", &error));
    g_assert_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED);
}

/* OS numbers, where they differ from logical ones: siblings n and n + 4. */
static void
test_os_numbers(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostTopology) t =
        host_topology_synthetic("core:4 pu:2(indexes=0,4,1,5,2,6,3,7)", &error);

    g_assert_no_error(error);
    assert_set(host_topology_siblings(t, 1), "1,5");
}

static void
test_facts(void)
{
    g_auto(FakeRoot) f = fake_new("0", "0", "0");
    g_autoptr(HostRoot) root = fake_open(&f);
    g_autoptr(HostFacts) none = host_facts_read(root);
    g_assert_false(none->kvm);
    g_assert_false(none->huge_1g);

    fake_write(&f, "sys/module/kvm/parameters/halt_poll_ns", "200000\n");
    fake_write(&f, "sys/module/kvm_intel/parameters/enable_apicv", "N\n");
    fake_write(&f, "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
    g_autoptr(HostFacts) some = host_facts_read(root);
    g_assert_true(some->kvm);
    g_assert_true(some->huge_1g);
    g_assert_cmpstr(g_hash_table_lookup(some->module_parameters, "kvm.halt_poll_ns"), ==, "200000");
    g_assert_cmpstr(g_hash_table_lookup(some->module_parameters, "kvm_intel.enable_apicv"), ==,
                    "N");
    g_assert_null(g_hash_table_lookup(some->module_parameters, "kvm.pi_inject_timer"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/topology/siblings", test_siblings);
    g_test_add_func("/topology/smt-off", test_smt_off);
    g_test_add_func("/topology/three-sets", test_three_sets);
    g_test_add_func("/topology/memory-only-node", test_memory_only_node);
    g_test_add_func("/topology/refused", test_refused);
    g_test_add_func("/topology/overlap", test_overlap);
    g_test_add_func("/topology/synthetic", test_synthetic);
    g_test_add_func("/topology/os-numbers", test_os_numbers);
    g_test_add_func("/kinds/capacity", test_capacity);
    g_test_add_func("/kinds/favoured-cores", test_favoured_cores);
    g_test_add_func("/kinds/tolerance", test_tolerance);
    g_test_add_func("/kinds/midr", test_midr);
    g_test_add_func("/kinds/pmu", test_pmu);
    g_test_add_func("/kinds/unknown", test_kinds_unknown);
    g_test_add_func("/facts", test_facts);
    return g_test_run();
}
