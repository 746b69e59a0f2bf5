/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Text of tracefs, as far as a workload's `trace` needs it (guest/trace.h). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BM_CPUMASK_MAX 2400 /* bytes of a mask of all CPUs up to BM_CPU_MAX */

/*
 * The duration of one call of FUNCTION in LINE of the function_graph tracer, when nothing it calls
 * is traced ("  1.690 us    |  FUNCTION();", kernel/trace/trace_functions_graph.c). False: LINE is
 * something else.
 */
bool bm_trace_line(const char *line, const char *function, uint64_t *ns);

/* CPU alone as tracing_cpumask takes it: hex words of 32 bits, commas between (lib/bitmap.c). MASK
 * has BM_CPUMASK_MAX bytes. */
void bm_trace_cpumask(char *mask, unsigned int cpu);

/* Letters, digits, '_' and '.', the first no digit: what a kernel function may be called, and
 * nothing that set_ftrace_filter would take for a pattern or a command. */
bool bm_trace_function_ok(const char *name, size_t max);
