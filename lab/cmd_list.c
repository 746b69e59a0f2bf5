/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>

#include "lab/command.h"
#include "lab/json.h"
#include "lab/session.h"
#include "lab/text.h"
#include "lab/verdict.h"
#include "results/store.h"

#define SHOWN 200 /* of a table, unless something else is asked for */

static char *
started_text(const ResIndexRow *row)
{
    g_autoptr(GDateTime) when = g_date_time_new_from_unix_utc(row->started_us / G_USEC_PER_SEC);
    return when ? g_date_time_format(when, "%Y-%m-%dT%H:%M:%SZ") : g_strdup("unknown");
}

static void
print_table(const GPtrArray *rows)
{
    static const char *const columns[] = {"RUN",  "SET",     "STARTED",  "PROFILE", "CELL",
                                          "BOOT", "OUTCOME", "FIDELITY", "KERNEL"};
    struct libscols_table *table = scols_new_table();

    scols_table_set_column_separator(table, "  ");
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (gsize i = 0; i < G_N_ELEMENTS(columns); i++)
        scols_table_new_column(table, columns[i], 0, 0);
    for (guint i = 0; i < rows->len; i++) {
        const ResIndexRow *r = rows->pdata[i];
        struct libscols_line *line = scols_table_new_line(table, NULL);
        g_autofree char *outcome =
            *r->detail ? g_strdup_printf("%s: %s", r->outcome, r->detail) : g_strdup(r->outcome);
        char *data[] = {
            g_strdup(r->id),           g_strdup(r->set),       started_text(r),
            lab_printable(r->profile), lab_printable(r->cell), g_strdup_printf("%u", r->boot),
            lab_printable(outcome),    g_strdup(r->fidelity),  lab_printable(r->kernel)};
        for (gsize k = 0; k < G_N_ELEMENTS(data); k++) {
            scols_line_set_data(line, k, data[k]);
            g_free(data[k]);
        }
    }
    scols_print_table(table);
    scols_unref_table(table);
}

static void
print_json(const GPtrArray *rows)
{
    g_autoptr(JsonBuilder) b = json_builder_new();

    json_builder_begin_array(b);
    for (guint i = 0; i < rows->len; i++) {
        const ResIndexRow *r = rows->pdata[i];
        const char *const fields[][2] = {{"id", r->id},
                                         {"set", r->set},
                                         {"profile", r->profile},
                                         {"cell", r->cell},
                                         {"outcome", r->outcome},
                                         {"detail", r->detail},
                                         {"platform", r->platform},
                                         {"clock", r->clock},
                                         {"fidelity", r->fidelity},
                                         {"kernel", r->kernel}};
        json_builder_begin_object(b);
        for (gsize k = 0; k < G_N_ELEMENTS(fields); k++) {
            lab_json_string(b, fields[k][0], fields[k][1]);
        }
        lab_json_int(b, "boot", r->boot);
        lab_json_int(b, "started_us", r->started_us);
        lab_json_int(b, "ended_us", r->ended_us);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    g_autofree char *text = lab_json_text(b);
    fputs(text, stdout);
}

int
lab_cmd_list(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    gboolean json = FALSE;
    int limit = G_MININT, code = 0; /* not given */
    const GOptionEntry entries[] = {
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL},
        {"limit", 'n', 0, G_OPTION_ARG_INT, &limit,
         "At most N runs, 0: all (default: the newest 200; of JSON all)", "N"},
        {NULL},
    };

    if (!lab_command_parse("list", entries, 0, 1, &argc, &argv, &state, &code))
        return code;
    if (limit < 0 && limit != G_MININT) {
        fprintf(stderr, "nohzlab list: --limit takes 0 (all) or more, not %d\n", limit);
        return LAB_EXIT_CANNOT;
    }
    gboolean cut = limit == G_MININT && !json;
    g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
    g_autoptr(ResStore) store = res_store_open(root, &error);
    /* One more than is shown tells whether there are more. */
    g_autoptr(GPtrArray) rows = store ? res_store_list(store, argc > 1 ? argv[1] : NULL,
                                                       cut ? SHOWN + 1 : MAX(limit, 0), &error)
                                      : NULL;
    if (!rows)
        return lab_command_fail("list", error);
    cut = cut && rows->len > SHOWN;
    if (cut)
        g_ptr_array_set_size(rows, SHOWN);
    if (json)
        print_json(rows);
    else
        print_table(rows);
    if (cut)
        fprintf(stderr, "the newest %d runs; --limit 0 shows all\n", SHOWN);
    return LAB_EXIT_HELD;
}
