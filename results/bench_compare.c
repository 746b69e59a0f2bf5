/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints milliseconds for comparing two sets, BOOTS boots of METRICS metrics each. */
#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/sim.h"

static GPtrArray *
make_set(gsl_rng *rng, guint boots, guint metrics)
{
    GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    for (guint i = 0; i < boots; i++) {
        ResRecord *r = res_record_new();
        r->id = g_strdup_printf("r%p", (void *)r);
        r->outcome = RES_OUTCOME_DONE;
        r->fidelity = RES_FIDELITY_TIME;
        for (guint k = 0; k < metrics; k++) {
            g_autofree char *name = g_strdup_printf("workload.metric%u", k);
            double value = 1000 + gsl_ran_gaussian(rng, 20);
            g_ptr_array_add(r->metrics, res_metric_new(name, "ns", RES_LOWER_IS_BETTER, r->fidelity,
                                                       value, value, value, 1, "f"));
        }
        g_ptr_array_add(runs, r);
    }
    return runs;
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s BOOTS METRICS\n", argv[0]);
        return 2;
    }
    guint boots = (guint)atoi(argv[1]), metrics = (guint)atoi(argv[2]);
    g_autoptr(SimRng) rng = sim_rng_new(1);
    g_autoptr(GPtrArray) a = make_set(rng, boots, metrics), b = make_set(rng, boots, metrics);
    gint64 start = g_get_monotonic_time();
    g_autoptr(ResCompareResult) r = res_compare(a, b, NULL, NULL);
    printf("%.1f\n", (double)(g_get_monotonic_time() - start) / 1000);
    return r != NULL ? 0 : 1;
}
