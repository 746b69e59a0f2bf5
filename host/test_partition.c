/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A partition's command line, and what it asks to be in force. */
#include "host/partition.h"

typedef struct {
    const char *housekeeping, *isolated; /* lists */
    gboolean nohz_full, rcu_nocbs;
    const char *isolcpus;
    const char *cmdline;                            /* that must come of it */
    const char *want_nohz, *want_domain, *want_rcu; /* what must be in force then */
} Case;

static const Case cases[] = {
    {"0", "1-3", TRUE, TRUE, "domain,managed_irq",
     "isolcpus=domain,managed_irq,1-3 nohz_full=1-3 rcu_nocbs=1-3 irqaffinity=0", "1-3", "1-3",
     "1-3"},
    /* nohz_full= brings callback offloading along, also where nobody asked for it. */
    {"0,2", "1,3-7", TRUE, FALSE, NULL, "nohz_full=1,3-7 irqaffinity=0,2", "1,3-7", "", "1,3-7"},
    {"0", "1", FALSE, TRUE, NULL, "rcu_nocbs=1 irqaffinity=0", "", "", "1"},
    /* managed_irq alone takes nothing out of the scheduler's domains. */
    {"0", "1", FALSE, FALSE, "managed_irq", "isolcpus=managed_irq,1 irqaffinity=0", "", "", ""},
    /* The flag nohz is nohz_full= under another name. */
    {"0-1", "2-3", FALSE, FALSE, "nohz,domain", "isolcpus=nohz,domain,2-3 irqaffinity=0-1", "2-3",
     "2-3", "2-3"},
    /* A flag is a word, not a part of one. */
    {"0", "1", FALSE, FALSE, "nohz_full,domains", "isolcpus=nohz_full,domains,1 irqaffinity=0", "",
     "", ""},
    {"0", "1", FALSE, FALSE, NULL, "irqaffinity=0", "", "", ""},
    {"0-3", "", TRUE, TRUE, "domain,nohz", "", "", "", ""},
    {"0-3071", "3072-4095", TRUE, FALSE, NULL, "nohz_full=3072-4095 irqaffinity=0-3071",
     "3072-4095", "", "3072-4095"},
};

static HostCpuset *
list(const char *text)
{
    HostCpuset *set = host_cpulist_parse(text, HOST_CPULIST_TOOL, 0, NULL, NULL);
    g_assert_nonnull(set);
    return set;
}

static void
assert_set(const HostCpuset *set, const char *expected)
{
    g_autofree char *have = host_cpulist_format(set);
    g_assert_cmpstr(have, ==, expected);
}

static void
test_cases(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];
        g_autoptr(HostCpuset) housekeeping = list(c->housekeeping), isolated = list(c->isolated);
        HostPartition p = {
            .ncpus = 4096,
            .housekeeping = housekeeping,
            .isolated = isolated,
            .nohz_full = c->nohz_full,
            .rcu_nocbs = c->rcu_nocbs,
            .isolcpus = c->isolcpus,
        };
        HostCpuset *nohz_full, *domain, *rcu_nocbs;
        g_autofree char *cmdline = host_partition_cmdline(&p);
        host_partition_wanted(&p, &nohz_full, &domain, &rcu_nocbs);
        g_test_message("%s / %s", c->housekeeping, c->isolated);
        g_assert_cmpstr(cmdline, ==, c->cmdline);
        assert_set(nohz_full, c->want_nohz);
        assert_set(domain, c->want_domain);
        assert_set(rcu_nocbs, c->want_rcu);
        /* Sets of their own: the partition's are still whole after these are gone. */
        hwloc_bitmap_free(nohz_full);
        hwloc_bitmap_free(domain);
        hwloc_bitmap_free(rcu_nocbs);
        assert_set(isolated, c->isolated);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/partition/cases", test_cases);
    return g_test_run();
}
