/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What `nohzlab compare` takes and shows. */
#include "results/compare.h"
#include "results/store.h"

/*
 * WHAT names a run, a set, a prefix of either or "last", as for res_store_get_set(), and after a
 * colon which cells of it: "last:kernel=debian:6.1,guest.vcpus=4". A value may hold commas; one
 * that no cell has may be the axis's position from 0, as in expectations.
 *
 * All runs WHAT names (ResRecord *); with nothing before the colon those of SAME, which may be
 * NULL.
 */
GPtrArray *lab_compare_load(ResStore *store, const char *what, GPtrArray *same, GError **error);
/* Those of RECORDS that the part behind the colon selects; borrowed from RECORDS. */
GPtrArray *lab_compare_select(const GPtrArray *records, const char *what, GError **error);

/* ROOT/calibration.json, or NULL; without an error when there is none. */
ResCalibration *lab_calibration_load(const char *root, GError **error);
/* Writes it whole, or not at all. */
gboolean lab_calibration_save(const ResCalibration *c, const char *root, GError **error);

/* For people, and as JSON, both ended by a newline. g_free. */
char *lab_compare_text(const ResCompareResult *r);
char *lab_compare_json(const ResCompareResult *r);
