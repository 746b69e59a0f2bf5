/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lab/text.h"

#define REDRAW_MS 500

struct LabProgress {
    gboolean quiet, terminal, drawn;
    LabSuiteState state;
    GHashTable *now;  /* LabRun * -> char *: what it is doing */
    GPtrArray *order; /* LabRun *, in order of their start */
    char *preparing;
    guint timer;
};

static void
draw(LabProgress *p)
{
    struct winsize size;
    GString *line = g_string_new(NULL);
    double elapsed = p->state.started_us ? (g_get_monotonic_time() - p->state.started_us) / 1e6 : 0;
    g_autofree char *elapsed_text = lab_duration(elapsed);

    g_string_append_printf(line, "[%u/%u done, %s", p->state.finished, p->state.total,
                           elapsed_text);
    if (p->state.expected_s >= 0) {
        g_autofree char *left = lab_duration(MAX(p->state.expected_s - elapsed, 0));
        g_string_append_printf(line, ", about %s left", left);
    }
    g_string_append(line, "]");
    if (p->preparing)
        g_string_append_printf(line, " preparing %s", p->preparing);
    for (guint i = 0; i < p->order->len; i++)
        g_string_append_printf(line, "%s %s", i ? " |" : "",
                               (char *)g_hash_table_lookup(p->now, p->order->pdata[i]));

    gsize width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col - 1 : 79;
    if (line->len > width)
        g_string_truncate(line, width);
    fprintf(stderr, "\r\033[K%s", line->str);
    fflush(stderr);
    p->drawn = TRUE;
    g_string_free(line, TRUE);
}

static gboolean
on_timer(gpointer data)
{
    draw(data);
    return G_SOURCE_CONTINUE;
}

LabProgress *
lab_progress_new(gboolean quiet)
{
    LabProgress *p = g_new0(LabProgress, 1);

    p->quiet = quiet;
    p->terminal = isatty(STDERR_FILENO) && g_strcmp0(g_getenv("TERM"), "dumb") != 0;
    p->state.expected_s = -1;
    p->now = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    p->order = g_ptr_array_new();
    if (p->terminal && !quiet)
        p->timer = g_timeout_add(REDRAW_MS, on_timer, p);
    return p;
}

void
lab_progress_clear(LabProgress *p)
{
    if (!p->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->drawn = FALSE;
}

void
lab_progress_free(LabProgress *p)
{
    if (!p)
        return;
    if (p->timer)
        g_source_remove(p->timer);
    lab_progress_clear(p);
    g_hash_table_unref(p->now);
    g_ptr_array_unref(p->order);
    g_free(p->preparing);
    g_free(p);
}

static G_GNUC_PRINTF(2, 3) void say(LabProgress *p, const char *format, ...)
{
    va_list args;

    if (p->quiet)
        return;
    lab_progress_clear(p);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

static void
on_preparing(const char *kernel, gpointer data)
{
    LabProgress *p = data;

    g_free(p->preparing);
    p->preparing = g_strdup_printf("the image for kernel %s", kernel);
    if (!p->terminal)
        say(p, "preparing %s\n", p->preparing);
}

static char *
run_label(const LabRun *run)
{
    const LabCell *cell = lab_run_cell(run);
    return *cell->name ? g_strdup_printf("%s boot %u", cell->name, lab_run_boot(run))
                       : g_strdup_printf("boot %u", lab_run_boot(run));
}

static void
on_step(const LabSuiteState *state, const LabRun *run, LabStep step, const char *what,
        gpointer data)
{
    LabProgress *p = data;
    g_autofree char *label = run_label(run);

    p->state = *state;
    g_clear_pointer(&p->preparing, g_free);
    if (step == LAB_STEP_START) {
        g_ptr_array_add(p->order, (gpointer)run);
        g_hash_table_insert(p->now, (gpointer)run, g_strdup(label));
        if (!p->terminal)
            say(p, "run %u of %u: %s\n", state->finished + p->order->len, state->total, label);
    }
    if (step == LAB_STEP_DONE) {
        g_ptr_array_remove(p->order, (gpointer)run);
        g_hash_table_remove(p->now, run);
        return;
    }
    g_hash_table_insert(p->now, (gpointer)run,
                        g_strdup_printf("%s: %s%s%s", label, lab_step_name(step), what ? " " : "",
                                        what ? what : ""));
    if (p->terminal && !p->quiet)
        draw(p);
}

static void
on_recorded(const LabSuiteState *state, const LabRun *run, const ResRecord *record, gpointer data)
{
    LabProgress *p = data;
    g_autofree char *label = run_label(run);
    g_autofree char *message = lab_printable(record->message);
    double seconds = (record->ended_us - record->started_us) / 1e6;

    p->state = *state;
    if (record->outcome != RES_OUTCOME_DONE)
        say(p, "%s: %s%s%s after %.1f s: %s\n", label, res_outcome_name(record->outcome),
            *record->detail ? " " : "", record->detail, seconds, message);
    else if (!p->terminal)
        say(p, "%s: done in %.1f s (%u of %u)\n", label, seconds, state->finished, state->total);
}

static void
on_skipped(const LabSuiteState *state, const LabCell *cell, const char *reason, gpointer data)
{
    LabProgress *p = data;

    p->state = *state;
    say(p, "skipped %s: %s\n", *cell->name ? cell->name : "all runs", reason);
}

const LabSuiteEvents lab_progress_events = {
    .preparing = on_preparing,
    .step = on_step,
    .recorded = on_recorded,
    .skipped = on_skipped,
};
