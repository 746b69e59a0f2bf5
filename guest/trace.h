/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Times every call of one kernel function on one CPU while a workload runs there: the guest's own
 * function_graph tracer, which traces nothing else, so that the figure holds the tracer's
 * instructions once and no more (Documentation/trace/ftrace.rst). Everything else of the kernel
 * runs as it does untraced.
 */
#include <stdint.h>

#include "guest/job.h"
#include "guest/port.h"

/* Starts tracing as W says; does nothing when it says nothing. *TRACER_NS: what the tracer adds to
 * each duration, measured before on a system call of some eight instructions; 0: not known. False
 * with WHY (CAP bytes): this kernel can't, or has no such function. */
bool bm_trace_start(const BmWorkload *w, uint64_t *tracer_ns, char *why, size_t cap);
/* Nothing more is recorded. */
void bm_trace_stop(const BmWorkload *w);
/* Sends `batch trace` lines and what was lost, and puts the tracer away. */
void bm_trace_send(const BmWorkload *w, uint64_t tracer_ns, BmPort *p);
