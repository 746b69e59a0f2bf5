/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <unistd.h>

#include "lab/bundle.h"
#include "lab/command.h"
#include "lab/interrupt.h"
#include "lab/platform.h"
#include "lab/progress.h"
#include "lab/suite.h"
#include "lab/verdict.h"

typedef struct {
    char *state, *uri, *bundle;
    char **settings;
    gboolean quiet, json, all;
} Options;

static void
options_clear(Options *o)
{
    g_free(o->state);
    g_free(o->uri);
    g_free(o->bundle);
    g_strfreev(o->settings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static void
cancel(gpointer suite)
{
    lab_suite_cancel(suite);
}

static void
print_warnings(const LabProfile *profile, LabSession *session)
{
    const GPtrArray *warnings = lab_profile_warnings(profile);

    for (guint i = 0; i < warnings->len; i++)
        fprintf(stderr, "warning: %s\n", (char *)warnings->pdata[i]);
    const GPtrArray *reaped = lab_session_reaped(session);
    for (guint i = 0; i < reaped->len; i++)
        fprintf(stderr, "note: %s\n", (char *)reaped->pdata[i]);
}

static int
print_verdict(const LabSuite *suite, const Options *options, GError **error)
{
    const GPtrArray *records = lab_suite_records(suite);

    if (records->len == 0)
        return lab_suite_total(suite) == 0 ? LAB_EXIT_SKIPPED : LAB_EXIT_CANNOT;
    g_autoptr(LabVerdict) verdict = lab_verdict_new(records);
    g_autofree char *text = options->json
                                ? lab_verdict_json(verdict, error)
                                : lab_verdict_text(verdict, options->all, isatty(STDOUT_FILENO));
    if (!text)
        return LAB_EXIT_CANNOT;
    fputs(text, stdout);
    fflush(stdout);
    return lab_verdict_exit_code(verdict);
}

static gboolean
export_runs(LabSession *session, const LabSuite *suite, const char *path, GError **error)
{
    g_autofree char *text =
        lab_bundle_write(lab_session_store(session), lab_suite_records(suite), error);

    return text &&
           g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, error);
}

static int
execute(LabSession *session, const LabProfile *profile, const Options *options)
{
    g_autoptr(GError) error = NULL, print_error = NULL;
    LabProgress *progress = lab_progress_new(options->quiet);
    g_autoptr(LabSuite) suite = lab_suite_new(session, profile, &lab_progress_events, progress);
    LabInterrupt *interrupt = lab_interrupt_new("\nnohzlab run: ending the guests", cancel, suite);

    gboolean ok = lab_suite_execute(suite, &error);
    lab_progress_free(progress);
    int signal = lab_interrupt_end(interrupt);
    int code = print_verdict(suite, options, &print_error);
    if (!print_error && options->bundle)
        export_runs(session, suite, options->bundle, &print_error);
    if (print_error)
        return lab_command_fail("run", print_error);
    if (ok)
        return code;
    lab_command_fail("run", error);
    return signal ? 128 + signal : LAB_EXIT_CANNOT;
}

int
lab_cmd_run(int argc, char **argv)
{
    g_auto(Options) o = {0};
    g_autoptr(GError) error = NULL;
    int code = 0;
    const GOptionEntry entries[] = {
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.settings,
         "Set a key of the profile, or a whole matrix axis (matrix.AXIS)", "SECTION.KEY=VALUE"},
        {"connect", 'c', 0, G_OPTION_ARG_STRING, &o.uri,
         "Use this libvirt instead of the driver inside nohzlab", "URI"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &o.quiet, "No progress", NULL},
        {"all", 'a', 0, G_OPTION_ARG_NONE, &o.all,
         "Print every metric, not only those that expectations name", NULL},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &o.json, "Print JSON", NULL},
        {"export", 0, 0, G_OPTION_ARG_FILENAME, &o.bundle,
         "Write all runs, with their files, into one JSON file", "FILE"},
        {NULL},
    };

    if (!lab_command_parse("run", entries, 1, 1, &argc, &argv, &o.state, &code))
        return code;
    g_autoptr(LabProfile) profile =
        lab_profile_load(argv[1], (const char *const *)o.settings, &error);
    if (!profile)
        return lab_command_fail("run", error);
    LabSessionConfig config = {
        .state_dir = o.state, .uri = o.uri, .kvm = lab_platform_needs_kvm(profile)};
    g_autoptr(LabSession) session = lab_session_open(&config, &error);
    if (!session)
        return lab_command_fail("run", error);
    print_warnings(profile, session);
    return execute(session, profile, &o);
}
