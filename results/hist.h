/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Histograms of latencies: log-linear buckets, exact count, sum, minimum and maximum beside.
 *
 * Below 256 every value has a bucket of its own; above, each power of two is cut into 128 buckets
 * (as fio's stat.h and HdrHistogram do). A bucket is reported by its highest value, so a quantile
 * is never too low and at most 1/128 = 0.78% too high (RES_HIST_ERROR_BOUND); the ends, minimum and
 * maximum, are exact.
 *
 * What a tool's own histogram cut off ("overflows") is kept as censored: so many samples are known
 * to lie somewhere from LIMIT to the maximum, and nothing more is claimed of them.
 */
#include <glib.h>

#define RES_HIST_ERROR_BOUND (1.0 / 128)
/* Larger values are no latencies (1e15 ns are eleven days) but a clock that was set or wrapped. */
#define RES_HIST_VALUE_MAX G_GINT64_CONSTANT(1000000000000000)
/* Samples, and their sum: whole numbers of 18 digits, as a record's. */
#define RES_HIST_COUNT_MAX G_GINT64_CONSTANT(999999999999999999)
#define RES_HIST_UNIT_MAX 16   /* bytes */
#define RES_HIST_NAME_MAX 64   /* bytes */
#define RES_HIST_FILE_MAX 4096 /* histograms in a file */
#define RES_HIST_BYTES_MAX (32 * 1024 * 1024)
#define RES_HIST_SUFFIX "-hist.json" /* of the evidence file, behind the workload's name */

typedef struct ResHist ResHist;

#define RES_HIST_ERROR (res_hist_error_quark())
GQuark res_hist_error_quark(void);
typedef enum {
    RES_HIST_ERROR_CLOCK,  /* a negative, wrapped or not finite latency: the clock is at fault */
    RES_HIST_ERROR_RANGE,  /* too many samples, or too large a sum */
    RES_HIST_ERROR_UNIT,   /* histograms of different units are not merged */
    RES_HIST_ERROR_FORMAT, /* a file that is no histogram of ours */
} ResHistError;

/* An empty histogram of values in UNIT ("ns", "insns"), called NAME ("cpu1"; "" for the only one).
 */
ResHist *res_hist_new(const char *unit, const char *name);
ResHist *res_hist_copy(const ResHist *h);
void res_hist_free(ResHist *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResHist, res_hist_free)

const char *res_hist_unit(const ResHist *h);
const char *res_hist_name(const ResHist *h);

/* COUNT more samples of VALUE. On an error H is as it was. */
gboolean res_hist_add(ResHist *h, gint64 value, guint64 count, GError **error);
/* The same for a figure that may not be whole (rounded), finite or positive. */
gboolean res_hist_add_double(ResHist *h, double value, guint64 count, GError **error);
/* COUNT more samples that lie anywhere from LIMIT to MAX (LIMIT <= MAX), SUM together. */
gboolean res_hist_add_censored(ResHist *h, gint64 limit, gint64 max, guint64 count, guint64 sum,
                               GError **error);
/* Tells H exact ends that are wider than its samples' (a tool knows its minimum and maximum better
 * than its histogram does). */
gboolean res_hist_widen(ResHist *h, gint64 min, gint64 max, GError **error);
/* Adds all of FROM to H. Censored samples stay so, from the lower of the two limits. */
gboolean res_hist_merge(ResHist *h, const ResHist *from, GError **error);

guint64 res_hist_count(const ResHist *h);    /* of all samples, the censored among them */
guint64 res_hist_censored(const ResHist *h); /* of those beyond the limit */
gint64 res_hist_limit(const ResHist *h);     /* from where on; 0 when none is censored */
gint64 res_hist_min(const ResHist *h);       /* 0 when empty, as the following */
gint64 res_hist_max(const ResHist *h);
guint64 res_hist_sum(const ResHist *h);
double res_hist_mean(const ResHist *h);

/* One bucket that holds samples: COUNT values from LOW to HIGH, both included. */
typedef struct {
    gint64 low, high;
    guint64 count;
} ResHistBucket;
/* The buckets that hold samples, ascending, without the censored ones. g_array_unref it. */
GArray *res_hist_buckets(const ResHist *h);

/* A quantile with its interval. */
typedef struct {
    double q;          /* the share at or below it, 0 < q <= 1 */
    double value;      /* the estimate; when censored, a bound: the quantile is at least that */
    double low, high;  /* confidence interval; high is HUGE_VAL when the data has no upper end for
                          it, and at most the exact maximum when only the buckets' end cut it */
    double confidence; /* of the interval */
    gboolean censored; /* to be shown as ">= value" */
} ResQuantile;

/*
 * The quantile Q (0 < Q <= 1) of H's samples and its two-sided interval: order statistics whose
 * ranks are the binomial distribution's quantiles at CONFIDENCE (David and Nagaraja, Order
 * Statistics, 7.1), so it needs no shape of the distribution. It takes the samples as independent:
 * good for saying how far a histogram carries, never for comparing boots, whose samples share what
 * differs between boots.
 *
 * Censored, with VALUE a lower bound, when
 *   - it falls among the samples beyond the limit: VALUE is the limit, high the maximum; or
 *   - there are too few samples for it, that is, its interval has no upper end: VALUE is the
 *     interval's lower end.
 * FALSE when H is empty or Q no quantile.
 */
gboolean res_hist_quantile(const ResHist *h, double q, double confidence, ResQuantile *quantile);

/* The deepest of 0.5, 0.9, 0.99, 0.999, ... whose interval at CONFIDENCE has both ends with N
 * samples; 0 when not even the median's has. 99%: 0.99 takes 528 samples, 0.999 takes 5,296. */
double res_hist_deepest(guint64 n, double confidence);
/* "p50", "p99", "p99.9": g_free. */
char *res_hist_quantile_name(double q);
/* "4213 ns", or ">= 30000 ns" when censored: g_free. */
char *res_hist_quantile_text(const ResQuantile *quantile, const char *unit);

/*
 * A run keeps its histograms as one evidence file, WORKLOAD-hist.json (results/record-format.md):
 * JSON, one histogram for each CPU or thread. HISTS: ResHist *, at least one, all of one unit.
 */
char *res_hist_to_json(const GPtrArray *hists);
GPtrArray *res_hist_from_json(const char *text, gsize len, GError **error); /* ResHist * */
/* All histograms of a file as one. */
ResHist *res_hist_merge_all(const GPtrArray *hists, GError **error);
