/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Which kernel functions a system call's instructions are spent in: what the emulator's plugin
 * counted (host/hot/hot_functions.c), by the symbols the guest's own kernel has (/proc/kallsyms).
 */
#include "lab/judge.h"

/* What a guest with such workloads collects, and their file's suffix in the run's folder. */
#define LAB_HOT_SYMBOLS "/proc/kallsyms"
#define LAB_HOT_SUFFIX "-hot-functions.txt"
#define LAB_HOT_PLUGIN "hot-functions.so" /* beside the guest programs */

typedef struct {
    char *name; /* of the function; "user" for user space, "unknown" without a symbol */
    guint64 instructions;
} LabHotFunction;

/*
 * The WHICH-th table (from 0) of LOG, QEMU's log, by function, the most first; NULL without one, or
 * when it or KALLSYMS is not what it should be. Free with g_ptr_array_unref.
 */
GPtrArray *lab_hot_table(const char *log, const char *kallsyms, unsigned int which, GError **error);

/* Whether a workload of PARAMS asks for it. */
gboolean lab_hot_wanted(const LabParams *params);
/* When one does, copies the plugin into RUN_DIR, where QEMU's user can read it, and sets PARAMS's
 * plugin. */
gboolean lab_hot_lay_out(LabParams *params, const char *run_dir, GError **error);
/*
 * Takes the symbols' files out of FILES; and when RECORD is a done run adds WORKLOAD.in.FUNCTION,
 * instructions per call, for the functions that matter, and the whole table as a file. What can't
 * be had is noted.
 */
void lab_hot_record(const LabParams *params, const char *log_path, ResRecord *record,
                    GHashTable *files);
