/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The job the host hands to the guest (guest/report-format.md). */
#include <stdbool.h>
#include <stddef.h>

#include "guest/report.h"

typedef struct {
    const char *name;
    unsigned int timeout_s;
    int cpu;                       /* -1: not pinned */
    const char *trace;             /* kernel function whose calls are timed, or NULL */
    char *argv[BM_ARGV_MAX + 1];   /* ends with NULL */
    char *collect[BM_COLLECT_MAX]; /* absolute paths */
    size_t n_argv, n_collect;
} BmWorkload;

typedef struct {
    const char *path, *text;
} BmPut;

typedef struct {
    const char *path;
    unsigned long time_s;
} BmStamp;

typedef struct {
    bool barriers;    /* wait for the host at each */
    bool end_barrier; /* and at the last, or only there */
    bool lab_host;    /* guests will run in this guest */
    BmPut puts[BM_PUTS_MAX];
    BmStamp stamps[BM_STAMPS_MAX];
    size_t n_puts, n_stamps;
    BmWorkload workloads[BM_WORKLOADS_MAX];
    size_t n_workloads;
} BmJob;

/*
 * Read the job in TEXT: LEN bytes, then room for a NUL. JOB points into TEXT afterwards. False: WHY
 * (CAP bytes) says which line is wrong and what would be right.
 */
bool bm_job_parse(BmJob *job, char *text, size_t len, char *why, size_t cap);
/* The last component of PATH. */
const char *bm_path_name(const char *path);
