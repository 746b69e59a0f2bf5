/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: the parts a page is put together from. */
#include "results/page.h"

/* ResDifference * (a is NULL): in what done RECORDS differ among each other. */
GPtrArray *res_page_differences(const GPtrArray *records);

void res_page_latency_free(ResPageLatency *l);
