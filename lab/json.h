/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* JSON that is printed: members of the object a builder is in, and its text. */
#include <json-glib/json-glib.h>

void lab_json_string(JsonBuilder *b, const char *name, const char *value); /* NULL: null */
void lab_json_int(JsonBuilder *b, const char *name, gint64 value);
/* null where VALUE is infinite or undefined, for which JSON has no word: there is no figure. */
void lab_json_number(JsonBuilder *b, const char *name, double value);
/* What B was given, indented, ended by a newline. g_free. */
char *lab_json_text(JsonBuilder *b);
