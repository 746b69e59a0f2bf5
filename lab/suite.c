/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/suite.h"

#include "host/error.h"
#include "images/image.h"
#include "lab/box_image.h"
#include "lab/checks.h"
#include "lab/hot.h"
#include "lab/exit_cost.h"
#include "lab/judge.h"
#include "lab/platform.h"
#include "lab/prepare.h"

#define HISTORY_RUNS 20

#define TRIES 3 /* of a boot whose emulator died or stalled */

typedef struct {
    const LabCell *cell;
    unsigned int boot;
} Planned;

struct LabSuite {
    LabSession *session;
    const LabProfile *profile;
    LabSuiteEvents events;
    gpointer data;
    char *set;
    GMainLoop *loop;
    GHashTable *images; /* kernel spec -> LabImage * */
    GArray *planned;    /* Planned, in order */
    guint next;
    GPtrArray *active;   /* LabRun * */
    GPtrArray *finished; /* LabRun *: they own the records */
    GPtrArray *records;
    unsigned int jobs;
    gboolean cancelled, stop;
    GPtrArray *left_out; /* char *: kernels that can't be had, and why */
    GError *error;       /* the first one that stops everything */
    LabSuiteState state;
    double run_seconds; /* of all done runs */
};

LabSuite *
lab_suite_new(LabSession *session, const LabProfile *profile, const LabSuiteEvents *events,
              gpointer data)
{
    LabSuite *s = g_new0(LabSuite, 1);

    s->session = session;
    s->profile = profile;
    s->events = *events;
    s->data = data;
    s->set = res_store_new_id(lab_session_store(session));
    s->loop = g_main_loop_new(NULL, FALSE);
    s->images =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)lab_image_free);
    s->planned = g_array_new(FALSE, FALSE, sizeof(Planned));
    s->active = g_ptr_array_new();
    s->finished = g_ptr_array_new_with_free_func((GDestroyNotify)lab_run_free);
    s->records = g_ptr_array_new();
    s->left_out = g_ptr_array_new_with_free_func(g_free);
    s->state.expected_s = -1;
    return s;
}

void
lab_suite_free(LabSuite *s)
{
    if (!s)
        return;
    g_ptr_array_unref(s->records);
    g_ptr_array_unref(s->left_out);
    g_ptr_array_unref(s->finished);
    g_ptr_array_unref(s->active);
    g_array_unref(s->planned);
    g_hash_table_unref(s->images);
    g_main_loop_unref(s->loop);
    g_clear_error(&s->error);
    g_free(s->set);
    g_free(s);
}

/* --- what is to be run --- */

/* Those of a box are looked at by the nohzlab in it, whose machine is the lab host they mean. */
static gboolean
checks_met(const LabSuite *s, const LabCell *cell, char **unmet, GError **error)
{
    if (cell->params->platform == LAB_PLATFORM_BOX)
        return TRUE;
    return lab_checks_met(cell->params, s->session, unmet, error);
}

/* Every cell's first boot, then every cell's second, ... */
static gboolean
plan(LabSuite *s, GError **error)
{
    const GPtrArray *cells = lab_profile_cells(s->profile);
    g_autofree gboolean *skip = g_new0(gboolean, cells->len);
    guint64 most_boots = 0;

    for (guint i = 0; i < cells->len; i++) {
        const LabCell *cell = cells->pdata[i];
        g_autofree char *unmet = NULL;
        lab_platform_settle(cell->params, s->session);
        if (!lab_platform_confine(cell->params, error) ||
            !lab_platform_check(cell->params, s->session, error) ||
            !lab_hot_lay_out(cell->params, lab_session_run_dir(s->session), error) ||
            !checks_met(s, cell, &unmet, error))
            return FALSE;
        skip[i] = unmet != NULL;
        if (unmet)
            s->events.skipped(&s->state, cell, unmet, s->data);
        most_boots = MAX(most_boots, cell->params->boots);
    }
    for (guint64 boot = 0; boot < most_boots; boot++) {
        for (guint i = 0; i < cells->len; i++) {
            Planned planned = {cells->pdata[i], boot};
            if (!skip[i] && boot < planned.cell->params->boots)
                g_array_append_val(s->planned, planned);
        }
    }
    s->state.total = s->planned->len;
    return TRUE;
}

/*
 * Guests whose time counts instructions don't disturb each other's figures, so one a CPU may run.
 * Where the clock is the wall, a second guest would be a load beside the measured one.
 */
static unsigned int
choose_jobs(const LabSuite *s)
{
    unsigned int jobs = G_MAXUINT;

    for (guint i = 0; i < s->planned->len; i++) {
        const LabParams *p = g_array_index(s->planned, Planned, i).cell->params;
        unsigned int fit = p->clock == LAB_CLOCK_ICOUNT ? g_get_num_processors() : 1;
        jobs = MIN(jobs, p->jobs ? MIN(p->jobs, fit) : fit);
    }
    return jobs;
}

/* --- images --- */

static void
prepare_in_thread(GTask *task, gpointer source G_GNUC_UNUSED, gpointer data,
                  GCancellable *cancel G_GNUC_UNUSED)
{
    LabSuite *s = data;
    const char *kernel = g_object_get_data(G_OBJECT(task), "kernel");
    const GPtrArray *programs = g_object_get_data(G_OBJECT(task), "programs");
    GError *error = NULL;
    gboolean box = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(task), "box"));
    const char *flat = g_object_get_data(G_OBJECT(task), "flat");
    const char *run_dir = lab_session_run_dir(s->session);
    const char *cache_dir = lab_session_cache_dir(s->session);
    LabImage *image = box    ? lab_box_image_prepare(kernel, programs, cache_dir, run_dir, &error)
                      : flat ? lab_flat_image_prepare(flat, run_dir, &error)
                             : lab_image_prepare(kernel, programs, cache_dir, run_dir, &error);

    if (image)
        g_task_return_pointer(task, image, (GDestroyNotify)lab_image_free);
    else
        g_task_return_error(task, error);
}

/* A kernel as a guest's and the same as a box's are two images, and a flat guest has none.
 * Interned. */
static const char *
image_key(const LabParams *p)
{
    const char *flat = lab_params_flat(p);
    gboolean box = p->platform == LAB_PLATFORM_BOX;
    g_autofree char *key = !box && flat ? g_strconcat("flat ", flat, NULL)
                                        : g_strconcat(box ? "box " : "", p->kernel, NULL);
    return g_intern_string(key);
}

static void start_more(LabSuite *s);
static void prepare_next(LabSuite *s);

static void
give_up(LabSuite *s, GError *error)
{
    s->stop = TRUE;
    if (!s->error)
        s->error = error;
    else
        g_error_free(error);
}

/* Whether what ERROR says is the kernel's own fault, and there are others to go on with. */
static gboolean
others_left(const LabSuite *s, const char *key, const GError *error)
{
    if (!img_error_is_kernels(error))
        return FALSE;
    for (guint i = 0; i < s->planned->len; i++)
        if (image_key(g_array_index(s->planned, Planned, i).cell->params) != key)
            return TRUE;
    return FALSE;
}

/* None of its cells is run: each is told of, once. */
static void
skip_kernel(LabSuite *s, const char *key, GError *error)
{
    g_autoptr(GError) owned = error;

    g_ptr_array_add(s->left_out, g_strdup_printf("a kernel was left out: %s", owned->message));
    for (guint i = 0; i < s->planned->len;) {
        const Planned planned = g_array_index(s->planned, Planned, i);
        if (image_key(planned.cell->params) != key) {
            i++;
            continue;
        }
        if (planned.boot == 0)
            s->events.skipped(&s->state, planned.cell, owned->message, s->data);
        g_array_remove_index(s->planned, i);
        s->state.total--;
    }
}

static void
on_prepared(GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
    LabSuite *s = data;
    GError *error = NULL;
    LabImage *image = g_task_propagate_pointer(G_TASK(result), &error);

    if (image)
        g_hash_table_insert(s->images, g_strdup(g_object_get_data(G_OBJECT(result), "key")), image);
    else if (others_left(s, g_object_get_data(G_OBJECT(result), "key"), error))
        skip_kernel(s, g_object_get_data(G_OBJECT(result), "key"), error);
    else
        give_up(s, error);
    prepare_next(s);
}

/* The programs of this machine that any workload of the profile runs: one image serves all cells of
 * a kernel. */
static GPtrArray *
collect_programs(const LabSuite *s)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *programs = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < s->planned->len; i++) {
        const GPtrArray *workloads = g_array_index(s->planned, Planned, i).cell->params->workloads;
        for (guint k = 0; k < workloads->len; k++) {
            const LabWorkload *w = workloads->pdata[k];
            g_auto(GStrv) words = NULL;
            if (!g_str_equal(w->type, "command") ||
                !g_shell_parse_argv(w->command, NULL, &words, NULL) ||
                g_hash_table_contains(seen, words[0]))
                continue;
            char *path = g_strdup(words[0]);
            g_ptr_array_add(programs, path);
            g_hash_table_add(seen, path);
        }
    }
    return programs;
}

static void
prepare_next(LabSuite *s)
{
    const LabParams *missing = NULL;

    for (guint i = 0; i < s->planned->len && !s->stop && !s->cancelled && !missing; i++) {
        const LabParams *p = g_array_index(s->planned, Planned, i).cell->params;
        if (!g_hash_table_contains(s->images, image_key(p)))
            missing = p;
    }
    if (!missing) {
        start_more(s);
        return;
    }
    s->events.preparing(missing->kernel, s->data);
    g_autoptr(GTask) task = g_task_new(NULL, NULL, on_prepared, s);
    g_object_set_data(G_OBJECT(task), "key", (gpointer)image_key(missing));
    g_object_set_data(G_OBJECT(task), "kernel", missing->kernel);
    g_object_set_data(G_OBJECT(task), "flat", (gpointer)lab_params_flat(missing));
    g_object_set_data(G_OBJECT(task), "box",
                      GINT_TO_POINTER(missing->platform == LAB_PLATFORM_BOX));
    g_object_set_data_full(G_OBJECT(task), "programs", collect_programs(s),
                           (GDestroyNotify)g_ptr_array_unref);
    g_task_set_task_data(task, s, NULL);
    g_task_run_in_thread(task, prepare_in_thread);
}

/* --- runs --- */

static void
on_step(LabRun *run, LabStep step, const char *what, gpointer data)
{
    LabSuite *s = data;
    s->events.step(&s->state, run, step, what, s->data);
}

/* MEAN_S a run, so many side by side, those that run now half done. */
static void
expect_seconds(LabSuite *s, double mean_s)
{
    double left = s->state.total - s->state.finished - s->active->len / 2.0;
    double elapsed = (g_get_monotonic_time() - s->state.started_us) / 1e6;

    s->state.expected_s = elapsed + mean_s * MAX(left, 0) / MAX(s->jobs, 1);
}

static void
update_expected(LabSuite *s, const ResRecord *record)
{
    s->run_seconds += (record->ended_us - record->started_us) / 1e6;
    expect_seconds(s, s->run_seconds / s->state.finished);
}

/* Before the first run has ended: by the last runs of this profile, if there are any. */
static void
expect_from_history(LabSuite *s)
{
    g_autoptr(GPtrArray) rows = res_store_list(lab_session_store(s->session),
                                               lab_profile_name(s->profile), HISTORY_RUNS, NULL);
    double seconds = 0;
    guint n = 0;

    for (guint i = 0; rows && i < rows->len; i++) {
        const ResIndexRow *row = rows->pdata[i];
        if (!g_str_equal(row->outcome, res_outcome_name(RES_OUTCOME_DONE)))
            continue;
        seconds += (row->ended_us - row->started_us) / 1e6;
        n++;
    }
    if (n)
        expect_seconds(s, seconds / n);
}

/* Plans the same boot once more, as the next one. FALSE: that won't help, or did not so far. */
static gboolean
try_again(LabSuite *s, const LabRun *run, const ResRecord *record)
{
    Planned again = {lab_run_cell(run), lab_run_boot(run)};
    unsigned int tries = 0;

    for (guint i = 0; i < s->records->len; i++) {
        const ResRecord *r = s->records->pdata[i];
        tries += r->boot == record->boot && g_str_equal(r->cell, record->cell);
    }
    if (!lab_run_worth_retrying(record) || tries >= TRIES)
        return FALSE;
    g_array_insert_val(s->planned, s->next, again);
    s->state.total++;
    return TRUE;
}

static void
on_done(LabRun *run, ResRecord *record, GHashTable *files, gpointer data)
{
    LabSuite *s = data;
    GError *error = NULL;

    g_ptr_array_remove(s->active, run);
    g_ptr_array_add(s->finished, run);
    s->state.finished++;
    s->state.failed += record->outcome != RES_OUTCOME_DONE;
    update_expected(s, record);
    for (guint i = 0; i < s->left_out->len; i++)
        g_ptr_array_add(record->notes, g_strdup(s->left_out->pdata[i]));
    if (!res_store_put(lab_session_store(s->session), record, files, &error)) {
        g_prefix_error(&error, "the run %s could not be recorded: ", record->id);
        give_up(s, error);
    } else {
        g_ptr_array_add(s->records, record);
        s->events.recorded(&s->state, run, record, s->data);
    }
    g_hash_table_remove_all(files);
    if (record->outcome == RES_OUTCOME_INFRA && !s->error && !try_again(s, run, record))
        give_up(s, g_error_new(HOST_ERROR, HOST_ERROR_UNSUPPORTED, "%s", record->message));
    start_more(s);
}

static void
start_more(LabSuite *s)
{
    while (!s->cancelled && !s->stop && s->active->len < s->jobs && s->next < s->planned->len) {
        const Planned *p = &g_array_index(s->planned, Planned, s->next++);
        const LabImage *image = g_hash_table_lookup(s->images, image_key(p->cell->params));
        LabRun *run = lab_run_new(s->session, s->profile, p->cell, p->boot, s->set, image, on_step,
                                  on_done, s);
        g_ptr_array_add(s->active, run);
        lab_run_start(run);
    }
    if (s->active->len == 0)
        g_main_loop_quit(s->loop);
}

static gboolean
begin(gpointer data)
{
    prepare_next(data);
    return G_SOURCE_REMOVE;
}

gboolean
lab_suite_execute(LabSuite *s, GError **error)
{
    s->state.started_us = g_get_monotonic_time();
    if (!plan(s, error))
        return FALSE;
    if (s->planned->len == 0)
        return TRUE;
    s->jobs = choose_jobs(s);
    expect_from_history(s);
    g_idle_add(begin, s);
    g_main_loop_run(s->loop);
    if (s->cancelled) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled after %u of %u runs",
                    s->state.finished - s->state.failed, s->state.total);
        return FALSE;
    }
    if (s->error) {
        g_propagate_error(error, g_steal_pointer(&s->error));
        return FALSE;
    }
    return TRUE;
}

void
lab_suite_cancel(LabSuite *s)
{
    s->cancelled = TRUE;
    for (guint i = 0; i < s->active->len; i++)
        lab_run_cancel(s->active->pdata[i]);
}

const char *
lab_suite_set(const LabSuite *s)
{
    return s->set;
}

const GPtrArray *
lab_suite_records(const LabSuite *s)
{
    return s->records;
}

unsigned int
lab_suite_total(const LabSuite *s)
{
    return s->state.total;
}
