/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Ctrl-C, SIGTERM and SIGHUP while a command works: what it does is cancelled, which ends the
 * guests, and the command ends by itself. */
#include <glib.h>

typedef struct LabInterrupt LabInterrupt;

/* CANCEL is called with DATA at each of these signals, on the default GMainContext; NOTE (may be
 * NULL) goes to stderr at the first. */
LabInterrupt *lab_interrupt_new(const char *note, void (*cancel)(gpointer data), gpointer data);
/* From here on the signals do what they did before. Frees I. The first signal that came, or 0. */
int lab_interrupt_end(LabInterrupt *i);
