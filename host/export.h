/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* A plan in the words of the programs that carry it out. Pure; each text ends with a newline. */
#include <glib.h>

#include "host/plan.h"

typedef enum {
    HOST_EXPORT_CMDLINE,       /* of the host's kernel, one line */
    HOST_EXPORT_GUEST_CMDLINE, /* of the guest's kernel, one line */
    HOST_EXPORT_LIBVIRT, /* a <domain> of only what the plan decides, to merge into a guest's */
    HOST_EXPORT_TUNED,   /* tuned.conf of a profile on top of cpu-partitioning */
    HOST_EXPORT_SYSTEMD, /* drop-ins, one after the other, each below its path */
    HOST_EXPORTS
} HostExport;

/* "cmdline", "guest-cmdline", "libvirt", "tuned", "systemd". */
const char *host_export_name(HostExport what);
/* FALSE when there is none called NAME. */
gboolean host_export_from_name(const char *name, HostExport *what);

/* P must not be refused (host_rules_refuse). g_free. */
char *host_export(const HostPlan *p, HostExport what);

/* One each. */
char *host_export_libvirt(const HostPlan *p);
char *host_export_tuned(const HostPlan *p);
char *host_export_systemd(const HostPlan *p);
