/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of a QEMU in a fake /proc, against the pins asked for. */
#include <glib/gstdio.h>
#include <string.h>

#include "host/error.h"
#include "host/threads.h"

typedef struct {
    char *proc;
} Fixture;

static void
write_file(const char *folder, const char *name, const char *text, gsize len)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, text, len, NULL));
}

static void
add_thread(const Fixture *f, const char *task, const char *comm, const char *allowed)
{
    g_autofree char *folder = g_build_filename(f->proc, task, NULL);
    g_autofree char *status =
        allowed
            ? g_strdup_printf("Name:\t%s\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems:\t1\n",
                              comm, allowed)
            : g_strdup("Name:\tx\n");
    g_autofree char *line = g_strdup_printf("%s\n", comm);

    write_file(folder, "comm", line, strlen(line));
    write_file(folder, "status", status, strlen(status));
}

static void
set_up(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    static const char cmdline[] = "qemu\0-name\0guest=nohzlab-a-1,debug-threads=on\0-S";

    f->proc = g_dir_make_tmp("threads-XXXXXX", NULL);
    g_autofree char *process = g_build_filename(f->proc, "100", NULL);
    write_file(process, "cmdline", cmdline, sizeof(cmdline));
    add_thread(f, "100/task/100", "qemu-system-x86", "0");
    add_thread(f, "100/task/101", "CPU 0/KVM", "2");
    add_thread(f, "100/task/102", "CPU 1/KVM", "3");
    add_thread(f, "100/task/103", "IO iothread1", "0");
}

static void
tear_down(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    const char *argv[] = {"rm", "-rf", f->proc, NULL};
    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                 NULL);
    g_free(f->proc);
}

static HostCpuset *
list(const char *text)
{
    HostCpuset *set = host_cpulist_parse(text, HOST_CPULIST_TOOL, 0, NULL, NULL);
    g_assert_nonnull(set);
    return set;
}

/* Checks the threads against pins of two vCPUs and the emulator; NULL when they hold, otherwise the
 * message. */
static char *
check(const Fixture *f, const char *pin0, const char *pin1, const char *emulator)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) threads = host_threads_read(f->proc, 100, &error);
    g_assert_no_error(error);
    g_autoptr(HostCpuset) a = list(pin0);
    g_autoptr(HostCpuset) b = list(pin1);
    g_autoptr(HostCpuset) e = emulator ? list(emulator) : NULL;
    const HostCpuset *pins[] = {a, b};

    if (host_threads_check(threads, pins, 2, e, &error))
        return NULL;
    g_assert_error(error, HOST_ERROR, HOST_ERROR_ISOLATION);
    return g_strdup(error->message);
}

static void
test_find(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_assert_cmpint(host_guest_pid(f->proc, "nohzlab-a-1"), ==, 100);
    g_assert_cmpint(host_guest_pid(f->proc, "nohzlab-a-"), ==, 0);
    g_assert_cmpint(host_guest_pid(f->proc, "nohzlab-a-11"), ==, 0);
    g_assert_cmpint(host_guest_pid("/nowhere", "x"), ==, 0);
}

static void
test_pins_hold(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_assert_null(check(f, "2", "3", "0"));
    g_assert_null(check(f, "2", "3", NULL));
}

/* A pin that did not take is an error that names thread, pin and where it may run. */
static void
test_pin_not_taken(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    add_thread(f, "100/task/102", "CPU 1/KVM", "0-3,8");
    g_autofree char *message = check(f, "2", "3", "0");
    g_assert_cmpstr(message, ==,
                    "thread 102 (CPU 1/KVM) was to be pinned to CPU 3 but may run on 0-3,8");
}

static void
test_emulator_and_iothread(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    add_thread(f, "100/task/103", "IO iothread1", "0-3");
    g_autofree char *message = check(f, "2", "3", "0");
    g_assert_nonnull(strstr(message, "IO iothread1"));
    g_assert_null(check(f, "2", "3", NULL));
}

/* F03: what can't be read is unknown, never all CPUs. */
static void
test_unreadable(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    add_thread(f, "100/task/101", "CPU 0/KVM", NULL);
    g_autofree char *message = check(f, "2", "3", "0");
    g_assert_nonnull(strstr(message, "could not be read"));
    add_thread(f, "100/task/101", "CPU 0/KVM", "0-3,,x");
    g_autofree char *again = check(f, "2", "3", "0");
    g_assert_nonnull(strstr(again, "could not be read"));
}

static void
test_missing_vcpu(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    add_thread(f, "100/task/102", "worker", "0");
    g_autofree char *message = check(f, "2", "3", "0");
    g_assert_nonnull(strstr(message, "vCPU 1 has no thread"));
}

/* Before Linux 6.4 a kernel thread of its own, found by its name. */
static void
test_vhost(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    add_thread(f, "200", "vhost-100", "0-3");
    add_thread(f, "201", "vhost-101", "0-3");
    g_autofree char *message = check(f, "2", "3", "0");
    g_assert_nonnull(strstr(message, "thread 200 (vhost-100)"));
    add_thread(f, "200", "vhost-100", "0");
    g_assert_null(check(f, "2", "3", "0"));
}

static void
test_shared_thread(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    add_thread(f, "100/task/101", "ALL CPUs/TCG", "2");
    add_thread(f, "100/task/102", "worker", "0");
    g_assert_null(check(f, "2", "2", "0"));
    g_autofree char *message = check(f, "2", "3", "0");
    g_assert_nonnull(strstr(message, "one thread"));
}

static void
test_kinds(void)
{
    unsigned int vcpu = 99;

    g_assert_cmpint(host_thread_kind("CPU 12/TCG", &vcpu), ==, HOST_THREAD_VCPU);
    g_assert_cmpuint(vcpu, ==, 12);
    /* cut by the kernel after 15 bytes */
    g_assert_cmpint(host_thread_kind("CPU 254/KVM", &vcpu), ==, HOST_THREAD_VCPU);
    g_assert_cmpint(host_thread_kind("CPU x/KVM", &vcpu), ==, HOST_THREAD_EMULATOR);
    g_assert_cmpint(host_thread_kind("CPU 99999999999/K", &vcpu), ==, HOST_THREAD_EMULATOR);
    g_assert_cmpint(host_thread_kind("vhost-12", &vcpu), ==, HOST_THREAD_VHOST);
    g_assert_cmpint(host_thread_kind("", &vcpu), ==, HOST_THREAD_EMULATOR);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/threads/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("find", test_find);
    ADD("pins-hold", test_pins_hold);
    ADD("pin-not-taken", test_pin_not_taken);
    ADD("emulator-and-iothread", test_emulator_and_iothread);
    ADD("unreadable", test_unreadable);
    ADD("missing-vcpu", test_missing_vcpu);
    ADD("vhost", test_vhost);
    ADD("shared-thread", test_shared_thread);
    g_test_add_func("/threads/kinds", test_kinds);
    return g_test_run();
}
