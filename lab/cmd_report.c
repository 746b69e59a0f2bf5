/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/command.h"
#include "lab/compare.h"
#include "lab/session.h"
#include "lab/verdict.h"
#include "results/export.h"
#include "results/page_html.h"
#include "results/store.h"

#define ORIGIN "nohzlab"

typedef struct {
    ResPage *page;
    const LabVerdict *verdict;
    const char *origin;
} Report;

static char *
html(const Report *r, GError **error G_GNUC_UNUSED)
{
    return res_page_html(r->page);
}

static char *
text(const Report *r, GError **error G_GNUC_UNUSED)
{
    g_autofree char *verdict = lab_verdict_text(r->verdict, TRUE, FALSE);
    if (r->page->refused)
        return g_strdup_printf("%s\nNot compared: %s.\n", verdict, r->page->refused);
    g_autofree char *comparison = r->page->compared ? lab_compare_text(r->page->compared) : NULL;
    return g_strjoin(comparison ? "\n" : "", verdict, comparison, NULL);
}

static char *
json(const Report *r, GError **error)
{
    return res_export_json(r->page, error);
}

static char *
junit(const Report *r, GError **error G_GNUC_UNUSED)
{
    return res_export_junit(r->page);
}

static char *
tap(const Report *r, GError **error G_GNUC_UNUSED)
{
    return res_export_tap(r->page);
}

static char *
kcidb(const Report *r, GError **error G_GNUC_UNUSED)
{
    return res_export_kcidb(r->page, r->origin);
}

static char *
prometheus(const Report *r, GError **error G_GNUC_UNUSED)
{
    return res_export_prometheus(r->page);
}

static const struct {
    const char *name;
    char *(*write)(const Report *r, GError **error);
    gboolean evidence; /* needs the runs' files */
} formats[] = {
    {"html", html, TRUE},
    {"text", text, FALSE},
    {"json", json, FALSE},
    {"junit", junit, FALSE},
    {"tap", tap, FALSE},
    {"kcidb", kcidb, FALSE},
    {"prometheus", prometheus, FALSE},
};
#define FORMAT_NAMES "html, text, json, junit, tap, kcidb, prometheus"

static void
add_claims(ResPage *page, const LabVerdict *v)
{
    static const ResClaimVerdict verdicts[] = {
        [LAB_EXPECT_HOLDS] = RES_CLAIM_HOLDS,
        [LAB_EXPECT_FAILS] = RES_CLAIM_FAILS,
        [LAB_EXPECT_CANNOT_TELL] = RES_CLAIM_CANNOT_TELL,
    };

    for (guint i = 0; i < v->expectations->len; i++) {
        const LabVerdictExpectation *e = v->expectations->pdata[i];
        if (e->result)
            res_page_add_claim(page, e->name, e->text, verdicts[e->result->verdict],
                               e->result->reason, e->result->value, e->result->low,
                               e->result->high);
        else
            res_page_add_claim(page, e->name, e->text, RES_CLAIM_CANNOT_TELL, e->error, NAN, NAN,
                               NAN);
    }
}

/* A side of the report: the whole set is judged, but only the selected cells are shown. */
typedef struct {
    GPtrArray *records, *shown;
    LabVerdict *verdict;
} Side;

static void
side_clear(Side *s)
{
    g_clear_pointer(&s->verdict, lab_verdict_free);
    g_clear_pointer(&s->shown, g_ptr_array_unref);
    g_clear_pointer(&s->records, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Side, side_clear)

/* What failed at the first try and was made again is told, but neither shown nor compared. */
static gboolean
side_load(Side *s, ResStore *store, const char *what, GPtrArray *same, GError **error)
{
    s->records = lab_compare_load(store, what, same, error);
    s->verdict = s->records ? lab_verdict_new(s->records) : NULL;
    s->shown = s->verdict ? lab_compare_select(s->verdict->records, what, error) : NULL;
    return s->shown != NULL;
}

static GPtrArray *
load_hists(const ResRecord *r, const char *workload, gpointer store, GError **error)
{
    return res_store_hists(store, r, workload, error);
}

static ResPage *
page_new(ResStore *store, const Side *subject, const Side *against, const char *const *allow,
         GError **error)
{
    g_autoptr(GError) inner = NULL;
    g_autoptr(ResCalibration) calibration = lab_calibration_load(res_store_root(store), &inner);
    ResCompareOptions options = res_compare_defaults;

    if (inner) {
        g_propagate_error(error, g_steal_pointer(&inner));
        return NULL;
    }
    options.allow = allow;
    options.calibration = calibration;
    options.hists = load_hists;
    options.hists_data = store;
    ResPage *page = res_page_new(subject->shown, against->shown, &options, LAB_VERSION);
    page->retried = g_ptr_array_ref(subject->verdict->retried);
    page->sentence = lab_verdict_sentence(subject->verdict);
    page->exit_code = lab_verdict_exit_code(subject->verdict);
    add_claims(page, subject->verdict);
    return page;
}

/* To a device or a pipe, which must not be replaced by a file. */
static gboolean
write_stream(FILE *stream, const char *name, const char *content, GError **error)
{
    gboolean good = fputs(content, stream) != EOF && fflush(stream) == 0;

    if (!good)
        g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), "cannot write %s: %s",
                    name, g_strerror(errno));
    return good;
}

/* All of it or nothing: a reader, or a full disk, never sees half a report. */
static gboolean
write_file(const char *path, const char *content, GError **error)
{
    g_autofree char *target = realpath(path, NULL); /* a link stays one */
    struct stat st;

    if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
        FILE *stream = fopen(path, "we");
        if (!stream) {
            g_set_error(error, G_IO_ERROR, (int)g_io_error_from_errno(errno), "cannot write %s: %s",
                        path, g_strerror(errno));
            return FALSE;
        }
        gboolean good = write_stream(stream, path, content, error);
        return !fclose(stream) && good;
    }
    return g_file_set_contents_full(target ? target : path, content, (gssize)strlen(content),
                                    G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                    0666, error);
}

static int
find_format(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
        if (g_str_equal(formats[i].name, name))
            return (int)i;
    }
    return -1;
}

int
lab_cmd_report(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL, *format = NULL, *origin = NULL, *output = NULL, *allow = NULL;
    int code = 0;
    const GOptionEntry entries[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &format, "One of " FORMAT_NAMES " (default: text)",
         "FORMAT"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Write to FILE, all at once, instead of printing", "FILE"},
        {"allow-different", 0, 0, G_OPTION_ARG_STRING, &allow,
         "With AGAINST: entries of the environment that may differ, as for compare", "KEY,..."},
        {"origin", 0, 0, G_OPTION_ARG_STRING, &origin,
         "For kcidb: the name of the submitting system (default: " ORIGIN ")", "NAME"},
        {NULL},
    };

    if (!lab_command_parse("report", entries, 1, 2, &argc, &argv, &state, &code))
        return code;
    int chosen = find_format(format ? format : "text");
    if (chosen < 0) {
        g_autofree char *shown = g_utf8_make_valid(format, -1);
        g_set_error(&error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "--format %s: it is one of " FORMAT_NAMES, shown);
        return lab_command_fail("report", error);
    }
    if (origin && !res_export_origin_valid(origin)) {
        g_set_error(&error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "--origin: KCIDB takes lower-case letters, digits and underscores");
        return lab_command_fail("report", error);
    }

    g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
    g_auto(GStrv) allowed = g_strsplit(allow ? allow : "", ",", -1);
    g_auto(Side) subject = {0}, against = {0};
    g_autoptr(ResStore) store = res_store_open(root, &error);
    if (!store || !side_load(&subject, store, argv[1], NULL, &error) ||
        (argc > 2 && !side_load(&against, store, argv[2], subject.records, &error)))
        return lab_command_fail("report", error);

    g_autoptr(ResPage) page =
        page_new(store, &subject, &against, (const char *const *)allowed, &error);
    if (!page)
        return lab_command_fail("report", error);
    if (formats[chosen].evidence)
        res_page_load(page, store);
    const Report report = {page, subject.verdict, origin ? origin : ORIGIN};
    g_autofree char *content = formats[chosen].write(&report, &error);
    if (!content || !(output ? write_file(output, content, &error)
                             : write_stream(stdout, "the report", content, &error)))
        return lab_command_fail("report", error);
    return LAB_EXIT_HELD;
}
