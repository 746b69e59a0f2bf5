/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/reaper.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 25
#define KEPT 64 /* ends kept: more than there are guests at once */

static guint holds, timer;
static struct {
    pid_t pid;
    int status;
} ended[KEPT]; /* a ring */
static guint n_ended;

void
host_reaper_init(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/*
 * A daemon is the child of a child that made a session and ended (src/util/vircommand.c,
 * VIR_EXEC_DAEMON): it is in another session than ours and does not lead it. The one between leads
 * it, and libvirt waits for that one; so does whoever started a child in our session.
 */
static gboolean
is_daemon(pid_t pid)
{
    pid_t session = getsid(pid);

    return session > 0 && session != pid && session != getsid(0);
}

static gboolean
look(gpointer data G_GNUC_UNUSED)
{
    siginfo_t info;

    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 ||
            !is_daemon(info.si_pid))
            return G_SOURCE_CONTINUE;
        guint at = n_ended++ % KEPT;
        ended[at].pid = waitpid(info.si_pid, &ended[at].status, WNOHANG);
    }
}

void
host_reaper_hold(void)
{
    if (holds++ == 0)
        timer = g_timeout_add(LOOK_MS, look, NULL);
}

void
host_reaper_release(void)
{
    if (--holds > 0)
        return;
    look(NULL);
    g_source_remove(timer);
}

gboolean
host_reaper_status(pid_t pid, int *status)
{
    for (guint i = n_ended; i > 0 && n_ended - i < KEPT; i--) {
        guint at = (i - 1) % KEPT;
        if (ended[at].pid == pid) {
            *status = ended[at].status;
            return TRUE;
        }
    }
    return FALSE;
}
