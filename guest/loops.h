/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The measured loops and the clock they are measured with. */
#include <stdbool.h>
#include <stdint.h>

typedef enum {
    BM_LOOP_INVALID, /* a system call number that does not exist: the way in and out, nothing else
                      */
    BM_LOOP_STAT,    /* stat("."): a short real call */
    BM_LOOP_EMPTY,   /* the loop without a call: what the loop itself costs */
    BM_LOOPS
} BmLoop;

const char *bm_loop_name(BmLoop loop);
/* False: there is no loop of that name. */
bool bm_loop_parse(const char *name, BmLoop *loop);

/*
 * Make CALLS calls and return how many ticks of the TSC they took, 0 when a call's result was not
 * the one it must have. Under QEMU's icount with shift=0 the TSC counts virtual nanoseconds, one
 * per executed instruction (of all vCPUs together: the others must be idle).
 */
uint64_t bm_loop_run(BmLoop loop, uint64_t calls);
