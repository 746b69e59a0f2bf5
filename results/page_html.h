/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A page as one HTML file that needs nothing else: it opens from disk and goes by mail. Every
 * figure stands in a table or a drawing that needs no JavaScript; where there is some, uPlot
 * (compiled in, see results.mk) draws latencies, boots and history. Its content security policy
 * lets nothing but its own scripts run and nothing be loaded.
 */
#include "results/page.h"

/* g_free; ended by a newline. */
char *res_page_html(const ResPage *p);
