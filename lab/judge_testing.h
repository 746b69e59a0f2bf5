/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What the tests of the judge share: a profile, a report written by hand, and what is made of them.
 */
#include <string.h>

#include "lab/judge.h"
#include "lab/profile_testing.h"

/* A report and what the judge makes of it. */
typedef struct {
    LabProfile *profile;
    LabMachine *machine;
    GString *lines; /* of the report, its frame left out */
    ResReport *report;
    ResRecord *record;
    GHashTable *files;
    gboolean good;
} Case;

static inline Case *
case_new(const char *profile)
{
    Case *c = g_new0(Case, 1);
    g_autoptr(GError) error = NULL;

    c->profile = parse_ok(profile, NULL);
    const LabParams *params = cell(c->profile, 0)->params;
    c->machine = lab_machine_new(params, &error);
    g_assert_no_error(error);
    c->lines = g_string_new("nohzlab-report 1\n");
    c->record = res_record_new();
    c->record->fidelity = lab_fidelity(params->platform, params->clock);
    c->files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    return c;
}

static inline void
case_free(Case *c)
{
    lab_machine_free(c->machine);
    lab_profile_free(c->profile);
    g_string_free(c->lines, TRUE);
    g_clear_pointer(&c->report, res_report_free);
    res_record_free(c->record);
    g_hash_table_unref(c->files);
    g_free(c);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Case, case_free)

static inline void
say(Case *c, const char *lines)
{
    g_string_append(c->lines, lines);
}

static inline void
judge(Case *c)
{
    g_autoptr(GError) error = NULL;
    guint n = 0;

    for (const char *p = c->lines->str; *p; p++)
        n += *p == '\n';
    g_string_append_printf(c->lines, "end %u\n", n);
    c->report = res_report_new(NULL, NULL);
    res_report_feed(c->report, c->lines->str, c->lines->len, &error);
    g_assert_no_error(error);
    g_assert_true(res_report_check_complete(c->report, &error));
    c->good = lab_judge(cell(c->profile, 0)->params, c->machine, c->report, c->record, c->files);
}

static inline void
assert_good(const Case *c)
{
    g_assert_cmpstr(c->record->message ? c->record->message : "", ==, "");
    g_assert_true(c->good);
    g_assert_cmpint(c->record->outcome, ==, RES_OUTCOME_DONE);
}

/* WORDS: all of them, separated by `|`, must be in the message. */
static inline void
assert_failed(const Case *c, ResOutcome outcome, const char *detail, const char *words)
{
    g_auto(GStrv) each = g_strsplit(words, "|", -1);

    g_assert_false(c->good);
    g_test_message("%s: %s: %s", res_outcome_name(c->record->outcome), c->record->detail,
                   c->record->message);
    g_assert_cmpstr(res_outcome_name(c->record->outcome), ==, res_outcome_name(outcome));
    g_assert_cmpstr(c->record->detail, ==, detail);
    for (char **word = each; *word; word++)
        g_assert_nonnull(strstr(c->record->message, *word));
    /* Only what is done carries figures. */
    g_assert_cmpuint(c->record->metrics->len, ==, 0);
}

static inline const ResMetric *
metric(const Case *c, const char *name)
{
    const ResMetric *m = res_record_metric(c->record, name);
    g_assert_nonnull(m);
    return m;
}

static inline gboolean
noted(const Case *c, const char *words)
{
    for (guint i = 0; i < c->record->notes->len; i++)
        if (strstr(c->record->notes->pdata[i], words))
            return TRUE;
    return FALSE;
}

#define ICOUNT "[host]\nplatform = bare\nclock = icount\n"
#define WALL "[host]\nplatform = bare\nclock = wall\n"
#define METAL "[host]\nplatform = metal\nclock = wall\n"
#define PLAIN "[guest]\nvcpus = 2\n"

#define TSC "fact clocksource.current tsc\n"
#define PLAIN_FACTS TSC "fact cmdline quiet\nfact sysfs.nohz_full (null)\nfact sysfs.isolated %\n"
