/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/command.h"
#include "lab/json.h"
#include "lab/session.h"
#include "lab/text.h"
#include "lab/verdict.h"
#include "results/compare.h"
#include "results/store.h"

static void
print_one(const ResComparison *c)
{
    g_autofree char *a = lab_figure(c->a), *b = lab_figure(c->b);
    g_autofree char *metric = lab_printable(c->metric), *cell = lab_printable(c->cell);
    g_autofree char *unit = lab_printable(c->unit), *reason = lab_printable(c->reason);

    printf("%-12s %s%s%s: %s -> %s %s, ratio %.4f [%.4f .. %.4f], %u and %u boots, fidelity %s\n   "
           "          %s\n",
           res_verdict_name(c->verdict), metric, *cell ? " " : "", cell, a, b, unit, c->ratio,
           c->ratio_low, c->ratio_high, c->na, c->nb, res_fidelity_name(c->fidelity), reason);
}

static void
print_text(const GPtrArray *comparisons, const GPtrArray *differences)
{
    if (differences->len)
        printf("What else differs between the two:\n");
    for (guint i = 0; i < differences->len; i++) {
        g_autofree char *line = lab_printable(differences->pdata[i]);
        printf("  %s\n", line);
    }
    if (differences->len)
        putchar('\n');
    for (guint i = 0; i < comparisons->len; i++)
        print_one(comparisons->pdata[i]);
}

static void
add_comparison(JsonBuilder *b, const ResComparison *c)
{
    const char *const texts[][2] = {{"metric", c->metric},
                                    {"cell", c->cell},
                                    {"unit", c->unit},
                                    {"fidelity", res_fidelity_name(c->fidelity)},
                                    {"direction", res_direction_name(c->direction)},
                                    {"verdict", res_verdict_name(c->verdict)},
                                    {"reason", c->reason}};

    json_builder_begin_object(b);
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        lab_json_string(b, texts[i][0], texts[i][1]);
    }
    lab_json_number(b, "a", c->a);
    lab_json_number(b, "b", c->b);
    lab_json_number(b, "boots_a", c->na);
    lab_json_number(b, "boots_b", c->nb);
    lab_json_number(b, "ratio", c->ratio);
    lab_json_number(b, "ratio_low", c->ratio_low);
    lab_json_number(b, "ratio_high", c->ratio_high);
    json_builder_end_object(b);
}

static void
print_json(const GPtrArray *comparisons, const GPtrArray *differences)
{
    g_autoptr(JsonBuilder) b = json_builder_new();

    json_builder_begin_object(b);
    json_builder_set_member_name(b, "differences");
    json_builder_begin_array(b);
    for (guint i = 0; i < differences->len; i++)
        json_builder_add_string_value(b, differences->pdata[i]);
    json_builder_end_array(b);
    json_builder_set_member_name(b, "comparisons");
    json_builder_begin_array(b);
    for (guint i = 0; i < comparisons->len; i++)
        add_comparison(b, comparisons->pdata[i]);
    json_builder_end_array(b);
    json_builder_end_object(b);
    g_autofree char *text = lab_json_text(b);
    fputs(text, stdout);
}

/* 0: nothing is worse and everything could be told; otherwise 1. */
static int
exit_code(const GPtrArray *comparisons)
{
    for (guint i = 0; i < comparisons->len; i++) {
        const ResComparison *c = comparisons->pdata[i];
        if (c->direction == RES_NO_DIRECTION)
            continue; /* evidence, not a claim */
        if (c->verdict == RES_VERDICT_WORSE || c->verdict == RES_VERDICT_CANNOT_TELL)
            return LAB_EXIT_NOT_HELD;
    }
    return LAB_EXIT_HELD;
}

int
lab_cmd_compare(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    gboolean json = FALSE;
    int code = 0;
    const GOptionEntry entries[] = {
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL},
        {NULL},
    };

    if (!lab_command_parse("compare", entries, 2, 2, &argc, &argv, &state, &code))
        return code;
    g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
    g_autoptr(ResStore) store = res_store_open(root, &error);
    g_autoptr(GPtrArray) a = store ? res_store_get_set(store, argv[1], &error) : NULL;
    g_autoptr(GPtrArray) b = a ? res_store_get_set(store, argv[2], &error) : NULL;
    g_autoptr(GPtrArray) differences = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) comparisons = b ? res_compare(a, b, differences, &error) : NULL;
    if (!comparisons)
        return lab_command_fail("compare", error);
    if (json)
        print_json(comparisons, differences);
    else
        print_text(comparisons, differences);
    return exit_code(comparisons);
}
