/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a bisection found, for people and as JSON. */
#include <math.h>

#include "lab/bisect.h"
#include "lab/json.h"
#include "lab/text.h"

static const char *
step_of(const LabBisectConfig *config, unsigned int state)
{
    return ((const LabSeriesState *)g_ptr_array_index(config->series, state))->step;
}

static char *
figure_text(const LabBisect *b, unsigned int state)
{
    ResBisectState s = res_bisect_state(lab_bisect_decisions(b), state);
    g_autofree char *mean = lab_figure(s.mean);
    g_autofree char *low = lab_figure(s.low), *high = lab_figure(s.high);

    if (g_str_equal(low, high))
        return g_steal_pointer(&mean);
    return g_strdup_printf("%s (%s to %s)", mean, low, high);
}

static void
append_states(GString *out, const LabBisect *b, const LabBisectConfig *config)
{
    for (unsigned int i = 0; i < config->series->len; i++) {
        ResBisectState s = res_bisect_state(lab_bisect_decisions(b), i);
        g_autofree char *step = lab_printable(step_of(config, i));
        if (s.n == 0 && !s.skipped)
            continue;
        g_autofree char *figure = s.n ? figure_text(b, i) : g_strdup("-");
        g_autofree char *why = lab_printable(lab_bisect_why(b, i) ? lab_bisect_why(b, i) : "");
        g_string_append_printf(out, "%4u  %-24s  %2u boot%s  %s%s%s%s\n", i, figure, s.n,
                               s.n == 1 ? " " : "s", step, s.skipped ? "  SKIPPED: " : "",
                               s.skipped ? why : "",
                               s.between ? "  (neither the good level nor the bad)" : "");
    }
    g_string_append_c(out, '\n');
}

static void
append_found(GString *out, const LabBisect *b, const LabBisectConfig *config, unsigned int bad)
{
    const ResBisect *d = lab_bisect_decisions(b);
    unsigned int good = bad - 1;
    while (good > 0 && res_bisect_state(d, good).n == 0)
        good--;
    ResBisectState before = res_bisect_state(d, good), after = res_bisect_state(d, bad);
    g_autofree char *a = figure_text(b, good), *c = figure_text(b, bad);
    g_autofree char *step = lab_printable(step_of(config, bad));

    g_string_append_printf(out, "First bad: step %u, %s\n%s: %s before, %s with it", bad, step,
                           config->metric, a, c);
    if (before.mean != 0)
        g_string_append_printf(out, " (%+.2f%%)", 100 * (after.mean / before.mean - 1));
    g_string_append_c(out, '\n');
}

static void
append_end(GString *out, const LabBisect *b, const LabBisectConfig *config)
{
    LabBisectResult r = lab_bisect_result(b);
    g_autofree char *good = figure_text(b, 0), *bad = figure_text(b, r.states - 1);

    switch (r.end.kind) {
    case RES_BISECT_FOUND:
        append_found(out, b, config, r.end.state);
        break;
    case RES_BISECT_RANGE:
        g_string_append_printf(out,
                               "One of the steps %u to %u is the first bad one: the states between "
                               "can't be had, or not be told:\n",
                               r.end.first, r.end.last);
        for (unsigned int i = r.end.first; i <= r.end.last; i++) {
            g_autofree char *step = lab_printable(step_of(config, i));
            g_string_append_printf(out, "  %u  %s\n", i, step);
        }
        break;
    case RES_BISECT_ALIKE:
        g_string_append_printf(out,
                               "Good and bad can't be told apart by %s: %s and %s. Raise "
                               "--max-boots, or name another metric.\n",
                               config->metric, good, bad);
        break;
    case RES_BISECT_NO_END:
        g_string_append_printf(out, "The %s kernel can't be had, so there is nothing to go by.\n",
                               r.end.state ? "bad" : "good");
        break;
    case RES_BISECT_BOOT:
        g_string_append(out, "Not done: the same command goes on from here.\n");
        break;
    }
    g_string_append_printf(out, "%u kernels of %u, %u boots, %u skipped\n", r.builds, r.states,
                           r.boots, r.skipped);
}

char *
lab_bisect_text(const LabBisect *b, const LabBisectConfig *config)
{
    GString *out = g_string_new(NULL);

    g_string_append_printf(out, "%s by kernel, good to bad\n", config->metric);
    append_states(out, b, config);
    append_end(out, b, config);
    return g_string_free(out, FALSE);
}

static void
json_state(JsonBuilder *j, const LabBisect *b, const LabBisectConfig *config, unsigned int state)
{
    ResBisectState s = res_bisect_state(lab_bisect_decisions(b), state);
    const LabSeriesState *named = g_ptr_array_index(config->series, state);

    json_builder_begin_object(j);
    lab_json_int(j, "state", state);
    lab_json_string(j, "kernel", named->kernel);
    lab_json_string(j, "step", named->step);
    lab_json_int(j, "boots", s.n);
    lab_json_number(j, "mean", s.n ? s.mean : NAN);
    lab_json_number(j, "low", s.n ? s.low : NAN);
    lab_json_number(j, "high", s.n ? s.high : NAN);
    lab_json_string(j, "skipped", lab_bisect_why(b, state));
    json_builder_end_object(j);
}

char *
lab_bisect_json(const LabBisect *b, const LabBisectConfig *config)
{
    static const char *const kinds[] = {"unfinished", "found", "range", "alike", "no end"};
    LabBisectResult r = lab_bisect_result(b);
    g_autoptr(JsonBuilder) j = json_builder_new();

    json_builder_begin_object(j);
    lab_json_string(j, "result", kinds[r.end.kind]);
    lab_json_string(j, "metric", config->metric);
    lab_json_string(j, "unit", *r.unit ? r.unit : NULL);
    lab_json_int(j, "first", r.end.first);
    lab_json_int(j, "last", r.end.last);
    lab_json_int(j, "kernels", r.builds);
    lab_json_int(j, "boots", r.boots);
    json_builder_set_member_name(j, "states");
    json_builder_begin_array(j);
    for (unsigned int i = 0; i < r.states; i++)
        json_state(j, b, config, i);
    json_builder_end_array(j);
    json_builder_end_object(j);
    return lab_json_text(j);
}
