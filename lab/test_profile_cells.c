/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The matrix, what is checked in each cell, and expectations against it. */
#include "lab/profile_testing.h"

#include "lab/expect.h"

static void
test_cpulists(void)
{
    static const Refusal cases[] = {
        /* beyond the machine */
        {"[guest]\nvcpus = 4\nisolated = 4-7\n",
         "p.ini:3: [guest] isolated = 4-7: asked for 4-7, the guest has CPUs 0-3 (guest.vcpus = "
         "4), nothing left",
         VALUE},
        {"[guest]\nvcpus = 4\nisolated = 2-7\n", "asked for 2-7, the guest has CPUs 0-3*, 2-3 left",
         VALUE},
        {"[host]\nplatform = box\nisolated = 4-7\n",
         "the box has CPUs 0-3 (host.cpus = 4), nothing left", VALUE},
        {"[host]\nplatform = box\n[guest]\npin = 4\n",
         "[guest] pin = 4: asked for 4, the box has CPUs 0-3", VALUE},
        {"[host]\nplatform = box\n[guest]\nemulatorpin = 9\n", "asked for 9, the box", VALUE},
        /* `N` is the last CPU of the machine that is meant, so this range descends */
        {"[guest]\nvcpus = 4\nisolated = 4-N\n", "[guest] isolated = 4-N", VALUE},
        /* no housekeeping CPU */
        {"[guest]\nvcpus = 4\nisolated = 0-N\n", "isolated = 0-N leaves no housekeeping CPU",
         VALUE},
        {"[guest]\nvcpus = 4\nisolated = all\n", "isolated = all leaves no housekeeping CPU",
         VALUE},
        {"[guest]\nisolated = 0\n", "isolated = 0 leaves no housekeeping CPU", VALUE},
        {"[host]\nisolated = 0-N\n", "isolated = 0-N leaves no housekeeping CPU", VALUE},
        {"[guest]\nvcpus = 4\nisolated = 1-3\nhousekeeping = 0-1\n",
         "CPU 1 is in isolated = 1-3 too", VALUE},
        /* the other dialect */
        {"[guest]\nvcpus = 8\nisolated = 0-4,^1\n", "no exclusions (^ or !): write 0,2-4", VALUE},
        {"[guest]\nvcpus = 8\nisolated = 1-3,!2\n", "write 1,3", VALUE},
        {"[guest]\nvcpus = 8\nisolated = ^2,1-3\n", "write 1-3; ", VALUE},
        {"[guest]\nvcpus = 8\nisolated = ^0\n", "nothing is left", VALUE},
        {"[host]\nisolated = 3-1\n", "p.ini:2: [host] isolated = 3-1", VALUE},
        {"[host]\nisolated = 4294967296\n", "p.ini:2: [host] isolated = 4294967296", VALUE},
        {"[guest]\npin = N\n", "p.ini:2: [guest] pin = N", VALUE},
        /* pins */
        {"[guest]\nvcpus = 2\npin = 1\n", "1 CPU for 2 vCPUs: one for each", VALUE},
        {"[guest]\npin = 3-18\n", "16 CPUs for 1 vCPU: one for each", VALUE},
        {"[guest]\nvcpus = 2\npin = 2,1\n", "in ascending order*write 1-2", VALUE},
        {"[guest]\nemulatorpin = 1,^1\n", "no CPU is left", VALUE},
        /* workloads */
        {"[guest]\nvcpus = 4\n[workload cyclictest]\ncpu = 4\n",
         "p.ini:4: [workload cyclictest] cpu = 4: no such CPU: the guest has CPUs 0-3", VALUE},
        {"[workload cyclictest]\ncpu = 1\n", "the guest has CPU 0 alone", VALUE},
        /* command lines */
        {"[guest]\ncmdline = quiet isolcpus=1\n",
         "isolcpus= is the lab's own: use the keys `isolated' and `isolcpus'", VALUE},
        {"[guest]\ncmdline = nohz-full=1\n", "nohz-full= is the lab's own", VALUE},
        {"[host]\ncmdline = rcu_nocbs\n", "is the lab's own", VALUE},
        {"[host]\ncmdline = irqaffinity=0\n", "`housekeeping'", VALUE},
        {"[guest]\ncmdline = quiet -- single\n", "`--' ends the kernel's parameters", VALUE},
    };
    check_refused(cases, G_N_ELEMENTS(cases));
}

/* What is likely a mistake but possible. */
static void
test_warnings(void)
{
    static const struct {
        const char *text, *warning;
    } cases[] = {
        {"[guest]\nvcpus = 4\nhousekeeping = 0\nisolated = 2-3\n",
         "CPU 1 is neither housekeeping nor isolated"},
        {"[guest]\nvcpus = 2\nisolated = 1\nnohz_full = no\nrcu_nocbs = no\nisolcpus = none\n",
         "these CPUs are not isolated"},
        {"[guest]\npin = ^2,3\n", "pin = ^2,3"},
        {"[guest]\ncmdline = isolated_cpus=2-7\n", "isolcpus"},
        {"[guest]\ncmdline = a=\"b\n", "cmdline"},
        {"[host]\nplatform = box\nisolated = 1-3\n[guest]\npin = 0\n",
         "CPU 0 is not in host.isolated = 1-3"},
        {"[host]\nplatform = box\nisolated = 1-3\n[guest]\nemulatorpin = 0-1\n",
         "CPU 1 is in host.isolated"},
        {"[host]\nplatform = bare\nisolated = 1\n", "platform = bare has no lab host"},
        {"[main]\nboots = 1\n", "nothing is measured"},
        {"[variant a]\n", "[variant a] is not a value of `variant'"},
        {"[matrix]\nguest.vcpus = 1, 2\n[guest]\nvcpus = 3\n",
         "without effect, [matrix] has an axis guest.vcpus"},
        {"[matrix]\nguest.isolated = 1,2\n[guest]\nvcpus = 4\n", "this is one value"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(LabProfile) p = parse_ok(cases[i].text, NULL);
        g_test_message("%s", cases[i].warning);
        g_assert_true(warned(p, cases[i].warning));
    }
    g_autoptr(LabProfile) quiet =
        parse_ok("[host]\nisolated = 4-N\n[guest]\nvcpus = 8\nisolated = 1-N\npin = 4-11\n"
                 "cmdline = mitigations=off\n[workload cyclictest]\n",
                 NULL);
    g_assert_cmpuint(lab_profile_warnings(quiet)->len, ==, 0);
}

static void
test_matrix(void)
{
    g_autoptr(LabProfile) p =
        parse_ok("[matrix]\nvariant = a, b\nkernel = default | debian:6.1\n"
                 "guest.isolated = | 1-N | 1, 3\nworkload w.cpu = 0, 1\n"
                 "[variant a]\n[variant b]\nworkload w.loops = 7\nhost.clock = icount\n"
                 "[guest]\nvcpus = 4\n[workload w]\ntype = cyclictest\n",
                 NULL);
    const LabCell *last = cell(p, 23);

    g_assert_cmpuint(lab_profile_cells(p)->len, ==, 24);
    g_assert_cmpstr(cell(p, 0)->name, ==,
                    "variant=a kernel=default guest.isolated=\"\" workload w.cpu=0");
    g_assert_cmpstr(cell(p, 1)->name, ==,
                    "variant=a kernel=default guest.isolated=\"\" workload w.cpu=1");
    g_assert_cmpstr(last->name, ==,
                    "variant=b kernel=debian:6.1 guest.isolated=\"1, 3\" workload w.cpu=1");
    g_assert_cmpuint(last->axes->len, ==, 4);
    g_assert_cmpstr(((LabSetting *)g_ptr_array_index(last->axes, 1))->key, ==, "kernel");
    g_assert_cmpstr(((LabSetting *)g_ptr_array_index(last->axes, 1))->value, ==, "debian:6.1");
    g_assert_cmpstr(last->params->kernel, ==, "debian:6.1");
    g_assert_cmpint(last->params->clock, ==, LAB_CLOCK_ICOUNT);
    g_assert_cmpint(cell(p, 0)->params->clock, ==, LAB_CLOCK_WALL);
    const LabWorkload *w = g_ptr_array_index(last->params->workloads, 0);
    g_assert_cmpuint(w->loops, ==, 7);
    g_assert_cmpint(w->cpu, ==, 1);
    g_assert_cmpstr(g_hash_table_lookup(last->settings, "workload w.loops"), ==, "7");
    g_assert_cmpstr(g_hash_table_lookup(last->settings, "main.kernel"), ==, "debian:6.1");
}

static void
test_matrix_refused(void)
{
    static const Refusal cases[] = {
        {"[matrix]\nvariant = a, b\n[variant a]\n", "p.ini:2: *there is no section [variant b]",
         KEY},
        {"[matrix]\nguest.vcpus = 1, 1\n", "`1' stands twice", VALUE},
        {"[matrix]\nguest.vcpus = 1, x\n",
         "p.ini:2: [matrix] guest.vcpus = 1, x: `x': not a whole number; 1..255", VALUE},
        {"[matrix]\nguest.vcpus = 1 | 2\n", "separated by `,'", VALUE},
        {"[matrix]\nguest.vcpus = 1,,2\n", "an empty value", VALUE},
        {"[matrix]\nguest.vcpus =\n", "[matrix] guest.vcpus", VALUE},
        {"[matrix]\nkernel = debian:6.1, debian:6.12\n", "separated by `|'", VALUE},
        {"[matrix]\nmain.kernel = a\n", "write the key as `kernel'", KEY},
        {"[matrix]\nboots = 1, 2\n", "the same for all cells", KEY},
        {"[matrix]\ncheck.host.kvm = yes, no\n", "the same for all cells", KEY},
        {"[matrix]\nworkload cyclictest.type = cyclictest\n[workload cyclictest]\n",
         "the same for all cells", KEY},
        {"[matrix]\nworkload.cyclictest.cpu = 1\n[workload cyclictest]\n",
         "write the key as `workload cyclictest.cpu'", KEY},
        {"[matrix]\nworkload x.cpu = 1\n[workload cyclictest]\n",
         "there is no section [workload x]", KEY},
        {"[matrix]\nguest.vcpu = 1\n", "[guest] has no key `vcpu' (did you mean `vcpus'", KEY},
        {"[matrix]\ngest.vcpus = 1\n", "names no key*did you mean `guest'", KEY},
        {"[matrix]\nguest.vcpus = 1, 2\nvariant = a\n[variant a]\nguest.vcpus = 3\n",
         "is an axis of [matrix] too", KEY},
        {"[variant a]\nmain.boots = 3\n", "the same for all cells", KEY},
        {"[variant a]\nguest.vcpus = 0\n", "p.ini:2: [variant a] guest.vcpus = 0: out of range",
         VALUE},
        /* a line that is right in one cell and wrong in another */
        {"[matrix]\nguest.vcpus = 4, 2\n[guest]\nisolated = 2-3\n",
         "p.ini:4: [guest] isolated = 2-3: asked for 2-3*nothing left (in cell guest.vcpus=2)",
         VALUE},
        {"[matrix]\nvariant = a\n[variant a]\nguest.isolated = 5\n",
         "p.ini:4: [guest] isolated = 5*(in cell variant=a)", VALUE},
    };
    check_refused(cases, G_N_ELEMENTS(cases));
}

static char *
numbers(guint n)
{
    g_autoptr(GString) list = g_string_new("1");
    for (guint i = 2; i <= n; i++)
        g_string_append_printf(list, ",%u", i);
    return g_string_free(g_steal_pointer(&list), FALSE);
}

static void
test_matrix_limits(void)
{
    g_autofree char *many = numbers(65);
    g_autofree char *cells =
        g_strdup_printf("[matrix]\nguest.seed = %s\nguest.vcpus = %s\n", many, many);
    Refusal too_many_cells = {
        cells, "the matrix guest.seed (65) x guest.vcpus (65) has more than 4096 cells", VALUE};
    check_refused(&too_many_cells, 1);

    g_autofree char *runs =
        g_strdup_printf("[main]\nboots = 1000\n[matrix]\nguest.seed = %s,66\n", many);
    Refusal too_many_runs = {
        runs, "the matrix guest.seed (66) of 66 cells with 1000 boots each is more than 65536 runs",
        VALUE};
    check_refused(&too_many_runs, 1);
}

#define TWO                                                                                        \
    "[matrix]\nvariant = none, full\n[variant none]\n[variant full]\n[workload "                   \
    "cyclictest]\n[expect]\n"

static void
test_expectations(void)
{
    static const Refusal cases[] = {
        {TWO "cyclictest.max(variant=none) >\n", "p.ini:7:31: [expect] expected a number", SYNTAX},
        {TWO "  name = 1 <\n", "p.ini:7:13: [expect] expected a number", SYNTAX},
        {TWO "cyclictest.max > 1\n",
         "p.ini:7:1: [expect] cyclictest.max stands for 2 cells: say which variant, as in "
         "cyclictest.max(variant=none)",
         VALUE},
        {TWO "1 < cyclictst.max(variant=none)\n",
         "p.ini:7:5: [expect] `cyclictst.max': there is no [workload cyclictst] (did you mean "
         "`cyclictest'",
         KEY},
        {TWO "a = cyclictest.max(varient=none) > 1\n",
         "p.ini:7:20: [expect] [matrix] has no axis `varient' (did you mean `variant'", KEY},
        {TWO "cyclictest.max(variant=nono) > 1\n",
         "p.ini:7:16: *nor a position from 0 to 1 (did you mean `none'", VALUE},
        {TWO "cyclictest.max(variant=2) > 1\n", "`variant=2': not a value", VALUE},
        {TWO "cyclictest.max(variant=0, variant=1) > 1\n",
         "p.ini:7:27: *`variant' is selected twice", VALUE},
        {TWO "spread(cyclictest.max(x=1)) > 1\n", "has no axis `x'", KEY},
        {TWO "slope(cyclictest.max, x) > 1\n", "p.ini:7:23: *has no axis `x'", KEY},
        {TWO "slope(cyclictest.max(variant=0), variant) > 1\n",
         "needs all its values: take variant=... out", VALUE},
        {TWO "slope(cyclictst.max, variant) > 1\n", "there is no [workload cyclictst]", KEY},
        {TWO "junk\n", "p.ini:7:1: [expect] `junk' is neither a metric", SYNTAX},
    };
    check_refused(cases, G_N_ELEMENTS(cases));

    g_autoptr(LabProfile) p =
        parse_ok(TWO "ratio = cyclictest.max(variant=full) / cyclictest.max(variant=0) in 1..2\n"
                     "cyclictest.max(variant=full) >= 1\n"
                     "cyclictest.max(variant=none) >= 1\n"
                     "spread(cyclictest.max) <= 0.1%\n"
                     "slope(cyclictest.max, variant) >= 0\n",
                 NULL);
    const GPtrArray *all = lab_profile_expectations(p);
    const LabExpectation *first = g_ptr_array_index(all, 0), *third = g_ptr_array_index(all, 2);
    g_assert_cmpuint(all->len, ==, 5);
    g_assert_cmpstr(first->name, ==, "ratio");
    g_assert_cmpstr(first->text, ==,
                    "cyclictest.max(variant=full) / cyclictest.max(variant=0) in 1..2");
    g_assert_cmpint(first->line, ==, 7);
    g_assert_cmpstr(third->name, ==, "expect 3");
    g_assert_cmpstr(third->text, ==, "cyclictest.max(variant=none) >= 1");
}

static void
test_select(void)
{
    g_autoptr(LabProfile) p =
        parse_ok("[matrix]\nguest.vcpus = 2, 4, 8\nhost.clock = wall, icount\n", NULL);
    g_autoptr(GPtrArray) selectors = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    /* "2" is spelled so, hence no position; "1" is the second value */
    LabExpectSelector two = {(char *)"guest.vcpus", (char *)"2"};
    LabExpectSelector second = {(char *)"host.clock", (char *)"1"};
    LabExpectSelector gone = {(char *)"guest.vcpus", (char *)"16"};
    LabExpectSelector unknown = {(char *)"x", (char *)"1"};

    g_ptr_array_add(selectors, &two);
    g_autoptr(GPtrArray) cells = lab_profile_select(p, selectors, &error);
    g_assert_cmpuint(cells->len, ==, 2);
    g_ptr_array_add(selectors, &second);
    g_autoptr(GPtrArray) one = lab_profile_select(p, selectors, &error);
    g_assert_cmpuint(one->len, ==, 1);
    g_assert_cmpstr(((LabCell *)g_ptr_array_index(one, 0))->name, ==,
                    "guest.vcpus=2 host.clock=icount");
    g_ptr_array_add(selectors, &gone);
    g_autoptr(GPtrArray) none = lab_profile_select(p, selectors, &error);
    g_assert_cmpuint(none->len, ==, 0);
    g_ptr_array_add(selectors, &unknown);
    g_assert_null(lab_profile_select(p, selectors, &error));
    g_assert_error(error, LAB_PROFILE_ERROR, KEY);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/profile_cells/cpulists", test_cpulists);
    g_test_add_func("/profile_cells/warnings", test_warnings);
    g_test_add_func("/profile_cells/matrix", test_matrix);
    g_test_add_func("/profile_cells/matrix-refused", test_matrix_refused);
    g_test_add_func("/profile_cells/matrix-limits", test_matrix_limits);
    g_test_add_func("/profile_cells/expectations", test_expectations);
    g_test_add_func("/profile_cells/select", test_select);
    return g_test_run();
}
