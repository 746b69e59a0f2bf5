/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: rteval's summary.xml. */
#include "results/latency_private.h"
#include "results/source.h"

/* Reads all measurements of it (cyclictest, timerlat), element by element. The network is not
 * asked, no entity is expanded, and a DOCTYPE is refused. RES_LATENCY_ERROR_FOREIGN when the root
 * is not rteval's; errors tell the line. */
ResLatency *res_rteval_read(ResSource *source, GError **error);
