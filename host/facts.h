/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What else of a machine decides its plan: KVM's parameters and the sizes of huge pages. */
#include <glib.h>

#include "host/root.h"

typedef struct {
    /* "kvm.halt_poll_ns" -> its value as the kernel shows it; of kvm, kvm_intel and kvm_amd. */
    GHashTable *module_parameters;
    gboolean kvm;     /* the module (or what is built in) shows parameters at all: what is missing
                       * above, this kernel does not have. FALSE: not loaded, so nothing is known */
    gboolean huge_1g; /* the kernel has pages of 1 GiB; those of 2 MiB are taken for granted */
} HostFacts;

/* Never fails: what can't be read is not there. */
HostFacts *host_facts_read(const HostRoot *root);
void host_facts_free(HostFacts *f);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostFacts, host_facts_free)
