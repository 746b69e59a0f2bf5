/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/compare_testing.h"

static const ResDifference *
difference(const ResCompareResult *r, const char *key)
{
    for (guint i = 0; i < r->differences->len; i++) {
        const ResDifference *d = g_ptr_array_index(r->differences, i);
        if (g_str_equal(d->key, key)) {
            return d;
        }
    }
    return NULL;
}

static void
set_env(GPtrArray *runs, const char *key, const char *value)
{
    for (guint i = 0; i < runs->len; i++) {
        ResRecord *r = g_ptr_array_index(runs, i);
        g_hash_table_insert(r->environment, g_strdup(key), g_strdup(value));
    }
}

static void
set_parameter(GPtrArray *runs, const char *key, const char *value)
{
    for (guint i = 0; i < runs->len; i++) {
        ResRecord *r = g_ptr_array_index(runs, i);
        g_hash_table_insert(r->parameters, g_strdup(key), g_strdup(value));
    }
}

static void
test_notes(void)
{
    g_autoptr(GPtrArray) a = runs_of("v=none", insns, "1 1 1");
    g_autoptr(GPtrArray) b = runs_of("v=none", insns, "1 1 1");
    g_ptr_array_add(a, make_run("v=old", insns, 1));
    g_ptr_array_add(b, make_run("v=new", insns, 1));
    ResRecord *failed = make_run("v=none", insns, 1);
    failed->outcome = RES_OUTCOME_BOOT;
    failed->detail = g_strdup("timeout");
    g_ptr_array_add(b, failed);
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    g_assert_cmpuint(r->comparisons->len, ==, 1);
    static const char *const want[] = {
        "B: run r is left out: boot: timeout",
        "cell \"v=old\": only in A",
        "cell \"v=new\": only in B",
        "both sides hold the same runs: nothing can differ",
    };
    g_assert_cmpuint(r->notes->len, ==, G_N_ELEMENTS(want));
    for (gsize i = 0; i < G_N_ELEMENTS(want); i++) {
        g_assert_cmpstr(g_ptr_array_index(r->notes, i), ==, want[i]);
    }
}

/* F35: settings of the host that nothing in the profile varies. Absent is not 0. */
static void
test_environment(void)
{
    static const struct {
        const char *key, *a, *b;
        ResDifferenceKind kind;
    } cases[] = {
        {"kvm.halt_poll_ns", NULL, "0", RES_DIFFERENCE_UNMEANT},
        {"kvm.halt_poll_ns", "0", "500000", RES_DIFFERENCE_UNMEANT},
        {"host.module.kvm.pi_inject_timer", "0", "1", RES_DIFFERENCE_UNMEANT},
        {"guest.clocksource", "tsc", "hpet", RES_DIFFERENCE_UNMEANT},
        {"qemu.version", "10.0.2", "9.2.0", RES_DIFFERENCE_UNMEANT},
        {"rt-tests.version", "2.4", "2.5", RES_DIFFERENCE_UNMEANT},
        {"host.microcode", "0x1", "0x2", RES_DIFFERENCE_UNMEANT},
        {"guest.cmdline", "quiet", "quiet nosmt", RES_DIFFERENCE_UNMEANT},
        {"guest.vulnerability.mds", "Vulnerable", "Mitigation: x", RES_DIFFERENCE_UNMEANT},
        {"initramfs.sha256", "1", "2", RES_DIFFERENCE_UNMEANT},
        {"host.kernel.release", "6.1", "6.2", RES_DIFFERENCE_UNMEANT},
        {"kernel.release", "6.1", "6.12", RES_DIFFERENCE_INTENDED},
        {"seed", "1", "2", RES_DIFFERENCE_HARMLESS},
        {"guest.tsc_khz", "2300000", "2300017", RES_DIFFERENCE_HARMLESS},
        {"guest.tsc_khz", "2300000", "2400017", RES_DIFFERENCE_UNMEANT},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GPtrArray) a = runs_of("", time_ns, "1 1 1");
        g_autoptr(GPtrArray) b = runs_of("", time_ns, "1 1 1");
        set_env(a, "same", "1");
        set_env(b, "same", "1");
        if (cases[i].a != NULL) {
            set_env(a, cases[i].key, cases[i].a);
        }
        set_env(b, cases[i].key, cases[i].b);
        if (cases[i].kind == RES_DIFFERENCE_UNMEANT) {
            assert_refused(a, b, RES_COMPARE_ERROR_ENVIRONMENT, cases[i].key);
            assert_refused(b, a, RES_COMPARE_ERROR_ENVIRONMENT, "--allow-different");
        }
        ResCompareOptions options = res_compare_defaults;
        const char *const allow[] = {"nothing", cases[i].key, NULL};
        options.allow = allow;
        g_autoptr(ResCompareResult) r = res_compare(a, b, &options, NULL);
        g_assert_nonnull(r);
        g_assert_cmpuint(r->differences->len, ==, 1);
        const ResDifference *d = difference(r, cases[i].key);
        g_assert_cmpint(d->kind, ==,
                        cases[i].kind == RES_DIFFERENCE_UNMEANT ? RES_DIFFERENCE_ALLOWED
                                                                : cases[i].kind);
        g_assert_cmpstr(d->a, ==, cases[i].a != NULL ? d->a : "not recorded");
    }
}

/* What a profile varies, and what follows from it, was meant. */
static void
test_meant(void)
{
    g_autoptr(GPtrArray) a = runs_of("v=none", insns, "1 1 1");
    g_autoptr(GPtrArray) b = runs_of("v=full", insns, "1 1 1");
    set_parameter(a, "guest.isolated", "");
    set_parameter(b, "guest.isolated", "1");
    set_parameter(a, "main.boots", "3");
    set_parameter(b, "main.boots", "5");
    set_env(a, "guest.cmdline", "quiet");
    set_env(b, "guest.cmdline", "quiet nohz_full=1");
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    g_assert_cmpint(difference(r, "guest.isolated")->kind, ==, RES_DIFFERENCE_INTENDED);
    g_assert_cmpint(difference(r, "guest.cmdline")->kind, ==, RES_DIFFERENCE_INTENDED);
    g_assert_cmpint(difference(r, "main.boots")->kind, ==, RES_DIFFERENCE_HARMLESS);
    /* ... but not that the clock is another one */
    set_env(a, "guest.clocksource", "tsc");
    set_env(b, "guest.clocksource", "hpet");
    assert_refused(a, b, RES_COMPARE_ERROR_ENVIRONMENT, "guest.clocksource");
    /* another kernel words its mitigations differently; having none is something else */
    set_env(b, "guest.clocksource", "tsc");
    set_env(a, "kernel.sha256", "1");
    set_env(b, "kernel.sha256", "2");
    set_env(a, "guest.vulnerability.x", "Mitigation: old words");
    set_env(b, "guest.vulnerability.x", "Mitigation: new words");
    g_autoptr(ResCompareResult) reworded = compare_ok(a, b);
    g_assert_cmpint(difference(reworded, "guest.vulnerability.x")->kind, ==,
                    RES_DIFFERENCE_HARMLESS);
    set_env(b, "guest.vulnerability.x", "Vulnerable");
    assert_refused(a, b, RES_COMPARE_ERROR_ENVIRONMENT, "guest.vulnerability.x");
}

static void
test_cells(void)
{
    g_autoptr(GPtrArray) a = runs_of("v=none", insns, "228");
    g_autoptr(GPtrArray) b = runs_of("v=nohz", insns, "546");
    g_autoptr(ResCompareResult) r = compare_ok(a, b);
    g_assert_cmpuint(r->comparisons->len, ==, 1);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 0);
    g_assert_cmpstr(c->cell, ==, "v=none -> v=nohz");
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_CANNOT_TELL);

    /* two kernels of one set, each in two cells: matched by the other axis */
    g_autoptr(GPtrArray) old = new_runs(), new = new_runs();
    for (guint i = 0; i < 4; i++) {
        const char *kernel = i % 2 == 0 ? "1" : "2", *load = i < 2 ? "busy" : "idle";
        g_autofree char *cell = g_strdup_printf("kernel=%s load=%s", kernel, load);
        ResRecord *run = make_run(cell, insns, i);
        g_hash_table_insert(run->parameters, g_strdup("axis.kernel"), g_strdup(kernel));
        g_hash_table_insert(run->parameters, g_strdup("axis.load"), g_strdup(load));
        g_ptr_array_add(i % 2 == 0 ? old : new, run);
    }
    g_autoptr(ResCompareResult) kernels = compare_ok(old, new);
    g_assert_cmpuint(kernels->comparisons->len, ==, 2);
    c = g_ptr_array_index(kernels->comparisons, 1);
    g_assert_cmpstr(c->cell, ==, "kernel=1 load=idle -> kernel=2 load=idle");
    g_assert_cmpfloat(c->a, ==, 2);
    g_assert_cmpfloat(c->b, ==, 3);
}

static void
test_refused(void)
{
    g_autoptr(GPtrArray) a = runs_of("", insns, "1 1 1");
    g_autoptr(GPtrArray) slow = runs_of("", time_ns, "1 1 1");
    g_autoptr(GPtrArray) none = new_runs();
    assert_refused(a, slow, RES_COMPARE_ERROR_FIDELITY, "fidelity differs");
    assert_refused(a, none, RES_COMPARE_ERROR_NOTHING, "second side");
    assert_refused(none, a, RES_COMPARE_ERROR_NOTHING, "first side");

    g_autoptr(GPtrArray) b = runs_of("", insns, "1 1 1");
    ResRecord *r = g_ptr_array_index(b, 2);
    g_free(r->platform);
    r->platform = g_strdup("box");
    assert_refused(a, b, RES_COMPARE_ERROR_FIDELITY, "platform differs");
    g_free(r->platform);
    r->platform = g_strdup("bare");
    g_free(r->clock);
    r->clock = g_strdup("wall");
    assert_refused(a, b, RES_COMPARE_ERROR_FIDELITY, "clock differs");
    g_free(r->clock);
    r->clock = g_strdup("icount");
    for (guint i = 0; i < b->len; i++) {
        ResRecord *run = g_ptr_array_index(b, i);
        ((ResMetric *)g_ptr_array_index(run->metrics, 0))->fidelity = RES_FIDELITY_EVENTS;
    }
    assert_refused(a, b, RES_COMPARE_ERROR_FIDELITY, "metric m");
    for (guint i = 0; i < b->len; i++) {
        ResRecord *run = g_ptr_array_index(b, i);
        ResMetric *m = g_ptr_array_index(run->metrics, 0);
        m->fidelity = RES_FIDELITY_INSTRUCTIONS;
        g_free(m->unit);
        m->unit = g_strdup("ns");
    }
    assert_refused(a, b, RES_COMPARE_ERROR_NOTHING, "one unit");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/differences/notes", test_notes);
    g_test_add_func("/differences/environment", test_environment);
    g_test_add_func("/differences/meant", test_meant);
    g_test_add_func("/differences/cells", test_cells);
    g_test_add_func("/differences/refused", test_refused);
    return g_test_run();
}
