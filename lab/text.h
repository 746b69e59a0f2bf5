/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Small things about text for people. */
#include <glib.h>

/* TEXT fit for a terminal: valid UTF-8, control characters as '?', so that what a guest or a record
 * says can't drive it. g_free. */
char *lab_printable(const char *text);
/* A figure with four significant digits or all before the point: "228.2", "6655", "0.0213". g_free.
 */
char *lab_figure(double value);
/* "0:42", "12:05", "1:02:03". g_free. */
char *lab_duration(double seconds);
