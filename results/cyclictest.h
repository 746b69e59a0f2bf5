/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Reads what cyclictest (rt-tests) leaves: JSON of 2.x, the text of its T: lines, and histograms as
 * text. Which of them it is is read from the content. Text does not say its unit (-N changes it
 * without a trace): it stays unknown until res_cyclictest_set_cmdline() is told what was run.
 */
#include <glib.h>

#include "results/hist.h"

#define RES_CYCLICTEST_MAX (32 * 1024 * 1024) /* bytes of an input */
#define RES_CYCLICTEST_THREADS_MAX 8192
#define RES_CYCLICTEST_NOTES_MAX 50

typedef struct {
    unsigned int thread;
    int cpu;            /* -1: not said */
    int priority;       /* as it ran; -1: not said (JSON) */
    gint64 interval_us; /* as it ran; -1: not said (JSON) */
    guint64 cycles;
    gint64 min_ns, max_ns;
    double mean_ns;
    guint64 overflows; /* samples beyond the histogram */
    GArray *buckets;   /* ResCyclictestBucket, ascending; empty without a histogram */
} ResCyclictestThread;
typedef struct {
    gint64 latency_ns;
    guint64 count;
} ResCyclictestBucket;

typedef struct {
    GPtrArray *threads;    /* ResCyclictestThread * */
    char *cmdline;         /* "" when not said */
    char *version;         /* advisory; "" when not said */
    gboolean unit_known;   /* FALSE: the figures' unit could not be settled; ns fields then hold raw
                              values */
    gint64 resolution_ns;  /* of one unit in the file: 1 or 1000; 1 while the unit is not known */
    gboolean broken;       /* stopped by the -b threshold: never a clean run */
    gint64 break_value_ns; /* 0 when not said */
    GPtrArray *notes;      /* char *: what a reader should know */
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

/*
 * Tells C, which was read from text, the command line that made it (words joined by single spaces,
 * the program's name first). Settles the unit, and compares what was asked for with what ran: a
 * threshold that was hit makes it broken, fewer loops than asked for are
 * RES_CYCLICTEST_ERROR_INCOMPLETE, and differences in priority become notes. From JSON the same was
 * done with its own command line; then this only checks that the two agree on the unit.
 */
gboolean res_cyclictest_set_cmdline(ResCyclictest *c, const char *cmdline, GError **error);

/* Over all threads: the least, the largest, and the mean weighted by cycles. */
void res_cyclictest_overall(const ResCyclictest *c, gint64 *min_ns, double *mean_ns, gint64 *max_ns,
                            guint64 *cycles);

/* Latency at or below which the share Q (0 < Q <= 1) of THREAD's samples lies, ns; FALSE when it
 * lies in the overflows (*LATENCY_NS is then the last bucket's: the quantile is at least that) or
 * there is no histogram. */
gboolean res_cyclictest_quantile(const ResCyclictestThread *thread, double q, gint64 *latency_ns);
/* THREAD as a histogram in UNIT, called "cpuN" when its CPU is known. What its own buckets don't
 * hold is censored: from LIMIT_NS on, where its histogram ended (0: not known, then from its last
 * bucket on; without buckets from its minimum on). */
ResHist *res_cyclictest_hist(const ResCyclictestThread *thread, const char *unit, gint64 limit_ns,
                             GError **error);
