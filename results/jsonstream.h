/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Inside results/ only: JSON from outside, value by value, whatever its length. Bounded: what nests
 * deeper than RES_JSON_STREAM_DEPTH or has a value of more than 256 KiB is refused.
 */
#include "results/source.h"

#define RES_JSON_STREAM_DEPTH 8

typedef enum {
    RES_JSON_NULL,
    RES_JSON_STRING,
    RES_JSON_NUMBER,
    RES_JSON_OBJECT,
    RES_JSON_OTHER
} ResJsonType;
typedef struct {
    ResJsonType type; /* an object or (as "other") an array is told when it opens */
    const char *text; /* of strings and numbers; NULL otherwise */
    gboolean whole;   /* of numbers: NUMBER is right (see res_latency_number()), else only REAL */
    gint64 number;
    double real;
} ResJsonValue;

typedef struct {
    /* KEYS[1] to KEYS[DEPTH] lead from the root to this key or value; cut to 63 bytes. FALSE with
     * RES_LATENCY_ERROR ends it all. */
    gboolean (*key)(gpointer context, char *const *keys, unsigned int depth, GError **error);
    gboolean (*value)(gpointer context, char *const *keys, unsigned int depth,
                      const ResJsonValue *value, GError **error);
} ResJsonHandler;

/* Reads one object to the source's end. Not JSON is RES_LATENCY_ERROR_FORMAT, an end that is
 * missing RES_LATENCY_ERROR_INCOMPLETE, each with the line. */
gboolean res_json_stream(ResSource *source, const ResJsonHandler *handler, gpointer context,
                         GError **error);
