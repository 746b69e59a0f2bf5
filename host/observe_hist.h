/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The text of a tracefs `hist` file (kernel/trace/trace_events_hist.c; Documentation/trace/
 * histogram.rst), and the losses in a per-CPU `stats` file. Pure; the text is not trusted.
 */
#include <glib.h>

#define HOST_HIST_MAX_KEYS 3         /* TRACING_MAP_KEYS_MAX, kernel/trace/tracing_map.h */
#define HOST_HIST_MAX_ENTRIES 131072 /* TRACING_MAP_BITS_MAX: 2^17 */
#define HOST_HIST_MAX_BYTES (32 * 1024 * 1024)

typedef struct {
    guint64 keys[HOST_HIST_MAX_KEYS]; /* negative numbers are as the kernel prints them: 2^64 - n */
    guint64 hits;
    guint64 sum; /* of the one value asked for, else 0 */
} HostHistEntry;

typedef struct {
    GArray *entries;   /* HostHistEntry, each key set once */
    guint64 uncounted; /* events the kernel had no room for: counts are lower bounds unless 0 */
} HostHist;
HostHist *host_hist_new(void);
void host_hist_free(HostHist *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostHist, host_hist_free)

/*
 * Reads one histogram whose keys are KEYS (N_KEYS, numeric, printed without modifiers) and whose
 * values are the hit count and, when VALUE is not NULL, that field's sum. "common_cpu" also goes by
 * "cpu", its name before Linux 5.14. HOST_ERROR_IO with the line and what would be right when
 * anything else is in it, a second histogram follows, it is cut short, or is larger than the
 * bounds above.
 */
HostHist *host_hist_parse(const char *text, gsize len, const char *const *keys, guint n_keys,
                          const char *value, GError **error);

/* Adds HITS and SUM to the entry of KEYS; what finds no room is added to uncounted. FALSE then. */
gboolean host_hist_add(HostHist *h, GHashTable *index, const guint64 *keys, guint64 hits,
                       guint64 sum);
/* The index host_hist_add() wants for an empty histogram. */
GHashTable *host_hist_index_new(void);

/* What a CPU's buffer lost by its `stats` file (ring_buffer: "overrun", "commit overrun", "dropped
 * events"). HOST_ERROR_IO when one of them is missing or no number. */
gboolean host_trace_stats_parse(const char *text, guint64 *entries, guint64 *lost, GError **error);
