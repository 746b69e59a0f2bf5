/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "guest/report.h"

#define CLOCK_PATH "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define CLOCK_LOOKS 150 /* 3 s in all: the kernel measures the TSC for one */
#define JOB_PATH "/sys/firmware/qemu_fw_cfg/by_name/" BM_FWCFG_JOB "/raw"

static bool
why_errno(char *why, size_t cap, const char *what)
{
    snprintf(why, cap, "%.300s: %s", what, strerror(errno));
    return false;
}

bool
bm_setup_mounts(char *why, size_t cap)
{
    static const struct {
        const char *type, *path;
    } mounts[] = {
        {"devtmpfs", "/dev"},  {"proc", "/proc"}, {"sysfs", "/sys"},
        {"tmpfs", "/dev/shm"}, {"tmpfs", "/tmp"},
    };
    int null_fd;

    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
        if (mkdir(mounts[i].path, 0755) != 0 && errno != EEXIST && errno != EROFS)
            return why_errno(why, cap, mounts[i].path);
        /* EBUSY: the kernel, or whoever started us, has mounted it already. */
        if (mount(mounts[i].type, mounts[i].path, mounts[i].type, 0, NULL) != 0 && errno != EBUSY)
            return why_errno(why, cap, mounts[i].path);
    }
    null_fd = open("/dev/null", O_RDWR);
    if (null_fd < 0)
        return why_errno(why, cap, "/dev/null");
    for (int fd = 0; fd <= 2; fd++)
        if (fd != null_fd)
            dup2(null_fd, fd);
    if (null_fd > 2)
        close(null_fd);
    return true;
}

static bool
module_load(const char *path, char *why, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    long result;

    if (fd < 0)
        return why_errno(why, cap, path);
    result = syscall(SYS_finit_module, fd, "", 0);
    if (result != 0 && errno == EEXIST)
        result = 0;
    else if (result != 0 && errno == ENOENT)
        snprintf(why, cap, "%.300s: it needs a module that must come before it in /modules", path);
    else if (result != 0)
        why_errno(why, cap, path);
    close(fd);
    return result == 0;
}

bool
bm_setup_modules(char *why, size_t cap)
{
    FILE *list = fopen("/modules", "re");
    char path[1024];
    bool good = true;

    if (list == NULL)
        return errno == ENOENT ? true : why_errno(why, cap, "/modules");
    while (good && fgets(path, sizeof path, list) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        if (path[0] != '\0')
            good = module_load(path, why, cap);
    }
    fclose(list);
    return good;
}

void
bm_setup_wait_for_clock(void)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    char name[64];

    for (int i = 0; i < CLOCK_LOOKS; i++) {
        FILE *f = fopen(CLOCK_PATH, "re");
        bool early =
            f != NULL && fgets(name, sizeof name, f) != NULL && strcmp(name, "tsc-early\n") == 0;

        if (f != NULL)
            fclose(f);
        if (!early)
            return;
        nanosleep(&pause, NULL);
    }
}

bool
bm_setup_read_job(char *text, size_t *len, char *why, size_t cap)
{
    int fd = open(JOB_PATH, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;

    if (fd < 0)
        return why_errno(why, cap, "no job: " JOB_PATH);
    *len = 0;
    while (*len <= BM_JOB_MAX && (n = read(fd, text + *len, BM_JOB_MAX + 1 - *len)) > 0)
        *len += (size_t)n;
    if (n < 0)
        why_errno(why, cap, JOB_PATH);
    close(fd);
    return n >= 0;
}
