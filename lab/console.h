/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* A guest's console as it arrives: the first and the last part are kept, the rest is counted;
 * panics are seen at once. */
#include <glib.h>

#define LAB_CONSOLE_HEAD_BYTES (256 * 1024)
#define LAB_CONSOLE_TAIL_BYTES (256 * 1024)

typedef struct LabConsole LabConsole;

LabConsole *lab_console_new(void);
void lab_console_free(LabConsole *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabConsole, lab_console_free)

void lab_console_feed(LabConsole *c, const char *bytes, gsize len);
guint64 lab_console_bytes(const LabConsole *c); /* all that came */
/* The kernel's own words when it panicked ("Attempted to kill init! exitcode=0x00000100"), or NULL.
 */
const char *lab_console_panic(const LabConsole *c);
/* PID 1's complaint (its line starts with "nohzlab: "), or NULL. */
const char *lab_console_complaint(const LabConsole *c);
/* The last line that holds anything, printable ASCII only, at most 200 bytes; "" when there is
 * none. g_free it. */
char *lab_console_last_line(const LabConsole *c);
/* What is kept; where something was left out a line says how much. g_free it. */
GBytes *lab_console_text(const LabConsole *c);
