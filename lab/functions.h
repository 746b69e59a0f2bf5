/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Where the instructions of an exit go: the lab host's functions while the flat guest exit-cost
 * repeats one kind after the other (platform metal, so in a box, too). What the guest measured came
 * before, undisturbed.
 */
#include "lab/machine.h"
#include "results/record.h"

typedef struct LabFunctions LabFunctions;

/* The workload of PARAMS that asks for it, on platform metal; or NULL. */
const LabWorkload *lab_functions_wanted(const LabParams *params);
/* Nothing is traced yet. TOKEN as in host/observe.h; the CPUs are those vCPUs are pinned to. */
LabFunctions *lab_functions_new(const char *token, const LabMachine *machine);
void lab_functions_free(LabFunctions *f);
/* At each of the guest's barriers, before it goes on. Errors show in lab_functions_record. */
void lab_functions_barrier(LabFunctions *f, const char *name);
/* Adds WORKLOAD.KIND.FUNCTION for the functions most of each kind's time is spent in themselves,
 * and WORKLOAD-functions.txt with all of them. FALSE when RECORD was made a failure instead. */
gboolean lab_functions_record(const LabFunctions *f, const char *workload, ResRecord *record,
                              GHashTable *files);
