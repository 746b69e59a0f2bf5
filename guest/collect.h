/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Sends what a workload left: its own report lines, its output, its files. In this order. */
#include "guest/job.h"
#include "guest/port.h"

/* Before the workload: removes the files to collect that are below /tmp. */
void bm_collect_clear(const BmWorkload *w);

/* Returns how many lines were not forwarded. Writes into BYTES. */
size_t bm_collect_own_lines(BmPort *p, const BmWorkload *w, char *bytes, size_t len);
/*
 * MORE: there was more than LEN bytes; DROPPED: of its own report lines. Also says here which files
 * cannot be collected.
 */
void bm_collect_output(BmPort *p, const BmWorkload *w, const char *bytes, size_t len, bool more,
                       size_t dropped);
void bm_collect_files(BmPort *p, const BmWorkload *w);
