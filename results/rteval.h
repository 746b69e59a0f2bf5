/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: rteval's summary.xml. */
#include "results/latency_private.h"
#include "results/source.h"

/* Reads all measurements of it (cyclictest, timerlat), element by element. The network is not
 * asked, no entity is expanded, and a DOCTYPE is refused. *IS_RTEVAL tells that the root is
 * rteval's, also on failure. Errors tell the line. */
ResLatency *res_rteval_read(ResSource *source, gboolean *is_rteval, GError **error);
