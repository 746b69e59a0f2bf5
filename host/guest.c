/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/guest.h"

#include <errno.h>
#include <libvirt/libvirt-qemu.h>
#include <libvirt/virterror.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/error.h"
#include "host/reaper.h"
#include "host/threads.h"

struct HostGuest {
    HostConn *conn;
    char *name, *xml;
    virDomainPtr domain;
    gboolean stopped_told;
    HostGuestStopped stopped;
    gpointer data;
    GPtrArray *threads;
    pid_t pid; /* 0: not known */
};

static HostGuestEnd
end_from_event(int detail)
{
    switch (detail) {
    case VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN:
        return HOST_GUEST_SHUTDOWN;
    case VIR_DOMAIN_EVENT_STOPPED_CRASHED:
        return HOST_GUEST_CRASHED;
    case VIR_DOMAIN_EVENT_STOPPED_DESTROYED:
        return HOST_GUEST_DESTROYED;
    default:
        return HOST_GUEST_FAILED;
    }
}

static void
on_stopped(int detail, gpointer data)
{
    HostGuest *g = data;

    if (g->stopped_told)
        return;
    g->stopped_told = TRUE;
    g->stopped(g, end_from_event(detail), g->data);
}

HostGuest *
host_guest_new(HostConn *conn, const char *name, const char *xml, HostGuestStopped stopped,
               gpointer data)
{
    HostGuest *g = g_new0(HostGuest, 1);

    g->conn = conn;
    g->name = g_strdup(name);
    g->xml = g_strdup(xml);
    g->stopped = stopped;
    g->data = data;
    host_conn_watch(conn, name, on_stopped, g);
    return g;
}

/* What the worker needs of the spec: copies, since the caller's may go. */
typedef struct {
    HostCpuset **vcpu_pins; /* NULL: none */
    unsigned int vcpus;
    HostCpuset *emulator_pin;
} Pins;

static void
pins_free(Pins *p)
{
    for (unsigned int i = 0; p->vcpu_pins && i < p->vcpus; i++)
        hwloc_bitmap_free(p->vcpu_pins[i]);
    g_free(p->vcpu_pins);
    g_clear_pointer(&p->emulator_pin, hwloc_bitmap_free);
    g_free(p);
}

static Pins *
pins_copy(const HostDomainSpec *spec)
{
    Pins *p = g_new0(Pins, 1);

    p->vcpus = spec->vcpus;
    if (spec->vcpu_pins) {
        p->vcpu_pins = g_new0(HostCpuset *, spec->vcpus);
        for (unsigned int i = 0; i < spec->vcpus; i++)
            p->vcpu_pins[i] = hwloc_bitmap_dup(spec->vcpu_pins[i]);
    }
    if (spec->emulator_pin)
        p->emulator_pin = hwloc_bitmap_dup(spec->emulator_pin);
    return p;
}

static gboolean
guest_create(HostGuest *g, const Pins *pins, GError **error)
{
    g->domain = virDomainCreateXML(host_conn_virt(g->conn), g->xml, VIR_DOMAIN_START_PAUSED);
    if (!g->domain) {
        host_error_set_libvirt(error, "libvirt did not start the guest");
        return FALSE;
    }
    g->pid = host_guest_pid("/proc", g->name);
    if (g->pid == 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO,
                    "no process of guest %s is to be seen in /proc, so its pins can't be read",
                    g->name);
        return FALSE;
    }
    g->threads = host_threads_read("/proc", g->pid, error);
    return g->threads && host_threads_check(g->threads, (const HostCpuset *const *)pins->vcpu_pins,
                                            pins->vcpus, pins->emulator_pin, error);
}

static void
start_in_thread(GTask *task, gpointer source G_GNUC_UNUSED, gpointer pins,
                GCancellable *cancel G_GNUC_UNUSED)
{
    GError *error = NULL;
    HostGuest *g = g_object_get_data(G_OBJECT(task), "guest");

    if (guest_create(g, pins, &error))
        g_task_return_boolean(task, TRUE);
    else
        g_task_return_error(task, error);
}

void
host_guest_start(HostGuest *g, const HostDomainSpec *spec, GAsyncReadyCallback done, gpointer data)
{
    g_autoptr(GTask) task = g_task_new(NULL, NULL, done, data);

    g_object_set_data(G_OBJECT(task), "guest", g);
    g_task_set_task_data(task, pins_copy(spec), (GDestroyNotify)pins_free);
    g_task_run_in_thread(task, start_in_thread);
}

gboolean
host_guest_start_finish(HostGuest *g G_GNUC_UNUSED, GAsyncResult *result, GError **error)
{
    return g_task_propagate_boolean(G_TASK(result), error);
}

const GPtrArray *
host_guest_threads(const HostGuest *g)
{
    return g->threads;
}

gboolean
host_guest_resume(HostGuest *g, GError **error)
{
    if (virDomainResume(g->domain) == 0)
        return TRUE;
    host_error_set_libvirt(error, "the guest did not resume");
    return FALSE;
}

static void
destroy_in_thread(GTask *task, gpointer source G_GNUC_UNUSED, gpointer guest,
                  GCancellable *cancel G_GNUC_UNUSED)
{
    HostGuest *g = guest;

    /* An error here means that it is gone already: it powered off, or QEMU died. */
    if (g->domain)
        virDomainDestroy(g->domain);
    virResetLastError();
    g_task_return_boolean(task, TRUE);
}

void
host_guest_destroy(HostGuest *g, GAsyncReadyCallback done, gpointer data)
{
    g_autoptr(GTask) task = g_task_new(NULL, NULL, done, data);

    g_task_set_task_data(task, g, NULL);
    g_task_run_in_thread(task, destroy_in_thread);
}

/* --- registers --- */

static void
registers_in_thread(GTask *task, gpointer source G_GNUC_UNUSED, gpointer domain,
                    GCancellable *cancel G_GNUC_UNUSED)
{
    char *text = NULL;

    if (virDomainQemuMonitorCommand(domain, "info registers -a", &text,
                                    VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP) == 0) {
        g_task_return_pointer(task, text, free);
        return;
    }
    GError *error = NULL;
    host_error_set_libvirt(&error, "QEMU does not tell its registers");
    g_task_return_error(task, error);
}

static void
domain_unref(gpointer domain)
{
    virDomainFree(domain);
}

void
host_guest_registers(HostGuest *g, GAsyncReadyCallback done, gpointer data)
{
    g_autoptr(GTask) task = g_task_new(NULL, NULL, done, data);

    virDomainRef(g->domain);
    g_task_set_task_data(task, g->domain, domain_unref);
    g_task_run_in_thread(task, registers_in_thread);
}

char *
host_guest_registers_finish(GAsyncResult *result, GError **error)
{
    return g_task_propagate_pointer(G_TASK(result), error);
}

gboolean
host_guest_cpu_time(const HostGuest *g, guint64 *ns)
{
    clockid_t clock;
    struct timespec t;

    if (g->pid == 0 || clock_getcpuclockid(g->pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return FALSE;
    *ns = (guint64)t.tv_sec * G_GUINT64_CONSTANT(1000000000) + (guint64)t.tv_nsec;
    return TRUE;
}

char *
host_guest_end_text(const HostGuest *g)
{
    int status;

    if (g->pid == 0 || !host_reaper_status(g->pid, &status))
        return NULL;
    if (WIFSIGNALED(status))
        return g_strdup_printf("signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return g_strdup_printf("exit code %d", WEXITSTATUS(status));
}

void
host_guest_free(HostGuest *g)
{
    if (!g)
        return;
    host_conn_unwatch(g->conn, g->name);
    g_clear_pointer(&g->domain, virDomainFree);
    g_clear_pointer(&g->threads, g_ptr_array_unref);
    g_free(g->name);
    g_free(g->xml);
    g_free(g);
}

gboolean
host_guest_reap(const char *proc, const char *name)
{
    pid_t pid = host_guest_pid(proc, name);
    if (pid == 0)
        return FALSE;
    /* The pid may be another's by now: hold it, look again, then kill what is held. */
    int fd = syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return FALSE;
    gboolean ours = host_guest_pid(proc, name) == pid;
    if (ours)
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    close(fd);
    return ours;
}
