/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* CPU sets as the kernel's files write them, and the housekeeping CPUs. */
#include <stdbool.h>

#include "guest/report.h"

#define BM_CPU_WORDS ((BM_CPU_MAX + 1) / (8 * (int)sizeof(unsigned long)))

typedef struct {
    unsigned long bits[BM_CPU_WORDS];
} BmCpus;

bool bm_cpus_has(const BmCpus *set, unsigned int cpu);
/*
 * Add (or, with REMOVE, take away) the CPUs of LIST: numbers and ascending ranges as sysfs prints
 * them; empty and "(null)" (nohz_full of some kernels when unset) name none. False, SET untouched:
 * not such a list.
 */
bool bm_cpus_apply(BmCpus *set, const char *list, bool remove);
/* Possible CPUs without the nohz_full and isolated ones; CPU 0 when none is left. */
void bm_cpus_housekeeping(BmCpus *set);
/* Put the calling process on SET. */
bool bm_cpus_pin(const BmCpus *set);
/* The set as a list. OUT of CAP bytes; cut short at a comma when it does not fit. */
void bm_cpus_print(const BmCpus *set, char *out, unsigned long cap);
/* Is CPU in the list that sysfs file PATH holds? */
bool bm_cpus_file_has(const char *path, unsigned int cpu);

#define BM_SYS_CPU "/sys/devices/system/cpu/"
