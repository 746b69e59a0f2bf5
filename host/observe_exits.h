/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Names of the reasons why a guest was left, each vendor's own. Pure. */
#include <glib.h>

typedef enum { /* KVM_ISA_VMX, KVM_ISA_SVM of arch/x86/kvm/trace.h */
               HOST_EXIT_UNKNOWN_VENDOR,
               HOST_EXIT_VMX,
               HOST_EXIT_SVM,
} HostExitVendor;
const char *host_exit_vendor_name(HostExitVendor vendor); /* "vmx", "svm", "unknown" */

/*
 * "HLT", "EXTERNAL_INTERRUPT", "NPF": the kernel's macro without its prefix, or NULL for a code
 * that VENDOR's table does not have. VMX codes may carry the flags for a failed entry and for
 * enclaves.
 */
const char *host_exit_name(HostExitVendor vendor, guint64 code);

/* The host was interrupted: VMX EXTERNAL_INTERRUPT, SVM INTR. */
gboolean host_exit_is_external_interrupt(HostExitVendor vendor, guint64 code);
