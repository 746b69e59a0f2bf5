/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: the fields of a record, one table for writing and reading, and the checks
 * both share. */
#include "results/record.h"

typedef enum {
    FIELD_SCHEMA,
    FIELD_TEXT,
    FIELD_UINT,
    FIELD_TIME_US,
    FIELD_OUTCOME,
    FIELD_FIDELITY,
    FIELD_MAP,
    FIELD_LIST,
    FIELD_METRICS,
} FieldKind;

typedef struct {
    const char *key;
    FieldKind kind;
    gsize offset;
} ResRecordField;

/* Sorted by key: that is the order in the file. Ended by a NULL key. */
extern const ResRecordField res_record_fields[];

/* Whole numbers in a record have at most 18 digits (json-glib wraps larger ones). */
#define RES_WHOLE_MAX G_GINT64_CONSTANT(999999999999999999)

#define RES_FIELD_OF(record, field, type) (*(type *)((char *)(record) + (field)->offset))

/* Sets a G_IO_ERROR_INVALID_DATA; always FALSE, so that a check can end in `return
 * res_record_fail(...)`. */
gboolean res_record_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* What has to hold of a record whichever way it goes. */
gboolean res_record_check(const ResRecord *r, GError **error);
