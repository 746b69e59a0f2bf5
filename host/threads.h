/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The threads of a guest's QEMU, and where the kernel lets each of them run, read from /proc. */
#include <glib.h>
#include <sys/types.h>

#include "host/cpulist.h"

typedef enum {
    HOST_THREAD_VCPU,      /* "CPU 3/KVM", "CPU 3/TCG": vcpu says which */
    HOST_THREAD_ALL_VCPUS, /* "ALL CPUs/TCG": one thread for all (icount) */
    HOST_THREAD_IOTHREAD,  /* "IO name" */
    HOST_THREAD_VHOST,     /* kernel thread "vhost-PID" */
    HOST_THREAD_EMULATOR,  /* the rest */
} HostThreadKind;

typedef struct {
    pid_t tid;
    char *name; /* comm */
    HostThreadKind kind;
    unsigned int vcpu; /* of HOST_THREAD_VCPU */
    HostCpuset
        *allowed; /* Cpus_allowed_list; NULL: could not be read, which is never taken for "all" */
} HostThread;
void host_thread_free(HostThread *t);

/* The kind a thread of QEMU has by its comm (util/qemu-thread, accel/: debug-threads=on names). */
HostThreadKind host_thread_kind(const char *comm, unsigned int *vcpu);

/* The process whose command line says `-name guest=NAME`, or 0. PROC: "/proc", or a fake one for
 * tests. */
pid_t host_guest_pid(const char *proc, const char *name);

/* All threads of PID and its vhost threads, by tid. HostThread *. */
GPtrArray *host_threads_read(const char *proc, pid_t pid, GError **error);

/*
 * Every thread against the pins asked for (VCPU_PINS: VCPUS sets or NULL; EMULATOR_PIN or NULL):
 * HOST_ERROR_ISOLATION at the first thread that may run elsewhere, or whose affinity could not be
 * read, or when a vCPU has no thread. Where all vCPUs share a thread their pins must be the same
 * set.
 */
gboolean host_threads_check(const GPtrArray *threads, const HostCpuset *const *vcpu_pins,
                            unsigned int vcpus, const HostCpuset *emulator_pin, GError **error);

/* Lets every thread of PID run on CPUS only (sched_setaffinity(2)); threads and processes they
 * start later inherit it. */
gboolean host_threads_confine(pid_t pid, const HostCpuset *cpus, GError **error);
