/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/bisect.h"
#include "lab/command.h"
#include "lab/interrupt.h"
#include "lab/platform.h"
#include "lab/profile.h"
#include "lab/verdict.h"

typedef struct {
    char *state, *uri, *good, *bad, *series, *metric;
    char **settings;
    int end_boots, max_boots;
    gboolean quiet, json, again;
} Options;

static void
options_clear(Options *o)
{
    g_free(o->state);
    g_free(o->uri);
    g_free(o->good);
    g_free(o->bad);
    g_free(o->series);
    g_free(o->metric);
    g_strfreev(o->settings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static void
tell(const char *line, gpointer quiet)
{
    if (!*(gboolean *)quiet)
        fprintf(stderr, "%s\n", line);
}

static GPtrArray *
series_of(const Options *o, GError **error)
{
    if (o->series && !o->good && !o->bad)
        return lab_series_read(o->series, error);
    if (!o->series && o->good && o->bad)
        return lab_series_new(o->good, o->bad, error);
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        "which kernels? --good KERNEL and --bad KERNEL, or --series FILE");
    return NULL;
}

/* The first metric that an expectation of PROFILE names: WORKLOAD.NAME. g_free; NULL: none. */
static char *
first_metric(const LabProfile *profile)
{
    const GPtrArray *expectations = lab_profile_expectations(profile);
    const LabCell *cell = g_ptr_array_index(lab_profile_cells(profile), 0);
    g_autofree char *best = NULL;

    for (guint i = 0; i < expectations->len && !best; i++) {
        const char *text = ((LabExpectation *)g_ptr_array_index(expectations, i))->text;
        const char *nearest = NULL;
        for (guint k = 0; k < cell->params->workloads->len; k++) {
            const LabWorkload *w = g_ptr_array_index(cell->params->workloads, k);
            g_autofree char *prefix = g_strconcat(w->name, ".", NULL);
            const char *at = strstr(text, prefix);
            if (at && (!nearest || at < nearest))
                nearest = at;
        }
        if (nearest)
            best = g_strndup(nearest, strcspn(nearest, " (),*/<>=+"));
    }
    return g_steal_pointer(&best);
}

static void
cancel(gpointer bisect)
{
    lab_bisect_cancel(bisect);
}

static int
execute(LabSession *session, const char *state_dir, const LabBisectConfig *config, gboolean json)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LabBisect) bisect = lab_bisect_new(session, state_dir, config, &error);
    if (!bisect)
        return lab_command_fail("bisect", error);
    LabInterrupt *interrupt = lab_interrupt_new(NULL, cancel, bisect);
    gboolean ok = lab_bisect_execute(bisect, &error);
    int signal = lab_interrupt_end(interrupt);
    g_autofree char *text =
        json ? lab_bisect_json(bisect, config) : lab_bisect_text(bisect, config);
    fputs(text, stdout);
    fflush(stdout);
    if (!ok) {
        lab_command_fail("bisect", error);
        return signal ? 128 + signal : LAB_EXIT_CANNOT;
    }
    return lab_bisect_result(bisect).end.kind == RES_BISECT_FOUND ? LAB_EXIT_HELD
                                                                  : LAB_EXIT_NOT_HELD;
}

static gboolean
options_check(const Options *o, GError **error)
{
    if (o->end_boots >= 2 && o->max_boots >= o->end_boots && o->max_boots <= 1000)
        return TRUE;
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        "--boots is 2 or more, --max-boots not below it, and 1000 at most");
    return FALSE;
}

int
lab_cmd_bisect(int argc, char **argv)
{
    g_auto(Options) o = {.end_boots = (int)res_bisect_defaults.end_boots,
                         .max_boots = (int)res_bisect_defaults.max_boots};
    g_autoptr(GError) error = NULL;
    int code = 0;
    const GOptionEntry entries[] = {
        {"good", 0, 0, G_OPTION_ARG_STRING, &o.good, "The kernel whose figure is good", "KERNEL"},
        {"bad", 0, 0, G_OPTION_ARG_STRING, &o.bad,
         "The kernel whose figure is bad: the good one with patches, or a later commit of its tree",
         "KERNEL"},
        {"series", 0, 0, G_OPTION_ARG_FILENAME, &o.series,
         "Instead: a file of kernels, one a line, from good to bad", "FILE"},
        {"metric", 'm', 0, G_OPTION_ARG_STRING, &o.metric,
         "The figure (left out: the first one that the profile's expectations name)",
         "WORKLOAD.NAME"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.settings,
         "Set a key of the profile, or a whole matrix axis (matrix.AXIS)", "SECTION.KEY=VALUE"},
        {"boots", 0, 0, G_OPTION_ARG_INT, &o.end_boots,
         "Boots of the good and the bad kernel, which tell the spread (3)", "N"},
        {"max-boots", 0, 0, G_OPTION_ARG_INT, &o.max_boots,
         "Boots of one kernel after which it can't be told (20)", "N"},
        {"again", 0, 0, G_OPTION_ARG_NONE, &o.again, "Forget what an earlier start has found",
         NULL},
        {"connect", 'c', 0, G_OPTION_ARG_STRING, &o.uri,
         "Use this libvirt instead of the driver inside nohzlab", "URI"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &o.quiet, "No progress", NULL},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &o.json, "Print JSON", NULL},
        {NULL},
    };

    if (!lab_command_parse("bisect", entries, 1, 1, &argc, &argv, &o.state, &code))
        return code;
    g_autoptr(GPtrArray) series = options_check(&o, &error) ? series_of(&o, &error) : NULL;
    g_autoptr(LabProfile) profile =
        series ? lab_profile_load(argv[1], (const char *const *)o.settings, &error) : NULL;
    if (!profile)
        return lab_command_fail("bisect", error);
    g_autofree char *metric = o.metric ? g_strdup(o.metric) : first_metric(profile);
    if (!metric) {
        fprintf(stderr, "nohzlab bisect: the profile claims nothing: name a metric (--metric)\n");
        return LAB_EXIT_CANNOT;
    }
    LabSessionConfig session_config = {
        .state_dir = o.state, .uri = o.uri, .kvm = lab_platform_needs_kvm(profile)};
    g_autoptr(LabSession) session = lab_session_open(&session_config, &error);
    if (!session)
        return lab_command_fail("bisect", error);
    LabBisectConfig config = {
        .profile = argv[1],
        .settings = (const char *const *)o.settings,
        .series = series,
        .metric = metric,
        .options = res_bisect_defaults,
        .again = o.again,
        .tell = tell,
        .data = &o.quiet,
    };
    config.options.end_boots = (unsigned int)o.end_boots;
    config.options.max_boots = (unsigned int)o.max_boots;
    return execute(session, res_store_root(lab_session_store(session)), &config, o.json);
}
