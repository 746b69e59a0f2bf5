/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/load.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/error.h"

struct LabLoad {
    GArray *pids; /* pid_t */
};

/* After fork() in a process with threads: only what is async-signal-safe. */
static void
spin(const cpu_set_t *mask, gsize bytes, pid_t parent, int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || sched_setaffinity(0, bytes, mask) != 0 || write(ready, "", 1) != 1)
        _exit(1);
    close(ready);
    for (;;)
        __asm__ volatile("");
}

/* One process on CPU; 0 on failure, with errno. */
static pid_t
start_one(int cpu)
{
    gsize bytes = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t *mask = CPU_ALLOC(cpu + 1);
    pid_t parent = getpid();
    int ready[2];
    char byte;

    CPU_ZERO_S(bytes, mask);
    CPU_SET_S(cpu, bytes, mask);
    if (pipe2(ready, O_CLOEXEC) != 0) {
        CPU_FREE(mask);
        return 0;
    }
    pid_t pid = fork();
    if (pid == 0)
        spin(mask, bytes, parent, ready[1]);
    close(ready[1]);
    gboolean pinned = pid > 0 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    CPU_FREE(mask);
    if (pid > 0 && !pinned) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        errno = EINVAL;
    }
    return pinned ? pid : 0;
}

LabLoad *
lab_load_start(const HostCpuset *cpus, GError **error)
{
    g_autoptr(LabLoad) l = g_new0(LabLoad, 1);
    int cpu;

    l->pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
    hwloc_bitmap_foreach_begin(cpu, cpus)
    {
        pid_t pid = start_one(cpu);
        if (pid == 0) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "can't keep CPU %d busy: %s", cpu,
                        g_strerror(errno));
            return NULL;
        }
        g_array_append_val(l->pids, pid);
    }
    hwloc_bitmap_foreach_end();
    return g_steal_pointer(&l);
}

void
lab_load_stop(LabLoad *l)
{
    if (!l)
        return;
    for (guint i = 0; i < l->pids->len; i++)
        kill(g_array_index(l->pids, pid_t, i), SIGKILL);
    for (guint i = 0; i < l->pids->len; i++)
        waitpid(g_array_index(l->pids, pid_t, i), NULL, 0);
    g_array_unref(l->pids);
    g_free(l);
}
