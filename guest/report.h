/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The one thing guest/ and the rest share: names and limits of the job and report formats, which
 * guest/report-format.md describes in full. No code here.
 */
#define BM_FORMAT_VERSION 1
#define BM_JOB_MAGIC "nohzlab-job"        /* first word of a job, then its version */
#define BM_REPORT_MAGIC "nohzlab-report"  /* first word of a report, then its version */

#define BM_FWCFG_JOB "opt/org.nohzlab/job" /* where QEMU shows the job (fw_cfg by_name) */
#define BM_PORT_NAME "org.nohzlab.report"  /* name of the virtio-serial port */

#define BM_LINE_MAX 4096                   /* bytes of one line, newline included, either way */
#define BM_REPORT_MAX (32 * 1024 * 1024)   /* bytes of a whole report */
#define BM_JOB_MAX (64 * 1024)             /* bytes of a whole job */
#define BM_WORKLOADS_MAX 32                /* workloads in one job */
