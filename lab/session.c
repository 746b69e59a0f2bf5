/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/session.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/error.h"
#include "host/guest.h"
#include "host/knobs.h"
#include "host/kvm.h"
#include "host/observe.h"
#include "host/reaper.h"
#include "lab/files.h"

#define GUESTS_FILE "guests"
#define KNOBS_FILE "knobs"
#define MACHINE_LOCK "machine" /* folder of the lock of who may change the machine */
#define MAKING_PREFIX "new-"
#define MAKING_S 60 /* longer than making a folder takes */

struct LabSession {
    char *token;
    char *run_dir;
    char *cache_dir;
    char *qemu;
    int lock_fd;
    int machine_fd; /* lock on changing this machine, -1: not held */
    unsigned int guests;
    GPtrArray *reaped;
    HostKvmState kvm;
    char *kvm_detail;
    HostConn *conn;
    ResStore *store;
};

char *
lab_state_dir(void)
{
    const char *set = g_getenv("NOHZLAB_STATE");

    if (set && *set)
        return g_strdup(set);
    if (geteuid() == 0)
        return g_strdup("/var/lib/nohzlab");
    return g_build_filename(g_get_user_state_dir(), "nohzlab", NULL);
}

/* Sockets live below it, so it must be short; QEMU's user must be able to enter it. */
static char *
run_root(void)
{
    return geteuid() == 0 ? g_strdup("/run/nohzlab")
                          : g_build_filename(g_get_user_runtime_dir(), "nohzlab", NULL);
}

/* Opens DIR's lock, made where it is missing, and takes it: the fd, or -1 when a live session holds
 * it or DIR is none of ours (a link, say). */
static int
lock_take(const char *dir)
{
    int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd =
        dir_fd < 0 ? -1 : openat(dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (dir_fd >= 0)
        close(dir_fd);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* FALSE: something could not be put back, so the journal has to stay. */
static gboolean
put_back(const char *dir, GPtrArray *lines)
{
    g_autofree char *journal = g_build_filename(dir, KNOBS_FILE, NULL);
    g_autoptr(GPtrArray) restored =
        g_ptr_array_new_with_free_func((GDestroyNotify)host_restore_line_free);
    g_autoptr(GError) error = NULL;
    g_autoptr(HostRoot) root = host_root_open(NULL, &error);
    gboolean ok = root && host_knobs_recover(root, journal, restored, &error);

    for (guint i = 0; i < restored->len; i++)
        g_ptr_array_add(lines, g_strdup_printf("of a nohzlab that was killed: %s",
                                               ((HostRestoreLine *)restored->pdata[i])->message));
    if (!ok)
        g_ptr_array_add(lines, g_strdup_printf("%s: %s", journal, error->message));
    return ok;
}

static void
reap_one(const char *dir, GPtrArray *lines)
{
    g_autofree char *journal = g_build_filename(dir, GUESTS_FILE, NULL);
    g_autofree char *text = NULL;
    int fd = lock_take(dir);

    if (fd < 0)
        return;
    if (g_file_get_contents(journal, &text, NULL, NULL)) {
        g_auto(GStrv) names = g_strsplit(text, "\n", -1);
        for (char **name = names; *name; name++) {
            if (g_str_has_prefix(*name, "nohzlab-") && host_guest_reap("/proc", *name))
                g_ptr_array_add(
                    lines,
                    g_strdup_printf("ended guest %s, left by a nohzlab that was killed", *name));
        }
    }
    if (put_back(dir, lines))
        lab_remove_tree(dir);
    close(fd);
}

/* One that ended while its folder was being made; it is not touched while that may go on. */
static gboolean
unfinished(const char *dir)
{
    GStatBuf st;
    return g_lstat(dir, &st) == 0 && st.st_mtime < g_get_real_time() / G_USEC_PER_SEC - MAKING_S;
}

void
lab_session_reap(const char *root, GPtrArray *lines)
{
    g_autoptr(GDir) dir = g_dir_open(root, 0, NULL);
    const char *entry;

    while (dir && (entry = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(root, entry, NULL);
        if (g_str_has_prefix(entry, "s-") ||
            (g_str_has_prefix(entry, MAKING_PREFIX) && unfinished(path)))
            reap_one(path, lines);
    }
}

/* The folder appears under its name only with its lock held, so that no reaper can take it for a
 * dead one's. */
static gboolean
make_run_dir(LabSession *s, const char *root, GError **error)
{
    g_autofree char *making = g_strdup_printf("%s/" MAKING_PREFIX "%s", root, s->token);
    g_autofree char *made = g_strdup_printf("%s/s-%s", root, s->token);

    if (g_mkdir_with_parents(root, 0755) != 0 || g_mkdir(making, 0755) != 0 ||
        (s->lock_fd = lock_take(making)) < 0 || g_rename(making, made) != 0) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't make the run folder %s: %s", made,
                    g_strerror(errno));
        return FALSE;
    }
    s->run_dir = g_steal_pointer(&made);
    return TRUE;
}

/* Only root's libvirt runs QEMU as another user, whose view of the device may differ from
 * libvirt's. */
static gboolean
hide_kvm(const LabSessionConfig *config)
{
    return !config->uri && !config->kvm && geteuid() == 0;
}

LabSession *
lab_session_open(const LabSessionConfig *config, GError **error)
{
    g_autofree char *root = run_root();
    g_autofree char *state = config->state_dir ? g_strdup(config->state_dir) : lab_state_dir();
    g_autoptr(LabSession) s = g_new0(LabSession, 1);

    s->lock_fd = s->machine_fd = -1;
    s->reaped = g_ptr_array_new_with_free_func(g_free);
    s->token = g_strdup_printf("%08x", g_random_int());
    lab_session_reap(root, s->reaped);
    guint instances = host_observers_reap();
    if (instances)
        g_ptr_array_add(
            s->reaped,
            g_strdup_printf("removed %u tracefs instances, left by a nohzlab that was killed",
                            instances));
    s->kvm = host_kvm_probe(&s->kvm_detail);
    s->store = res_store_open(state, error);
    if (!s->store || !make_run_dir(s, root, error) ||
        (hide_kvm(config) && !host_kvm_hide(s->run_dir, error)))
        return NULL;
    s->cache_dir = g_build_filename(res_store_root(s->store), "cache", NULL);
    s->qemu = g_build_filename(res_store_root(s->store), "qemu/bin/qemu-system-x86_64", NULL);
    g_autofree char *virt_cache =
        g_canonicalize_filename(config->kvm ? "libvirt-kvm" : "libvirt", s->cache_dir);
    s->conn = host_conn_open(config->uri, s->run_dir, virt_cache, error);
    if (!s->conn)
        return NULL;
    /* Where libvirt has to learn about QEMU first, it starts some: before we are the ones to reap
     * them. */
    host_conn_qemu_version(s->conn, NULL);
    host_reaper_init();
    return g_steal_pointer(&s);
}

void
lab_session_close(LabSession *s)
{
    if (!s)
        return;
    g_clear_pointer(&s->conn, host_conn_close);
    g_clear_pointer(&s->store, res_store_free);
    /* A journal that is left is of a setting that could not be put back: the next session tries. */
    g_autofree char *knobs = s->run_dir ? g_build_filename(s->run_dir, KNOBS_FILE, NULL) : NULL;
    if (knobs && !g_file_test(knobs, G_FILE_TEST_EXISTS))
        lab_remove_tree(s->run_dir);
    if (s->machine_fd >= 0)
        close(s->machine_fd);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    g_ptr_array_unref(s->reaped);
    g_free(s->kvm_detail);
    g_free(s->token);
    g_free(s->run_dir);
    g_free(s->cache_dir);
    g_free(s->qemu);
    g_free(s);
}

HostConn *
lab_session_conn(LabSession *s)
{
    return s->conn;
}

ResStore *
lab_session_store(LabSession *s)
{
    return s->store;
}

const char *
lab_session_run_dir(LabSession *s)
{
    return s->run_dir;
}

const char *
lab_session_cache_dir(LabSession *s)
{
    return s->cache_dir;
}

const char *
lab_session_qemu(LabSession *s)
{
    return s->qemu;
}

HostKvmState
lab_session_kvm(LabSession *s, const char **detail)
{
    if (detail)
        *detail = s->kvm_detail;
    return s->kvm;
}

const GPtrArray *
lab_session_reaped(LabSession *s)
{
    return s->reaped;
}

char *
lab_session_guest_name(LabSession *s, GError **error)
{
    g_autofree char *name = g_strdup_printf("nohzlab-%s-%u", s->token, s->guests);
    g_autofree char *line = g_strdup_printf("%s\n", name);
    g_autofree char *path = g_build_filename(s->run_dir, GUESTS_FILE, NULL);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    gboolean written =
        fd >= 0 && write(fd, line, strlen(line)) == (gssize)strlen(line) && fsync(fd) == 0;

    if (fd >= 0)
        close(fd);
    if (!written) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't write the journal %s: %s", path,
                    g_strerror(errno));
        return NULL;
    }
    s->guests++;
    return g_steal_pointer(&name);
}

char *
lab_session_knobs_journal(LabSession *s, GError **error)
{
    g_autofree char *root = run_root();
    g_autofree char *dir = g_build_filename(root, MACHINE_LOCK, NULL);

    if (s->machine_fd < 0 && g_mkdir_with_parents(dir, 0700) == 0)
        s->machine_fd = lock_take(dir);
    if (s->machine_fd < 0) {
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_BUSY,
                    "another nohzlab has set this machine for its run (lock %s/lock)", dir);
        return NULL;
    }
    return g_build_filename(s->run_dir, KNOBS_FILE, NULL);
}
