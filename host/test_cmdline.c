/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cmdline.h"

#include <string.h>

/* The parameters as "name|value;name;", to compare them at a glance. */
static char *
show(const char *text)
{
    g_autoptr(GPtrArray) params = host_cmdline_split(text, NULL);
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < params->len; i++) {
        const HostParam *p = params->pdata[i];
        g_string_append_printf(s, "%s%s%s;", p->name, p->value ? "|" : "",
                               p->value ? p->value : "");
    }
    return g_string_free(s, FALSE);
}

static void
test_split(void)
{
    static const struct {
        const char *text;
        const char *params;
    } cases[] = {
        {"", ""},
        {"  \t\n", ""},
        {"quiet  ro\troot=/dev/vda1\n", "quiet;ro;root|/dev/vda1;"},
        {"a=", "a|;"},
        {"a=b=c", "a|b=c;"},
        {"=a", "=a;"}, /* a name has at least one character */
        {"=a=b", "=a|b;"},
        {"\"a=b c\"", "a|b c;"},
        {"a=\"b c\"", "a|b c;"},
        {"\"a b\"", "a b;"},
        {"a=\"b  c\"", "a|b  c;"},
        {"a=x\"b c\"y z", "a|x\"b c\"y;z;"}, /* quotes inside part nothing and stay */
        {"a=\"\"", "a|;"},
        {"a=\"b\"c", "a|b\"c;"},
        {"a=\"", "a|;"},
        {"\"", ";"},
        {"\"\" b", ";b;"},
        {"tail=\"open x", "tail|open x;"},
        {"a\vb", "a;b;"},
        {"a\xa0"
         "b",
         "a;b;"}, /* to the kernel a space */
        {"dm-mod.create=\"x,,,ro,0 8 verity isolcpus=1\" \"isolcpus=domain,2-3\" a=\"b  c\" "
         "tail=\"open",
         "dm-mod.create|x,,,ro,0 8 verity isolcpus=1;isolcpus|domain,2-3;a|b  c;tail|open;"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *got = show(cases[i].text);
        g_assert_cmpstr(got, ==, cases[i].params);
    }
    g_autofree char *none = show(NULL);
    g_assert_cmpstr(none, ==, "");
}

static void
test_quotes(void)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) params =
        host_cmdline_split("dm-mod.create=\"x,,,ro,0 8 verity isolcpus=1\" \"isolcpus=domain,2-3\" "
                           "a=\"b  c\" tail=\"open",
                           warnings);
    g_assert_cmpuint(warnings->len, ==, 1);
    g_assert_nonnull(strstr(warnings->pdata[0], "open quote"));
    g_assert_nonnull(strstr(warnings->pdata[0], "tail"));
    g_autoptr(GPtrArray) isolcpus = host_cmdline_values(params, "isolcpus");
    g_assert_cmpuint(isolcpus->len, ==, 1);
    g_assert_cmpstr(isolcpus->pdata[0], ==, "domain,2-3");

    g_assert_true(host_cmdline_equal("\"a=b c\"", "a=\"b c\""));
    g_assert_false(host_cmdline_equal("a=\"b c\"", "a=\"b  c\""));
    g_assert_true(host_cmdline_equal("nohz-full=1  quiet", "nohz_full=1 quiet"));
    g_assert_false(host_cmdline_equal("a=b-c", "a=b_c"));
    g_assert_false(host_cmdline_equal("a", "a="));
    g_assert_false(host_cmdline_equal("a b", "b a"));
}

static void
test_names(void)
{
    g_assert_true(host_param_name_equal("nohz-full", "nohz_full"));
    g_assert_true(host_param_name_equal("a-b_c", "a_b-c"));
    g_assert_false(host_param_name_equal("isolcpus", "isolcpu"));
    g_assert_false(host_param_name_equal("isolcpu", "isolcpus"));
    g_assert_false(host_param_name_equal("NOHZ_FULL", "nohz_full"));

    g_autoptr(GPtrArray) params =
        host_cmdline_split("nohz-full=1 nohz_full nohz_full=2 -- nohz_full=3", NULL);
    g_autoptr(GPtrArray) values = host_cmdline_values(params, "nohz_full");
    g_assert_cmpuint(values->len, ==, 3);
    g_assert_cmpstr(values->pdata[0], ==, "1");
    g_assert_null(values->pdata[1]);
    g_assert_cmpstr(values->pdata[2], ==, "2");
    g_assert_cmpuint(host_cmdline_kernel_count(params), ==, 3);
}

/* Splitting what was joined gives the same parameters, whatever the quotes were. */
static void
test_join(void)
{
    static const char *const lines[] = {
        "",
        "quiet ro root=/dev/vda1 a=",
        "hugepagesz=1G hugepages=40 hugepagesz=2M hugepages=0 isolcpus=2-3 isolcpus=4-5",
        "\"a=b c\" d=\"e  f\" \"g h\" \"\" i",
        "a=x\"b c\"y z a=\"b\"c \"q=\"r s\"t",
        "a=\"b\"c d\" e",
        "\"a=\"b c\" d\" e",
        "tail=\"open x",
        "x tail=\"open \"x",
        "x mid=o\"pen x ",
        "\"",
        "a -- b c=\"d e\"",
        "\xa0 k=\"\xc3\xa0\"",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autoptr(GPtrArray) params = host_cmdline_split(lines[i], NULL);
        g_autofree char *joined = host_cmdline_join(params);
        g_assert_nonnull(joined);
        g_autofree char *before = show(lines[i]);
        g_autofree char *after = show(joined);
        g_assert_cmpstr(before, ==, after);
        g_assert_true(host_cmdline_equal(lines[i], joined));
    }

    g_autoptr(GPtrArray) one = host_cmdline_split("\"a=b c\"", NULL);
    g_autofree char *plain = host_cmdline_join(one);
    g_assert_cmpstr(plain, ==, "a=\"b c\"");

    /* A space and quotes on both sides of it can't be written. */
    HostParam impossible = {.name = (char *)"a", .value = (char *)"b\" c \"d\" e\" f"};
    HostParam empty = {.name = (char *)"a b", .value = (char *)"\" \""};
    g_autoptr(GPtrArray) bad = g_ptr_array_new();
    g_ptr_array_add(bad, &impossible);
    g_ptr_array_add(bad, &empty);
    g_assert_null(host_cmdline_join(bad));
}

/* hugepages= belongs to the hugepagesz= before it: order and repetition are meaning. */
static void
test_pairs(void)
{
    const char *line =
        "hugepagesz=1G hugepages=40 hugepagesz=2M hugepages=0 isolcpus=2-3 isolcpus=4-5";
    g_autoptr(GPtrArray) params = host_cmdline_split(line, NULL);
    g_autofree char *joined = host_cmdline_join(params);
    g_assert_cmpstr(joined, ==, line);
    g_autoptr(GPtrArray) sizes = host_cmdline_values(params, "hugepagesz");
    g_autoptr(GPtrArray) pages = host_cmdline_values(params, "hugepages");
    g_assert_cmpuint(sizes->len, ==, 2);
    g_assert_cmpuint(pages->len, ==, 2);
    g_assert_cmpstr(sizes->pdata[0], ==, "1G");
    g_assert_cmpstr(pages->pdata[0], ==, "40");
    g_assert_cmpstr(sizes->pdata[1], ==, "2M");
    g_assert_cmpstr(pages->pdata[1], ==, "0");
}

#define D HOST_ISOL_DOMAIN
#define H HOST_ISOL_NOHZ
#define M HOST_ISOL_MANAGED_IRQ

static void
test_isolcpus(void)
{
    static const struct {
        const char *value;
        unsigned int ncpus;
        HostIsolFlags flags;
        const char *cpus; /* NULL: dropped */
        guint warnings;
        const char *refused;
    } cases[] = {
        {"2-7", 8, D, "2-7", 0, NULL},
        {"managed_irq,2-7", 8, M, "2-7", 0, NULL},
        {"nohz,2-7", 8, H, "2-7", 0, NULL},
        {"domain,managed_irq,2-7", 8, D | M, "2-7", 0, NULL},
        {"managed_irq,domain,nohz,4-N", 16, D | H | M, "4-15", 0, NULL},
        {"domain,domain,1", 8, D, "1", 0, NULL},
        {"0,all", 4, D, "0-3", 0, NULL},
        {"xyz", 8, 0, NULL, 0, "xyz"},
        {"xyz,2-3", 8, D, "2-3", 1, NULL},
        {"xyz,managed_irq,2-3", 8, M, "2-3", 1, NULL},
        {"domain,wq,rcu,3,5", 8, D, "3,5", 2, NULL},
        {"nohz_full,2-3", 8, D, "2-3", 1, NULL},
        {"Domain,2-3", 8, D, "2-3", 1, NULL},
        {"io-queue,2-3", 8, 0, NULL, 0, "`-`"},
        {"domain,io-queue,2-3", 8, 0, NULL, 0, "io-queue"},
        {"managed irq,2", 8, 0, NULL, 0, "` `"},
        {"all", 8, 0, NULL, 0, "no CPU list"},
        {"N", 8, 0, NULL, 0, "no CPU list"},
        {"domain", 8, 0, NULL, 0, "no CPU list"},
        {"domain,", 8, 0, NULL, 0, "no CPU"},
        {"domain,all", 8, 0, NULL, 0, "no CPU list"},
        {"", 8, 0, NULL, 0, "no CPU"},
        {NULL, 8, 0, NULL, 0, "no value"},
        {"4-9", 8, 0, NULL, 0, "CPU 9 is out of range"},
        {"0-4,^1", 8, 0, NULL, 0, "\"0,2-4\""},
        {"domain,2-", 8, 0, NULL, 0, "character 3"},
        {"4-N", 0, 0, NULL, 0, "unknown"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("isolcpus=%s", cases[i].value ? cases[i].value : "(none)");
        g_autoptr(HostIsolcpus) isol = host_isolcpus_parse(cases[i].value, cases[i].ncpus);
        g_assert_cmpuint(isol->flags, ==, cases[i].flags);
        if (!cases[i].cpus) {
            g_assert_null(isol->cpus);
            g_assert_nonnull(strstr(isol->refused, cases[i].refused));
            continue;
        }
        g_assert_null(isol->refused);
        g_autofree char *list = host_cpulist_format(isol->cpus);
        g_assert_cmpstr(list, ==, cases[i].cpus);
        g_assert_cmpuint(isol->warnings->len, ==, cases[i].warnings);
    }
}

typedef struct {
    const char *line;
    unsigned int ncpus;
    const char *finding; /* "E isolcpus words": one such finding must be there; NULL: none at all */
} LintCase;

static gboolean
has_finding(const GPtrArray *findings, const char *wanted)
{
    g_auto(GStrv) want = g_strsplit(wanted, " ", 3);
    for (guint i = 0; i < findings->len; i++) {
        const HostFinding *f = findings->pdata[i];
        if (f->severity == want[0][0] && !strcmp(f->param, want[1]) && strstr(f->message, want[2]))
            return TRUE;
    }
    return FALSE;
}

static void
test_lint(void)
{
    static const LintCase cases[] = {
        {"quiet root=/dev/vda1", 4, NULL},
        {"isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1", 4, NULL},
        {"isolcpus=domain,managed_irq,1-N nohz_full=1-N rcu_nocbs=1-N irqaffinity=0", 4, NULL},
        {"isolcpus=domain,2-3 isolcpus=managed_irq,2-3", 4,
         "W isolcpus domain 2-3, managed_irq 2-3"},
        {"hugepagesz=1G hugepages=40 hugepagesz=2M hugepages=0", 4, NULL},
        {"console=ttyS0 console=tty0 nohz=on rcu_nocb_poll rcu_nocbs", 4, NULL},
        /* A flag replaces the default. */
        {"isolcpus=managed_irq,2-7", 8, "E isolcpus `domain` is missing"},
        {"isolcpus=managed_irq,nohz,2-7", 8, "E isolcpus `domain` is missing"},
        {"isolcpus=nohz,2-7", 8, "W isolcpus `domain`"},
        /* Flags that are none, and no list. */
        {"isolcpus=xyz root=/dev/vda1", 4, "E isolcpus no CPU list"},
        {"isolcpus=xyz,2-3", 4, "W isolcpus `xyz`"},
        {"isolcpus=io-queue,2-3", 4, "E isolcpus drops the whole parameter"},
        {"isolcpus=all", 4, "E isolcpus no CPU list"},
        {"isolcpus nohz_full=3", 4, "E isolcpus no value"},
        {"isolcpus=0-2,^1", 4, "E isolcpus \"0,2\""},
        {"nohz_full=1-3,!2", 4, "E nohz_full \"1,3\""},
        {"nohz_full", 4, "E nohz_full no value"},
        {"nohz_full=", 4, "W nohz_full no CPU"},
        {"rcu_nocbs=1-x", 4, "E rcu_nocbs offloads all CPUs"},
        /* No CPU left to keep house. */
        {"nohz_full=0-N", 4, "E nohz_full removes CPU 0 and only 1-3"},
        {"nohz_full=all", 4, "E nohz_full nohz_full=0-3 takes all CPUs"},
        {"isolcpus=0-3", 4, "E isolcpus no housekeeping CPU is left"},
        {"isolcpus=0 nohz_full=0", 1, "E nohz_full nothing is left in force"},
        {"isolcpus=0 nohz_full=0", 4, "E nohz_full nothing is left in force"},
        {"isolcpus=0 nohz_full=0", 4, "W isolcpus CPU 0"},
        {"nohz_full=0-2", 4, "E nohz_full only 1-2 is left"},
        {"isolcpus=1-3 nohz_full=0-2", 4, "E nohz_full no CPU in neither"},
        {"isolcpus=2-3 nohz_full=1-3", 4, "W nohz_full 5.18"},
        /* irqaffinity. */
        {"isolcpus=managed_irq,domain,4-N irqaffinity=0-15", 16,
         "E irqaffinity isolated CPUs 4-15:"},
        {"irqaffinity=0-15 nohz_full=8-15", 16, "E irqaffinity isolated CPUs 8-15:"},
        {"irqaffinity=0-99 nohz_full=8-15", 16, "E irqaffinity out of range"},
        /* A bigger machine. */
        {"isolcpus=4-7", 4, "E isolcpus asked for 4-7, the machine has 0-3, nothing left"},
        {"nohz_full=2-7", 4, "E nohz_full asked for 2-7, the machine has 0-3, only 2-3 left"},
        {"nohz_full=1-4294967296", 4, "E nohz_full 32 bits"},
        {"nohz_full=4-N", 4, "E nohz_full descending"},
        /* Misspelt. */
        {"isolated_cpus=2-7", 8, "W isolated_cpus did you mean isolcpus?"},
        {"isolcpu=2-7", 8, "W isolcpu did you mean isolcpus?"},
        {"ISOLCPUS=2-7", 8, "W ISOLCPUS did you mean isolcpus?"},
        {"nohzfull=2-7", 8, "W nohzfull did you mean nohz_full?"},
        {"nozh_full=2-7", 8, "W nozh_full did you mean nohz_full?"},
        {"rcu_nocb=2-7", 8, "W rcu_nocb did you mean rcu_nocbs?"},
        {"irq_affinity=0", 8, "W irq_affinity did you mean irqaffinity?"},
        {"nohz-full=2-7", 8, NULL},
        {"rcutree.isolcpu=1 nohz=off nr_cpus=4 maxcpus=4 noirqdebug irqpoll", 8, NULL},
        {"-- isolcpus=2-3", 4, "W isolcpus after `--`"},
        /* Repeated. */
        {"isolcpus=2-3 isolcpus=4-5", 8,
         "W isolcpus 2 times, \"2-3\", \"4-5\"; the kernel makes of it: domain 2-3"},
        {"isolcpus=2-3 isolcpus=4-5", 8, "E isolcpus ignores isolcpus for CPUs 4-5"},
        {"isolcpus=nohz,2-3 nohz_full=3", 8, "E nohz_full ignores nohz_full for CPUs 3"},
        {"rcu_nocbs=1 rcu-nocbs=2", 8, "W rcu_nocbs the last one counts"},
        {"irqaffinity=0-7 irqaffinity=0 isolcpus=1-7", 8, "W irqaffinity the last one counts"},
        {"a=\"b", 8, "W  open quote"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].line);
        g_autoptr(GPtrArray) findings = host_cmdline_lint(cases[i].line, cases[i].ncpus);
        for (guint j = 0; j < findings->len; j++) {
            const HostFinding *f = findings->pdata[j];
            g_test_message("  %c %s", f->severity, f->message);
        }
        if (cases[i].finding)
            g_assert_true(has_finding(findings, cases[i].finding));
        else
            g_assert_cmpuint(findings->len, ==, 0);
    }
}

/* One cause, one finding: nothing else may be said beside it. */
static void
test_lint_says_it_once(void)
{
    static const LintCase cases[] = {
        {"isolcpus=managed_irq,domain,4-N irqaffinity=0-15", 16, NULL},
        {"isolated_cpus=2-7 nohz-full=2-7", 8, NULL},
        {"isolcpus=4-7 irqaffinity=0-3", 4, NULL},
        {"nohz_full=all", 4, NULL},
        {"irqaffinity=0-7 irqaffinity=0 isolcpus=1-7", 8, NULL},
        {"dm-mod.create=\"x isolcpus=1\" \"isolcpus=domain,2-3\" tail=\"open", 4, NULL},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GPtrArray) findings = host_cmdline_lint(cases[i].line, cases[i].ncpus);
        g_assert_cmpuint(findings->len, ==, 1);
    }
}

static void
test_lint_bounds(void)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (int i = 0; i < 2000; i++)
        g_string_append(line, "isolcpus=a,b,^^ ");
    g_autoptr(GPtrArray) findings = host_cmdline_lint(line->str, 8);
    g_assert_true(has_finding(findings, "W  x86 cuts it"));
    for (guint i = 0; i < findings->len; i++)
        g_assert_cmpuint(strlen(((HostFinding *)findings->pdata[i])->message), <, 1000);
    g_autoptr(GPtrArray) nothing = host_cmdline_lint(NULL, 8);
    g_assert_cmpuint(nothing->len, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/host/cmdline/split", test_split);
    g_test_add_func("/host/cmdline/quotes", test_quotes);
    g_test_add_func("/host/cmdline/names", test_names);
    g_test_add_func("/host/cmdline/join", test_join);
    g_test_add_func("/host/cmdline/pairs", test_pairs);
    g_test_add_func("/host/cmdline/isolcpus", test_isolcpus);
    g_test_add_func("/host/cmdline/lint", test_lint);
    g_test_add_func("/host/cmdline/lint-says-it-once", test_lint_says_it_once);
    g_test_add_func("/host/cmdline/lint-bounds", test_lint_bounds);
    return g_test_run();
}
