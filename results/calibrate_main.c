/* SPDX-License-Identifier: GPL-2.0-or-later */
/* make calibrate: puts the judge on trial and writes results/calibration.md. */
#include <gsl/gsl_cdf.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/calibrate_private.h"

static const struct {
    const char *name;
    CalibrateSection run;
} sections[] = {
    {"false alarms", calibrate_false_alarms},
    {"recorded boots", calibrate_recorded},
    {"many metrics", calibrate_many},
    {"power", calibrate_power},
    {"tails", calibrate_tails},
    {"history", calibrate_history},
};

static const char head[] =
    "# What the judge can tell, and how often it errs\n"
    "\n"
    "Written by `make calibrate`, from simulated and recorded boots with fixed seeds: the same "
    "code "
    "gives the same\n"
    "numbers. Every comparison here is made by the code behind `nohzlab compare`, at its default "
    "setting: a false\n"
    "discovery rate of 1% over all metrics, exact rank tests over boots, and for exact instruction "
    "counts the rule for\n"
    "groups of boots that are far apart (results/verdict.h). Intervals behind rates are of 95% "
    "(Clopper and Pearson).\n";

/* The probability at which COUNT or less (ABOVE: or more) of TRIALS come with a chance of 2.5%. */
static double
end_of(guint count, guint trials, gboolean above)
{
    double low = 0, high = 1;
    for (int i = 0; i < 50; i++) {
        double p = (low + high) / 2;
        double chance = above ? 1 - gsl_cdf_binomial_P(count - 1, p, trials)
                              : gsl_cdf_binomial_P(count, p, trials);
        if ((chance < 0.025) == above) {
            low = p;
        } else {
            high = p;
        }
    }
    return low;
}

char *
calibrate_share(guint count, guint trials)
{
    double low = count > 0 ? end_of(count, trials, TRUE) : 0;
    double high = count < trials ? end_of(count, trials, FALSE) : 1;
    return g_strdup_printf("%.2f%% (%.2f to %.2f)", 100.0 * count / trials, 100 * low, 100 * high);
}

int
main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s TRIALS FIXTURES REPORT\n", argv[0]);
        return 2;
    }
    guint trials = (guint)strtoul(argv[1], NULL, 10);
    g_autoptr(GString) out = g_string_new(head);
    g_autoptr(GError) error = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(sections); i++) {
        gint64 start = g_get_monotonic_time();
        g_string_append_c(out, '\n');
        sections[i].run(out, trials, argv[2]);
        fprintf(stderr, "%s: %.1f s\n", sections[i].name,
                (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC);
    }
    if (!g_file_set_contents_full(argv[3], out->str, (gssize)out->len,
                                  G_FILE_SET_CONTENTS_CONSISTENT, 0644, &error)) {
        fprintf(stderr, "%s: %s\n", argv[0], error->message);
        return 1;
    }
    return 0;
}
