/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/lab_host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool
why_errno(char *why, size_t cap, const char *what)
{
    snprintf(why, cap, "%.300s: %s", what, strerror(errno));
    return false;
}

static bool
folders_make(const char *path)
{
    char folder[PATH_MAX];

    if (strlen(path) >= sizeof folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(folder, path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0755) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

static bool
put(const BmPut *p, char *why, size_t cap)
{
    size_t len = strlen(p->text), done = 0;
    int fd = -1;

    if (folders_make(p->path))
        fd = open(p->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return why_errno(why, cap, p->path);
    while (done < len) {
        ssize_t n = write(fd, p->text + done, len - done);

        if (n <= 0) {
            why_errno(why, cap, p->path);
            close(fd);
            return false;
        }
        done += (size_t)n;
    }
    close(fd);
    return true;
}

/* A change time is always the clock's: so for a moment the clock is what the job wants. What passes
 * meanwhile is given back. */
static bool
stamp(const BmStamp *s, char *why, size_t cap)
{
    struct timespec wanted = {.tv_sec = (time_t)s->time_s}, real, before, after;
    struct stat st;
    bool good;

    if (stat(s->path, &st) != 0)
        return why_errno(why, cap, s->path);
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (clock_settime(CLOCK_REALTIME, &wanted) != 0)
        return why_errno(why, cap, "cannot set the clock");
    good = chmod(s->path, st.st_mode & 07777) == 0;
    if (!good)
        why_errno(why, cap, s->path);
    clock_gettime(CLOCK_MONOTONIC, &after);
    real.tv_sec += after.tv_sec - before.tv_sec;
    real.tv_nsec += after.tv_nsec - before.tv_nsec;
    if (real.tv_nsec < 0)
        real.tv_sec--, real.tv_nsec += 1000000000;
    else if (real.tv_nsec >= 1000000000)
        real.tv_sec++, real.tv_nsec -= 1000000000;
    clock_settime(CLOCK_REALTIME, &real);
    return good;
}

static bool
become_lab_host(char *why, size_t cap)
{
    static const struct {
        const char *type, *path;
    } mounts[] = {
        {"devpts", "/dev/pts"}, {"tracefs", "/sys/kernel/tracing"}, {"cgroup2", "/sys/fs/cgroup"}};

    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
        mkdir(mounts[i].path, 0755);
        /* A kernel without one of them still runs guests; who needs it will say so. */
        if (mount(mounts[i].type, mounts[i].path, mounts[i].type, 0, NULL) != 0 && errno != EBUSY &&
            errno != ENODEV && errno != ENOENT)
            return why_errno(why, cap, mounts[i].path);
    }
    if (sethostname("box", strlen("box")) != 0)
        return why_errno(why, cap, "sethostname");
    if (chmod("/dev/kvm", 0666) != 0)
        return why_errno(why, cap, "no KVM in this kernel: /dev/kvm");
    return true;
}

bool
bm_lab_host_prepare(const BmJob *job, char *why, size_t cap)
{
    for (size_t i = 0; i < job->n_puts; i++)
        if (!put(&job->puts[i], why, cap))
            return false;
    for (size_t i = 0; i < job->n_stamps; i++)
        if (!stamp(&job->stamps[i], why, cap))
            return false;
    return !job->lab_host || become_lab_host(why, cap);
}
