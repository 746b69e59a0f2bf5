/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Inside the program behind `make calibrate`: its report, section by section. A section is one
 * function that appends Markdown; a new one is a row of the table in calibrate_main.c and a file
 * calibrate_X.c.
 */
#include <glib.h>

/* OUT: the report. TRIALS: comparisons of each row. FIXTURES: folder of recorded boots. */
typedef void (*CalibrateSection)(GString *out, guint trials, const char *fixtures);
void calibrate_false_alarms(GString *out, guint trials, const char *fixtures);
void calibrate_recorded(GString *out, guint trials, const char *fixtures);
void calibrate_many(GString *out, guint trials, const char *fixtures);
void calibrate_power(GString *out, guint trials, const char *fixtures);
void calibrate_tails(GString *out, guint trials, const char *fixtures);
void calibrate_history(GString *out, guint trials, const char *fixtures);

/* "0.43% (0.31 to 0.58)": COUNT of TRIALS with its 95% interval (Clopper and Pearson). g_free. */
char *calibrate_share(guint count, guint trials);
