/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Reads what cyclictest (rt-tests) leaves: JSON of 2.x, the text of its T: lines, and histograms as
 * text. Which of them it is is read from the content. Text does not say its unit (-N changes it
 * without a trace): it stays unknown until res_cyclictest_set_cmdline() is told what was run.
 */
#include "results/latency.h"

#define RES_CYCLICTEST_MAX (32 * 1024 * 1024) /* bytes of an input in memory */

ResLatency *res_cyclictest_parse(const char *text, gsize len, GError **error);

/*
 * Tells C, which was read from text, the command line that made it (words joined by single spaces,
 * the program's name first). Settles the unit, and compares what was asked for with what ran: a
 * threshold that was hit makes it broken, fewer loops than asked for are
 * RES_LATENCY_ERROR_INCOMPLETE, and differences in priority become notes. From JSON the same was
 * done with its own command line; then this only checks that the two agree on the unit.
 */
gboolean res_cyclictest_set_cmdline(ResLatency *c, const char *cmdline, GError **error);
