/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The partition somebody wants of this machine: from a file with a [host] section as profiles have
 * it (housekeeping, isolated, nohz_full, rcu_nocbs, isolcpus), or what the running kernel's command
 * line asks for. Never NULL sets.
 */
#include <glib.h>

#include "host/cpulist.h"

typedef struct {
    gboolean from_file;
    HostCpuset *isolated;     /* all CPUs that are to be left alone */
    HostCpuset *housekeeping; /* for everything else */
    HostCpuset *domain, *managed_irq, *nohz_full, *rcu_nocbs; /* what each parameter asks for */
} HostWish;
void host_wish_free(HostWish *w);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostWish, host_wish_free)

/*
 * Reads FILE for a machine of NCPUS possible CPUs. CPU lists are the kernel's (`N` is the last
 * CPU); CPUs beyond the machine are no error here, so that it can be said which are missing. Keys
 * of [host] that only profiles use are passed over; any other unknown key is an error.
 */
HostWish *host_wish_from_file(const char *file, unsigned int ncpus, GError **error);
/* Of sets that are known; no kernel parameter is asked for. */
HostWish *host_wish_from_sets(const HostCpuset *housekeeping, const HostCpuset *isolated);
/* What can't be understood is left out: host_cmdline_lint() tells of it. */
HostWish *host_wish_from_cmdline(const char *cmdline, unsigned int ncpus);
