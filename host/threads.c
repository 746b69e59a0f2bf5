/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/threads.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

void
host_thread_free(HostThread *t)
{
    if (!t)
        return;
    g_free(t->name);
    g_clear_pointer(&t->allowed, hwloc_bitmap_free);
    g_free(t);
}

HostThreadKind
host_thread_kind(const char *comm, unsigned int *vcpu)
{
    char *end;

    if (g_str_has_prefix(comm, "CPU ") && g_ascii_isdigit(comm[4])) {
        guint64 n = g_ascii_strtoull(comm + 4, &end, 10);
        /* comm is cut after 15 bytes, so what follows the slash is not looked at. */
        if (*end == '/' && n <= HOST_CPULIST_MAX_CPU) {
            *vcpu = n;
            return HOST_THREAD_VCPU;
        }
    }
    if (g_str_has_prefix(comm, "ALL CPUs/"))
        return HOST_THREAD_ALL_VCPUS;
    if (g_str_has_prefix(comm, "IO "))
        return HOST_THREAD_IOTHREAD;
    if (g_str_has_prefix(comm, "vhost-"))
        return HOST_THREAD_VHOST;
    return HOST_THREAD_EMULATOR;
}

/* A /proc entry's name as a number, or 0. */
static pid_t
entry_pid(const char *entry)
{
    guint64 n;

    return g_ascii_string_to_unsigned(entry, 10, 1, G_MAXINT32, &n, NULL) ? (pid_t)n : 0;
}

static gboolean
cmdline_names_guest(const char *cmdline, gsize len, const char *name)
{
    g_autofree char *wanted = g_strdup_printf("guest=%s", name);
    gsize wanted_len = strlen(wanted);
    gboolean after_name = FALSE;

    for (gsize i = 0; i < len; i += strlen(cmdline + i) + 1) {
        const char *arg = cmdline + i;
        if (after_name && strncmp(arg, wanted, wanted_len) == 0 &&
            (arg[wanted_len] == ',' || arg[wanted_len] == '\0'))
            return TRUE;
        after_name = strcmp(arg, "-name") == 0;
    }
    return FALSE;
}

pid_t
host_guest_pid(const char *proc, const char *name)
{
    g_autoptr(GDir) dir = g_dir_open(proc, 0, NULL);
    const char *entry;

    while (dir && (entry = g_dir_read_name(dir))) {
        pid_t pid = entry_pid(entry);
        g_autofree char *path = g_build_filename(proc, entry, "cmdline", NULL);
        g_autofree char *cmdline = NULL;
        gsize len = 0;
        if (pid && g_file_get_contents(path, &cmdline, &len, NULL) &&
            cmdline_names_guest(cmdline, len, name))
            return pid;
    }
    return 0;
}

/* Cpus_allowed_list of a status file, or NULL. */
static HostCpuset *
status_allowed(const char *path)
{
    g_autofree char *status = NULL;

    return g_file_get_contents(path, &status, NULL, NULL) ? host_cpulist_from_status(status, NULL)
                                                          : NULL;
}

static HostThread *
thread_read(const char *folder, pid_t tid)
{
    g_autofree char *comm_path = g_build_filename(folder, "comm", NULL);
    g_autofree char *status_path = g_build_filename(folder, "status", NULL);
    g_autofree char *comm = NULL;

    if (!g_file_get_contents(comm_path, &comm, NULL, NULL))
        return NULL; /* it ended meanwhile */
    HostThread *t = g_new0(HostThread, 1);
    t->tid = tid;
    t->name = g_strdup(g_strchomp(comm));
    t->kind = host_thread_kind(t->name, &t->vcpu);
    t->allowed = status_allowed(status_path);
    return t;
}

static int
by_tid(gconstpointer a, gconstpointer b)
{
    const HostThread *const *x = a, *const *y = b;
    return ((*x)->tid > (*y)->tid) - ((*x)->tid < (*y)->tid);
}

/* Before Linux 6.4 vhost workers were kernel threads of their own, named after the process they
 * serve. */
static void
add_vhost_threads(GPtrArray *threads, const char *proc, pid_t pid)
{
    g_autofree char *name = g_strdup_printf("vhost-%d", (int)pid);
    g_autoptr(GDir) dir = g_dir_open(proc, 0, NULL);
    const char *entry;

    while (dir && (entry = g_dir_read_name(dir))) {
        pid_t tid = entry_pid(entry);
        g_autofree char *folder = g_build_filename(proc, entry, NULL);
        HostThread *t = tid && tid != pid ? thread_read(folder, tid) : NULL;
        if (t && g_str_equal(t->name, name))
            g_ptr_array_add(threads, t);
        else
            host_thread_free(t);
    }
}

GPtrArray *
host_threads_read(const char *proc, pid_t pid, GError **error)
{
    g_autofree char *number = g_strdup_printf("%d", (int)pid);
    g_autofree char *folder = g_build_filename(proc, number, "task", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, error);
    if (!dir)
        return NULL;

    g_autoptr(GPtrArray) threads = g_ptr_array_new_with_free_func((GDestroyNotify)host_thread_free);
    const char *entry;
    while ((entry = g_dir_read_name(dir))) {
        pid_t tid = entry_pid(entry);
        g_autofree char *path = g_build_filename(folder, entry, NULL);
        HostThread *t = tid ? thread_read(path, tid) : NULL;
        if (t)
            g_ptr_array_add(threads, t);
    }
    add_vhost_threads(threads, proc, pid);
    if (threads->len == 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "process %d has no threads to be seen in %s",
                    (int)pid, folder);
        return NULL;
    }
    g_ptr_array_sort(threads, by_tid);
    return g_steal_pointer(&threads);
}

static gboolean
thread_check(const HostThread *t, const HostCpuset *wanted, GError **error)
{
    g_autofree char *wanted_list = host_cpulist_format(wanted);

    if (!t->allowed) {
        g_set_error(
            error, HOST_ERROR, HOST_ERROR_ISOLATION,
            "the affinity of thread %d (%s) could not be read, so its pin to %s is unproven",
            (int)t->tid, t->name, wanted_list);
        return FALSE;
    }
    if (hwloc_bitmap_isequal(t->allowed, wanted))
        return TRUE;
    g_autofree char *allowed_list = host_cpulist_format(t->allowed);
    g_set_error(error, HOST_ERROR, HOST_ERROR_ISOLATION,
                "thread %d (%s) was to be pinned to CPU %s but may run on %s", (int)t->tid, t->name,
                wanted_list, allowed_list);
    return FALSE;
}

/* The set a thread was to be pinned to, or NULL when nothing was asked of it. */
static const HostCpuset *
wanted_for(const HostThread *t, const HostCpuset *const *vcpu_pins, unsigned int vcpus,
           const HostCpuset *emulator_pin)
{
    switch (t->kind) {
    case HOST_THREAD_VCPU:
        return vcpu_pins && t->vcpu < vcpus ? vcpu_pins[t->vcpu] : NULL;
    case HOST_THREAD_ALL_VCPUS:
        return vcpu_pins ? vcpu_pins[0] : NULL;
    default:
        return emulator_pin;
    }
}

static gboolean
shared_thread_check(const HostCpuset *const *vcpu_pins, unsigned int vcpus, GError **error)
{
    for (unsigned int i = 1; i < vcpus; i++) {
        if (!hwloc_bitmap_isequal(vcpu_pins[0], vcpu_pins[i])) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_ISOLATION,
                        "all vCPUs run in one thread here (icount), so they can't be pinned apart: "
                        "give all the "
                        "same CPU");
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
host_threads_check(const GPtrArray *threads, const HostCpuset *const *vcpu_pins, unsigned int vcpus,
                   const HostCpuset *emulator_pin, GError **error)
{
    g_autofree gboolean *seen = g_new0(gboolean, vcpus);
    gboolean shared = FALSE;

    for (guint i = 0; i < threads->len; i++) {
        const HostThread *t = threads->pdata[i];
        const HostCpuset *wanted = wanted_for(t, vcpu_pins, vcpus, emulator_pin);
        if (wanted && !thread_check(t, wanted, error))
            return FALSE;
        shared |= t->kind == HOST_THREAD_ALL_VCPUS;
        if (t->kind == HOST_THREAD_VCPU && t->vcpu < vcpus)
            seen[t->vcpu] = TRUE;
    }
    if (!vcpu_pins)
        return TRUE;
    if (shared)
        return shared_thread_check(vcpu_pins, vcpus, error);
    for (unsigned int i = 0; i < vcpus; i++) {
        if (!seen[i]) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_ISOLATION,
                        "vCPU %u has no thread, so its pin is unproven", i);
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
host_threads_confine(pid_t pid, const HostCpuset *cpus, GError **error)
{
    g_autoptr(GPtrArray) threads = host_threads_read("/proc", pid, error);
    int count = host_cpuset_last(cpus) + 1;
    cpu_set_t *mask = CPU_ALLOC(count);
    gsize bytes = CPU_ALLOC_SIZE(count);
    int cpu, failed = 0;

    CPU_ZERO_S(bytes, mask);
    hwloc_bitmap_foreach_begin(cpu, cpus) CPU_SET_S(cpu, bytes, mask);
    hwloc_bitmap_foreach_end();
    for (guint i = 0; threads && i < threads->len && !failed; i++) {
        const HostThread *t = threads->pdata[i];
        if (t->kind != HOST_THREAD_VHOST && sched_setaffinity(t->tid, bytes, mask) != 0 &&
            errno != ESRCH)
            failed = errno;
    }
    CPU_FREE(mask);
    if (failed) {
        g_autofree char *list = host_cpulist_format(cpus);
        g_set_error(error, HOST_ERROR, HOST_ERROR_ISOLATION,
                    "can't keep our own threads on CPU %s: %s", list, g_strerror(failed));
    }
    return threads && !failed;
}
