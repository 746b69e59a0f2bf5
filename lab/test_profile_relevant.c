/* SPDX-License-Identifier: GPL-2.0-or-later */
/* [relevant] of a profile. */
#include <string.h>

#include "lab/profile_relevant.h"
#include "lab/profile_testing.h"

#define BASE "[main]\nsummary = x\n[workload ct]\ntype = cyclictest\n"

static void
test_good(void)
{
    g_autoptr(LabProfile) p = parse_ok(BASE "[relevant]\nct.p99.9 = 2%\nct.max = 500\n", NULL);
    const GPtrArray *all = lab_profile_relevant(p);
    g_assert_cmpuint(all->len, ==, 2);
    const LabSetting *first = all->pdata[0], *second = all->pdata[1];
    g_assert_cmpstr(first->key, ==, "ct.p99.9");
    g_assert_cmpstr(first->value, ==, "2%");
    g_assert_cmpstr(second->value, ==, "500");
    /* it is no key of a run, but it is part of the profile */
    g_assert_null(g_hash_table_lookup(cell(p, 0)->settings, "relevant.ct.max"));
    g_autoptr(LabProfile) other = parse_ok(BASE "[relevant]\nct.p99.9 = 3%\nct.max = 500\n", NULL);
    g_assert_cmpstr(lab_profile_sha256(p), !=, lab_profile_sha256(other));
    g_autoptr(LabProfile) none = parse_ok(BASE, NULL);
    g_assert_cmpuint(lab_profile_relevant(none)->len, ==, 0);
}

static void
test_bad(void)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"ct.max = five", "no change"},
        {"ct.max = -5%", "no change"},
        {"ct.max =", "no change"},
        {"ct.max = 5 %", "no change"},
        {"cx.max = 5%", "[workload cx]"},
        {"ct = 5%", "WORKLOAD.WHAT"},
        {"ct.max = 1\nct.max = 2", "second time"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = g_strconcat(BASE "[relevant]\n", cases[i].line, "\n", NULL);
        g_assert_null(lab_profile_parse(text, -1, "p", NULL, NULL, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[i].says));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/profile/relevant/good", test_good);
    g_test_add_func("/profile/relevant/bad", test_bad);
    return g_test_run();
}
