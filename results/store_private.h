/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: what the store's files share. */
#include <sys/file.h>
#include <sys/stat.h>

#include "results/index.h"
#include "results/store.h"

/*
 * Locks: ROOT/.lock is held shared while a run is written and exclusively while leftovers are swept
 * or the index is replaced, so whoever has it exclusively knows that every temporary folder belongs
 * to a dead process. Changes of rows are SQLite's business.
 */
struct ResStore {
    char *root;
    char *runs;
    char *index_path;
    int lock_fd;
    gboolean can_lock; /* FALSE: the file system has no locks */
    ResIndex *index;   /* NULL: to be opened */
    struct stat index_stat;
    gint64 last_id_s; /* of the last new id */
    guint last_id_suffix;
};

/* Always FALSE; takes errno as it is. */
gboolean res_store_fail_errno(GError **error, const char *path, const char *what);
/* Index errors leave the store as store errors. Always FALSE. */
gboolean res_store_index_error(const GError *from, GError **error);

void res_store_lock(ResStore *s, int operation); /* LOCK_SH, LOCK_EX, LOCK_UN */

/* These three want the exclusive lock. DAMAGED: the file there failed us; move it aside and build
 * anew. */
gboolean res_store_open_index(ResStore *s, gboolean damaged, GError **error);
/* After FAILED (RES_INDEX_ERROR): TRUE when it was damage and the index is whole again, so that
 * what failed can be tried once more. */
gboolean res_store_heal_index(ResStore *s, const GError *failed, GError **error);
/* Brings rows and folders together, in one transaction. ANEW: forgets all rows first. COUNT gets
 * the runs added, SKIPPED (or NULL) a line for each folder that can't be read. */
gboolean res_store_fill_index(ResStore *s, gboolean anew, guint *count, GPtrArray *skipped,
                              GError **error);

/* Opens the index when there is none yet, or when the file there is another one (rebuilt by another
 * process). Takes the lock itself. */
gboolean res_store_ready_index(ResStore *s, GError **error);

/* One question to the index, asked again when the first answer was that it is damaged. */
typedef enum {
    RES_STORE_LIST,
    RES_STORE_RUNS,
    RES_STORE_SETS,
    RES_STORE_SET_RUNS,
    RES_STORE_NEWEST,
    RES_STORE_METRICS
} ResStoreQuestion;

GPtrArray *res_store_ask(ResStore *s, ResStoreQuestion what, const char *text, unsigned int limit,
                         GError **error);
/* The same for what ASK asks of the index: once, and after it was made anew when it is damaged. */
typedef GPtrArray *(*ResStoreAsk)(ResIndex *index, gconstpointer data, GError **error);
GPtrArray *res_store_ask_index(ResStore *s, ResStoreAsk ask, gconstpointer data, GError **error);
