/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Judging: summaries of metrics over boots, and two groups of runs against each other. How a
 * metric is judged, and how often that errs, is in results/calibration.md.
 */
#include <glib.h>

#include "results/calibration.h"
#include "results/record.h"

/* One metric over the boots of one cell. */
typedef struct {
    char *name, *unit;
    ResDirection direction;
    ResFidelity fidelity;
    unsigned int boots;
    double median, min, max; /* of the boots' values */
    double spread;           /* (max - min) / median; 0 for one boot */
    gboolean censored;       /* at least one boot's value is a lower bound */
} ResSummary;
void res_summary_free(ResSummary *s);
/* Median of N > 0 finite values (mean of the middle two); does not change VALUES. */
double res_median(const double *values, gsize n);
/* Summaries of every metric that all done RECORDS (ResRecord *) of one cell carry, in record order.
 */
GPtrArray *res_summarize(const GPtrArray *records);

typedef enum {
    RES_VERDICT_BETTER,
    RES_VERDICT_SAME, /* no difference, or none that is relevant, is left possible */
    RES_VERDICT_WORSE,
    RES_VERDICT_CANNOT_TELL,
    RES_VERDICT_IRRELEVANT, /* surely different, by less than the smallest relevant change */
    RES_VERDICT_DIFFERENT,  /* surely different, but the metric has no better or worse, or which way
                               it went is not sure */
} ResVerdict;
/* "better", "same", "worse", "cannot tell", "different but irrelevant", "different" */
const char *res_verdict_name(ResVerdict v);

/* What was estimated, and how. */
typedef enum {
    RES_ESTIMATE_LOCATION, /* Hodges-Lehmann shift between boots, interval from the rank test */
    RES_ESTIMATE_COUNT,    /* rate ratio of the means over boots, overdispersion included */
    RES_ESTIMATE_SHARE,    /* difference of the mean shares over boots, likewise */
    RES_ESTIMATE_QUANTILE, /* quantiles of all samples of all boots, bootstrap over boots */
} ResEstimate;
const char *res_estimate_name(ResEstimate e); /* "location", "count", "share", "quantile" */

/* An estimate and its confidence interval; an open end is +-HUGE_VAL. Never NaN. */
typedef struct {
    double value, low, high;
} ResInterval;

typedef struct {
    char *metric, *unit, *cell;
    ResDirection direction;
    ResFidelity fidelity;
    ResEstimate estimate;
    double a, b; /* medians over boots; of counts and shares means; of quantiles the quantiles */
    gboolean censored_a, censored_b; /* a, b are lower bounds: ">= a" */
    unsigned int na, nb;             /* boots */
    ResInterval shift;               /* b - a, in UNIT */
    ResInterval ratio;               /* b / a; 1 when both are 0, +-HUGE_VAL when only a is */
    double confidence; /* of both intervals; below the asked-for one when too few boots carry it */
    double p;          /* two-sided, of the test over boots */
    double p_adjusted; /* with all metrics judged at once taken into account */
    double p_smallest; /* what boots of these numbers can reach */
    gboolean p_exact;  /* counted out; otherwise a normal approximation or drawn */
    gboolean by_repeatability; /* p is the bound for boots that are so far apart (instructions) */
    gboolean disjoint;         /* p is that of no value occurring on both sides (instructions) */
    gboolean known_to_repeat;  /* told by how exactly the metric is known to repeat, whatever p */
    double relevant;           /* smallest relevant change, as a share of a */
    const char *relevant_from; /* "profile", "calibration", "default" */
    unsigned int needed;       /* boots a side that would do, when they are too few; or 0 */
    char *run_a, *run_b;       /* ids of the boots nearest to a and b: where to look */
    ResVerdict verdict;
    char *reason; /* one sentence */
    char *next;   /* what to do now; "" when nothing */
} ResComparison;
void res_comparison_free(ResComparison *c);

/* The smallest change of a metric that matters, as a profile says it (a record's parameter
 * relevant.METRIC): "2%" of A's figure, or "5" in the metric's unit. FALSE when TEXT is neither. */
gboolean res_relevant_parse(const char *text, double *value, gboolean *is_share);

/* An entry of environment or parameters in which the two sides differ. */
typedef enum {
    RES_DIFFERENCE_UNMEANT,  /* nothing in the profiles varies it: not comparable unless allowed */
    RES_DIFFERENCE_ALLOWED,  /* the same, allowed by the caller */
    RES_DIFFERENCE_INTENDED, /* a profile key or axis, and what follows from it; or the kernel */
    RES_DIFFERENCE_HARMLESS, /* can't change a figure of this fidelity */
} ResDifferenceKind;
const char *res_difference_kind_name(ResDifferenceKind k); /* "unmeant", "allowed", ... */
typedef struct {
    ResDifferenceKind kind;
    gboolean parameter; /* of the profile; otherwise of the environment */
    char *key;
    char *a, *b; /* all values of a side, quoted: "\"tsc\"", "\"tsc\", not recorded" */
} ResDifference;
void res_difference_free(ResDifference *d);

#define RES_COMPARE_ALPHA 0.01
#define RES_COMPARE_SEED 1
#define RES_COMPARE_RESAMPLES 2000
#define RES_COMPARE_RELEVANT 0.01 /* time, events */
#define RES_COMPARE_RELEVANT_INSTRUCTIONS 0.001
#define RES_COMPARE_REPEATS 0.001 /* icount boots of one kernel: seen 0 to 0.05% apart */

/* The histograms of a run's workload: ResHist *, to be unreffed; NULL when there are none, or with
 * an error when they can't be read. */
typedef GPtrArray *(*ResCompareHists)(const ResRecord *r, const char *workload, gpointer data,
                                      GError **error);

typedef struct {
    double alpha; /* false discovery rate over all metrics, and 1 - confidence */
    guint64 seed; /* of the resampling */
    unsigned int resamples;
    const char *const *allow; /* patterns of environment keys that may differ; NULL: none */
    const ResCalibration *calibration; /* or NULL */
    ResCompareHists hists;             /* or NULL: no quantiles over all boots */
    gpointer hists_data;
} ResCompareOptions;
extern const ResCompareOptions res_compare_defaults;

typedef struct {
    GPtrArray *differences; /* ResDifference *, the unmeant first */
    GPtrArray *notes;       /* char *: runs left out, cells and metrics only one side has, drift */
    GPtrArray *comparisons; /* ResComparison *, by cell */
    double alpha;
    guint64 seed;
    unsigned int resamples;
    unsigned int judged; /* metrics that were tested at once */
} ResCompareResult;
void res_compare_result_free(ResCompareResult *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResCompareResult, res_compare_result_free)

/*
 * Compares two groups of runs (ResRecord *), cell by cell, metric by metric. Cells are matched by
 * name; where each side has one value of an axis and they differ, by the other axes; and when each
 * side is one cell, whatever they are called: cell is then "A's name -> B's name". OPTIONS NULL:
 * res_compare_defaults. Refused with RES_COMPARE_ERROR when fidelity, clock or platform differ,
 * when the environments differ in what was neither meant to vary nor allowed to, when a figure is
 * no latency, or when there is nothing to compare.
 *
 * The unit of replication is the boot: samples inside a boot share its memory layout and its
 * history, so a million of them are still one observation.
 */
#define RES_COMPARE_ERROR (res_compare_error_quark())
GQuark res_compare_error_quark(void);
typedef enum {
    RES_COMPARE_ERROR_FIDELITY,
    RES_COMPARE_ERROR_NOTHING,
    RES_COMPARE_ERROR_ENVIRONMENT,
    RES_COMPARE_ERROR_CLOCK, /* a figure that is NaN, infinite, negative or wrapped */
} ResCompareError;
ResCompareResult *res_compare(const GPtrArray *a, const GPtrArray *b,
                              const ResCompareOptions *options, GError **error);
