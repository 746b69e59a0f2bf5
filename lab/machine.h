/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* From a cell's parameters to the machine that is booted: its partition, command line, pins, domain
 * and job. Pure. */
#include <glib.h>

#include "host/domain.h"
#include "host/partition.h"
#include "lab/profile.h"

typedef struct {
    unsigned int vcpus;
    HostCpuset *housekeeping, *isolated; /* of the guest */
    HostCpuset *nohz_full, *domain,
        *rcu_nocbs;           /* that must be in force in it; empty: not asked for */
    char *cmdline;            /* of its kernel */
    HostCpuset **vcpu_pins;   /* vcpus sets, or NULL */
    HostCpuset *emulator_pin; /* or NULL */
    char *job;                /* guest/report-format.md */
} LabMachine;

/* PARAMS are checked ones (lab_profile_load); an error here means that they were not. */
LabMachine *lab_machine_new(const LabParams *params, GError **error);
void lab_machine_free(LabMachine *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabMachine, lab_machine_free)

/*
 * P on a machine of NCPUS CPUs. *HOUSEKEEPING and *ISOLATED (free with hwloc_bitmap_free, also
 * after an error when not NULL) are what PARTITION points to.
 */
gboolean lab_partition_resolve(const LabPartition *p, unsigned int ncpus, HostCpuset **housekeeping,
                               HostCpuset **isolated, HostPartition *partition, GError **error);

/* The domain of boot number BOOT; pointers belong to PARAMS and M. The caller fills in name,
 * emulator, kernel, initrd and the paths. */
HostDomainSpec lab_machine_domain(const LabMachine *m, const LabParams *params, unsigned int boot);

/* Where a guest waits for its host: at each barrier ("host"), or only at the last, when nothing is
 * measured any more ("end"): the answers arrive in host time, which must not reach a guest whose
 * time counts instructions. */
const char *lab_machine_barriers(const LabParams *params);

/* The vCPU a syscall-loop measures: vCPU 0 where it was pinned to none. */
unsigned int lab_workload_cpu(const LabWorkload *w);

/* The seed of boot number BOOT: the profile's seed plus it, so boots differ, and the same boot
 * repeats exactly. */
guint64 lab_machine_seed(const LabParams *params, unsigned int boot);

/* Where the image keeps the guest programs. */
#define LAB_GUEST_SYSCALL_LOOP "/bin/syscall-loop"
#define LAB_GUEST_PROGRAMS                                                                         \
    "/programs" /* and a program's path here: /tmp and others are mounted over */
#define LAB_GUEST_EXIT_COST "/exit-cost" /* the guest itself: it has no files */
#define LAB_GUEST_CYCLICTEST "/usr/bin/cyclictest"
/* What cyclictest leaves, in the guest. */
#define LAB_GUEST_CYCLICTEST_JSON "cyclictest.json"
