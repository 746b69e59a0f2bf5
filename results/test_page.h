/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Records and pages for the tests of reports. */
#include <math.h>
#include <string.h>

#include "results/page.h"

/* Run number I, with one figure VALUE of metric "loop.per_call". */
G_GNUC_UNUSED static ResRecord *
page_record(guint i, const char *cell, guint boot, double value)
{
    ResRecord *r = res_record_new();
    r->id = g_strdup_printf("20261201-04%04u-0000", i);
    r->set = g_strdup("20261201-040000-0000");
    r->profile = g_strdup("smoke");
    r->profile_sha256 = g_strdup("00");
    r->summary = g_strdup("What a loop costs");
    r->cell = g_strdup(cell);
    r->boot = boot;
    r->started_us = G_GINT64_CONSTANT(1796100004000001) + i * 20 * G_USEC_PER_SEC;
    r->ended_us = r->started_us + 17500000;
    r->outcome = RES_OUTCOME_DONE;
    r->detail = g_strdup("");
    r->message = g_strdup("");
    r->platform = g_strdup("bare");
    r->clock = g_strdup("icount");
    r->fidelity = RES_FIDELITY_INSTRUCTIONS;
    g_hash_table_insert(r->environment, g_strdup("kernel.release"), g_strdup("6.1.0-1"));
    g_hash_table_insert(r->environment, g_strdup("kernel.sha256"), g_strdup("1a7a"));
    g_hash_table_insert(r->parameters, g_strdup("guest.vcpus"), g_strdup("2"));
    g_ptr_array_add(r->evidence, g_strdup("report.txt"));
    g_ptr_array_add(r->metrics, res_metric_new("loop.per_call", "insns", RES_LOWER_IS_BETTER,
                                               RES_FIDELITY_INSTRUCTIONS, value, value - 1,
                                               value + 1, 50, "report.txt"));
    return r;
}

/* The judge's own words and figures are not what is tested here. */
G_GNUC_UNUSED static void
page_judge(ResPage *p)
{
    static const ResVerdict verdicts[] = {RES_VERDICT_SAME,       RES_VERDICT_CANNOT_TELL,
                                          RES_VERDICT_BETTER,     RES_VERDICT_WORSE,
                                          RES_VERDICT_IRRELEVANT, RES_VERDICT_SAME};
    memset(p->verdicts, 0, sizeof p->verdicts);
    g_assert_cmpuint(p->comparisons->len, ==, G_N_ELEMENTS(verdicts));
    for (guint i = 0; i < p->comparisons->len; i++) {
        ResComparison *c = g_ptr_array_index(p->comparisons, i);
        g_free(c->reason);
        g_free(c->next);
        c->verdict = verdicts[i];
        c->reason = g_strdup_printf("reason %u", i);
        c->next = g_strdup(i == 1 ? "run 5 boots a side" : "");
        c->shift = (ResInterval){c->b - c->a, -HUGE_VAL, 64};
        c->ratio = (ResInterval){1 + i / 16.0, 0.5, HUGE_VAL};
        c->confidence = 0.99;
        c->p = c->p_adjusted = 0.125;
        c->relevant = 0.25;
        c->needed = i == 1 ? 5 : 0;
        p->verdicts[c->verdict]++;
    }
}

/* Two cells of three boots against the same with another kernel; one run more that failed. */
G_GNUC_UNUSED static ResPage *
page_new_compared(void)
{
    static const char *const cells[] = {"variant=none", "variant=nohz_full"};
    static const double values[2][2] = {{228.2, 546.4}, {228.2, 610.5}};
    g_autoptr(GPtrArray) baseline = NULL, subject = NULL;
    GPtrArray **const sides[2] = {&baseline, &subject};
    guint id = 0;
    for (guint side = 0; side < 2; side++) {
        *sides[side] = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
        for (guint boot = 0; boot < 3; boot++) {
            for (guint cell = 0; cell < 2; cell++) {
                ResRecord *r =
                    page_record(id++, cells[cell], boot, values[side][cell] + 0.01 * boot);
                if (side == 1) {
                    g_free(r->set);
                    r->set = g_strdup("20261202-040000-0000");
                    g_hash_table_insert(r->environment, g_strdup("kernel.release"),
                                        g_strdup("6.12.0-1"));
                    g_hash_table_insert(r->environment, g_strdup("kernel.sha256"),
                                        g_strdup("2b8b"));
                }
                g_ptr_array_add(r->metrics,
                                res_metric_new("latency.max", "ns", RES_LOWER_IS_BETTER,
                                               RES_FIDELITY_INSTRUCTIONS, 12000 + 100 * boot, 900,
                                               12000 + 100 * boot, 1000, "report.txt"));
                g_ptr_array_add(r->metrics,
                                res_metric_new("loop.offloaded_timers", "share",
                                               RES_HIGHER_IS_BETTER, RES_FIDELITY_INSTRUCTIONS,
                                               0.75, 0.75, 0.75, 100, "report.txt"));
                g_ptr_array_add(*sides[side], r);
            }
        }
    }
    ResRecord *failed = page_record(id, cells[0], 3, 0);
    g_free(failed->set);
    failed->set = g_strdup("20261202-040000-0000");
    failed->outcome = RES_OUTCOME_BOOT;
    g_free(failed->detail);
    failed->detail = g_strdup("timeout");
    g_free(failed->message);
    failed->message = g_strdup("the guest said nothing for 120 s: look at console.log");
    g_ptr_array_set_size(failed->metrics, 0);
    g_ptr_array_add(subject, failed);

    ResPage *p = res_page_new(subject, baseline, NULL, "0.1.0");
    p->sentence = g_strdup("Not held: 1 of 3 expectations failed, others can't be told.");
    p->exit_code = 1;
    page_judge(p);
    res_page_add_claim(p, "cheap", "loop.per_call(variant=none) <= 300", RES_CLAIM_HOLDS,
                       "228.21 insns (228.2 to 228.22) is <= 300", 228.21, 228.2, 228.22);
    res_page_add_claim(p, "nohz-cheap", "loop.per_call(variant=nohz_full) <= 600", RES_CLAIM_FAILS,
                       "610.51 insns (610.5 to 610.52) is not <= 600", 610.51, 610.5, 610.52);
    res_page_add_claim(p, "idle", "loop.ticks == 0", RES_CLAIM_CANNOT_TELL,
                       "no run of cell variant=none has loop.ticks", NAN, NAN, NAN);
    return p;
}
