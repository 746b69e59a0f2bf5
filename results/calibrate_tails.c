/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tails: cyclictest histograms, drawn anew from recorded ones. */
#include "results/calibrate_private.h"
#include "results/sim.h"

static const struct {
    const char *what;
    SimHists hists;
} rows[] = {
    {"A/A, 10 boots of 20,000 samples", {20000, 1, 0.01, 0, 1, 0, 0, 0, 1, 10, SIM_ALTERNATING}},
    {"A/A, heavy tail (index 2)", {20000, 1, 0.01, 0, 1, 0, 0.01, 2, 1, 10, SIM_ALTERNATING}},
    {"A/A, heavy tail, samples in runs of 20 (autocorrelated)",
     {20000, 20, 0.01, 0, 1, 0, 0.01, 2, 1, 10, SIM_ALTERNATING}},
    {"A/A, heavy tail, half of the boots 1.5 times as slow",
     {20000, 1, 0.01, 0.5, 1.5, 0, 0.01, 2, 1, 10, SIM_ALTERNATING}},
    {"A/A, heavy tail, drift 0.5% a boot, alternating",
     {20000, 1, 0.01, 0, 1, 0.005, 0.01, 2, 1, 10, SIM_ALTERNATING}},
    {"A/A, heavy tail, 5 boots", {20000, 1, 0.01, 0, 1, 0, 0.01, 2, 1, 5, SIM_ALTERNATING}},
    {"p99.9 +20%, recorded tail", {20000, 1, 0.01, 0, 1, 0, 0, 0, 1.2, 10, SIM_ALTERNATING}},
    {"p99.9 +20%, heavy tail (index 2), 10,000 samples",
     {10000, 1, 0.01, 0, 1, 0, 0.01, 2, 1.2, 10, SIM_ALTERNATING}},
    {"p99.9 +20%, heavy tail, 20,000 samples",
     {20000, 1, 0.01, 0, 1, 0, 0.01, 2, 1.2, 10, SIM_ALTERNATING}},
    {"p99.9 +20%, heavy tail, 100,000 samples",
     {100000, 1, 0.01, 0, 1, 0, 0.01, 2, 1.2, 10, SIM_ALTERNATING}},
    {"p99.9 +20%, heavy tail, 20,000 samples in runs of 20",
     {20000, 20, 0.01, 0, 1, 0, 0.01, 2, 1.2, 10, SIM_ALTERNATING}},
    {"p99.9 +20%, heavy tail, half of the boots 1.5 times as slow",
     {20000, 1, 0.01, 0.5, 1.5, 0, 0.01, 2, 1.2, 10, SIM_ALTERNATING}},
};

void
calibrate_tails(GString *out, guint trials, const char *fixtures)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(fixtures, "cyclictest.txt", NULL);
    g_autoptr(GArray) body = sim_body_load(path, &error);
    if (body == NULL) {
        g_error("%s", error->message);
    }
    g_string_append_printf(
        out,
        "## Tails: p99.9 of cyclictest\n\n"
        "Boots drawn anew from a recorded histogram (results/fixtures/calibration/cyclictest.txt), "
        "with what is named added;\neach boot is 1%% (sd) faster or slower as a whole. *By boots*: "
        "the rank test on each boot's p99.9. *Pooled*: the\npermutation test over boots on p99.9 "
        "of all samples of all boots, and its bootstrap interval (99%%).\n%u comparisons of equal "
        "kernels, a tenth of them of different ones; each quantile alone.\n\n"
        "| boots are | told by boots | told pooled | pooled interval covers |\n|---|---|---|---|\n",
        trials);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        guint few = rows[i].hists.tail_factor > 1 ? MAX(trials / 10, 1) : trials;
        SimTails o = sim_run_hists(&rows[i].hists, body, few, 30000 + i);
        g_autofree char *boots = calibrate_share(o.boots_different, few);
        g_autofree char *pooled = calibrate_share(o.pooled_different, few);
        g_autofree char *covered = calibrate_share(few - o.pooled_missed, few);
        g_string_append_printf(out, "| %s | %s | %s | %s |\n", rows[i].what, boots, pooled,
                               covered);
    }
    g_string_append(
        out,
        "\n**A shift of 20%** is found by 10 boots a side where each boot carries its p99.9: on "
        "the recorded tail with 20,000\n"
        "samples a boot, on a heavy one (index 2) with 100,000. **What can't be reached:** with "
        "10,000 to 20,000 samples of a heavy\n"
        "tail 10 to 20 of them lie beyond p99.9, which chance alone then moves by 11 to 16% from "
        "boot to boot; in runs of 20\n"
        "equal ones it is one or none. Nor where half of the boots are 1.5 times as slow: more "
        "boots help there, and more\n"
        "samples (loops) elsewhere. The pooled test is for quantiles deeper than a boot carries; "
        "where p99.9 lies between two\n"
        "heights of a tail that has few, as in the recorded one, it finds less than the boots' "
        "own. Its bootstrap interval covers\n"
        "what it says with 10 boots a side, and about 97% instead of 99% with 5.\n");
}
