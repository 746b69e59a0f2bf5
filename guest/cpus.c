/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/cpus.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD_BITS (8 * sizeof(unsigned long))

bool
bm_cpus_has(const BmCpus *set, unsigned int cpu)
{
    return cpu <= BM_CPU_MAX && (set->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1);
}

static bool
read_cpu(const char **p, unsigned long *cpu)
{
    char *end;

    if (**p < '0' || **p > '9')
        return false;
    *cpu = strtoul(*p, &end, 10);
    *p = end;
    return *cpu <= BM_CPU_MAX;
}

bool
bm_cpus_apply(BmCpus *set, const char *list, bool remove)
{
    BmCpus result = *set;
    const char *p = list;
    unsigned long first, last;

    if (*p == '\0' || strcmp(p, "(null)") == 0)
        return true;
    for (;; p++) {
        if (!read_cpu(&p, &first))
            return false;
        last = first;
        if (*p == '-') {
            p++;
            if (!read_cpu(&p, &last) || last < first)
                return false;
        }
        for (unsigned long cpu = first; cpu <= last; cpu++) {
            unsigned long bit = 1ul << cpu % WORD_BITS;

            if (remove)
                result.bits[cpu / WORD_BITS] &= ~bit;
            else
                result.bits[cpu / WORD_BITS] |= bit;
        }
        if (*p == '\0')
            break;
        if (*p != ',')
            return false;
    }
    *set = result;
    return true;
}

static bool
apply_file(BmCpus *set, const char *path, bool remove)
{
    char list[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, list, sizeof list - 1);
    close(fd);
    if (n < 0)
        return false;
    list[n] = '\0';
    list[strcspn(list, "\n")] = '\0';
    return bm_cpus_apply(set, list, remove);
}

bool
bm_cpus_file_has(const char *path, unsigned int cpu)
{
    BmCpus set = {0};

    return apply_file(&set, path, false) && bm_cpus_has(&set, cpu);
}

void
bm_cpus_housekeeping(BmCpus *set)
{
    static const BmCpus none;

    *set = none;
    apply_file(set, BM_SYS_CPU "possible", false);
    apply_file(set, BM_SYS_CPU "nohz_full", true);
    apply_file(set, BM_SYS_CPU "isolated", true);
    if (memcmp(set, &none, sizeof none) == 0)
        set->bits[0] = 1;
}

bool
bm_cpus_pin(const BmCpus *set)
{
    /* The system call itself: the C library's type ends at 1024 CPUs. */
    return syscall(SYS_sched_setaffinity, 0, sizeof set->bits, set->bits) == 0;
}

void
bm_cpus_print(const BmCpus *set, char *out, unsigned long cap)
{
    unsigned long n = 0;

    out[0] = '\0';
    for (unsigned int cpu = 0; cpu <= BM_CPU_MAX; cpu++) {
        char item[32];
        unsigned int last = cpu;
        int len;

        if (!bm_cpus_has(set, cpu))
            continue;
        while (bm_cpus_has(set, last + 1))
            last++;
        len = snprintf(item, sizeof item, last > cpu ? "%s%u-%u" : "%s%u", n > 0 ? "," : "", cpu,
                       last);
        if (n + (unsigned long)len >= cap)
            return;
        memcpy(out + n, item, (unsigned long)len + 1);
        n += (unsigned long)len;
        cpu = last;
    }
}
