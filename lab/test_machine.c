/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From parameters to command line, pins, domain and job. */
#include "lab/machine.h"

#include <string.h>

#include "host/error.h"
#include "lab/profile_testing.h"

#define BASE "console=ttyS0 loglevel=6 panic=-1"
#define ICOUNT                                                                                     \
    BASE " tsc=reliable clocksource=tsc tsc_early_khz=1000000 no_timer_check cpu_init_udelay=0"

/* The first cell's; its parameters live as long as the profile. */
static LabMachine *
machine_of(const LabProfile *p)
{
    g_autoptr(GError) error = NULL;
    LabMachine *m = lab_machine_new(cell(p, 0)->params, &error);
    g_assert_no_error(error);
    return m;
}

static char *
with_guest(const char *host, const char *guest)
{
    return g_strdup_printf("[host]\nplatform = bare\n%s\n[guest]\n%s\n[workload invalid]\n"
                           "type = syscall-loop\ncpu = 0\n",
                           host, guest);
}

static void
assert_set(const HostCpuset *set, const char *expected)
{
    g_autofree char *have = host_cpulist_format(set);
    g_assert_cmpstr(have, ==, expected);
}

static void
test_cmdline(void)
{
    static const struct {
        const char *host, *guest, *cmdline;
        const char *nohz_full, *domain, *rcu_nocbs, *housekeeping;
    } cases[] = {
        {"clock = wall", "vcpus = 2", BASE, "", "", "", "0-1"},
        {"clock = icount", "vcpus = 1", ICOUNT, "", "", "", "0"},
        {"clock = wall", "vcpus = 4\nisolated = 1-N\nisolcpus = domain,managed_irq",
         BASE " isolcpus=domain,managed_irq,1-3 nohz_full=1-3 rcu_nocbs=1-3 irqaffinity=0", "1-3",
         "1-3", "1-3", "0"},
        {"clock = wall",
         "vcpus = 4\nisolated = 2-3\nhousekeeping = 0\nisolcpus = none\n"
         "nohz_full = no\nrcu_nocbs = yes\ncmdline = quiet mitigations=off",
         BASE " rcu_nocbs=2-3 irqaffinity=0 quiet mitigations=off", "", "", "2-3", "0"},
        {"clock = icount", "vcpus = 2\nisolated = 1\nisolcpus = none\ncmdline = x=\"a b\"",
         ICOUNT " nohz_full=1 rcu_nocbs=1 irqaffinity=0 x=\"a b\"", "1", "", "1", "0"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = with_guest(cases[i].host, cases[i].guest);
        g_autoptr(LabProfile) p = parse_ok(text, NULL);
        g_autoptr(LabMachine) m = machine_of(p);
        g_assert_cmpstr(m->cmdline, ==, cases[i].cmdline);
        assert_set(m->nohz_full, cases[i].nohz_full);
        assert_set(m->domain, cases[i].domain);
        assert_set(m->rcu_nocbs, cases[i].rcu_nocbs);
        assert_set(m->housekeeping, cases[i].housekeeping);
        g_assert_null(m->vcpu_pins);
        g_assert_null(m->emulator_pin);
    }
}

static void
test_pins(void)
{
    static const struct {
        const char *guest;
        const char *pins[3];
        const char *emulator; /* NULL: none */
    } cases[] = {
        {"vcpus = 1\npin = 3", {"3"}, NULL},
        {"vcpus = 2\npin = 1-2\nemulatorpin = 0,4", {"1", "2"}, "0,4"},
        {"vcpus = 3\npin = 1,3,5", {"1", "3", "5"}, NULL},
        {"vcpus = 3\npin = 0-4:2", {"0", "2", "4"}, NULL},
        /* What is taken away is taken away from the whole list. */
        {"vcpus = 2\npin = 1-3,^2", {"1", "3"}, NULL},
        {"vcpus = 3\npin = 1-3,5,^5", {"1", "2", "3"}, NULL},
        {"vcpus = 1\nemulatorpin = 7", {NULL}, "7"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = with_guest("clock = wall", cases[i].guest);
        g_autoptr(LabProfile) p = parse_ok(text, NULL);
        g_autoptr(LabMachine) m = machine_of(p);
        g_test_message("%s", cases[i].guest);
        g_assert_true((m->vcpu_pins != NULL) == (cases[i].pins[0] != NULL));
        for (guint k = 0; k < 3 && cases[i].pins[k]; k++) {
            g_assert_cmpuint(k, <, m->vcpus);
            assert_set(m->vcpu_pins[k], cases[i].pins[k]);
        }
        g_assert_true((m->emulator_pin != NULL) == (cases[i].emulator != NULL));
        if (cases[i].emulator)
            assert_set(m->emulator_pin, cases[i].emulator);
    }
}

/* Parameters that were not checked end in an error, not in fewer pins. */
static void
test_unchecked(void)
{
    static const struct {
        const char *pin, *emulatorpin, *isolated, *words;
    } cases[] = {
        {"1-3", "", "", "3 CPUs for 2 vCPUs"},
        {"1", "", "", "1 CPUs for 2 vCPUs"},
        {"nonsense", "", "", "nonsense"},
        {"", "x", "", "x"},
        {"", "", "5", "5"},
    };
    g_autofree char *text = with_guest("clock = wall", "vcpus = 2");

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(LabProfile) p = parse_ok(text, NULL);
        g_autoptr(GError) error = NULL;
        LabParams copy = *cell(p, 0)->params;
        copy.pin = (char *)cases[i].pin;
        copy.emulatorpin = (char *)cases[i].emulatorpin;
        copy.guest.isolated = (char *)cases[i].isolated;
        LabMachine *m = lab_machine_new(&copy, &error);
        g_assert_null(m);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[i].words));
    }
}

static void
test_job(void)
{
    g_autoptr(LabProfile) p = parse_ok("[host]\nplatform = bare\nclock = icount\n"
                                       "[guest]\nvcpus = 2\n"
                                       "[workload invalid]\ntype = syscall-loop\ncpu = 1\n"
                                       "calls = 200\nbatches = 400\nwarmup = 50\n"
                                       "[workload bare-loop]\ntype = syscall-loop\nloop = stat\n"
                                       "[workload cyclictest]\ncpu = 1\ninterval = 1ms\n"
                                       "loops = 5000\npriority = 90\nhistogram = 500us\n"
                                       "[workload all]\ntype = cyclictest\nhistogram = 0us\n"
                                       "timeout = 3min\n",
                                       NULL);
    g_autoptr(LabMachine) m = machine_of(p);

    g_assert_cmpstr(m->job, ==,
                    "nohzlab-job 1\n"
                    "barriers end\n"
                    "workload invalid 120\n"
                    "cpu 1\n"
                    "argv /bin/syscall-loop\n"
                    "argv --cpu=1\n"
                    "argv --calls=200\n"
                    "argv --batches=400\n"
                    "argv --max-warmup=50\n"
                    "argv invalid\n"
                    "end\n"
                    "workload bare-loop 120\n"
                    "argv /bin/syscall-loop\n"
                    "argv --cpu=0\n"
                    "argv --calls=200\n"
                    "argv --batches=400\n"
                    "argv --max-warmup=2000\n"
                    "argv stat\n"
                    "end\n"
                    "workload cyclictest 120\n"
                    "cpu 1\n"
                    "argv /usr/bin/cyclictest\n"
                    "argv --quiet\n"
                    "argv --mlockall\n"
                    "argv --priority=90\n"
                    "argv --threads=1\n"
                    "argv --affinity=1\n"
                    "argv --interval=1000\n"
                    "argv --loops=5000\n"
                    "argv --nsecs\n"
                    "argv --histogram=500000\n"
                    "argv --json=/tmp/cyclictest.json\n"
                    "collect /tmp/cyclictest.json\n"
                    "end\n"
                    "workload all 180\n"
                    "argv /usr/bin/cyclictest\n"
                    "argv --quiet\n"
                    "argv --mlockall\n"
                    "argv --priority=95\n"
                    "argv --smp\n"
                    "argv --interval=1000\n"
                    "argv --loops=10000\n"
                    "argv --nsecs\n"
                    "argv --json=/tmp/cyclictest.json\n"
                    "collect /tmp/cyclictest.json\n"
                    "end\n"
                    "done\n");
    g_assert_cmpuint(lab_workload_cpu(cell(p, 0)->params->workloads->pdata[0]), ==, 1);
    g_assert_cmpuint(lab_workload_cpu(cell(p, 0)->params->workloads->pdata[1]), ==, 0);
}

/* Words of a command reach the guest one by one, whatever is in them. */
static void
test_job_words(void)
{
    g_autoptr(LabProfile) p =
        parse_ok("[host]\nplatform = bare\nclock = wall\n[workload w]\ntype = command\n"
                 "command = /bin/true \"two words\" '' 100% \"a\\\"b\" \xc3\xa4 'x#y' '~'\n"
                 "timeout = 5s\n",
                 NULL);
    g_autoptr(LabMachine) m = machine_of(p);

    g_assert_cmpstr(m->job, ==,
                    "nohzlab-job 1\n"
                    "barriers host\n"
                    "workload w 5\n"
                    "argv /programs/bin/true\n"
                    "argv two%20words\n"
                    "argv %\n"
                    "argv 100%25\n"
                    "argv a\"b\n"
                    "argv %C3%A4\n"
                    "argv x#y\n"
                    "argv ~\n"
                    "end\n"
                    "done\n");
}

/* A line of the job can't be made from within a word. */
static void
test_job_injection(void)
{
    g_autoptr(LabProfile) p = parse_ok("[host]\nplatform = bare\n[workload w]\ntype = command\n"
                                       "command = /bin/true\n",
                                       NULL);
    g_autoptr(GError) error = NULL;
    const LabParams *params = cell(p, 0)->params;
    LabWorkload *w = params->workloads->pdata[0];

    g_free(w->command);
    w->command = g_strdup("/bin/true 'x\nend\nworkload evil 1\r\x7f\x01'");
    g_autoptr(LabMachine) m = lab_machine_new(params, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(m->job, "argv x%0Aend%0Aworkload%20evil%201%0D%7F%01\nend\ndone\n"));
    g_free(w->command);
    w->command = g_strdup("/bin/true 'open");
    g_assert_null(lab_machine_new(params, &error));
    g_assert_error(error, G_SHELL_ERROR, G_SHELL_ERROR_BAD_QUOTING);
}

static void
test_domain(void)
{
    g_autofree char *text = with_guest("clock = icount", "vcpus = 2\nmemory = 512M\nseed = 7");
    g_autoptr(LabProfile) p = parse_ok(text, NULL);
    g_autoptr(LabMachine) m = machine_of(p);
    const LabParams *params = cell(p, 0)->params;
    HostDomainSpec s = lab_machine_domain(m, params, 3);

    g_assert_true(s.icount);
    g_assert_false(s.kvm);
    g_assert_cmpuint(s.seed, ==, 10);
    g_assert_cmpuint(s.memory_mib, ==, 512);
    g_assert_cmpuint(s.vcpus, ==, 2);
    g_assert_cmpstr(s.cmdline, ==, m->cmdline);
    g_assert_null(s.vcpu_pins);
    g_assert_null(s.emulator_pin);

    g_autofree char *pinned_text = with_guest("clock = wall", "vcpus = 2\npin = 1,2\n"
                                                              "emulatorpin = 0");
    g_autoptr(LabProfile) pinned = parse_ok(pinned_text, NULL);
    g_autoptr(LabMachine) pinned_machine = machine_of(pinned);
    HostDomainSpec t = lab_machine_domain(pinned_machine, cell(pinned, 0)->params, 0);
    g_assert_false(t.icount);
    assert_set(t.vcpu_pins[1], "2");
    assert_set(t.emulator_pin, "0");
}

/* Boots differ; the same boot is the same again. */
static void
test_seed(void)
{
    g_autofree char *text = with_guest("clock = icount", "vcpus = 1\nseed = 100");
    g_autoptr(LabProfile) p = parse_ok(text, NULL);
    const LabParams *params = cell(p, 0)->params;

    g_assert_cmpuint(lab_machine_seed(params, 0), ==, 100);
    g_assert_cmpuint(lab_machine_seed(params, 1), ==, 101);
    g_assert_cmpuint(lab_machine_seed(params, 1), ==, lab_machine_seed(params, 1));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/machine/cmdline", test_cmdline);
    g_test_add_func("/machine/pins", test_pins);
    g_test_add_func("/machine/unchecked", test_unchecked);
    g_test_add_func("/machine/job", test_job);
    g_test_add_func("/machine/job-words", test_job_words);
    g_test_add_func("/machine/job-injection", test_job_injection);
    g_test_add_func("/machine/domain", test_domain);
    g_test_add_func("/machine/seed", test_seed);
    return g_test_run();
}
