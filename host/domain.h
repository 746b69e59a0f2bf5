/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The domain XML of a guest: a pure function, so that it can be printed, tested and compared
 * without running anything. */
#include <glib.h>

#include "host/cpulist.h"

typedef struct {
    const char *name;     /* of the domain */
    gboolean kvm;         /* <domain type='kvm'>, otherwise TCG */
    gboolean svm;         /* TCG only: an emulated AMD CPU in which KVM runs guests */
    gboolean icount;      /* TCG only: virtual time = instructions executed (1 ns each) */
    guint64 seed;         /* icount: of the emulator's randomness (-seed) */
    const char *plugin;   /* icount: the emulator's plugin to load (-plugin); NULL: none */
    const char *emulator; /* NULL: libvirt's choice */
    const char *kernel, *initrd, *cmdline; /* initrd: or NULL */
    unsigned int memory_mib, vcpus;
    const char *job_path;     /* file shown to the guest as fw_cfg opt/org.nohzlab/job */
    const char *console_path; /* Unix socket we listen on: the serial console */
    const char
        *report_path; /* Unix socket we listen on: the virtio-serial port org.nohzlab.report */
    const HostCpuset *const *vcpu_pins; /* VCPUS sets, or NULL: not pinned */
    const HostCpuset *emulator_pin;     /* or NULL */
} HostDomainSpec;

/* XML by libxml2's writer. UNSUPPORTED when the spec can't be had: icount with KVM, no vCPU, a
 * text XML can't carry. g_free it. */
char *host_domain_xml(const HostDomainSpec *spec, GError **error);

/* The date every icount guest starts with: 2026-01-01T00:00:00Z, seconds since the epoch. */
#define HOST_ICOUNT_EPOCH_S 1767225600
