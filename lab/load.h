/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* A load on CPUs of the lab host, for one workload: one process a CPU that never sleeps. */
#include <glib.h>

#include "host/cpulist.h"

typedef struct LabLoad LabLoad;

/* Starts one spinning process pinned to each of CPUS; each is there and pinned when this returns.
 * They end with us, too. */
LabLoad *lab_load_start(const HostCpuset *cpus, GError **error);
/* Ends them and waits until they are gone. */
void lab_load_stop(LabLoad *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabLoad, lab_load_stop)
