/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * JSON from outside, checked before json-glib sees it: json-glib recurses as deep as the text
 * nests, takes comments and single quotes, lets the last of two equal keys win and needs about 200
 * bytes a value.
 */
#include <json-glib/json-glib.h>

/* A JSON value holds at most so many values in all (about 200 MB in memory) and nests at most so
 * deep. */
#define RES_JSON_VALUES_MAX 1000000
#define RES_JSON_DEPTH_MAX 16

typedef enum {
    RES_JSON_OK,
    RES_JSON_BAD, /* not JSON, or beyond a limit */
    RES_JSON_CUT, /* good so far, but the end is missing */
} ResJsonState;

/*
 * Parses TEXT (LEN bytes, at most MAX) into an object. On failure returns NULL, *STATE tells BAD
 * from CUT and *REASON (to g_free) is one clause with the line. Whole numbers of more than 18
 * digits are refused, unless WIDE: then one from 2^63 up comes out negative, and one below -2^63 as
 * 2^63 - 1.
 */
JsonNode *res_json_parse(const char *text, gsize len, gsize max, gboolean wide, ResJsonState *state,
                         char **reason);

/* O's member KEY when it is a value of TYPE (G_TYPE_STRING, G_TYPE_INT64, G_TYPE_DOUBLE,
 * G_TYPE_BOOLEAN), else NULL. O's. */
JsonNode *res_json_value(JsonObject *o, const char *key, GType type);
/* O's member KEY when it is a text, and UTF-8; else NULL. O's. */
const char *res_json_get_string(JsonObject *o, const char *key);

/* ROOT as text for people, ended by a newline; numbers read back as the same double. g_free. */
char *res_json_text(JsonNode *root);
