/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/store.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "results/rundir.h"
#include "results/store_private.h"

#define SUFFIX_N 0x10000

GQuark
res_store_error_quark(void)
{
    return g_quark_from_static_string("res-store-error");
}

ResStore *
res_store_open(const char *root, GError **error)
{
    g_autoptr(ResStore) s = g_new0(ResStore, 1);
    s->root = g_strdup(root);
    s->runs = g_build_filename(root, "runs", NULL);
    s->index_path = g_build_filename(root, "index.sqlite", NULL);
    s->lock_fd = -1;
    if (g_mkdir_with_parents(s->runs, 0755) != 0) {
        if (g_file_test(root, G_FILE_TEST_EXISTS) && !g_file_test(root, G_FILE_TEST_IS_DIR)) {
            errno = ENOTDIR;
        }
        res_store_fail_errno(error, root, "cannot be the results folder");
        return NULL;
    }
    g_autofree char *lock = g_build_filename(root, ".lock", NULL);
    s->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (s->lock_fd < 0 || access(s->runs, W_OK) != 0) {
        res_store_fail_errno(error, root, "cannot write to the results folder");
        return NULL;
    }
    res_store_lock(s, LOCK_EX);
    res_rundir_sweep(s->runs, s->can_lock);
    gboolean ok = res_store_open_index(s, FALSE, error);
    res_store_lock(s, LOCK_UN);
    return ok ? g_steal_pointer(&s) : NULL;
}

void
res_store_free(ResStore *s)
{
    if (s == NULL) {
        return;
    }
    res_index_free(s->index);
    if (s->lock_fd >= 0) {
        close(s->lock_fd);
    }
    g_free(s->root);
    g_free(s->runs);
    g_free(s->index_path);
    g_free(s);
}

const char *
res_store_root(const ResStore *s)
{
    return s->root;
}

char *
res_store_run_dir(const ResStore *s, const char *id)
{
    return g_build_filename(s->runs, id, NULL);
}

char *
res_store_new_id(ResStore *s)
{
    gint64 now_s = g_get_real_time() / G_USEC_PER_SEC;
    for (;;) {
        if (now_s > s->last_id_s) {
            s->last_id_s = now_s;
            /* the lower half, so that there is room to count up within the second */
            s->last_id_suffix = (guint)g_random_int_range(0, SUFFIX_N / 2);
        } else if (++s->last_id_suffix == SUFFIX_N) {
            s->last_id_s++;
            s->last_id_suffix = 0;
        }
        g_autoptr(GDateTime) when = g_date_time_new_from_unix_utc(s->last_id_s);
        g_autofree char *time = g_date_time_format(when, "%Y%m%d-%H%M%S");
        g_autofree char *id = g_strdup_printf("%s-%04x", time, s->last_id_suffix);
        if (!res_rundir_exists(s->runs, id)) {
            return g_steal_pointer(&id);
        }
    }
}

static gboolean
check_files(const ResRecord *r, GHashTable *files, GError **error)
{
    for (guint i = 0; i < r->evidence->len; i++) {
        const char *name = g_ptr_array_index(r->evidence, i);
        if (!g_hash_table_contains(files, name)) {
            g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID,
                        "run %s: its record lists the evidence %s, which is not among its files",
                        r->id, name);
            return FALSE;
        }
    }
    /* all of the list is there, and the list has no doubles: equal sizes mean equal sets */
    if (g_hash_table_size(files) != r->evidence->len) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_INVALID,
                    "run %s: %u files, but its record lists %u as evidence", r->id,
                    g_hash_table_size(files), r->evidence->len);
        return FALSE;
    }
    return TRUE;
}

/* Row and name come together: the name is given while the row is not yet visible, and taken back
 * when the row can't be kept. What a crash leaves between the two (a folder without a row) the next
 * open puts right. */
static gboolean
publish(ResStore *s, const ResRecord *r, const char *tmp, GError **error)
{
    if (!res_index_begin(s->index, error)) {
        return FALSE;
    }
    if (!res_index_insert(s->index, r, error) || !res_rundir_publish(s->runs, tmp, r->id, error)) {
        res_index_rollback(s->index);
        return FALSE;
    }
    if (!res_index_commit(s->index, error)) {
        res_rundir_unpublish(s->runs, tmp, r->id);
        res_index_rollback(s->index);
        return FALSE;
    }
    return TRUE;
}

gboolean
res_store_put(ResStore *s, const ResRecord *r, GHashTable *files, GError **error)
{
    g_autoptr(GHashTable) none = g_hash_table_new(g_str_hash, g_str_equal);
    files = files != NULL ? files : none;
    g_autofree char *json = res_record_to_json(r, error);
    if (json == NULL || !check_files(r, files, error)) {
        return FALSE;
    }
    if (res_rundir_exists(s->runs, r->id)) {
        g_set_error(error, RES_STORE_ERROR, RES_STORE_ERROR_EXISTS,
                    "run %s is there already; a record is never changed", r->id);
        return FALSE;
    }
    if (!res_store_ready_index(s, error)) {
        return FALSE;
    }
    res_store_lock(s, LOCK_SH);
    g_autofree char *tmp = res_rundir_write(s->runs, r->id, json, files, error);
    g_autoptr(GError) failed = NULL;
    gboolean ok = tmp != NULL && publish(s, r, tmp, &failed);
    /* Changing the lock gives it up for a moment, in which a process that opens the store may sweep
     * our folder; publishing then fails, and says so. */
    if (tmp != NULL && !ok && failed->domain == RES_INDEX_ERROR) {
        g_autoptr(GError) index_failed = g_steal_pointer(&failed);
        res_store_lock(s, LOCK_EX);
        ok = res_store_heal_index(s, index_failed, &failed);
        res_store_lock(s, LOCK_SH);
        ok = ok && publish(s, r, tmp, &failed);
    }
    if (tmp != NULL && !ok) {
        res_rundir_remove(tmp);
        if (failed->domain == RES_INDEX_ERROR) {
            res_store_index_error(failed, error);
        } else {
            g_propagate_error(error, g_steal_pointer(&failed));
        }
    }
    res_store_lock(s, LOCK_UN);
    return ok;
}

GPtrArray *
res_store_list(ResStore *s, const char *profile, unsigned int limit, GError **error)
{
    return res_store_ask(s, RES_STORE_LIST, profile, limit, error);
}

gboolean
res_store_reindex(ResStore *s, unsigned int *count, GPtrArray *skipped, GError **error)
{
    g_autoptr(GError) failed = NULL;
    if (!res_store_ready_index(s, error)) {
        return FALSE;
    }
    guint found = 0;
    res_store_lock(s, LOCK_EX);
    gboolean ok = res_store_fill_index(s, TRUE, &found, skipped, &failed);
    if (!ok && failed->domain == RES_INDEX_ERROR) {
        g_autoptr(GError) index_failed = g_steal_pointer(&failed);
        if (skipped != NULL) {
            g_ptr_array_set_size(skipped, 0);
        }
        ok = res_store_heal_index(s, index_failed, &failed) &&
             res_store_fill_index(s, TRUE, &found, skipped, &failed);
    }
    res_store_lock(s, LOCK_UN);
    if (!ok && failed->domain == RES_INDEX_ERROR) {
        return res_store_index_error(failed, error);
    }
    if (!ok) {
        g_propagate_error(error, g_steal_pointer(&failed));
        return FALSE;
    }
    if (count != NULL) {
        *count = found;
    }
    return TRUE;
}
