/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Power: B is different, and by how much is known. */
#include <math.h>

#include "results/calibrate_private.h"
#include "results/sim.h"

/* The range of 10 normal values is 3.078 standard deviations in the mean, so a spread of 2% as the
 * tables of a run show it ((max - min) / median) is an sd of 0.65%. */
static const double sd_of_range = 0.02 / 3.078, two_percent = 0.02, one_percent = 0.01,
                    mean_count = 4, three = 3;

static const struct {
    const char *what;
    ResFidelity fidelity;
    const char *unit;
    guint boots;
    SimDraw draw;
    gconstpointer data;
    double factor, plus;
} rows[] = {
    {"mean +2.7%, spread 2% (range of 10 boots, sd 0.65%)", RES_FIDELITY_TIME, "u", 10, sim_normal,
     &sd_of_range, 1.027, 0},
    {"mean +2.7%, spread 2% (even, +-1%)", RES_FIDELITY_TIME, "u", 10, sim_uniform, &one_percent,
     1.027, 0},
    {"mean +2.7%, even, +-2%", RES_FIDELITY_TIME, "u", 10, sim_uniform, &two_percent, 1.027, 0},
    {"mean +2.7%, sd 2%", RES_FIDELITY_TIME, "u", 10, sim_normal, &two_percent, 1.027, 0},
    {"mean +2.7%, sd 2%", RES_FIDELITY_TIME, "u", 24, sim_normal, &two_percent, 1.027, 0},
    {"mean +4.5%, sd 2%", RES_FIDELITY_TIME, "u", 10, sim_normal, &two_percent, 1.045, 0},
    {"mean +2.7%, spread 2% (range, sd 0.65%)", RES_FIDELITY_TIME, "u", 5, sim_normal, &sd_of_range,
     1.027, 0},
    {"one instruction more, 0 or 3 by chance", RES_FIDELITY_INSTRUCTIONS, "insns", 10, sim_lattice,
     &three, 1, 1},
    {"one instruction more, 0 or 3 by chance", RES_FIDELITY_INSTRUCTIONS, "insns", 6, sim_lattice,
     &three, 1, 1},
    {"overdispersed counts, mean 4, three times as many", RES_FIDELITY_EVENTS, "count", 10,
     sim_counts, &mean_count, 3, 0},
};

static void
add_row(GString *out, const char *what, const SimCase *c, double truth, guint trials, guint64 seed)
{
    SimOutcome o = sim_run(c, truth, trials, seed);
    g_autofree char *found = calibrate_share(o.different, trials);
    g_autofree char *worse = calibrate_share(o.worse, trials);
    g_autofree char *missed =
        isnan(truth) ? g_strdup("-") : calibrate_share(trials - o.missed, trials);
    g_string_append_printf(out, "| %s | %u | %s | %s | %s |\n", what, c->boots, found, worse,
                           missed);
}

void
calibrate_power(GString *out, guint trials, const char *fixtures)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(fixtures, "aa.txt", NULL);
    g_autoptr(GPtrArray) all = sim_recorded_load(path, &error);
    if (all == NULL) {
        g_error("%s", error->message);
    }
    g_string_append_printf(
        out,
        "## Power\n\n"
        "%u comparisons each. *Found*: told to be different; *worse*: and relevant. *Covered*: the "
        "interval of the ratio (99%%)\nholds the true one.\n\n"
        "| change | boots a side | found | worse | covered |\n|---|---|---|---|---|\n",
        trials);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        SimCase c = {rows[i].fidelity, rows[i].unit, rows[i].boots,  SIM_ALTERNATING,
                     rows[i].draw,     rows[i].data, rows[i].factor, rows[i].plus};
        add_row(out, rows[i].what, &c, rows[i].plus > 0 ? NAN : rows[i].factor, trials, 20000 + i);
    }
    for (guint i = 0; i < all->len; i++) {
        const SimRecorded *r = g_ptr_array_index(all, i);
        if (!g_str_has_suffix(r->name, ".per_call")) {
            continue;
        }
        static const guint boots[] = {4, 10};
        for (gsize k = 0; k < G_N_ELEMENTS(boots); k++) {
            g_autofree char *what = g_strdup_printf("recorded %s, one instruction more", r->name);
            SimCase c = {RES_FIDELITY_INSTRUCTIONS,
                         r->unit,
                         boots[k],
                         SIM_ALTERNATING,
                         sim_recorded,
                         r,
                         1,
                         1};
            add_row(out, what, &c, NAN, trials, 21000 + 10 * i + k);
        }
    }
    g_string_append(
        out,
        "\n**A mean shift of 2.7% at a spread of 2%** is found when spread is what a run's table "
        "shows, the range over boots.\n"
        "**What can't be reached:** where 2% is the standard deviation, 10 boots a side can't find "
        "it at 1% with any test. Even for\n"
        "normal figures of known variance the chance is 67% (2.7 / 2 * sqrt(5) = 3.02 standard "
        "errors, 2.58 are asked for). There\n"
        "it takes 24 boots a side, or 10 boots find a shift of 4.5%; `nohzlab calibrate` says "
        "which of a store's metrics are such.\n\n"
        "**One instruction** more in a call of 531 is found every time, from 4 boots a side on. In "
        "one of 6,635 it is found as\n"
        "well, and told to be irrelevant: it is below the default smallest relevant change of "
        "0.1%, which a profile's [relevant]\n"
        "section changes. Where boots come in two kinds 3 instructions apart (here of 1,000, so "
        "that one is just at 0.1%), 10 boots\n"
        "a side find it, and 6 don't.\n");
}
