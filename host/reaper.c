/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/reaper.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 25

static guint holds, timer;

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
        waitpid(info.si_pid, NULL, WNOHANG);
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
