/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/loops.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef __x86_64__
#error "the loops know the system call instruction and the cycle counter of x86-64 only"
#endif

/* Above every number the kernel knows, below the x32 bit (arch/x86/entry/syscalls/syscall_64.tbl).
 */
#define NR_INVALID 666

static const char *const names[BM_LOOPS] = {"invalid", "stat", "empty"};

const char *
bm_loop_name(BmLoop loop)
{
    return names[loop];
}

bool
bm_loop_parse(const char *name, BmLoop *loop)
{
    for (int i = 0; i < BM_LOOPS; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        *loop = (BmLoop)i;
        return true;
    }
    return false;
}

/* lfence on both sides: nothing of the loop before or behind the reading (Intel SDM, RDTSC). */
static inline uint64_t
ticks_now(void)
{
    uint32_t low, high;

    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

/*
 * All three loops are the same instructions but for the call: load the number, call, compare the
 * result, count down. Returns the calls left: 0 when every result was RIGHT.
 */
#define LOOP(call)                                                                                 \
    __asm__ volatile("1:\n\t"                                                                      \
                     "mov %[number], %%rax\n\t" call "cmp %[right], %%rax\n\t"                     \
                     "jne 2f\n\t"                                                                  \
                     "dec %[left]\n\t"                                                             \
                     "jnz 1b\n"                                                                    \
                     "2:"                                                                          \
                     : [left] "+&r"(left)                                                          \
                     : [number] "r"(number), [right] "r"(right), "D"(path), "S"(&st)               \
                     : "rax", "rcx", "r11", "cc", "memory")

uint64_t
bm_loop_run(BmLoop loop, uint64_t calls)
{
    static const char path[] = ".";
    struct stat st;
    uint64_t left = calls;
    long number = loop == BM_LOOP_STAT ? SYS_stat : NR_INVALID;
    long right = loop == BM_LOOP_STAT ? 0 : loop == BM_LOOP_INVALID ? -ENOSYS : NR_INVALID;
    uint64_t start;

    if (calls == 0)
        return 0;
    start = ticks_now();
    if (loop == BM_LOOP_EMPTY)
        LOOP("");
    else
        LOOP("syscall\n\t");
    return left == 0 ? ticks_now() - start : 0;
}
