/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/bisect.h"

#include <math.h>
#include <string.h>

#include "images/image.h"
#include "lab/bisect_journal.h"
#include "lab/suite.h"
#include "lab/text.h"

#define KEY_CHARACTERS 16

struct LabBisect {
    LabSession *session;
    LabBisectConfig config;
    unsigned int last; /* state */
    gboolean kernel_axis;
    guint64 seed;
    LabJournal *journal;
    ResBisect *decisions;
    GPtrArray *reasons; /* char *, by state: why it was skipped, or NULL */
    GPtrArray *hashes;  /* char *, by state: of its kernel, or NULL */
    char *unit;
    unsigned int boots;
    LabSuite *suite; /* that runs now */
    gboolean cancelled;
};

static const LabSeriesState *
state_of(const LabBisect *b, unsigned int state)
{
    return g_ptr_array_index(b->config.series, state);
}

static void G_GNUC_PRINTF(2, 3) tell(const LabBisect *b, const char *format, ...)
{
    va_list args;

    if (!b->config.tell)
        return;
    va_start(args, format);
    g_autofree char *line = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *shown = lab_printable(line);
    b->config.tell(shown, b->config.data);
}

/* --- the profile, with the kernel of a state --- */

/* KERNEL NULL: as it stands. */
static LabProfile *
load(const LabBisect *b, const char *kernel, unsigned int boot, GError **error)
{
    g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(g_free);

    for (const char *const *s = b->config.settings; s && *s; s++)
        g_ptr_array_add(settings, g_strdup(*s));
    if (kernel) {
        g_ptr_array_add(
            settings, g_strdup_printf("%s.kernel=%s", b->kernel_axis ? "matrix" : "main", kernel));
        g_ptr_array_add(settings, g_strdup("main.boots=1"));
        g_ptr_array_add(settings, g_strdup_printf("guest.seed=%" G_GUINT64_FORMAT, b->seed + boot));
    }
    g_ptr_array_add(settings, NULL);
    return lab_profile_load(b->config.profile, (const char *const *)settings->pdata, error);
}

static gboolean
check_cells(const LabProfile *profile, GError **error)
{
    const GPtrArray *cells = lab_profile_cells(profile);

    if (cells->len == 1)
        return TRUE;
    const LabCell *first = g_ptr_array_index(cells, 0);
    g_autoptr(GString) axes = g_string_new(NULL);
    for (guint i = 0; i < first->axes->len; i++) {
        const LabSetting *a = g_ptr_array_index(first->axes, i);
        if (strcmp(a->key, "kernel") != 0)
            g_string_append_printf(axes, " --set 'matrix.%s=%s'", a->key, a->value);
    }
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "a bisection boots one cell, and this profile has %u for one kernel: pick one, as "
                "in%s",
                cells->len, axes->str);
    return FALSE;
}

/* What the profile is like with one kernel: its only cell, its seed. */
static gboolean
look_at_profile(LabBisect *b, char **sha256, GError **error)
{
    g_autoptr(LabProfile) as_it_is = load(b, NULL, 0, error);
    if (!as_it_is)
        return FALSE;
    const LabCell *cell = g_ptr_array_index(lab_profile_cells(as_it_is), 0);
    b->seed = cell->params->seed;
    for (guint i = 0; i < cell->axes->len; i++)
        b->kernel_axis =
            b->kernel_axis ||
            strcmp(((LabSetting *)g_ptr_array_index(cell->axes, i))->key, "kernel") == 0;
    g_autoptr(LabProfile) one = load(b, state_of(b, 0)->kernel, 0, error);
    if (!one || !check_cells(one, error))
        return FALSE;
    *sha256 = g_strdup(lab_profile_sha256(one));
    return TRUE;
}

/* --- the journal --- */

/* All that decides what a boot gives and what is asked for. */
static char *
journal_key(const LabBisect *b, const char *profile_sha256)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    const ResBisectOptions *o = &b->config.options;
    g_autofree char *head =
        g_strdup_printf("%s\n%s\n%u %u %.17g %.17g\n", profile_sha256, b->config.metric,
                        o->end_boots, o->max_boots, o->confidence, o->relevant);

    g_checksum_update(sum, (const guchar *)head, -1);
    for (guint i = 0; i < b->config.series->len; i++) {
        g_checksum_update(sum, (const guchar *)state_of(b, i)->kernel, -1);
        g_checksum_update(sum, (const guchar *)"\n", 1);
    }
    return g_strndup(g_checksum_get_string(sum), KEY_CHARACTERS);
}

static void
keep(GPtrArray *texts, unsigned int state, const char *text)
{
    g_free(texts->pdata[state]);
    texts->pdata[state] = g_strdup(text);
}

/* A kernel that is not the one of the earlier boots: its figures don't belong together. */
static gboolean
same_kernel(const LabBisect *b, unsigned int state, const char *sha256, GError **error)
{
    if (g_strcmp0(b->hashes->pdata[state], sha256) == 0 || !b->hashes->pdata[state])
        return TRUE;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                "%s has changed since its earlier boots: --again starts anew",
                state_of(b, state)->kernel);
    return FALSE;
}

static gboolean
take_in(LabBisect *b, GError **error)
{
    const GPtrArray *entries = lab_journal_entries(b->journal);

    for (guint i = 0; i < entries->len; i++) {
        const LabJournalEntry *e = g_ptr_array_index(entries, i);
        if (e->skip) {
            res_bisect_skip(b->decisions, e->state);
            keep(b->reasons, e->state, e->reason);
            continue;
        }
        if (!same_kernel(b, e->state, e->sha256, error))
            return FALSE;
        res_bisect_value(b->decisions, e->state, e->value);
        keep(b->hashes, e->state, e->sha256);
        b->boots++;
    }
    if (entries->len)
        tell(b, "goes on where it stopped: %u boots, %u entries in %s", b->boots, entries->len,
             lab_journal_path(b->journal));
    return TRUE;
}

LabBisect *
lab_bisect_new(LabSession *session, const char *state_dir, const LabBisectConfig *config,
               GError **error)
{
    g_autoptr(LabBisect) b = g_new0(LabBisect, 1);
    g_autofree char *sha256 = NULL;

    b->session = session;
    b->config = *config;
    b->last = config->series->len - 1;
    b->decisions = res_bisect_new(b->last, &config->options);
    b->reasons = g_ptr_array_new_with_free_func(g_free);
    b->hashes = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_set_size(b->reasons, (int)config->series->len);
    g_ptr_array_set_size(b->hashes, (int)config->series->len);
    b->unit = g_strdup("");
    if (!look_at_profile(b, &sha256, error))
        return NULL;
    g_autofree char *key = journal_key(b, sha256);
    b->journal = lab_journal_open(state_dir, key, b->last + 1, config->again, error);
    return b->journal && take_in(b, error) ? g_steal_pointer(&b) : NULL;
}

void
lab_bisect_free(LabBisect *b)
{
    if (!b)
        return;
    lab_journal_close(b->journal);
    res_bisect_free(b->decisions);
    g_ptr_array_unref(b->reasons);
    g_ptr_array_unref(b->hashes);
    g_free(b->unit);
    g_free(b);
}

/* --- one boot --- */

static gboolean
skip(LabBisect *b, unsigned int state, const char *why, GError **error)
{
    tell(b, "state %u (%s): skipped: %s", state, state_of(b, state)->step, why);
    res_bisect_skip(b->decisions, state);
    keep(b->reasons, state, why);
    return lab_journal_skip(b->journal, state, why, error);
}

static gboolean
take_value(LabBisect *b, unsigned int state, const ResRecord *record, GError **error)
{
    const ResMetric *m = res_record_metric(record, b->config.metric);
    const char *sha256 = g_hash_table_lookup(record->environment, "kernel.sha256");

    if (!m) {
        g_autoptr(GString) names = g_string_new(NULL);
        for (guint i = 0; i < record->metrics->len; i++)
            g_string_append_printf(names, "%s%s", i ? ", " : "",
                                   ((ResMetric *)record->metrics->pdata[i])->name);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "a boot gives no %s, but %s: name one with --metric", b->config.metric,
                    names->str);
        return FALSE;
    }
    sha256 = sha256 ? sha256 : "unknown";
    if (!same_kernel(b, state, sha256, error) ||
        !lab_journal_boot(b->journal, state, m->value, sha256, record->id, error))
        return FALSE;
    res_bisect_value(b->decisions, state, m->value);
    keep(b->hashes, state, sha256);
    g_free(b->unit);
    b->unit = g_strdup(m->unit);
    b->boots++;
    g_autofree char *figure = lab_figure(m->value);
    tell(b, "state %u of %u (%s): %s %s", state, b->last, state_of(b, state)->step, figure,
         m->unit);
    return TRUE;
}

static void
nothing_prepared(const char *kernel G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
}

static void
nothing_done(const LabSuiteState *s G_GNUC_UNUSED, const LabRun *run G_GNUC_UNUSED,
             LabStep step G_GNUC_UNUSED, const char *what G_GNUC_UNUSED,
             gpointer data G_GNUC_UNUSED)
{
}

static void
nothing_recorded(const LabSuiteState *s G_GNUC_UNUSED, const LabRun *run G_GNUC_UNUSED,
                 const ResRecord *record G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
}

static void
note_skipped(const LabSuiteState *s G_GNUC_UNUSED, const LabCell *cell G_GNUC_UNUSED,
             const char *reason, gpointer data)
{
    tell(data, "a precondition of the profile is not met: %s", reason);
}

static const LabSuiteEvents events = {nothing_prepared, nothing_done, nothing_recorded,
                                      note_skipped};

/* *RECORD: of a boot that gave figures (owned by SUITE), or NULL when STATE can't be had: *WHY. */
static gboolean
run_suite(LabBisect *b, LabSuite *suite, const ResRecord **record, char **why, GError **error)
{
    g_autoptr(GError) inner = NULL;

    b->suite = suite;
    gboolean ok = lab_suite_execute(suite, &inner);
    b->suite = NULL;
    const GPtrArray *records = lab_suite_records(suite);
    const ResRecord *last = records->len ? records->pdata[records->len - 1] : NULL;
    *record = NULL;
    if (!ok && !img_error_is_kernels(inner)) {
        g_propagate_error(error, g_steal_pointer(&inner));
        return FALSE;
    }
    if (ok && !last) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_FAILED, "nothing could be run");
        return FALSE;
    }
    if (ok && last->outcome == RES_OUTCOME_DONE)
        *record = last;
    else
        *why = ok ? g_strdup_printf("%s: %s", res_outcome_name(last->outcome), last->message)
                  : g_strdup(inner->message);
    return TRUE;
}

static gboolean
boot_once(LabBisect *b, unsigned int state, gboolean last_try, GError **error)
{
    unsigned int boot = res_bisect_state(b->decisions, state).n;
    g_autoptr(LabProfile) profile = load(b, state_of(b, state)->kernel, boot, error);
    const ResRecord *record;
    g_autofree char *why = NULL;

    if (!profile)
        return FALSE;
    g_autoptr(LabSuite) suite = lab_suite_new(b->session, profile, &events, b);
    if (!run_suite(b, suite, &record, &why, error))
        return FALSE;
    if (record)
        return take_value(b, state, record, error);
    if (last_try || lab_suite_records(suite)->len == 0) /* a build fails for good */
        return skip(b, state, why, error);
    tell(b, "state %u (%s): tried again: %s", state, state_of(b, state)->step, why);
    return boot_once(b, state, TRUE, error);
}

gboolean
lab_bisect_execute(LabBisect *b, GError **error)
{
    for (ResBisectNext next; (next = res_bisect_next(b->decisions)).kind == RES_BISECT_BOOT;)
        if (b->cancelled || !boot_once(b, next.state, FALSE, error)) {
            if (b->cancelled && error && !*error)
                g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
            return FALSE;
        }
    return TRUE;
}

void
lab_bisect_cancel(LabBisect *b)
{
    b->cancelled = TRUE;
    if (b->suite)
        lab_suite_cancel(b->suite);
}

/* --- what came of it --- */

LabBisectResult
lab_bisect_result(const LabBisect *b)
{
    LabBisectResult r = {.end = res_bisect_next(b->decisions),
                         .unit = b->unit,
                         .states = b->last + 1,
                         .boots = b->boots};

    for (unsigned int i = 0; i <= b->last; i++) {
        ResBisectState s = res_bisect_state(b->decisions, i);
        r.builds += s.n > 0 || s.skipped;
        r.skipped += s.skipped;
    }
    return r;
}

const ResBisect *
lab_bisect_decisions(const LabBisect *b)
{
    return b->decisions;
}

const char *
lab_bisect_why(const LabBisect *b, unsigned int state)
{
    return b->reasons->pdata[state];
}
