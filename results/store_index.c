/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store's hold on its index: locks, opening, healing, asking. */
#include "results/store_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "results/rundir.h"

gboolean
res_store_fail_errno(GError **error, const char *path, const char *what)
{
    int saved = errno;
    g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_FOLDER, "%s: %s: %s", path, what,
                g_strerror(saved));
    return FALSE;
}

void
res_store_lock(ResStore *s, int operation)
{
    int rc;
    do {
        rc = flock(s->lock_fd, operation);
    } while (rc != 0 && errno == EINTR);
    s->can_lock = rc == 0;
}

gboolean
res_store_index_error(const GError *from, GError **error)
{
    int code = g_error_matches(from, RES_INDEX_ERROR, RES_INDEX_ERROR_NEWER)
                   ? RES_STORE_ERROR_NEWER
                   : RES_STORE_ERROR_INDEX;
    g_set_error_literal(error, RES_STORE_ERROR, code, from->message);
    return FALSE;
}

/* Nothing is deleted: somebody may want to know what happened to it. */
static gboolean
move_index_aside(ResStore *s, GError **error)
{
    static const char *const parts[] = {"", "-wal", "-shm"};
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *stamp = g_date_time_format(now, "%Y%m%d-%H%M%S");
    g_autofree char *aside = NULL;
    for (guint n = 0; aside == NULL || g_file_test(aside, G_FILE_TEST_EXISTS); n++) {
        g_free(aside);
        aside = n == 0 ? g_strdup_printf("%s.corrupt-%s", s->index_path, stamp)
                       : g_strdup_printf("%s.corrupt-%s-%u", s->index_path, stamp, n);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *from = g_strconcat(s->index_path, parts[i], NULL);
        g_autofree char *to = g_strconcat(aside, parts[i], NULL);
        if (rename(from, to) != 0 && errno != ENOENT) {
            return res_store_fail_errno(error, from, "cannot move the damaged index aside");
        }
    }
    return TRUE;
}

/* Puts the difference between folders and rows into the index. Folders that can't be read are left
 * alone. */
static gboolean
sync_index(ResIndex *index, const GPtrArray *disk, const GPtrArray *rows, const char *runs,
           guint *added, GPtrArray *skipped, GError **error)
{
    guint d = 0, w = 0;
    while (d < disk->len || w < rows->len) {
        const char *on_disk = d < disk->len ? g_ptr_array_index(disk, d) : NULL;
        const char *in_index = w < rows->len ? g_ptr_array_index(rows, w) : NULL;
        int order = on_disk == NULL ? 1 : in_index == NULL ? -1 : strcmp(on_disk, in_index);
        if (order > 0 && !res_index_remove(index, in_index, error)) {
            return FALSE;
        }
        if (order < 0) {
            g_autoptr(GError) bad = NULL;
            g_autoptr(ResRecord) r = res_rundir_read(runs, on_disk, &bad);
            if (r == NULL && skipped != NULL) {
                g_ptr_array_add(skipped, g_strdup(bad->message));
            }
            if (r != NULL && !res_index_insert(index, r, error)) {
                return FALSE;
            }
            *added += r != NULL;
        }
        d += order <= 0;
        w += order >= 0;
    }
    return TRUE;
}

static gboolean
same_names(const GPtrArray *a, const GPtrArray *b)
{
    gboolean same = a->len == b->len;
    for (guint i = 0; same && i < a->len; i++) {
        same = g_str_equal(g_ptr_array_index(a, i), g_ptr_array_index(b, i));
    }
    return same;
}

gboolean
res_store_fill_index(ResStore *s, gboolean anew, guint *count, GPtrArray *skipped, GError **error)
{
    guint added = 0;
    g_autoptr(GPtrArray) disk = res_rundir_ids(s->runs, skipped, error);
    if (disk == NULL) {
        return FALSE;
    }
    g_autoptr(GPtrArray) rows = res_index_runs(s->index, "", 0, error);
    if (rows == NULL) {
        return FALSE;
    }
    if (!anew && same_names(disk, rows)) {
        return TRUE;
    }
    if (!res_index_begin(s->index, error)) {
        return FALSE;
    }
    if (anew) {
        g_ptr_array_set_size(rows, 0);
    }
    if ((anew && !res_index_clear(s->index, error)) ||
        !sync_index(s->index, disk, rows, s->runs, &added, skipped, error) ||
        !res_index_commit(s->index, error)) {
        res_index_rollback(s->index);
        return FALSE;
    }
    if (count != NULL) {
        *count = added;
    }
    return TRUE;
}

gboolean
res_store_open_index(ResStore *s, gboolean damaged, GError **error)
{
    g_autoptr(GError) failed = NULL;
    g_clear_pointer(&s->index, res_index_free);
    if (damaged && !move_index_aside(s, error)) {
        return FALSE;
    }
    s->index = res_index_open(s->index_path, &failed);
    if (s->index != NULL && !res_store_fill_index(s, FALSE, NULL, NULL, &failed)) {
        g_clear_pointer(&s->index, res_index_free);
    }
    if (s->index == NULL && !damaged &&
        g_error_matches(failed, RES_INDEX_ERROR, RES_INDEX_ERROR_CORRUPT)) {
        return res_store_open_index(s, TRUE, error);
    }
    if (s->index == NULL) {
        return res_store_index_error(failed, error);
    }
    if (stat(s->index_path, &s->index_stat) != 0) {
        return res_store_fail_errno(error, s->index_path, "cannot read");
    }
    return TRUE;
}

gboolean
res_store_ready_index(ResStore *s, GError **error)
{
    struct stat now;
    if (s->index != NULL && stat(s->index_path, &now) == 0 && now.st_ino == s->index_stat.st_ino &&
        now.st_dev == s->index_stat.st_dev) {
        return TRUE;
    }
    res_store_lock(s, LOCK_EX);
    gboolean ok = res_store_open_index(s, FALSE, error);
    res_store_lock(s, LOCK_UN);
    return ok;
}

gboolean
res_store_heal_index(ResStore *s, const GError *failed, GError **error)
{
    if (!g_error_matches(failed, RES_INDEX_ERROR, RES_INDEX_ERROR_CORRUPT)) {
        return res_store_index_error(failed, error);
    }
    struct stat now;
    gboolean ours = stat(s->index_path, &now) == 0 && now.st_ino == s->index_stat.st_ino &&
                    now.st_dev == s->index_stat.st_dev;
    return res_store_open_index(s, ours, error);
}

GPtrArray *
res_store_ask_index(ResStore *s, ResStoreAsk ask, gconstpointer data, GError **error)
{
    g_autoptr(GError) failed = NULL;
    if (!res_store_ready_index(s, error)) {
        return NULL;
    }
    GPtrArray *answer = ask(s->index, data, &failed);
    if (answer != NULL) {
        return answer;
    }
    res_store_lock(s, LOCK_EX);
    gboolean healed = res_store_heal_index(s, failed, error);
    res_store_lock(s, LOCK_UN);
    if (!healed) {
        return NULL;
    }
    g_clear_error(&failed);
    answer = ask(s->index, data, &failed);
    if (answer == NULL) {
        res_store_index_error(failed, error);
    }
    return answer;
}

typedef struct {
    ResStoreQuestion what;
    const char *text;
    unsigned int limit;
} Question;

static GPtrArray *
ask_question(ResIndex *index, gconstpointer data, GError **error)
{
    const Question *q = data;
    switch (q->what) {
    case RES_STORE_LIST:
        return res_index_list(index, q->text, q->limit, error);
    case RES_STORE_RUNS:
        return res_index_runs(index, q->text, q->limit, error);
    case RES_STORE_SETS:
        return res_index_sets(index, q->text, q->limit, error);
    case RES_STORE_SET_RUNS:
        return res_index_set_runs(index, q->text, error);
    case RES_STORE_NEWEST:
        return res_index_newest(index, error);
    case RES_STORE_METRICS:
        return res_index_metrics(index, error);
    }
    g_return_val_if_reached(NULL);
}

GPtrArray *
res_store_ask(ResStore *s, ResStoreQuestion what, const char *text, unsigned int limit,
              GError **error)
{
    const Question q = {what, text, limit};
    return res_store_ask_index(s, ask_question, &q, error);
}
