/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* /dev/kvm: whether it is there, and keeping it from programs that must not use it. */
#include <glib.h>

typedef enum {
    HOST_KVM_ABSENT,     /* no /dev/kvm */
    HOST_KVM_UNREADABLE, /* there, but not ours to open, or it answers no ioctl */
    HOST_KVM_DOUBTFUL,   /* it executed them, but the processor shows neither vmx nor svm */
    HOST_KVM_RUNS,       /* a few guest instructions were really executed by it */
    HOST_KVM_FAILS, /* it makes a VM and a vCPU but does not execute guest instructions rightly */
} HostKvmState;

/*
 * Finds out by running: makes a VM with one page of real-mode code that adds two numbers and halts,
 * bounded by an alarm of two seconds. DETAIL gets a sentence (g_free). Takes a few milliseconds;
 * needs write access to /dev/kvm. RUNS is necessary, not sufficient: whether a kernel boots in it
 * only a boot tells. Source: Documentation/virt/kvm/api.rst (KVM_CREATE_VM,
 * KVM_SET_USER_MEMORY_REGION, KVM_RUN).
 */
HostKvmState host_kvm_probe(char **detail);

/* Whether USER may read and write /dev/kvm by its owner, groups and mode. TRUE for a user that does
 * not exist: QEMU then runs as we do. */
gboolean host_kvm_allows(const char *user);

/*
 * Hides /dev/kvm from this process and all it starts, in a mount namespace of its own: libvirt asks
 * QEMU whether KVM is enabled and the device file whether QEMU's user may open it, and probes QEMU
 * anew at each look-up (4 s each time) where the two answers differ, as they do when the device is
 * root's alone. Call before any thread is made. DIR: a folder
 * of this process, in which a file stays. Without /dev/kvm there is nothing to do. On error
 * nothing has changed but, possibly, the namespace.
 */
gboolean host_kvm_hide(const char *dir, GError **error);
