/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/command.h"
#include "lab/history.h"
#include "lab/session.h"
#include "lab/text.h"
#include "lab/verdict.h"
#include "results/store.h"

typedef struct {
    char *state, *profile, *cell, *host, *since, *accept, *annotate, *note;
    gboolean json;
} Options;

static void
options_clear(Options *o)
{
    char *texts[] = {o->state, o->profile, o->cell,     o->host,
                     o->since, o->accept,  o->annotate, o->note};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

/* YYYY-MM-DD, UTC, from 1970 on. */
static gboolean
parse_date(const char *text, gint64 *us)
{
    for (gsize i = 0; i < 10; i++) {
        if (i == 4 || i == 7 ? text[i] != '-' : !g_ascii_isdigit(text[i]))
            return FALSE;
    }
    int year = atoi(text), month = atoi(text + 5), day = atoi(text + 8);
    if (text[10] || year < 1970 ||
        !g_date_valid_dmy((GDateDay)day, (GDateMonth)month, (GDateYear)year))
        return FALSE;
    g_autoptr(GDateTime) when = g_date_time_new_utc(year, month, day, 0, 0, 0);
    *us = g_date_time_to_unix(when) * G_USEC_PER_SEC;
    return TRUE;
}

/* The night of a date or of a run. */
static gboolean
find_when(ResStore *store, const char *what, gint64 *us, GError **error)
{
    if (parse_date(what, us))
        return TRUE;
    g_autoptr(ResRecord) r = res_store_get(store, what, error);
    if (!r) {
        g_prefix_error(error, "neither a date (YYYY-MM-DD) nor a run: ");
        return FALSE;
    }
    *us = MAX(r->started_us, 0);
    return TRUE;
}

static gboolean
matches(const Options *o, const ResSeries *s)
{
    return (!o->cell || g_str_equal(o->cell, s->cell)) &&
           (!o->host || g_str_equal(o->host, s->host));
}

/* The series that were asked for; none is an error that says what there is. */
static GPtrArray *
load(ResStore *store, const char *metric, const Options *o, GError **error)
{
    g_autoptr(GPtrArray) all = res_store_series(store, metric, o->profile, error);
    g_autoptr(GPtrArray) wanted = g_ptr_array_new_with_free_func((GDestroyNotify)res_series_free);
    if (!all)
        return NULL;
    while (all->len) {
        ResSeries *s = g_ptr_array_steal_index(all, 0);
        if (matches(o, s))
            g_ptr_array_add(wanted, s);
        else
            res_series_free(s);
    }
    if (wanted->len)
        return g_steal_pointer(&wanted);
    g_autoptr(GPtrArray) metrics = res_store_metrics(store, error);
    if (!metrics)
        return NULL;
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < metrics->len && i < 20; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "",
                               (const char *)g_ptr_array_index(metrics, i));
    g_autofree char *asked = lab_printable(metric), *known = lab_printable(names->str);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                "no done run here has %s%s; metrics on record: %s%s", asked,
                o->profile || o->cell || o->host ? " in that profile, cell and host" : "",
                metrics->len ? known : "none", metrics->len > 20 ? ", ..." : "");
    return NULL;
}

static gboolean
annotate(ResStore *store, const char *metric, Options *o, GError **error)
{
    ResAnnotation a = {.metric = (char *)metric,
                       .profile = o->profile,
                       .cell = o->cell,
                       .host = o->host,
                       .accept = o->accept != NULL,
                       .note = o->note,
                       .written_us = g_get_real_time()};
    return find_when(store, o->accept ? o->accept : o->annotate, &a.when_us, error) &&
           res_annotations_add(res_store_root(store), &a, error);
}

static int
show(const GPtrArray *series, const GPtrArray *annotations, gint64 since_us, gboolean json)
{
    g_autoptr(GPtrArray) histories =
        g_ptr_array_new_with_free_func((GDestroyNotify)res_history_free);
    gboolean regressed = FALSE;

    for (guint i = 0; i < series->len; i++) {
        ResHistory *h =
            res_history_new(g_ptr_array_index(series, i), annotations, g_get_real_time());
        g_ptr_array_add(histories, h);
        for (guint k = 0; k < h->changes->len; k++) {
            const ResHistoryChange *c = g_ptr_array_index(h->changes, k);
            regressed |= c->fresh && res_history_stands(c);
        }
    }
    g_autofree char *text = json ? lab_history_json(histories, annotations, since_us)
                                 : lab_history_text(histories, annotations, since_us);
    fputs(text, stdout);
    return regressed ? LAB_EXIT_NOT_HELD : LAB_EXIT_HELD;
}

static int
usage(const char *what)
{
    fprintf(stderr, "nohzlab history: %s\n", what);
    return LAB_EXIT_CANNOT;
}

static int
check(const Options *o, gint64 *since_us)
{
    if (o->since && !parse_date(o->since, since_us))
        return usage("--since takes a date, YYYY-MM-DD");
    if (o->accept && o->annotate)
        return usage("--accept or --annotate, not both");
    if ((o->accept || o->annotate) && (!o->note || !*o->note))
        return usage("--accept and --annotate want --note TEXT: say why");
    if (o->note && !o->accept && !o->annotate)
        return usage("--note goes with --accept or --annotate");
    if (o->note && strlen(o->note) > RES_ANNOTATION_NOTE_MAX)
        return usage("--note is too long: 1000 bytes are kept");
    return LAB_EXIT_HELD;
}

int
lab_cmd_history(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_auto(Options) o = {0};
    gint64 since_us = G_MININT64;
    int code = 0;
    const GOptionEntry entries[] = {
        {"profile", 'p', 0, G_OPTION_ARG_STRING, &o.profile, "Only of this profile", "NAME"},
        {"cell", 0, 0, G_OPTION_ARG_STRING, &o.cell, "Only this cell", "CELL"},
        {"host", 0, 0, G_OPTION_ARG_STRING, &o.host, "Only of this machine", "NAME"},
        {"since", 0, 0, G_OPTION_ARG_STRING, &o.since, "Show changes from this day on",
         "YYYY-MM-DD"},
        {"accept", 0, 0, G_OPTION_ARG_STRING, &o.accept,
         "The level from that run or day on is meant so", "RUN|DATE"},
        {"annotate", 0, 0, G_OPTION_ARG_STRING, &o.annotate, "Keep a note on that run or day",
         "RUN|DATE"},
        {"note", 0, 0, G_OPTION_ARG_STRING, &o.note, "Why, for --accept and --annotate", "TEXT"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &o.json, "Print JSON", NULL},
        {NULL},
    };

    if (!lab_command_parse("history", entries, 1, 1, &argc, &argv, &o.state, &code))
        return code;
    code = check(&o, &since_us);
    if (code != LAB_EXIT_HELD)
        return code;
    g_autofree char *root = o.state ? g_strdup(o.state) : lab_state_dir();
    g_autoptr(ResStore) store = res_store_open(root, &error);
    g_autoptr(GPtrArray) series = store ? load(store, argv[1], &o, &error) : NULL;
    if (!series || ((o.accept || o.annotate) && !annotate(store, argv[1], &o, &error)))
        return lab_command_fail("history", error);
    g_autoptr(GPtrArray) annotations = res_annotations_load(root, &error);
    if (!annotations)
        return lab_command_fail("history", error);
    return show(series, annotations, since_us, o.json);
}
