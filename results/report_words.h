/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Words of the report format (guest/report-format.md), as the host reads them: nothing is trusted.
 */
#include <glib.h>

/*
 * Split LINE in place into exactly N words, one space between them; with REST the last is
 * everything that is left, spaces included. FALSE: it has not that shape.
 */
gboolean res_line_split(char *line, char **words, guint n, gboolean rest);

/* Letters, digits, '.', '_' and '-', the first a letter or digit, 1 to MAX characters. */
gboolean res_word_is_name(const char *word, gsize max);
/* Decimal digits only, at most MAX. */
gboolean res_word_to_number(const char *word, guint64 max, guint64 *number);
/* An optional minus, digits, an optional fraction; at most 32 characters. */
gboolean res_word_to_figure(const char *word, double *number);

/* Append the bytes REST stands for to OUT. FALSE: not well-formed (RES_REPORT_ERROR_FORMAT). */
gboolean res_rest_decode(const char *rest, GString *out, GError **error);
/* The same as valid UTF-8 without NULs, what is not replaced by U+FFFD; NULL with ERROR. */
char *res_rest_decode_text(const char *rest, GError **error);
