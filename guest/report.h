/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The one thing guest/ and the rest share: names and limits of the job and report formats, which
 * guest/report-format.md describes in full. No code here.
 */
#define BM_FORMAT_VERSION 1
#define BM_JOB_MAGIC "nohzlab-job"       /* first word of a job, then its version */
#define BM_REPORT_MAGIC "nohzlab-report" /* first word of a report, then its version */

#define BM_FWCFG_JOB "opt/org.nohzlab/job" /* where QEMU shows the job (fw_cfg by_name) */
#define BM_PORT_NAME "org.nohzlab.report"  /* name of the virtio-serial port */
#define BM_REPORT_FD 3                     /* where a program writes its own report lines */

#define BM_LINE_MAX 4096                 /* bytes of one line, newline included, either way */
#define BM_REPORT_MAX (32 * 1024 * 1024) /* bytes of a whole report */
#define BM_JOB_MAX (64 * 1024)           /* bytes of a whole job */
#define BM_WORKLOADS_MAX 32              /* workloads in one job */
#define BM_ARGV_MAX 64                   /* arguments of one workload */
#define BM_COLLECT_MAX 16                /* files collected from one workload */
#define BM_PUTS_MAX 64                   /* `put` lines in one job */
#define BM_STAMPS_MAX 16                 /* `stamp` lines in one job */
#define BM_NAME_MAX 64                   /* characters of a workload's, loop's or value's name */
#define BM_FILE_NAME_MAX 128             /* characters of a collected file's name */
#define BM_TIMEOUT_MAX_S 86400           /* longest timeout of one workload */
#define BM_CPU_MAX 8191                  /* highest vCPU number */

#define BM_OUTPUT_MAX (64 * 1024)      /* bytes of one program's output that are sent */
#define BM_NOTES_MAX (16 * 1024)       /* bytes PID 1 may add to it (lines "nohzlab: ...") */
#define BM_FILE_MAX (8 * 1024 * 1024)  /* bytes of one file that are sent */
#define BM_OWN_LINES_MAX (1024 * 1024) /* bytes of one program's own report lines */
#define BM_KMSG_MAX 100                /* `fact kmsg` lines in one report */
/* The marks around what a loop measures: instructions that do nothing (nopl of an address no
 * program uses), which an emulator that is asked to sees go by. */
#define BM_MARK_BEGIN_BYTES 0x0f, 0x1f, 0x80, 0x01, 0x5a, 0x48, 0x4e
#define BM_MARK_END_BYTES 0x0f, 0x1f, 0x80, 0x02, 0x5a, 0x48, 0x4e

#define BM_TRACE_LOOP "trace" /* the LOOP of a traced function's calls, one a batch */
#define BM_TRACE_MAX 8000     /* of them in one workload */
#define BM_STATUS_TIMEOUT 124 /* `done` status of a workload that was stopped by the clock */
