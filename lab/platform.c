/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/platform.h"

#include <unistd.h>

#include "host/channel.h"
#include "host/error.h"
#include "host/isolation.h"
#include "host/root.h"
#include "host/threads.h"
#include "lab/judge.h"
#include "lab/machine.h"

#define SYS_CPU "sys/devices/system/cpu/"

gboolean
lab_platform_needs_kvm(const LabProfile *profile)
{
    const GPtrArray *cells = lab_profile_cells(profile);
    gboolean undecided = FALSE;

    for (guint i = 0; i < cells->len; i++) {
        LabPlatform platform = ((LabCell *)cells->pdata[i])->params->platform;
        if (platform == LAB_PLATFORM_METAL)
            return TRUE;
        undecided |= platform == LAB_PLATFORM_AUTO;
    }
    g_autofree char *detail = NULL;
    return undecided && host_kvm_probe(&detail) == HOST_KVM_RUNS && host_kvm_allows(HOST_QEMU_USER);
}

/* The profile's host partition against what this machine's kernel says is in force. */
static gboolean
check_host_partition(const LabParams *params, GError **error)
{
    gboolean from_boot;
    g_autoptr(HostRoot) root = host_root_open(NULL, error);
    if (!root)
        return FALSE;
    g_autofree char *possible = host_root_read(root, SYS_CPU "possible", NULL, NULL);
    g_autofree char *cmdline = host_root_read(root, "proc/cmdline", NULL, NULL);
    g_autofree char *nohz_full = host_root_read(root, SYS_CPU "nohz_full", NULL, NULL);
    g_autofree char *isolated = host_root_read(root, SYS_CPU "isolated", NULL, NULL);
    g_autoptr(GPtrArray) kmsg = host_root_kmsg(root, &from_boot);
    g_autoptr(HostCpuset) cpus =
        host_cpulist_parse(possible ? possible : "", HOST_CPULIST_TOOL, 0, NULL, error);
    if (!cpus)
        return FALSE;

    HostKernelView view = {cmdline, nohz_full, isolated, kmsg, host_cpuset_last(cpus) + 1};
    g_autoptr(HostCpuset) housekeeping = NULL, isolated_set = NULL, want_nohz = NULL,
                          want_domain = NULL, want_nocb = NULL;
    HostPartition partition;
    if (!lab_partition_resolve(&params->host, view.ncpus, &housekeeping, &isolated_set, &partition,
                               error))
        return FALSE;
    host_partition_wanted(&partition, &want_nohz, &want_domain, &want_nocb);
    g_autoptr(GPtrArray) checks = host_isolation_compare(&view, want_nohz, want_domain, want_nocb);
    for (guint i = 0; i < checks->len; i++) {
        const HostIsolationCheck *c = checks->pdata[i];
        if (!c->ok) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_ISOLATION,
                        "%s of this machine: the profile wants %s, in force is %s. %s (nohzlab "
                        "host check tells more)",
                        c->parameter, c->requested, c->effective, c->message ? c->message : "");
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
check_kvm(LabSession *session, GError **error)
{
    const char *detail;
    HostKvmState state = lab_session_kvm(session, &detail);

    if ((state == HOST_KVM_RUNS || state == HOST_KVM_DOUBTFUL) &&
        !host_kvm_allows(HOST_QEMU_USER)) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "/dev/kvm may not be opened by " HOST_QEMU_USER
                    ", the user guests run as. Give it to its group: "
                    "chgrp kvm /dev/kvm && chmod 0660 /dev/kvm");
        return FALSE;
    }
    if (state == HOST_KVM_RUNS || state == HOST_KVM_DOUBTFUL)
        return TRUE;
    g_set_error(
        error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
        "platform metal needs KVM, which can't be used here: %s. Platform bare does without",
        detail);
    return FALSE;
}

static gboolean
check_icount(const LabParams *p, LabSession *session, GError **error)
{
    if (p->platform == LAB_PLATFORM_METAL) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "clock icount counts an emulator's instructions: on platform metal there is "
                    "only clock wall");
        return FALSE;
    }
    gboolean box = p->platform == LAB_PLATFORM_BOX;
    if ((box ? p->host_cpus : p->vcpus) == 1)
        return TRUE;
    if (!box && *p->pin) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "guest.pin = %s: under icount all vCPUs run in one thread, which libvirt can't "
                    "pin: leave pin out "
                    "(emulatorpin holds that thread, too)",
                    p->pin);
        return FALSE;
    }
    gulong qemu = host_conn_qemu_version(lab_session_conn(session), error);
    if (qemu == 0)
        return FALSE;
    if (qemu >= HOST_QEMU_ICOUNT_SMP)
        return TRUE;
    g_autofree char *have = host_version_text(qemu);
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "QEMU %s hangs when a guest with more than one vCPU boots under icount: the first "
                "vCPU takes the whole "
                "instruction budget. 8.1 is the first that shares it (\"make deps\" installs one)",
                have);
    return FALSE;
}

static void
settle(LabParams *p, LabPlatform platform, const char *why)
{
    p->platform = platform;
    g_free(p->platform_why);
    p->platform_why =
        g_strdup_printf("platform auto: %s, since %s", lab_platform_name(platform), why);
}

/*
 * On this machine: the lists of [host] become lists of its CPUs, and what is left of the guest's
 * QEMU stays, as the lab itself, on the housekeeping CPUs. Where the lists can't be read
 * lab_platform_check says so.
 */
static void
settle_metal(LabParams *p)
{
    g_autoptr(HostRoot) root = host_root_open(NULL, NULL);
    g_autoptr(HostCpuset) possible = root ? host_root_cpulist(root, SYS_CPU "possible") : NULL;
    g_autoptr(HostCpuset) online = root ? host_root_cpulist(root, SYS_CPU "online") : NULL;
    g_autoptr(HostCpuset) housekeeping = NULL, isolated = NULL;
    HostPartition partition;

    if (!possible || !online ||
        !lab_partition_resolve(&p->host, host_cpuset_last(possible) + 1, &housekeeping, &isolated,
                               &partition, NULL))
        return;
    hwloc_bitmap_and(housekeeping, housekeeping, online);
    if (hwloc_bitmap_iszero(isolated) || hwloc_bitmap_iszero(housekeeping))
        return;
    g_free(p->host.housekeeping);
    g_free(p->host.isolated);
    p->host.housekeeping = host_cpulist_format(housekeeping);
    p->host.isolated = host_cpulist_format(isolated);
    if (!*p->emulatorpin) {
        g_free(p->emulatorpin);
        p->emulatorpin = g_strdup(p->host.housekeeping);
    }
}

void
lab_platform_settle(LabParams *p, LabSession *session)
{
    const char *detail;
    g_autoptr(GError) unfit = NULL;

    if (p->platform == LAB_PLATFORM_AUTO) {
        if (lab_session_kvm(session, &detail) != HOST_KVM_RUNS)
            settle(p, LAB_PLATFORM_BOX, detail);
        else if (!check_kvm(session, &unfit) || !check_host_partition(p, &unfit))
            settle(p, LAB_PLATFORM_BOX, unfit->message);
        else
            settle(p, LAB_PLATFORM_METAL,
                   "KVM runs guests here and the host partition is in force");
    }
    if (p->platform == LAB_PLATFORM_METAL)
        settle_metal(p);
}

gboolean
lab_platform_confine(const LabParams *p, GError **error)
{
    if (p->platform != LAB_PLATFORM_METAL || !*p->host.housekeeping)
        return TRUE;
    g_autoptr(HostCpuset) cpus =
        host_cpulist_parse(p->host.housekeeping, HOST_CPULIST_TOOL, 0, NULL, error);
    return cpus && host_threads_confine(getpid(), cpus, error);
}

/* A load on the lab host needs one, and to know which of its CPUs are housekeeping ones. */
static gboolean
check_loads(const LabParams *p, GError **error)
{
    for (guint i = 0; i < p->workloads->len; i++) {
        const LabWorkload *w = p->workloads->pdata[i];
        if (g_str_equal(w->host_load, "none"))
            continue;
        if (p->platform == LAB_PLATFORM_BARE) {
            g_set_error(
                error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "[workload %s] host_load = %s: on platform bare there is no lab host to load",
                w->name, w->host_load);
            return FALSE;
        }
        if (p->clock == LAB_CLOCK_ICOUNT) {
            g_set_error(
                error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "[workload %s] host_load = %s: under clock icount all CPUs share one budget of "
                "instructions, so a busy one makes everything else look slow: use clock wall",
                w->name, w->host_load);
            return FALSE;
        }
        if (!*p->host.isolated) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                        "[workload %s] host_load = %s: say with host.isolated which CPUs are not "
                        "housekeeping ones",
                        w->name, w->host_load);
            return FALSE;
        }
    }
    return TRUE;
}

/* The CPUs that vCPUs can be pinned to: the box's, or those of this machine that are online. */
static HostCpuset *
pinnable(const LabParams *p, GError **error)
{
    HostCpuset *cpus = hwloc_bitmap_alloc();

    if (p->platform == LAB_PLATFORM_BOX) {
        hwloc_bitmap_set_range(cpus, 0, (int)p->host_cpus - 1);
        return cpus;
    }
    hwloc_bitmap_free(cpus);
    g_autoptr(HostRoot) root = host_root_open(NULL, error);
    cpus = root ? host_root_cpulist(root, SYS_CPU "online") : NULL;
    if (root && !cpus)
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "/" SYS_CPU "online can't be read");
    return cpus;
}

static gboolean
check_pin(const char *key, const char *text, const HostCpuset *cpus, gboolean box, GError **error)
{
    g_autoptr(HostCpuset) pin = host_cpulist_parse(text, HOST_CPULIST_TOOL, 0, NULL, error);

    if (!pin)
        return FALSE;
    g_autoptr(HostCpuset) absent = hwloc_bitmap_alloc();
    hwloc_bitmap_andnot(absent, pin, cpus);
    if (hwloc_bitmap_iszero(absent))
        return TRUE;
    g_autofree char *list = host_cpulist_format(absent);
    g_autofree char *have = host_cpulist_format(cpus);
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "guest.%s = %s: there is no CPU %s: the lab host, %s, has CPUs %s%s", key, text,
                list, box ? "an emulated one" : "this machine", have,
                box ? " (host.cpus says how many)" : " online");
    return FALSE;
}

static gboolean
check_pins(const LabParams *p, GError **error)
{
    gboolean box = p->platform == LAB_PLATFORM_BOX;

    if (!*p->pin && !*p->emulatorpin)
        return TRUE;
    g_autoptr(HostCpuset) cpus = pinnable(p, error);
    return cpus && (!*p->pin || check_pin("pin", p->pin, cpus, box, error)) &&
           (!*p->emulatorpin || check_pin("emulatorpin", p->emulatorpin, cpus, box, error));
}

gboolean
lab_platform_check(const LabParams *p, LabSession *session, GError **error)
{
    if (!check_loads(p, error) || !check_pins(p, error) ||
        (p->clock == LAB_CLOCK_ICOUNT && !check_icount(p, session, error)))
        return FALSE;
    if (p->platform != LAB_PLATFORM_METAL)
        return TRUE;
    return check_kvm(session, error) && check_host_partition(p, error);
}

const char *
lab_platform_qemu(const LabParams *p, LabSession *session)
{
    const char *wanted = g_getenv(LAB_QEMU_ENV);

    if (!host_conn_embedded(lab_session_conn(session)))
        return NULL;
    if (wanted && *wanted)
        return wanted;
    if (p->platform == LAB_PLATFORM_BOX && p->clock == LAB_CLOCK_ICOUNT &&
        g_file_test(lab_session_qemu(session), G_FILE_TEST_IS_EXECUTABLE))
        return lab_session_qemu(session);
    return HOST_QEMU;
}
