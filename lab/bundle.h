/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Runs in one JSON file, to be carried elsewhere: each with its record and its evidence files.
 * {"nohzlab-bundle": 1, "runs": [{"record": {...}, "files": {"NAME": "BASE64", ...}}]}
 */
#include "results/store.h"

/* A bundle is at most so long: what a guest may send of one file (guest/report.h) bounds it. */
#define LAB_BUNDLE_MAX ((gsize)8 << 20)

typedef struct {
    ResRecord *record;
    GHashTable *files; /* char * -> GBytes * */
} LabBundleRun;
void lab_bundle_run_free(LabBundleRun *r);

/* RECORDS (ResRecord *) of STORE, with their files, smallest first; a file there is no more room
 * for is replaced by a line that says so. g_free it. */
char *lab_bundle_write(const ResStore *store, const GPtrArray *records, GError **error);
/* LabBundleRun *. TEXT is not trusted: G_IO_ERROR_INVALID_DATA names what is wrong. */
GPtrArray *lab_bundle_read(const char *text, gsize len, GError **error);
