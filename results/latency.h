/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Latencies of one run of a measuring tool, as its result file tells them: what the readers of
 * cyclictest, oslat, rtla and rteval all give.
 */
#include "results/hist.h"

#define RES_LATENCY_THREADS_MAX 8192
#define RES_LATENCY_NOTES_MAX 50
/* Buckets of all threads in all (16 MiB in memory). With more the histogram is let go, and a note
 * says so; the figures below it stay. */
#define RES_LATENCY_BUCKETS_MAX 1000000

typedef struct {
    const char *series;  /* what it measures, the metrics' prefix: "cyclictest", "timerlat.irq" */
    unsigned int thread; /* in the file's order */
    int cpu;             /* -1: not said */
    int priority;        /* as it ran; -1: not said */
    gint64 interval_us;  /* as it ran; -1: not said */
    guint64 cycles;      /* samples */
    gint64 min_ns, max_ns;
    double mean_ns;
    gboolean mean_doubtful; /* the tool's mean can't be right: not to be used */
    guint64 overflows;      /* samples beyond the histogram */
    GArray *buckets;        /* ResLatencyBucket, ascending, none empty; empty without a histogram */
} ResLatencyThread;
typedef struct {
    gint64 latency_ns;
    guint64 count;
} ResLatencyBucket;

typedef struct {
    const char *tool;      /* "cyclictest", "oslat", "rtla", "rteval" */
    GPtrArray *threads;    /* ResLatencyThread * */
    char *cmdline;         /* of the tool; "" when not said */
    char *version;         /* advisory; "" when not said */
    gboolean unit_known;   /* FALSE: the figures' unit could not be settled; ns fields then hold raw
                              values */
    gint64 resolution_ns;  /* of one unit in the file: 1 or 1000; 1 while the unit is not known */
    gboolean broken;       /* stopped by a threshold (-b): never a clean run */
    gint64 break_value_ns; /* 0 when not said */
    gint64 started_us, ended_us; /* microseconds since the epoch; 0 when not said */
    GHashTable *environment;     /* char * -> char *: where it ran, under a record's names */
    GPtrArray *notes;            /* char *: what a reader should know */
    guint64 buckets;             /* of all threads */
    gboolean buckets_dropped;    /* there were more than RES_LATENCY_BUCKETS_MAX */
} ResLatency;
void res_latency_free(ResLatency *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResLatency, res_latency_free)

#define RES_LATENCY_ERROR (res_latency_error_quark())
GQuark res_latency_error_quark(void);
typedef enum {
    RES_LATENCY_ERROR_FOREIGN, /* not a result file of a tool we know */
    RES_LATENCY_ERROR_FORMAT,
    RES_LATENCY_ERROR_INCOMPLETE, /* cut short, or a figure that must be there is not */
    RES_LATENCY_ERROR_CLOCK,      /* a negative or wrapped latency: names thread and CPU */
} ResLatencyError;

/* Over all threads: the least, the largest, and the mean weighted by cycles. */
void res_latency_overall(const ResLatency *c, gint64 *min_ns, double *mean_ns, gint64 *max_ns,
                         guint64 *cycles);

/* Latency at or below which the share Q (0 < Q <= 1) of THREAD's samples lies, ns; FALSE when it
 * lies in the overflows (*LATENCY_NS is then the last bucket's: the quantile is at least that) or
 * there is no histogram. */
gboolean res_latency_quantile(const ResLatencyThread *thread, double q, gint64 *latency_ns);
/* THREAD as a histogram in UNIT, called "cpuN" when its CPU is known. What its own buckets don't
 * hold is censored: from LIMIT_NS on, where its histogram ended (0: not known, then from its last
 * bucket on; without buckets from its minimum on). */
ResHist *res_latency_hist(const ResLatencyThread *thread, const char *unit, gint64 limit_ns,
                          GError **error);
