/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Text that came from a guest, a file or a person, made fit for where it is shown. */
#include <glib.h>

/* Whether C must not be shown raw: control characters, those that reorder or end a line
 * (bidirectional overrides, U+2028), and the non-characters that XML has no place for. */
gboolean res_unprintable(gunichar c);
/* TEXT as one line for a terminal, XML or a page: valid UTF-8, unprintable characters as '?'.
 * NULL: "". g_free. */
char *res_printable(const char *text);
/* Appends TEXT to HTML or XML, as content or inside double quotes: res_printable, then & < > " '
 * as entities. */
void res_markup(GString *out, const char *text);
/* TEXT with every character outside [A-Za-z0-9_] as '_', and so is a digit in front; "_" when
 * empty. g_free. */
char *res_identifier(const char *text);
/* A figure with four significant digits or all before the point: "228.2", "6655", "0.0213". g_free.
 */
char *res_figure(double value);
/* "2026-12-01T04:40:04Z". g_free. */
char *res_utc(gint64 us);
