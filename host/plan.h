/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * From a machine and a wish to everything that is to be done to it before a guest runs there.
 * Pure: nothing is read or changed. Whether the plan may be used, host_rules_check says.
 */
#include <glib.h>

#include "host/facts.h"
#include "host/topology.h"

typedef enum { HOST_TSC_DEFAULT, HOST_TSC_NOWATCHDOG, HOST_TSC_RELIABLE } HostTsc;

typedef struct {
    /* Kernel dialect; N is the last CPU present, on the machine planned for. NULL: what the other
     * one leaves of the online ones; at least one is given. */
    const char *housekeeping, *isolated;
    const char *isolcpus;       /* flags; NULL: "domain,managed_irq"; "none": no isolcpus= */
    const char *irqaffinity;    /* kernel dialect; NULL: the housekeeping CPUs */
    const char *cmdline;        /* what the kernel gets besides, or NULL */
    unsigned int vcpus;         /* 0: as many as get a core of their own on one node */
    unsigned int guest_threads; /* threads per core in the guest; 0: 1, or as SHARE_CORES has it */
    const char *const *vcpu_pins; /* "VCPU=CPUS" (tool dialect; `*` is all vCPUs), NULL-terminated,
                                   * over what the plan would choose; or NULL */
    const char *emulatorpin;      /* tool dialect; NULL: housekeeping CPUs of the vCPUs' node */
    gboolean share_cores;         /* vCPUs may be SMT siblings of each other */
    unsigned int fifo_priority;   /* of the vCPUs; 0: SCHED_OTHER */
    guint64 memory_mib;           /* of the guest; 0: no huge pages are planned */
    HostTsc tsc;
} HostWish;

typedef enum {
    HOST_ITEM_HOST_PARAM,  /* host kernel command line */
    HOST_ITEM_GUEST_PARAM, /* guest kernel command line */
    HOST_ITEM_SYSCTL,      /* on the host */
    HOST_ITEM_MODULE,      /* "kvm.halt_poll_ns": /sys/module/kvm/parameters/halt_poll_ns */
    HOST_ITEM_GUEST,       /* of the guest's machine */
} HostItemKind;

typedef struct {
    HostItemKind kind;
    char *name, *value; /* VALUE "": a parameter without one */
    char *why;
    char *now; /* the value in force, where it is known; or NULL */
} HostPlanItem;

typedef struct {
    unsigned int ncpus; /* possible CPUs */
    HostCpuset *housekeeping, *isolated;
    HostCpuset *irqaffinity;
    char *isolcpus;      /* flags; "": no isolcpus= */
    char *host_cmdline;  /* complete, without the wish's CMDLINE */
    char *other_cmdline; /* the wish's CMDLINE, "" when none */
    char *guest_cmdline;

    unsigned int vcpus, guest_threads; /* guest_threads divides vcpus */
    HostCpuset **vcpu_pins;            /* vcpus of them */
    HostCpuset *emulator_pin;          /* of iothreads, too */
    int node;                          /* NUMA node number all vCPUs are on, or -1 */
    gboolean share_cores;              /* as wished */
    unsigned int fifo_priority;
    guint64 memory_mib, page_kib; /* page_kib 0: no huge pages */
    HostTsc tsc;
    char *shortage; /* why the vCPUs asked for could not be placed as asked, or NULL */

    GPtrArray *items;    /* HostPlanItem * */
    GPtrArray *warnings; /* char *: of the lists */
} HostPlan;

/*
 * Reads the wish's lists and settles the rest. FACTS NULL: unknown. NULL with ERROR
 * (HOST_CPULIST_ERROR, HOST_ERROR_UNSUPPORTED) when a list can't be read, names CPUs past the
 * machine's last one ("asked for 4-7, this machine has 0-3, nothing left"), or leaves nothing to
 * plan.
 */
HostPlan *host_plan_new(const HostTopology *t, const HostFacts *facts, const HostWish *wish,
                        GError **error);
void host_plan_free(HostPlan *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostPlan, host_plan_free)

/* "host kernel", "guest kernel", "sysctl", "module", "guest". */
const char *host_item_kind_name(HostItemKind kind);
