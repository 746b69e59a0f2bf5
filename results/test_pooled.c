/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/pooled.h"

#include <math.h>
#include <string.h>

#include "results/compare_testing.h"

/* COUNT samples of VALUE in boot after boot of a side: "100x9 200x1" each. */
static GPtrArray *
boots_of(const char *text)
{
    GPtrArray *boots = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);
    g_auto(GStrv) each = g_strsplit(text, ",", -1);
    for (char **boot = each; *boot != NULL; boot++) {
        ResHist *h = res_hist_new("ns", "");
        g_auto(GStrv) pairs = g_strsplit(*boot, " ", -1);
        for (char **pair = pairs; *pair != NULL; pair++) {
            char *x = strchr(*pair, 'x');
            g_assert_true(res_hist_add(h, g_ascii_strtoll(*pair, NULL, 10),
                                       g_ascii_strtoull(x + 1, NULL, 10), NULL));
        }
        g_ptr_array_add(boots, h);
    }
    return boots;
}

static ResComparison *
compare(const GPtrArray *a, const GPtrArray *b, double q)
{
    g_autoptr(ResPooled) p = res_pooled_new(a, b);
    ResComparison *c = g_new0(ResComparison, 1);
    res_pooled_compare(p, q, 0.99, 1, 1000, c);
    g_assert_cmpfloat(c->shift.low, <=, c->shift.high);
    g_assert_false(isnan(c->ratio.value) || isnan(c->ratio.low) || isnan(c->ratio.high));
    return c;
}

static void
test_exact(void)
{
    g_autoptr(GPtrArray) a = boots_of("100x9 200x1,100x9 200x1,100x9 210x1,100x9 220x1,100x10");
    g_autoptr(GPtrArray) b =
        boots_of("100x9 240x1,100x9 250x1,100x9 250x1,100x9 250x1,100x9 250x1");
    ResComparison *c = compare(a, b, 0.94);
    /* the 47th of 50 samples: 200 200 210 220 are the highest four of A */
    g_assert_cmpfloat(c->a, ==, 200);
    g_assert_cmpfloat(c->b, ==, 250);
    g_assert_cmpfloat(c->ratio.value, ==, 1.25);
    g_assert_true(c->p_exact);
    g_assert_cmpint(c->estimate, ==, RES_ESTIMATE_QUANTILE);
    g_assert_cmpfloat(c->ratio.high, <=, 2.5);
    g_assert_cmpfloat(c->ratio.low, >=, 1);
    g_free(c);
    /* the same again gives the same: its seed is its own */
    ResComparison *once = compare(a, b, 0.94), *again = compare(a, b, 0.94);
    g_assert_cmpmem(once, sizeof *once, again, sizeof *again);
    g_free(once);
    g_free(again);
    /* all boots of one side longer than of the other: two arrangements of 252 */
    g_autoptr(GPtrArray) low = boots_of("100x9,101x9,102x9,103x9,104x9");
    g_autoptr(GPtrArray) high = boots_of("200x9,201x9,202x9,203x9,204x9");
    c = compare(low, high, 0.95);
    g_assert_cmpfloat_with_epsilon(c->p, 2.0 / 252, 1e-12);
    g_free(c);
}

static void
test_few(void)
{
    g_autoptr(GPtrArray) a = boots_of("100x9,101x9"), b = boots_of("200x9,201x9");
    ResComparison *c = compare(a, b, 0.5);
    g_assert_true(isinf(c->shift.low) && isinf(c->shift.high));
    g_assert_true(isinf(c->ratio.high));
    g_assert_cmpfloat_with_epsilon(c->p, 2.0 / 6, 1e-12);
    g_free(c);
    g_autoptr(GPtrArray) one = boots_of("0x3"), other = boots_of("0x3");
    c = compare(one, other, 0.5);
    g_assert_cmpfloat(c->p, ==, 1);
    g_assert_cmpfloat(c->ratio.value, ==, 1);
    g_free(c);
}

/* One boot's histogram ends at 150: what others saw beyond counts no more than that. */
static void
test_censored(void)
{
    g_autoptr(GPtrArray) a = boots_of("100x9,101x9,102x9,103x9,104x9");
    g_autoptr(GPtrArray) b = boots_of("100x2 900x8,100x2 900x8,100x2 900x8,100x2 900x8,100x2");
    g_assert_true(res_hist_add_censored(g_ptr_array_index(b, 4), 150, 5000, 8, 8000, NULL));
    ResComparison *c = compare(a, b, 0.9);
    g_assert_false(c->censored_a);
    g_assert_true(c->censored_b);
    g_assert_cmpfloat(c->b, ==, 150);
    g_assert_cmpfloat(c->a, ==, 104);
    g_assert_true(isinf(c->ratio.high));
    g_assert_cmpfloat(c->ratio.low, >, 1.4);
    g_assert_cmpfloat_with_epsilon(c->p, 2.0 / 252, 1e-12);
    g_free(c);
}

/* Through res_compare: rows for the quantiles that both sides carry, and no others. */
static GPtrArray *
hists_of(const ResRecord *r, const char *workload, gpointer data, GError **error G_GNUC_UNUSED)
{
    GPtrArray *hists = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);
    ResHist *h = res_hist_new("ns", "cpu1");
    const ResMetric *m = g_ptr_array_index(r->metrics, 0);
    g_assert_cmpstr(workload, ==, "w");
    res_hist_add(h, (gint64)m->value, *(guint64 *)data, NULL);
    g_ptr_array_add(hists, h);
    return hists;
}

static void
test_rows(void)
{
    g_autoptr(GPtrArray) a = runs_of("", time_ns, "1000 1001 1002 1003 1004 1005");
    g_autoptr(GPtrArray) b = runs_of("", time_ns, "2000 2001 2002 2003 2004 2005");
    guint64 samples = 1000; /* 6,000 a side: p99.9 but not p99.99 */
    ResCompareOptions options = res_compare_defaults;
    options.hists = hists_of;
    options.hists_data = &samples;
    for (guint i = 0; i < 12; i++) {
        ResRecord *r = g_ptr_array_index(i < 6 ? a : b, i % 6);
        g_ptr_array_add(r->evidence, g_strdup("w" RES_HIST_SUFFIX));
    }
    g_autoptr(ResCompareResult) r = res_compare(a, b, &options, NULL);
    g_assert_cmpuint(r->comparisons->len, ==, 3);
    const ResComparison *c = g_ptr_array_index(r->comparisons, 2);
    g_assert_cmpstr(c->metric, ==, "w.pooled.p99.9");
    g_assert_cmpstr(c->unit, ==, "ns");
    g_assert_cmpint(c->verdict, ==, RES_VERDICT_WORSE);
    g_assert_cmpuint(r->judged, ==, 3);
    samples = 10; /* not even p99 */
    g_autoptr(ResCompareResult) few = res_compare(a, b, &options, NULL);
    g_assert_cmpuint(few->comparisons->len, ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pooled/exact", test_exact);
    g_test_add_func("/pooled/few", test_few);
    g_test_add_func("/pooled/censored", test_censored);
    g_test_add_func("/pooled/rows", test_rows);
    return g_test_run();
}
