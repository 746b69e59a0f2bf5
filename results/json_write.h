/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* JSON that is written. */
#include <json-glib/json-glib.h>

/* Members of the object that B is in; texts are made valid UTF-8, NULL is null. */
void res_json_string(JsonBuilder *b, const char *name, const char *value);
void res_json_whole(JsonBuilder *b, const char *name, gint64 value);
/* null where VALUE is infinite or undefined, for which JSON has no word: there is no figure. */
void res_json_number(JsonBuilder *b, const char *name, double value);

/* What B was given, ended by a newline, and safe to look at: of what can drive a terminal or
 * reorder a line only its \u escapes are in it. g_free. */
char *res_json_finish(JsonBuilder *b);
/* As it is, but also safe inside <script>: no '<'. Not indented. g_free. */
char *res_json_finish_script(JsonBuilder *b);
