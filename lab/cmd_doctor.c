/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at this machine: each line is PASS, WARN or FAIL, what that means, and what to do about it.
 */
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "host/channel.h"
#include "host/isolation.h"
#include "host/kvm.h"
#include "images/image.h"
#include "lab/command.h"
#include "lab/prepare.h"
#include "lab/session.h"
#include "lab/verdict.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

typedef enum { PASS, WARN, FAIL } Grade;

typedef struct {
    unsigned int counts[FAIL + 1];
} Doctor;

static G_GNUC_PRINTF(4, 5) void say(Doctor *d, Grade grade, const char *what, const char *format,
                                    ...)
{
    static const char *const words[] = {"PASS", "WARN", "FAIL"};
    va_list args;

    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    printf("%s  %-11s %s\n", words[grade], what, text);
    d->counts[grade]++;
}

static void
look_at_kvm(Doctor *d)
{
    g_autofree char *detail = NULL;
    HostKvmState state = host_kvm_probe(&detail);

    if (state == HOST_KVM_RUNS && !host_kvm_allows(HOST_QEMU_USER))
        say(d, WARN, "kvm",
            "%s, but " HOST_QEMU_USER
            ", the user guests run as, may not open /dev/kvm: chgrp kvm /dev/kvm && chmod "
            "0660 /dev/kvm",
            detail);
    else if (state == HOST_KVM_RUNS)
        say(d, PASS, "kvm",
            "%s. Whether a kernel boots in it is only known by booting one; platform bare does "
            "without KVM",
            detail);
    else
        say(d, WARN, "kvm",
            "%s. Platform bare does without: figures are instructions (clock icount), not "
            "nanoseconds",
            detail);
}

static void
look_at_kernels(Doctor *d)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgKernel) kernel = img_kernel_find("", "default", &error);

    if (!kernel) {
        say(d, FAIL, "kernel", "%s. Run: make deps", error->message);
        return;
    }
    gboolean modules = kernel->modules_dir && g_file_test(kernel->modules_dir, G_FILE_TEST_IS_DIR);
    say(d, modules ? PASS : FAIL, "kernel", "%s (%s)%s", kernel->release, kernel->path,
        modules ? "" : ": its modules are not installed. Run: make deps");
}

static void
look_at_programs(Doctor *d)
{
    g_autofree char *dir = lab_guest_dir();
    static const char *const own[] = {"init", "syscall-loop", "exit-cost"};

    for (gsize i = 0; i < G_N_ELEMENTS(own); i++) {
        g_autofree char *path = g_build_filename(dir, own[i], NULL);
        if (access(path, X_OK) != 0)
            say(d, FAIL, own[i], "%s is not there. Run: make", path);
    }
    if (access("/usr/bin/cyclictest", X_OK) == 0)
        say(d, PASS, "cyclictest", "/usr/bin/cyclictest");
    else
        say(d, WARN, "cyclictest",
            "not installed, so cyclictest workloads can't run. Run: make deps");
}

static void
look_at_clock(Doctor *d)
{
    g_autofree char *name = NULL;

    if (!g_file_get_contents(CLOCKSOURCE, &name, NULL, NULL)) {
        say(d, WARN, "clock", CLOCKSOURCE " can't be read");
        return;
    }
    g_strchomp(name);
    g_autofree char *problem = host_clock_problem(name, NULL);
    if (problem)
        say(d, WARN, "clock", "%s. It does not matter to clock icount", problem);
    else
        say(d, PASS, "clock", "clocksource %s", name);
}

static void
look_at_emulator(Doctor *d, LabSession *session)
{
    g_autoptr(GError) error = NULL;
    HostConn *conn = lab_session_conn(session);
    gulong qemu = host_conn_qemu_version(conn, &error);
    g_autofree char *libvirt = host_version_text(host_conn_libvirt_version(conn));

    say(d, PASS, "libvirt", "%s at %s", libvirt, host_conn_uri(conn));
    if (qemu == 0) {
        say(d, FAIL, "qemu", "%s. Run: make deps", error->message);
        return;
    }
    g_autofree char *text = host_version_text(qemu);
    if (qemu < HOST_QEMU_ICOUNT_SMP)
        say(d, WARN, "qemu",
            "%s: clock icount works with one vCPU only (8.1 is the first that shares the "
            "instruction budget). "
            "Run: make deps",
            text);
    else
        say(d, PASS, "qemu", "%s: clock icount works with any number of vCPUs", text);
    if (geteuid() != 0)
        say(d, PASS, "user", "guests run as you, in QEMU's seccomp sandbox");
    else if (getpwnam(HOST_QEMU_USER))
        say(d, PASS, "user", "guests run as %s, in QEMU's seccomp sandbox", HOST_QEMU_USER);
    else
        say(d, WARN, "user", "there is no user %s: guests run as ours", HOST_QEMU_USER);
}

static void
look_at_session(Doctor *d, const char *state)
{
    g_autoptr(GError) error = NULL;
    LabSessionConfig config = {.state_dir = state};
    g_autoptr(LabSession) session = lab_session_open(&config, &error);

    if (!session) {
        say(d, FAIL, "session", "%s", error->message);
        return;
    }
    for (guint i = 0; i < lab_session_reaped(session)->len; i++)
        say(d, WARN, "left over", "%s", (char *)lab_session_reaped(session)->pdata[i]);
    say(d, PASS, "results", "%s can be written", res_store_root(lab_session_store(session)));
    look_at_emulator(d, session);
}

int
lab_cmd_doctor(int argc, char **argv)
{
    g_autofree char *state = NULL;
    Doctor d = {0};
    int code = 0;

    if (!lab_command_parse("doctor", NULL, 0, 0, &argc, &argv, &state, &code))
        return code;
    look_at_kvm(&d);
    look_at_clock(&d);
    look_at_kernels(&d);
    look_at_programs(&d);
    look_at_session(&d, state);
    printf("\n%s: %u passed, %u warnings, %u failed. What this machine can carry: platform bare, "
           "clock icount "
           "(instructions) and clock wall (functional).\n",
           d.counts[FAIL] ? "Not ready" : "Ready", d.counts[PASS], d.counts[WARN], d.counts[FAIL]);
    return d.counts[FAIL] ? LAB_EXIT_CANNOT : LAB_EXIT_HELD;
}
