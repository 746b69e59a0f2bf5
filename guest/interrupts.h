/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Local timer interrupts of one CPU, from /proc/interrupts. */
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int fd;
    char *text; /* room for twice what the file had when it was opened */
    size_t cap;
    unsigned int cpu;
} BmInterrupts;

/* False with errno. All memory that reading will need is had here. */
bool bm_interrupts_open(BmInterrupts *i, unsigned int cpu);
/* False: the file has no such row, or no column for the CPU. */
bool bm_interrupts_loc(BmInterrupts *i, unsigned long *count);

/* The count of row LOC in the column headed "CPU<cpu>" of TEXT, which is as /proc/interrupts shows
 * it. */
bool bm_interrupts_parse(const char *text, unsigned int cpu, unsigned long *count);
