/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A flat guest's job and report: the same fw_cfg file and the same virtio-serial port as every
 * guest's (guest/report-format.md), without drivers of a kernel.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The job into TEXT (CAP bytes, NUL added). Returns its length; 0: there is none, or it does not
 * fit. */
size_t bm_flat_read_job(char *text, size_t cap);
/* The number of vCPUs that QEMU says there are. */
unsigned int bm_flat_vcpus(void);

/* Finds and opens the report port. NULL, or why not. */
const char *bm_flat_port_open(void);

/* A line of the report is put together, then ended; it is sent when there is enough of it. */
void bm_flat_put(const char *text);
void bm_flat_put_number(uint64_t number);
void bm_flat_put_end(void);

/* Sends what there is; with WAIT the host's `go NAME` is waited for. False: it sent something else.
 */
bool bm_flat_barrier(const char *name, const char *workload, bool wait);
/* `end`, and all is sent when this returns. */
void bm_flat_port_end(void);
