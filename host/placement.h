/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Which CPU each vCPU gets: one each, cores apart, on one NUMA node and of one kind if possible. */
#include "host/plan.h"

/*
 * Fills VCPUS (when the wish leaves it open), GUEST_THREADS, VCPU_PINS, NODE and SHORTAGE of P,
 * whose sets are known. FALSE with ERROR when one of the wish's pins can't be read.
 */
gboolean host_placement(HostPlan *p, const HostTopology *t, const HostWish *wish, GError **error);
