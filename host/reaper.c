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

/* What libvirt starts for good is in a session of its own; what we or it wait for is in ours. */
static gboolean
look(gpointer data G_GNUC_UNUSED)
{
    siginfo_t info;

    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 ||
            getsid(info.si_pid) == getsid(0))
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
