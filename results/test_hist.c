/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/hist.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef gsl_rng Rng;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rng, gsl_rng_free)

static void
add(ResHist *h, gint64 value, guint64 count)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(res_hist_add(h, value, count, &error));
    g_assert_no_error(error);
}

static ResQuantile
quantile(const ResHist *h, double q)
{
    ResQuantile x;
    g_assert_true(res_hist_quantile(h, q, 0.99, &x));
    g_assert_cmpfloat(x.low, <=, x.value);
    g_assert_true(x.censored || x.value <= x.high);
    return x;
}

/* Every value lands in a bucket that holds it and is at most 1/128 wide. */
static void
test_error_bound(void)
{
    gint64 last = -1;
    for (gint64 v = 0; v <= RES_HIST_VALUE_MAX; v += 1 + v / 200) {
        g_autoptr(ResHist) h = res_hist_new("ns", "");
        add(h, v, 1);
        g_autoptr(GArray) buckets = res_hist_buckets(h);
        g_assert_cmpuint(buckets->len, ==, 1);
        const ResHistBucket *b = &g_array_index(buckets, ResHistBucket, 0);
        g_assert_cmpint(b->low, <=, v);
        g_assert_cmpint(b->high, >=, v);
        g_assert_cmpint(b->low, >=, last);
        g_assert_cmpfloat((double)(b->high - b->low), <=, (double)b->low * RES_HIST_ERROR_BOUND);
        last = b->low;
    }
}

static int
by_value(const void *x, const void *y)
{
    gint64 a = *(const gint64 *)x, b = *(const gint64 *)y;
    return (a > b) - (a < b);
}

/* Against the samples themselves, sorted: never too low, never more than the bound too high. */
static void
test_against_samples(void)
{
    enum { N = 20000 };
    g_autoptr(Rng) rng = gsl_rng_alloc(gsl_rng_mt19937);
    g_autoptr(ResHist) h = res_hist_new("ns", ""), half = res_hist_new("ns", "");
    g_autofree gint64 *samples = g_new(gint64, N);
    guint64 sum = 0;
    for (int i = 0; i < N; i++) {
        samples[i] = (gint64)gsl_ran_pareto(rng, 1.5, 3000);
        add(i % 2 ? h : half, samples[i], 1);
        sum += (guint64)samples[i];
    }
    g_assert_true(res_hist_merge(h, half, NULL));
    qsort(samples, N, sizeof *samples, by_value);
    g_assert_cmpuint(res_hist_count(h), ==, N);
    g_assert_cmpuint(res_hist_sum(h), ==, sum);
    g_assert_cmpint(res_hist_min(h), ==, samples[0]);
    g_assert_cmpint(res_hist_max(h), ==, samples[N - 1]);
    static const double qs[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999};
    for (gsize i = 0; i < G_N_ELEMENTS(qs); i++) {
        ResQuantile x = quantile(h, qs[i]);
        double right = (double)samples[(int)ceil(qs[i] * N) - 1];
        g_assert_false(x.censored);
        g_assert_cmpfloat(x.value, >=, right);
        g_assert_cmpfloat(x.value, <=, right * (1 + RES_HIST_ERROR_BOUND));
        g_assert_cmpfloat(x.low, <=, x.high);
    }
}

/* The interval holds the true quantile as often as it says. */
static void
test_coverage(void)
{
    enum { TRIALS = 2000, N = 1000 };
    g_autoptr(Rng) rng = gsl_rng_alloc(gsl_rng_mt19937);
    int missed = 0;
    double right = 1000 * log(100); /* p99 of the exponential distribution of mean 1000 */
    for (int t = 0; t < TRIALS; t++) {
        g_autoptr(ResHist) h = res_hist_new("ns", "");
        for (int i = 0; i < N; i++) {
            add(h, (gint64)gsl_ran_exponential(rng, 1000), 1);
        }
        ResQuantile x = quantile(h, 0.99);
        missed += x.low > right || x.high < right;
    }
    /* 1% at most, so 20; the binomial distribution stays below 36 with 99.95% */
    g_assert_cmpint(missed, <, 36);
}

/* Ranks by the binomial distribution's own sums, n = 20, q = 0.5: P(X <= 3) = 0.0013, P(X <= 4) =
 * 0.0059, so the interval of 99% is from the 4th to the 17th. */
static void
test_ranks(void)
{
    g_autoptr(ResHist) h = res_hist_new("ns", "");
    for (gint64 v = 1; v <= 20; v++) {
        add(h, v, 1);
    }
    ResQuantile x = quantile(h, 0.5);
    g_assert_cmpfloat(x.value, ==, 10);
    g_assert_cmpfloat(x.low, ==, 4);
    g_assert_cmpfloat(x.high, ==, 17);
}

static void
test_deepest(void)
{
    g_assert_cmpfloat(res_hist_deepest(7, 0.99), ==, 0);
    g_assert_cmpfloat(res_hist_deepest(8, 0.99), ==, 0.5);
    g_assert_cmpfloat(res_hist_deepest(527, 0.99), ==, 0.9);
    g_assert_cmpfloat(res_hist_deepest(528, 0.99), ==, 0.99);
    g_assert_cmpfloat(res_hist_deepest(5295, 0.99), ==, 0.99);
    g_assert_cmpfloat_with_epsilon(res_hist_deepest(5296, 0.99), 0.999, 1e-12);
    g_assert_cmpfloat_with_epsilon(res_hist_deepest(1000000000, 0.99), 0.99999999, 1e-12);
    g_autofree char *name = res_hist_quantile_name(0.999), *median = res_hist_quantile_name(0.5);
    g_assert_cmpstr(name, ==, "p99.9");
    g_assert_cmpstr(median, ==, "p50");
}

/* What can't be carried is shown as a bound. */
static void
test_censored(void)
{
    g_autoptr(ResHist) h = res_hist_new("ns", "");
    add(h, 2100, 600);
    ResQuantile x = quantile(h, 0.99);
    g_assert_false(x.censored);
    x = quantile(h, 0.999); /* 600 samples */
    g_assert_true(x.censored);
    g_assert_true(isinf(x.high));
    g_autofree char *few = res_hist_quantile_text(&x, "ns");
    g_assert_cmpstr(few, ==, ">= 2100 ns");
    /* beyond the tool's histogram */
    g_assert_true(res_hist_add_censored(h, 30000, 990000, 400, 4000000 * 4, NULL));
    x = quantile(h, 0.5);
    g_assert_false(x.censored);
    g_assert_cmpfloat(x.value, ==, 2111); /* 2100 to 2111 are one bucket */
    x = quantile(h, 0.99);
    g_assert_true(x.censored);
    g_assert_cmpfloat(x.value, ==, 30000);
    g_assert_cmpfloat(x.high, ==, 990000);
    g_autofree char *text = res_hist_quantile_text(&x, "ns");
    g_assert_cmpstr(text, ==, ">= 30000 ns");
    g_assert_cmpint(res_hist_max(h), ==, 990000);
    g_assert_cmpuint(res_hist_count(h), ==, 1000);
    /* merged with one that goes further: the censored may be below its values */
    g_autoptr(ResHist) far = res_hist_new("ns", "");
    add(far, 50000, 1000);
    g_assert_true(res_hist_merge(far, h, NULL));
    x = quantile(far, 0.9);
    g_assert_true(x.censored);
    g_assert_cmpfloat(x.value, ==, 30000);
    g_assert_cmpuint(res_hist_censored(far), ==, 400);
    g_assert_false(res_hist_quantile(far, 0, 0.99, &x));
    g_assert_false(res_hist_quantile(far, 1.1, 0.99, &x));
    g_assert_false(res_hist_quantile(far, NAN, 0.99, &x));
    g_autoptr(ResHist) empty = res_hist_new("ns", "");
    g_assert_false(res_hist_quantile(empty, 0.5, 0.99, &x));
}

static void
assert_refused(gboolean good, GError *error, int code)
{
    g_assert_false(good);
    g_assert_error(error, RES_HIST_ERROR, code);
    g_error_free(error);
}

/* F30 and worse: named as the clock's fault, and the histogram stays as it was. */
static void
test_clock_faults(void)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, -1, 1e300, 18446744057004122648.0};
    g_autoptr(ResHist) h = res_hist_new("ns", "cpu3");
    add(h, 5, 2);
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        gboolean good = res_hist_add_double(h, bad[i], 1, &error);
        g_assert_nonnull(strstr(error->message, "cpu3"));
        assert_refused(good, error, RES_HIST_ERROR_CLOCK);
    }
    GError *error = NULL;
    gboolean good = res_hist_add(h, -3, 1, &error);
    assert_refused(good, error, RES_HIST_ERROR_CLOCK);
    error = NULL;
    good = res_hist_add(h, RES_HIST_VALUE_MAX, G_MAXUINT64, &error);
    assert_refused(good, error, RES_HIST_ERROR_RANGE);
    error = NULL;
    good = res_hist_add_censored(h, 9, 8, 1, 0, &error);
    assert_refused(good, error, RES_HIST_ERROR_FORMAT);
    g_autoptr(ResHist) other = res_hist_new("insns", "");
    error = NULL;
    good = res_hist_merge(h, other, &error);
    assert_refused(good, error, RES_HIST_ERROR_UNIT);
    g_assert_cmpuint(res_hist_count(h), ==, 2);
    g_assert_cmpuint(res_hist_sum(h), ==, 10);
    g_assert_cmpint(res_hist_max(h), ==, 5);
}

static void
test_json(void)
{
    g_autoptr(GPtrArray) hists = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);
    for (int cpu = 0; cpu < 2; cpu++) {
        g_autofree char *name = g_strdup_printf("cpu%d", cpu);
        ResHist *h = res_hist_new("ns", name);
        add(h, 0, 1);
        add(h, 4213, 995);
        add(h, 999999999, 3);
        g_assert_true(res_hist_add_censored(h, 2000000000, 3000000000, 2, 5000000000, NULL));
        g_ptr_array_add(hists, h);
    }
    g_autofree char *text = res_hist_to_json(hists);
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) back = res_hist_from_json(text, strlen(text), &error);
    g_assert_no_error(error);
    g_assert_cmpuint(back->len, ==, 2);
    g_autofree char *again = res_hist_to_json(back);
    g_assert_cmpstr(text, ==, again);
    const ResHist *h = g_ptr_array_index(back, 1);
    g_assert_cmpstr(res_hist_name(h), ==, "cpu1");
    g_assert_cmpstr(res_hist_unit(h), ==, "ns");
    g_assert_cmpint(res_hist_limit(h), ==, 2000000000);
    g_assert_cmpint(res_hist_max(h), ==, 3000000000);
    g_autoptr(ResHist) all = res_hist_merge_all(back, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(res_hist_count(all), ==, 2002);
    g_assert_cmpuint(res_hist_censored(all), ==, 4);
}

#define FILE_OF(inner)                                                                             \
    "{\"format\":\"nohzlab-hist\",\"version\":1,\"unit\":\"ns\",\"bits\":7,\"histograms\":[" inner \
    "]}"
#define HIST_OF(figures, buckets) "{\"name\":\"\"," figures ",\"buckets\":[" buckets "]}"

static void
test_bad_json(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", ""},
        {"{}", "format"},
        {"[1]", ""},
        {"{\"format\":\"other\"}", "other"},
        {FILE_OF(""), "0 histograms"},
        {FILE_OF("1"), "objects"},
        {FILE_OF(HIST_OF("\"count\":1", "")), "\"sum\""},
        {FILE_OF(HIST_OF("\"count\":2,\"sum\":5,\"min\":5,\"max\":5,\"censored\":0,\"limit\":0",
                         "[5,1]")),
         "count"},
        {FILE_OF(HIST_OF("\"count\":1,\"sum\":5,\"min\":-5,\"max\":5,\"censored\":0,\"limit\":0",
                         "[5,1]")),
         "min"},
        {FILE_OF(HIST_OF("\"count\":1,\"sum\":900,\"min\":5,\"max\":5,\"censored\":0,"
                         "\"limit\":0",
                         "[5,1]")),
         "sum"},
        {FILE_OF(HIST_OF("\"count\":1,\"sum\":5,\"min\":9,\"max\":9,\"censored\":0,\"limit\":0",
                         "[5,1]")),
         "fit its buckets"},
        {FILE_OF(HIST_OF("\"count\":2,\"sum\":5,\"min\":5,\"max\":5,\"censored\":0,\"limit\":0",
                         "[5,1],[5,1]")),
         "not above"},
        {FILE_OF(HIST_OF("\"count\":1,\"sum\":257,\"min\":257,\"max\":257,\"censored\":0,"
                         "\"limit\":0",
                         "[257,1]")),
         "lower end"},
        {FILE_OF(
             HIST_OF("\"count\":1,\"sum\":5,\"min\":5,\"max\":5,\"censored\":1,\"limit\":9", "")),
         "limit"},
        {FILE_OF(HIST_OF("\"count\":1,\"sum\":5,\"min\":5,\"max\":5,\"censored\":0,\"limit\":5",
                         "[5,1]")),
         "limit"},
        {FILE_OF(HIST_OF("\"count\":1,\"sum\":5,\"min\":5,\"max\":5,\"censored\":0,\"limit\":0",
                         "[5,99999999999999999999]")),
         ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(res_hist_from_json(cases[i].text, strlen(cases[i].text), &error));
        g_assert_error(error, RES_HIST_ERROR, RES_HIST_ERROR_FORMAT);
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[i].says));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hist/error-bound", test_error_bound);
    g_test_add_func("/hist/against-samples", test_against_samples);
    g_test_add_func("/hist/coverage", test_coverage);
    g_test_add_func("/hist/ranks", test_ranks);
    g_test_add_func("/hist/deepest", test_deepest);
    g_test_add_func("/hist/censored", test_censored);
    g_test_add_func("/hist/clock-faults", test_clock_faults);
    g_test_add_func("/hist/json", test_json);
    g_test_add_func("/hist/bad-json", test_bad_json);
    return g_test_run();
}
