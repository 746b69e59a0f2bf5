/* SPDX-License-Identifier: GPL-2.0-or-later */
/* False alarms: both sides are boots of one and the same kernel. */
#include <math.h>
#include <stdio.h>

#include "results/calibrate_private.h"
#include "results/sim.h"

static const double two_percent = 0.02, ten_percent = 0.10, three = 3, mean_count = 4,
                    drift_small = 0.001, drift_large = 0.004;

static const struct {
    const char *what;
    ResFidelity fidelity;
    const char *unit;
    SimOrder order;
    SimDraw draw;
    gconstpointer data;
} rows[] = {
    {"normal, sd 2%", RES_FIDELITY_TIME, "u", SIM_ALTERNATING, sim_normal, &two_percent},
    {"heavy tails (t, 2 df)", RES_FIDELITY_TIME, "u", SIM_ALTERNATING, sim_heavy, &two_percent},
    {"two kinds of boots, 10% apart", RES_FIDELITY_TIME, "u", SIM_ALTERNATING, sim_bimodal,
     &ten_percent},
    {"overdispersed counts, mean 4", RES_FIDELITY_EVENTS, "count", SIM_ALTERNATING, sim_counts,
     &mean_count},
    {"autocorrelated boots (0.6), alternating", RES_FIDELITY_TIME, "u", SIM_ALTERNATING,
     sim_correlated, &two_percent},
    {"drift 0.1% a boot, alternating", RES_FIDELITY_TIME, "u", SIM_ALTERNATING, sim_drifting,
     &drift_small},
    {"drift 0.4% a boot, alternating", RES_FIDELITY_TIME, "u", SIM_ALTERNATING, sim_drifting,
     &drift_large},
    {"instructions: 0 or 3 more, by chance", RES_FIDELITY_INSTRUCTIONS, "insns", SIM_ALTERNATING,
     sim_lattice, &three},
    {"instructions: three clusters", RES_FIDELITY_INSTRUCTIONS, "insns", SIM_ALTERNATING,
     sim_clusters, NULL},
    {"instructions: normal, sd 2%", RES_FIDELITY_INSTRUCTIONS, "insns", SIM_ALTERNATING, sim_normal,
     &two_percent},
    {"**one side after the other**: autocorrelated boots (0.6)", RES_FIDELITY_TIME, "u",
     SIM_SEQUENTIAL, sim_correlated, &two_percent},
    {"**one side after the other**: drift 0.1% a boot", RES_FIDELITY_TIME, "u", SIM_SEQUENTIAL,
     sim_drifting, &drift_small},
    {"**one side after the other**: drift 0.4% a boot", RES_FIDELITY_TIME, "u", SIM_SEQUENTIAL,
     sim_drifting, &drift_large},
};

void
calibrate_false_alarms(GString *out, guint trials, const char *fixtures G_GNUC_UNUSED)
{
    static const guint boots[] = {3, 4, 5, 10};
    g_string_append_printf(
        out,
        "## False alarms: one kernel against itself\n\n"
        "Share of %u comparisons in which a difference was told, whichever way and however "
        "small.\n\n"
        "| boots are | 3 a side | 4 a side | 5 a side | 10 a side |\n|---|---|---|---|---|\n",
        trials);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_string_append_printf(out, "| %s |", rows[i].what);
        for (gsize k = 0; k < G_N_ELEMENTS(boots); k++) {
            SimCase c = {rows[i].fidelity, rows[i].unit, boots[k], rows[i].order,
                         rows[i].draw,     rows[i].data, 1,        0};
            SimOutcome o = sim_run(&c, NAN, trials, 100 * i + k + 1);
            g_autofree char *share = calibrate_share(o.different, trials);
            g_string_append_printf(out, " %s |", share);
        }
        g_string_append_c(out, '\n');
    }
    g_string_append(
        out,
        "\nHence the default: 1%. A rank test can reach it from 5 boots a side on (2 of 252 "
        "arrangements), and for exact\ninstruction counts two groups further apart than twice "
        "their width reach it from 4 (2 of 256). With 3 boots a side\nonly what is known "
        "beforehand of how well a metric repeats can tell.\n\n"
        "**What can't be reached.** When one side runs after the other, a machine that drifts or "
        "whose neighbouring boots are\nalike makes two kernels of one: no test on these figures "
        "can tell a drift between the sides from a change. `compare`\nrefuses to tell where the "
        "sides themselves drift enough to explain half of the shift, which catches strong drift "
        "only.\nWhat helps is to let the boots alternate, as one set of a profile with both "
        "kernels as an axis does: those rows stay\nbelow 1%.\n");
}

void
calibrate_recorded(GString *out, guint trials, const char *fixtures)
{
    static const guint boots[] = {3, 4, 5, 10};
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(fixtures, "aa.txt", NULL);
    g_autoptr(GPtrArray) all = sim_recorded_load(path, &error);
    if (all == NULL) {
        g_error("%s", error->message);
    }
    g_string_append_printf(
        out,
        "## False alarms: recorded boots of one kernel\n\n"
        "Boots drawn with replacement from 12 real ones a cell "
        "(results/fixtures/calibration/aa.txt: "
        "Debian 6.1, bare/icount,\neach with its own seed), %u comparisons each.\n\n"
        "| metric | 3 a side | 4 a side | 5 a side | 10 a side |\n|---|---|---|---|---|\n",
        trials);
    for (guint i = 0; i < all->len; i++) {
        const SimRecorded *r = g_ptr_array_index(all, i);
        g_string_append_printf(out, "| %s |", r->name);
        for (gsize k = 0; k < G_N_ELEMENTS(boots); k++) {
            SimCase c = {RES_FIDELITY_INSTRUCTIONS,
                         r->unit,
                         boots[k],
                         SIM_ALTERNATING,
                         sim_recorded,
                         r,
                         1,
                         0};
            SimOutcome o = sim_run(&c, NAN, trials, 5000 + 10 * i + k);
            g_autofree char *share = calibrate_share(o.different, trials);
            g_string_append_printf(out, " %s |", share);
        }
        g_string_append_c(out, '\n');
    }
}

void
calibrate_many(GString *out, guint trials, const char *fixtures G_GNUC_UNUSED)
{
    static const struct {
        guint metrics, changed, boots;
        double rho;
    } many[] = {{20, 0, 5, 0},     {20, 0, 10, 0},   {20, 0, 10, 0.8},
                {200, 0, 10, 0.5}, {20, 1, 7, 0.5},  {20, 1, 8, 0.5},
                {20, 1, 10, 0.5},  {20, 5, 10, 0.8}, {20, 5, 5, 0.8}};
    guint few = MAX(trials / 10, 1);
    g_string_append_printf(
        out,
        "## Many metrics at once\n\n"
        "Normal boots, spread sd 2%%, all metrics of a boot correlated; the changed ones are 10%% "
        "larger. %u comparisons each.\nBenjamini and Hochberg hold the rate for independent and "
        "for positively dependent metrics, and those of one boot\nare; the table shows it.\n\n"
        "| metrics | changed | correlation | boots a side | comparisons with a false alarm | "
        "false discovery rate | changed ones found |\n|---|---|---|---|---|---|---|\n",
        few);
    for (gsize i = 0; i < G_N_ELEMENTS(many); i++) {
        SimMany m = sim_run_many(many[i].metrics, many[i].changed, 1.1, 0.02, many[i].rho,
                                 many[i].boots, few, 9000 + i);
        g_autofree char *any = calibrate_share(m.any, few);
        g_autofree char *found =
            many[i].changed > 0 ? g_strdup_printf("%.1f%%", 100 * m.found) : g_strdup("-");
        g_string_append_printf(out, "| %u | %u | %g | %u | %s | %.2f%% | %s |\n", many[i].metrics,
                               many[i].changed, many[i].rho, many[i].boots, any, 100 * m.rate,
                               found);
    }
    g_string_append(out, "\nSo with 20 metrics one that changed alone needs 8 boots a side, "
                         "however large its change: `compare` says how many.\n");
}
