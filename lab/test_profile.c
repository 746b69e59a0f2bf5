/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys, types, syntax, the hash, the table. */
#include "lab/profile_testing.h"

static void
test_defaults(void)
{
    g_autoptr(LabProfile) p = parse_ok("[workload cyclictest]\n", NULL);
    const LabParams *params = cell(p, 0)->params;
    const LabWorkload *w = g_ptr_array_index(params->workloads, 0);

    g_assert_cmpstr(lab_profile_name(p), ==, "p");
    g_assert_cmpstr(cell(p, 0)->name, ==, "");
    g_assert_cmpstr(params->kernel, ==, "default");
    g_assert_cmpuint(params->boots, ==, 3);
    g_assert_cmpint(params->platform, ==, LAB_PLATFORM_AUTO);
    g_assert_cmpint(params->clock, ==, LAB_CLOCK_WALL);
    g_assert_cmpuint(params->host_cpus, ==, 4);
    g_assert_cmpuint(params->vcpus, ==, 1);
    g_assert_cmpuint(params->memory_mib, ==, 256);
    g_assert_cmpuint(params->boot_timeout_s, ==, 60);
    g_assert_cmpuint(params->seed, ==, 1);
    g_assert_cmpstr(params->guest.isolcpus, ==, "domain,managed_irq");
    g_assert_true(params->host.nohz_full && params->guest.rcu_nocbs);
    g_assert_cmpstr(params->pin, ==, "");
    g_assert_cmpstr(w->type, ==, "cyclictest");
    g_assert_cmpint(w->cpu, ==, -1);
    g_assert_cmpuint(w->timeout_s, ==, 120);
    g_assert_cmpuint(w->interval_us, ==, 1000);
    g_assert_cmpstr(g_hash_table_lookup(cell(p, 0)->settings, "workload cyclictest.type"), ==,
                    "cyclictest");
    g_assert_cmpstr(g_hash_table_lookup(cell(p, 0)->settings, "guest.memory"), ==, "256M");
    g_assert_null(g_hash_table_lookup(cell(p, 0)->settings, "check.host.kvm"));
    g_assert_null(g_hash_table_lookup(cell(p, 0)->settings, "workload cyclictest.calls"));
    g_assert_cmpuint(lab_profile_warnings(p)->len, ==, 0);
}

static void
test_values(void)
{
    g_autoptr(LabProfile) p =
        parse_ok("\xef\xbb\xbf# a byte order mark, CRLF and blanks\r\n"
                 "  [ main ]  \r\n\tsummary =  a; b # c ; d \r\nboots=1000\r\n"
                 "[host]\nplatform = box\nclock = icount\ncpus = 16\nisolated = 4-N\n"
                 "housekeeping = 0-3\ncmdline = dyndbg=\"file a ; file b\" x\\ty\n"
                 "[guest]\nvcpus = 2\nmemory = 1 GiB\nboot_timeout = 2min\nnohz_full = OFF\n"
                 "isolated = N\npin = 0-6:2,^0,!6\nemulatorpin = 0\n"
                 "[workload a]\ntype = syscall-loop\nloop = stat\ncpu = 1\ntimeout = 3000ms\n"
                 "[workload b]\ntype = cyclictest\ninterval = 250us\nhistogram = 0\n"
                 "[workload c]\ntype = command\ncommand = /bin/echo 'a b'\n"
                 "[check]\nhost.kvm = yes\nqemu.min_version = 8.1\n"
                 "guest.clocksource = tsc|kvm-clock\n"
                 "[reference T, \xc3\xa4]\nlabel = 1; # 2 = 3\n",
                 NULL);
    const LabParams *params = cell(p, 0)->params;
    const LabWorkload *a = g_ptr_array_index(params->workloads, 0);
    const LabWorkload *b = g_ptr_array_index(params->workloads, 1);
    const LabWorkload *c = g_ptr_array_index(params->workloads, 2);
    const LabSetting *reference = g_ptr_array_index(lab_profile_references(p), 0);

    g_assert_cmpstr(params->summary, ==, "a; b # c ; d");
    g_assert_cmpint(params->platform, ==, LAB_PLATFORM_BOX);
    g_assert_cmpint(params->clock, ==, LAB_CLOCK_ICOUNT);
    g_assert_cmpstr(params->host.cmdline, ==, "dyndbg=\"file a ; file b\" x\\ty");
    g_assert_cmpuint(params->memory_mib, ==, 1024);
    g_assert_cmpuint(params->boot_timeout_s, ==, 120);
    g_assert_false(params->guest.nohz_full);
    g_assert_cmpstr(a->loop, ==, "stat");
    g_assert_cmpuint(a->timeout_s, ==, 3);
    g_assert_cmpuint(b->interval_us, ==, 250);
    g_assert_cmpuint(b->histogram_us, ==, 0);
    g_assert_cmpstr(c->command, ==, "/bin/echo 'a b'");
    g_assert_cmpuint(params->checks->len, ==, 3);
    g_assert_cmpstr(reference->section, ==, "T, \xc3\xa4");
    g_assert_cmpstr(reference->value, ==, "1; # 2 = 3");
    g_assert_true(warned(p, "CPU 2 is not in host.isolated = 4-N"));
}

static void
test_syntax(void)
{
    static const Refusal cases[] = {
        {"a = 1\n", "p.ini:1: `a = 1' stands before the first", SYNTAX},
        {"[main]\nsummary\n", "p.ini:2: `summary' is none of", SYNTAX},
        {"[main]\n= 1\n", "p.ini:2: `= 1' is none of", SYNTAX},
        {"[main\n", "p.ini:1: `[main': a section is one", SYNTAX},
        {"[main] x\n", "p.ini:1: *a section is one", SYNTAX},
        {"[main]\nboots = 1\n\nboots = 2\n",
         "p.ini:4: [main] boots stands a second time; first in line 2", SYNTAX},
        {"[main]\n[host]\n[main]\n", "p.ini:3: [main] stands a second time; first in line 1",
         SYNTAX},
        {"[expect]\na = 1 < 2\na = 1 < 3\n", "p.ini:3: a stands a second time; first in line 2",
         SYNTAX},
        {"[main]\n; no\n", "p.ini:2: comments start with #, not with ;", SYNTAX},
        {"[host]\ncpus = 4 ; four\n", "p.ini:2: `; four' behind a value", SYNTAX},
        {"[host]\ncpus = 4\t# four\n", "p.ini:2: `# four' behind a value", SYNTAX},
        {"[host]\ncmdline = \"a ; b\" ; c\n", "p.ini:2: `; c' behind a value", SYNTAX},
        {"[expect]\n1 < 2 ; yes\n", "p.ini:2: `; yes' behind a value", SYNTAX},
        {"[main]\nsummary = \xff\n", "p.ini:2: not UTF-8", SYNTAX},
        {"[main]\nsummary = \x01\n", "p.ini:2: control character 0x01", SYNTAX},
        {"[main]\ninclude = other\n", "p.ini:2: *a profile without a folder", KEY},
    };

    check_refused(cases, G_N_ELEMENTS(cases));
    g_autoptr(GError) error = NULL;
    g_assert_null(lab_profile_parse("[main]\nx\0y\n", 11, "p.ini", NULL, NULL, &error));
    g_assert_error(error, LAB_PROFILE_ERROR, SYNTAX);
    g_assert_true(g_str_has_prefix(error->message, "p.ini:2: a NUL byte"));
}

static void
test_unknown(void)
{
    static const Refusal cases[] = {
        {"[guests]\n", "p.ini:1: unknown section [guests] (did you mean `guest'*)", KEY},
        {"[zzz]\n", "unknown section [zzz]; there are main, matrix", KEY},
        {"[workload]\n", "[workload] needs a name", KEY},
        {"[workload a.b]\n", "a workload's name is up to 64 letters", KEY},
        {"[host x]\n", "[host] has no name after it", KEY},
        {"[guest]\nnohzfull = 1\n",
         "p.ini:2: [guest] nohzfull = 1: [guest] has no key `nohzfull' (did you mean `nohz_full'",
         KEY},
        {"[guest]\nNOHZ-FULL = 1\n", "did you mean `nohz_full'", KEY},
        {"[guest]\nplatform = bare\n", "`platform' is a key of [host], not of [guest]", KEY},
        {"[guest]\nzzzzzz = bare\n", "[guest] has no key `zzzzzz'", KEY},
        {"[guest]\nisolated[de] = 1\n", "no key has brackets", KEY},
        {"[workload a]\ntype = cyclictest\ncalls = 1\n",
         "p.ini:3: [workload a] calls = 1: a workload of type cyclictest has no key `calls': type, "
         "cpu, timeout, host_load, observe, trace, interval, loops, priority, histogram",
         KEY},
        {"[workload cyclictst]\n",
         "p.ini:1: [workload cyclictst]: `cyclictst' is no type of workload (did you mean "
         "`cyclictest'",
         VALUE},
        {"[workload a]\ntype = command\n", "needs the key `command'", VALUE},
        {"[check]\nhost.kmv = 1\n", "did you mean `host.kvm'", KEY},
    };
    check_refused(cases, G_N_ELEMENTS(cases));
}

static void
test_types(void)
{
    static const Refusal cases[] = {
        {"[main]\nboots = 0\n", "p.ini:2: [main] boots = 0: out of range: 1..1000 is allowed",
         VALUE},
        {"[main]\nboots = 99999999999999999999999\n", "out of range: 1..1000", VALUE},
        {"[main]\nboots = -1\n", "not a whole number; 1..1000", VALUE},
        {"[main]\nboots = nan\n", "not a whole number", VALUE},
        {"[main]\nboots = inf\n", "not a whole number", VALUE},
        {"[main]\nboots = 3.0\n", "not a whole number", VALUE},
        {"[main]\nboots = +3\n", "not a whole number", VALUE},
        {"[main]\nboots =\n", "not a whole number", VALUE},
        {"[main]\nkernel =\n", "[main] kernel = : empty", VALUE},
        {"[workload cyclictest]\ncpu = -2\n", "out of range: -1..254", VALUE},
        {"[workload cyclictest]\ncpu = 99999999999999999999\n", "out of range: -1..254", VALUE},
        {"[workload cyclictest]\ncpu = 1x\n", "not a whole number; -1..254", VALUE},
        {"[workload cyclictest]\ninterval = 1000\n", "the unit is missing: write 1000us", VALUE},
        {"[workload cyclictest]\ntimeout = 10\n", "the unit is missing: write 10s", VALUE},
        {"[workload cyclictest]\ninterval = 1.5ms\n", "not a whole number with us, ms", VALUE},
        {"[workload cyclictest]\ninterval = 1ns\n", "not a whole number with us, ms", VALUE},
        {"[workload cyclictest]\ninterval = 1us\n", "out of range: 10us..10s", VALUE},
        {"[workload cyclictest]\ninterval = 18446744073709551615s\n", "out of range", VALUE},
        {"[workload cyclictest]\ntimeout = 1500ms\n", "not a whole number of seconds", VALUE},
        {"[guest]\nmemory = 256\n", "the unit is missing: write 256M", VALUE},
        {"[guest]\nmemory = 63M\n", "out of range: 64M..64G", VALUE},
        {"[guest]\nmemory = 18446744073709551615G\n", "out of range: 64M..64G", VALUE},
        {"[guest]\nnohz_full = maybe\n", "neither yes nor no", VALUE},
        {"[host]\nplatform = boks\n", "not one of auto|metal|box|bare (did you mean `box'", VALUE},
        {"[host]\nobserve = exit,timers\n", "\"exit\" is not one of *(did you mean `exits'", VALUE},
        {"[host]\nobserve = yes,timers\n", "stand alone", VALUE},
        {"[host]\nobserve = ticks,ticks\n", "each observer once", VALUE},
        {"[guest]\nisolcpus = managed_irq\n",
         "the flag `domain' is missing*write domain,managed_irq", VALUE},
        {"[guest]\nisolcpus = nohz\n", "the flag `domain' is missing", VALUE},
        {"[guest]\nisolcpus = domain,managed-irq\n",
         "`managed-irq' is no flag*did you mean `managed_irq'", VALUE},
        {"[guest]\nisolcpus =\n", "empty: write none", VALUE},
        {"[check]\nqemu.min_version = 8.x\n", "not a version", VALUE},
        {"[check]\nhost.clocksource = tsc|\n", "not clock sources", VALUE},
        {"[workload command]\ncommand = ls\n", "`ls' is not an absolute path", VALUE},
        {"[workload command]\ncommand = /bin/ls 'x\n", "[workload command] command", VALUE},
        {"[workload command]\ncommand =\n", "[workload command] command", VALUE},
        {"[host]\nplatform = metal\nclock = icount\n",
         "p.ini:3: [host] clock = icount: real KVM has no instruction clock", VALUE},
    };
    check_refused(cases, G_N_ELEMENTS(cases));

    g_autofree char *spaces = g_strnfill(5000, 'x');
    g_autofree char *text = g_strdup_printf("[main]\nsummary = %s\n", spaces);
    Refusal longest = {text, "longer than 4096 bytes", VALUE};
    check_refused(&longest, 1);
}

static void
test_sha256(void)
{
    static const char a[] = "[main]\nboots = 2\nsummary = s\n[guest]\nvcpus = 2\nisolated = 1\n"
                            "[workload cyclictest]\n[expect]\n1 < 2\n3 < 4\n";
    static const char b[] = "# another order\n[expect]\n3 < 4\n1 < 2\n[workload cyclictest]\n"
                            "[guest]\nisolated=1\nvcpus=2\n[main]\nsummary=s\nboots=2\n";
    const char *const set[] = {"main.boots=3", NULL};
    g_autoptr(LabProfile) pa = parse_ok(a, NULL), pb = parse_ok(b, NULL), pc = parse_ok(a, set);

    g_assert_cmpuint(strlen(lab_profile_sha256(pa)), ==, 64);
    g_assert_cmpstr(lab_profile_sha256(pa), ==, lab_profile_sha256(pb));
    g_assert_cmpstr(lab_profile_sha256(pa), !=, lab_profile_sha256(pc));
}

/* The table itself: what the code takes for granted of it. */
static void
test_table(void)
{
    gsize n;
    const LabKey *keys = lab_profile_keys(&n);
    g_autofree char *text = lab_profile_document(FALSE), *man = lab_profile_document(TRUE);

    for (gsize i = 0; i < n; i++) {
        gboolean number = keys[i].type == LAB_TYPE_UINT || keys[i].type == LAB_TYPE_INT ||
                          keys[i].type == LAB_TYPE_TIME_US || keys[i].type == LAB_TYPE_TIME_S ||
                          keys[i].type == LAB_TYPE_SIZE_MIB;
        g_assert_true(!number || strstr(keys[i].range, ".."));
        g_assert_true(*keys[i].help);
        g_assert_nonnull(strstr(text, keys[i].help));
        for (gsize j = 0; j < i; j++)
            g_assert_true(strcmp(keys[i].section, keys[j].section) != 0 ||
                          strcmp(keys[i].key, keys[j].key) != 0);
    }
    g_assert_nonnull(strstr(text, "[workload NAME]\n"));
    g_assert_nonnull(strstr(man, ".TP\n.B boots\n(number 1..1000; default: 3)\n"));
    g_assert_nonnull(strstr(man, ".B nohz_full\n"));
    g_assert_nonnull(strstr(man, "default: \\-1)"));
}

/* The profiles that come with the lab. */
static void
test_shipped(void)
{
    static const struct {
        const char *file;
        guint cells, expectations, references;
    } shipped[] = {{"profiles/syscall-overhead.ini", 3, 4, 4},
                   {"profiles/cyclictest-first-light.ini", 1, 3, 0}};

    if (!g_file_test("profiles", G_FILE_TEST_IS_DIR)) {
        g_test_skip("not run from the top folder: no profiles/ here");
        return;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(shipped); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LabProfile) p = lab_profile_load(shipped[i].file, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(lab_profile_cells(p)->len, ==, shipped[i].cells);
        g_assert_cmpuint(lab_profile_expectations(p)->len, ==, shipped[i].expectations);
        g_assert_cmpuint(lab_profile_references(p)->len, ==, shipped[i].references);
        g_assert_cmpuint(lab_profile_warnings(p)->len, ==, 0);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/profile/defaults", test_defaults);
    g_test_add_func("/profile/values", test_values);
    g_test_add_func("/profile/syntax", test_syntax);
    g_test_add_func("/profile/unknown", test_unknown);
    g_test_add_func("/profile/types", test_types);
    g_test_add_func("/profile/sha256", test_sha256);
    g_test_add_func("/profile/table", test_table);
    g_test_add_func("/profile/shipped", test_shipped);
    return g_test_run();
}
