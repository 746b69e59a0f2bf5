/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does in the guest what a workload must not do, for tests of how the lab takes it. Never part of a
 * profile. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "guest/report.h"

static char block[64 * 1024];

/* WRITES times the block; stops early when nobody takes it. */
static void
flood(int fd, int writes)
{
    for (int i = 0; i < writes; i++)
        if (write(fd, block, sizeof block) <= 0)
            return;
}

static int
flood_output(void)
{
    memset(block, 'x', sizeof block);
    for (size_t i = 79; i < sizeof block; i += 80)
        block[i] = '\n';
    flood(1, 256); /* 16 MiB */
    return 0;
}

/* 10 MiB without a newline, on the port itself where a second opener may have it (the driver says
 * EBUSY). */
static int
long_line(void)
{
    DIR *dev = opendir("/dev");
    const struct dirent *entry;
    int fd = -1;

    while (dev != NULL && fd < 0 && (entry = readdir(dev)) != NULL) {
        char path[300];

        if (strncmp(entry->d_name, "vport", 5) != 0)
            continue;
        snprintf(path, sizeof path, "/dev/%s", entry->d_name);
        fd = open(path, O_WRONLY | O_NOCTTY);
    }
    memset(block, 'y', sizeof block);
    flood(fd < 0 ? BM_REPORT_FD : fd, 160);
    flood(1, 160);
    return 0;
}

static int
flood_console(void)
{
    int fd = open("/dev/console", O_WRONLY | O_NOCTTY);

    memset(block, 'z', sizeof block);
    for (size_t i = 79; i < sizeof block; i += 80)
        block[i] = '\n';
    flood(fd, 64); /* 4 MiB */
    return 0;
}

static int
panic_now(void)
{
    int fd = open("/proc/sysrq-trigger", O_WRONLY);

    return fd < 0 || write(fd, "c", 1) != 1;
}

/* Bytes of every value, in no order a reader could expect; the same ones each time. */
static int
garbage(void)
{
    static const char nearly[] =
        "batch invalid 1 0 measure 10\nvalue steady nan\nfact cmdline nohz_full=1\n"
        "done garbage 0\nend 3\nbatch invalid 1 0 measure 10 4000\nvalue x 1e5";
    unsigned int state = 1;

    for (size_t i = 0; i < sizeof block; i++) {
        state = state * 1103515245u + 12345u;
        block[i] = (char)(state >> 16);
    }
    flood(BM_REPORT_FD, 1);
    flood(1, 1);
    return write(BM_REPORT_FD, "\n", 1) != 1 || write(BM_REPORT_FD, nearly, sizeof nearly - 1) < 0;
}

/* A child that has left the session and keeps the pipes open. */
static int
orphan(void)
{
    if (fork() != 0)
        return 0;
    setsid();
    for (;;)
        pause();
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "exit") == 0 && argc == 3)
        return atoi(argv[2]);
    if (strcmp(mode, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(mode, "spin") == 0)
        for (;;)
            __asm__ volatile("");
    if (strcmp(mode, "flood-output") == 0)
        return flood_output();
    if (strcmp(mode, "long-line") == 0)
        return long_line();
    if (strcmp(mode, "flood-console") == 0)
        return flood_console();
    if (strcmp(mode, "panic") == 0)
        return panic_now();
    if (strcmp(mode, "poweroff") == 0)
        return reboot(RB_POWER_OFF);
    if (strcmp(mode, "garbage") == 0)
        return garbage();
    if (strcmp(mode, "orphan") == 0)
        return orphan();
    fputs("Usage: misbehave exit N | hang | spin | flood-output | long-line | flood-console | "
          "panic | poweroff |"
          " garbage | orphan\n",
          stderr);
    return 2;
}
