/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Reads what cyclictest (rt-tests) leaves: JSON of 2.x. Text and histograms are read by content. */
#include <glib.h>

typedef struct {
    unsigned int thread;
    int cpu;              /* -1: not said */
    guint64 cycles;
    gint64 min_ns, max_ns;
    double mean_ns;
    guint64 overflows;    /* samples beyond the histogram */
    GArray *buckets;      /* ResCyclictestBucket, ascending; empty without a histogram */
} ResCyclictestThread;
typedef struct {
    gint64 latency_ns;
    guint64 count;
} ResCyclictestBucket;

typedef struct {
    GPtrArray *threads;   /* ResCyclictestThread * */
    char *cmdline;        /* "" when not said */
    char *version;        /* advisory; "" when not said */
    gboolean unit_known;  /* FALSE: the figures' unit could not be settled; ns fields then hold raw values */
    gint64 resolution_ns; /* of one unit in the file: 1 or 1000 */
    gboolean broken;      /* stopped by the -b threshold */
    gint64 break_value_ns;
    GPtrArray *notes;     /* char *: what a reader should know */
} ResCyclictest;
void res_cyclictest_free(ResCyclictest *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResCyclictest, res_cyclictest_free)

#define RES_CYCLICTEST_ERROR (res_cyclictest_error_quark())
GQuark res_cyclictest_error_quark(void);
typedef enum {
    RES_CYCLICTEST_ERROR_FORMAT,
    RES_CYCLICTEST_ERROR_INCOMPLETE, /* cut short, or a figure that must be there is not */
    RES_CYCLICTEST_ERROR_CLOCK,      /* a negative or wrapped latency: names thread and CPU */
} ResCyclictestError;

ResCyclictest *res_cyclictest_parse(const char *text, gsize len, GError **error);

/* Latency at or below which the share Q (0 < Q <= 1) of THREAD's samples lies, ns; FALSE when it lies in
 * the overflows (*LATENCY_NS is then the last bucket's: the quantile is at least that) or there is no histogram. */
gboolean res_cyclictest_quantile(const ResCyclictestThread *thread, double q, gint64 *latency_ns);
