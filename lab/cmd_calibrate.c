/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdio.h>

#include "lab/command.h"
#include "lab/compare.h"
#include "lab/session.h"
#include "lab/text.h"
#include "lab/verdict.h"

#define BOOTS_A_SIDE 10

/* All runs of the store, oldest first; those whose record can't be read are named. */
static GPtrArray *
load_all(ResStore *store, GError **error)
{
    g_autoptr(GPtrArray) rows = res_store_list(store, NULL, 0, error);
    g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);

    for (guint i = rows ? rows->len : 0; i > 0; i--) {
        const ResIndexRow *row = rows->pdata[i - 1];
        g_autoptr(GError) bad = NULL;
        ResRecord *r = res_store_get(store, row->id, &bad);
        if (r)
            g_ptr_array_add(records, r);
        else
            fprintf(stderr, "nohzlab calibrate: left out: %s\n", bad->message);
    }
    return rows ? g_steal_pointer(&records) : NULL;
}

static char *
percent(double share)
{
    if (!isfinite(share))
        return g_strdup("-");
    g_autofree char *figure = lab_figure(share * 100);
    return g_strconcat(figure, "%", NULL);
}

static void
add_row(struct libscols_table *table, const ResCalibrationEntry *e)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char *data[] = {lab_printable(e->profile),
                    lab_printable(*e->cell ? e->cell : "-"),
                    lab_printable(e->metric),
                    g_strdup_printf("%u", e->boots),
                    g_strdup_printf("%u", e->sets),
                    lab_figure(e->median),
                    lab_printable(e->unit),
                    percent(e->spread),
                    percent(e->sd),
                    e->relevant > 0 ? percent(e->between) : g_strdup("-"),
                    percent(e->detectable)};

    for (gsize i = 0; i < G_N_ELEMENTS(data); i++) {
        scols_line_set_data(line, i, data[i]);
        g_free(data[i]);
    }
}

static void
print_table(const ResCalibration *c)
{
    static const char *const columns[] = {"PROFILE", "CELL",           "METRIC",    "BOOTS",
                                          "SETS",    "MEDIAN",         "UNIT",      "SPREAD",
                                          "SD",      "SETS DIFFER BY", "DETECTABLE"};
    struct libscols_table *table = scols_new_table();

    scols_table_set_column_separator(table, "  ");
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    scols_table_enable_noencoding(table, 1); /* everything was made printable */
    for (gsize i = 0; i < G_N_ELEMENTS(columns); i++) {
        gboolean right = (i >= 3 && i <= 5) || i >= 7;
        scols_table_new_column(table, columns[i], 0, right ? SCOLS_FL_RIGHT : 0);
    }
    for (guint i = 0; i < c->entries->len; i++)
        add_row(table, c->entries->pdata[i]);
    scols_print_table(table);
    scols_unref_table(table);
}

static int
show(const ResCalibration *c, const char *root, gboolean json)
{
    if (json) {
        g_autofree char *text = res_calibration_to_json(c);
        fputs(text, stdout);
        return LAB_EXIT_HELD;
    }
    if (!c->entries->len) {
        printf("No two boots of one kernel in one environment are in %s yet: run a profile.\n",
               root);
        return LAB_EXIT_NOT_HELD;
    }
    print_table(c);
    printf("\nSPREAD: (max - min) / median over all boots of one kernel in one environment. SD: "
           "between boots of a set.\nSETS DIFFER BY: medians of sets of 5 boots or more, though "
           "nothing changed; compare takes smaller changes as irrelevant.\nDETECTABLE: smallest "
           "change that %u boots a side find in %g%% of cases at %g%% false alarms, by the upper "
           "end of SD.\nWritten to %s/calibration.json, which compare uses.\n",
           c->boots_a_side, RES_CALIBRATION_POWER * 100, c->alpha * 100, root);
    return LAB_EXIT_HELD;
}

int
lab_cmd_calibrate(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    gboolean json = FALSE;
    int code = 0, boots = BOOTS_A_SIDE;
    const GOptionEntry entries[] = {
        {"boots", 0, 0, G_OPTION_ARG_INT, &boots, "Boots a side to say it for (10)", "N"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL},
        {NULL},
    };

    if (!lab_command_parse("calibrate", entries, 0, 0, &argc, &argv, &state, &code))
        return code;
    if (boots < 1 || boots > 1000) {
        fprintf(stderr, "nohzlab calibrate: --boots is from 1 to 1000\n");
        return LAB_EXIT_CANNOT;
    }
    g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
    g_autoptr(ResStore) store = res_store_open(root, &error);
    g_autoptr(GPtrArray) records = store ? load_all(store, &error) : NULL;
    if (!records)
        return lab_command_fail("calibrate", error);
    g_autoptr(ResCalibration) c =
        res_calibration_new(records, (unsigned int)boots, RES_COMPARE_ALPHA);
    if (c->entries->len && !lab_calibration_save(c, root, &error))
        return lab_command_fail("calibrate", error);
    return show(c, root, json);
}
