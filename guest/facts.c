/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/facts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "guest/cpus.h"
#include "guest/word.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"
#define VULNERABILITIES BM_SYS_CPU "vulnerabilities"

void
bm_fact(BmPort *p, const char *key, const char *value, size_t len)
{
    char head[BM_NAME_MAX * 3];

    snprintf(head, sizeof head, "fact %s", key);
    if (bm_port_rest(p, head, value, len) < len)
        bm_port_line(p, "fact cut %s", key);
}

/* Contents of PATH without the last newline. Returns the length, -1 when there is no such file. */
static ssize_t
file_read(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = -1;

    if (fd < 0)
        return -1;
    while (len < cap && (n = read(fd, out + len, cap - len)) > 0)
        len += (size_t)n;
    close(fd);
    if (n < 0)
        return -1;
    if (len > 0 && out[len - 1] == '\n')
        len--;
    return (ssize_t)len;
}

static void
fact_file(BmPort *p, const char *key, const char *path)
{
    char value[8192];
    ssize_t n = file_read(path, value, sizeof value);

    if (n >= 0)
        bm_fact(p, key, value, (size_t)n);
}

static void
facts_vulnerabilities(BmPort *p)
{
    struct dirent **entries;
    int n = scandir(VULNERABILITIES, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        char path[512], key[sizeof entries[i]->d_name + 16];

        if (bm_name_ok(entries[i]->d_name, BM_NAME_MAX)) {
            snprintf(path, sizeof path, VULNERABILITIES "/%s", entries[i]->d_name);
            snprintf(key, sizeof key, "vulnerability.%s", entries[i]->d_name);
            fact_file(p, key, path);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static bool
kmsg_is_wanted(const char *message)
{
    static const char *const words[] = {
        "Housekeeping", "NO_HZ", "nohz", "Offload RCU", "Unknown kernel command line",
        "clocksource",  "TSC",   "tsc:", "isolcpus",    "must include one present CPU",
    };

    /* The kernel logs its command line, twice, which names much of this; it is a fact of its own.
     */
    if (strncmp(message, "Command line:", 13) == 0 ||
        strncmp(message, "Kernel command line:", 20) == 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(message, words[i]) != NULL)
            return true;
    return false;
}

/* /dev/kmsg writes bytes that do not print, and the backslash, as \xNN (kernel/printk/printk.c). */
static void
kmsg_unescape(char *message)
{
    char *to = message;

    for (const char *from = message; *from != '\0'; to++) {
        if (from[0] == '\\' && from[1] == 'x' && isxdigit((unsigned char)from[2]) &&
            isxdigit((unsigned char)from[3])) {
            const char digits[] = {from[2], from[3], '\0'};

            *to = (char)strtoul(digits, NULL, 16);
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* "tsc: Detected 2400.000 MHz TSC" and the refinement that may follow (arch/x86/kernel/tsc.c). */
static unsigned long
kmsg_tsc_khz(const char *message)
{
    static const char *const before[] = {"tsc: Detected ",
                                         "tsc: Refined TSC clocksource calibration: "};
    unsigned long mhz, fraction;

    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        const char *at = strstr(message, before[i]);

        if (at != NULL && sscanf(at + strlen(before[i]), "%lu.%3lu MHz", &mhz, &fraction) == 2)
            return mhz * 1000 + fraction;
    }
    return 0;
}

static void
facts_kmsg(BmFacts *f, BmPort *p)
{
    char record[8192];
    unsigned long tsc_khz = 0;

    for (;;) {
        ssize_t n = read(f->kmsg_fd, record, sizeof record - 1);
        char *message;
        unsigned long khz;

        if (n < 0 && (errno == EPIPE || errno == EINTR)) /* EPIPE: older records are gone */
            continue;
        if (n <= 0)
            break;
        record[n] = '\0';
        message = strchr(record, ';'); /* "priority,sequence,time,flags;message\n KEY=VALUE..." */
        if (message == NULL)
            continue;
        message++;
        message[strcspn(message, "\n")] = '\0';
        kmsg_unescape(message);
        khz = kmsg_tsc_khz(message);
        tsc_khz = khz > 0 ? khz : tsc_khz;
        if (f->kmsg_sent < BM_KMSG_MAX && kmsg_is_wanted(message)) {
            f->kmsg_sent++;
            bm_fact(p, "kmsg", message, strlen(message));
        }
    }
    if (tsc_khz > 0)
        bm_port_line(p, "fact tsc_khz %lu", tsc_khz);
}

static void
fact_clocksource(BmFacts *f, BmPort *p)
{
    char now[sizeof f->clocksource] = "";
    ssize_t n = file_read(CLOCKSOURCE "current_clocksource", now, sizeof now - 1);

    if (n < 0)
        return;
    now[n] = '\0';
    if (strcmp(now, f->clocksource) == 0)
        return;
    strcpy(f->clocksource, now);
    bm_fact(p, "clocksource.current", now, strlen(now));
}

void
bm_facts_send(BmFacts *f, BmPort *p)
{
    struct utsname name;

    memset(f, 0, sizeof *f);
    if (uname(&name) == 0) {
        bm_fact(p, "kernel.release", name.release, strlen(name.release));
        bm_fact(p, "kernel.version", name.version, strlen(name.version));
    }
    fact_file(p, "cmdline", "/proc/cmdline");
    fact_file(p, "cpus.possible", BM_SYS_CPU "possible");
    fact_file(p, "cpus.present", BM_SYS_CPU "present");
    fact_file(p, "cpus.online", BM_SYS_CPU "online");
    fact_file(p, "sysfs.isolated", BM_SYS_CPU "isolated");
    fact_file(p, "sysfs.nohz_full", BM_SYS_CPU "nohz_full");
    fact_file(p, "sysfs.realtime", "/sys/kernel/realtime");
    fact_clocksource(f, p);
    fact_file(p, "clocksource.available", CLOCKSOURCE "available_clocksource");
    facts_vulnerabilities(p);
    f->kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (f->kmsg_fd >= 0)
        facts_kmsg(f, p);
}

void
bm_facts_send_late(BmFacts *f, BmPort *p)
{
    fact_clocksource(f, p);
    if (f->kmsg_fd >= 0)
        facts_kmsg(f, p);
}
