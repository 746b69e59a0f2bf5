/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* A host plan for people and for programs. */
#include "host/plan.h"
#include "host/rules.h"
#include "host/topology.h"

/* FINDINGS alone when they refuse the plan: half a plan must not be carried out. g_free. */
char *lab_host_plan_text(const HostPlan *p, const HostTopology *t, const GPtrArray *findings);
/* {"machine", "refused", "findings", "plan"}, ended by a newline; "plan" is null when refused.
 * g_free. */
char *lab_host_plan_json(const HostPlan *p, const HostTopology *t, const GPtrArray *findings);
