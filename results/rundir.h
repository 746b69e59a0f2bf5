/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Inside results/ only: the folders under ROOT/runs. A run is written into .tmp-ID-PID, with every
 * file and the folder fsynced, and becomes visible by one rename. Errors are RES_STORE_ERROR and
 * name the path.
 */
#include "results/store.h"

/* Writes JSON and FILES (char * name -> GBytes *) into a new temporary folder, whose path is
 * returned. On an error nothing is left of it. */
char *res_rundir_write(const char *runs, const char *id, const char *json, GHashTable *files,
                       GError **error);
/* Gives a temporary folder its name, durably. A taken name is RES_STORE_ERROR_EXISTS; TMP then
 * stays. */
gboolean res_rundir_publish(const char *runs, const char *tmp, const char *id, GError **error);
/* Takes publishing back: the folder is TMP again. */
void res_rundir_unpublish(const char *runs, const char *tmp, const char *id);
/* Removes a folder of plain files; what else is in it stays, and so does the folder then. */
void res_rundir_remove(const char *path);

/* Removes temporary folders. ALL: also of processes that live (when it is known that none is
 * writing). */
void res_rundir_sweep(const char *runs, gboolean all);

/* Names of the folders that could be runs, ascending; SKIPPED (or NULL) gets a line for everything
 * else but temporary folders. */
GPtrArray *res_rundir_ids(const char *runs, GPtrArray *skipped, GError **error);
gboolean res_rundir_exists(const char *runs, const char *id);
/* Reads runs/ID/record.json; a record of another id is refused. */
ResRecord *res_rundir_read(const char *runs, const char *id, GError **error);
/* Reads runs/ID/NAME, a plain file of at most MAX bytes; a \0 follows its *LEN bytes. g_free. */
char *res_rundir_read_file(const char *runs, const char *id, const char *name, gsize max,
                           gsize *len, GError **error);
