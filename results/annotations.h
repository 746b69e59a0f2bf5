/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What people say of the history: ROOT/annotations.json, beside the records. Nothing else knows
 * it, so it is never rebuilt and `reindex` leaves it alone.
 */
#include <gio/gio.h>

#define RES_ANNOTATIONS_MAX (4 * 1024 * 1024) /* bytes of the file */
#define RES_ANNOTATION_NOTE_MAX 1000          /* bytes */

typedef struct {
    gint64 when_us;    /* the night it is about: any time of that day, UTC */
    gint64 written_us; /* when it was said */
    char *metric;
    char *profile, *cell, *host; /* NULL: any */
    gboolean accept;             /* the level from that night on is the new normal */
    char *note;
} ResAnnotation;

void res_annotation_free(ResAnnotation *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResAnnotation, res_annotation_free)

/* ANNOTATIONS: ResAnnotation *. g_free. */
char *res_annotations_to_json(const GPtrArray *annotations);
/* Errors are G_IO_ERROR_INVALID_DATA and name entry and field. */
GPtrArray *res_annotations_from_json(const char *text, gsize len, GError **error);

/* Those of the results folder ROOT; none when there is no file. */
GPtrArray *res_annotations_load(const char *root, GError **error);
/* Adds A, atomically, also where several do at once. A file that can't be read is left as it is. */
gboolean res_annotations_add(const char *root, const ResAnnotation *a, GError **error);
