/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What a plan sets, one by one and each with its reason. */
#include "host/plan.h"

/* Fills ITEMS of P, and adds to its HOST_CMDLINE what is not part of the partition itself. */
void host_plan_add_items(HostPlan *p, const HostTopology *t, const HostFacts *facts);
