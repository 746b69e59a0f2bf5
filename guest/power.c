/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/power.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

void
bm_console_say(const char *format, ...)
{
    static const char prefix[] = "nohzlab: ";
    char line[512];
    size_t n = sizeof prefix - 1;
    va_list args;
    int fd;

    memcpy(line, prefix, n);
    va_start(args, format);
    vsnprintf(line + n, sizeof line - n - 1, format, args);
    va_end(args);
    for (char *p = line; *p != '\0'; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    n = strlen(line);
    line[n++] = '\n';
    fd = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (size_t done = 0; done < n;) {
        ssize_t wrote = write(fd, line + done, n - done);

        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    close(fd);
}

void
bm_power_off(void)
{
    sync();
    reboot(RB_POWER_OFF);
    /* Only when the kernel cannot: a restart also ends the VM, it is started with -no-reboot. */
    reboot(RB_AUTOBOOT);
    for (;;)
        pause();
}
