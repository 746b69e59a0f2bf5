/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What PID 1 needs before there is a report: file systems, modules, the job's bytes. */
#include <stdbool.h>
#include <stddef.h>

/* Each returns false with the reason in WHY (CAP bytes). */

/* /proc, /sys, /dev, /dev/shm and /tmp; standard input, output and error on /dev/null. */
bool bm_setup_mounts(char *why, size_t cap);
/* The modules whose paths /modules lists, in its order; without that file there are none. */
bool bm_setup_modules(char *why, size_t cap);
/* The job's bytes, at most BM_JOB_MAX + 1: the last one tells that it is too long. */
bool bm_setup_read_job(char *text, size_t *len, char *why, size_t cap);

/* A small kernel is up before it trusts the TSC: waits a while for it to leave tsc-early, which
 * carries no latencies. */
void bm_setup_wait_for_clock(void);
