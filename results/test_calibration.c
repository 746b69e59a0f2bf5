/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/calibration.h"

#include <math.h>
#include <string.h>

#include "results/compare_testing.h"

static ResRecord *
add_boot(GPtrArray *records, const char *set, guint seed, double value)
{
    ResRecord *r = make_run("v=1", time_ns, value);
    g_free(r->set);
    r->set = g_strdup(set);
    g_free(r->profile);
    r->profile = g_strdup("p");
    g_free(r->id);
    r->id = g_strdup_printf("r%u", records->len);
    g_hash_table_insert(r->environment, g_strdup("seed"), g_strdup_printf("%u", seed));
    g_hash_table_insert(r->environment, g_strdup("kernel.sha256"), g_strdup("1"));
    g_ptr_array_add(records, r);
    return r;
}

static void
test_entries(void)
{
    static const double first[] = {98, 99, 100, 101, 102}, second[] = {101, 102, 103, 104, 105};
    g_autoptr(GPtrArray) records = new_runs();
    for (guint i = 0; i < 5; i++) {
        add_boot(records, "s1", i, first[i]);
        add_boot(records, "s2", i, second[i]);
    }
    /* not A/A: another kernel, and one that failed */
    ResRecord *other = add_boot(records, "s3", 1, 500);
    g_hash_table_insert(other->environment, g_strdup("kernel.sha256"), g_strdup("2"));
    add_boot(records, "s1", 7, 900)->outcome = RES_OUTCOME_BOOT;
    for (guint i = 0; i < 12; i++) { /* nobody knows of which kernel these were */
        g_hash_table_remove(add_boot(records, "s4", i, i)->environment, "kernel.sha256");
    }
    g_autoptr(ResCalibration) c = res_calibration_new(records, 10, 0.01);
    g_assert_cmpuint(c->entries->len, ==, 1);
    const ResCalibrationEntry *e = res_calibration_find(c, "p", "v=1", "m");
    g_assert_nonnull(e);
    g_assert_cmpuint(e->boots, ==, 10);
    g_assert_cmpuint(e->sets, ==, 2);
    g_assert_cmpfloat(e->median, ==, 101.5);
    g_assert_cmpfloat_with_epsilon(e->spread, 7 / 101.5, 1e-12);
    /* each set has the variance 2.5; what lies between them is no scatter of boots */
    g_assert_cmpfloat_with_epsilon(e->sd, sqrt(2.5) / 101.5, 1e-12);
    /* chi-squared, 8 df, 5%: 2.733 */
    g_assert_cmpfloat_with_epsilon(e->sd_high, sqrt(20 / 2.7326) / 101.5, 1e-5);
    g_assert_cmpfloat_with_epsilon(e->between, 3 / 101.5, 1e-12);
    g_assert_cmpfloat(e->relevant, ==, e->between);
    g_assert_null(res_calibration_find(c, "p", "v=1", "other"));
    g_assert_null(res_calibration_find(c, "p", "v=2", "m"));

    /* compare takes from it what is relevant */
    g_autoptr(GPtrArray) a = runs_of("v=1", time_ns, "100 101 102 103 104");
    g_autoptr(GPtrArray) b = runs_of("v=1", time_ns, "104.5 104.6 104.7 104.8 104.9");
    for (guint i = 0; i < 10; i++) {
        ResRecord *r = g_ptr_array_index(i < 5 ? a : b, i % 5);
        g_free(r->profile);
        r->profile = g_strdup("p");
    }
    ResCompareOptions options = res_compare_defaults;
    g_autoptr(ResCompareResult) without = res_compare(a, b, &options, NULL);
    g_assert_cmpint(((ResComparison *)without->comparisons->pdata[0])->verdict, ==,
                    RES_VERDICT_WORSE);
    options.calibration = c;
    g_autoptr(ResCompareResult) with = res_compare(a, b, &options, NULL);
    const ResComparison *x = g_ptr_array_index(with->comparisons, 0);
    g_assert_cmpint(x->verdict, ==, RES_VERDICT_IRRELEVANT);
    g_assert_cmpstr(x->relevant_from, ==, "calibration");
}

/* Equal seeds under icount are one boot, seen twice. */
static void
test_seeds(void)
{
    g_autoptr(GPtrArray) records = new_runs();
    for (guint i = 0; i < 6; i++) {
        ResRecord *r = add_boot(records, i < 3 ? "s1" : "s2", i % 3, 5);
        r->fidelity = RES_FIDELITY_INSTRUCTIONS;
        ((ResMetric *)g_ptr_array_index(r->metrics, 0))->fidelity = RES_FIDELITY_INSTRUCTIONS;
    }
    g_autoptr(ResCalibration) c = res_calibration_new(records, 10, 0.01);
    const ResCalibrationEntry *e = res_calibration_find(c, "p", "v=1", "m");
    g_assert_cmpuint(e->boots, ==, 3);
    g_assert_cmpfloat(e->spread, ==, 0);
    g_assert_cmpfloat(e->detectable, ==, 0);
}

/* Against `make calibrate`: 10 boots a side find 4.5% at sd 2%, 24 find 2.7%, 5 find 2.7% at 0.65%.
 */
static void
test_steps(void)
{
    g_assert_cmpfloat_with_epsilon(res_calibration_steps(10, 0.01), 4.4 / 2, 0.06);
    g_assert_cmpfloat_with_epsilon(res_calibration_steps(24, 0.01), 2.6 / 2, 0.06);
    g_assert_cmpfloat_with_epsilon(res_calibration_steps(5, 0.01), 2.65 / 0.65, 0.15);
    /* where trying ends it goes on as it was */
    double tried = res_calibration_steps(30, 0.01), limit = res_calibration_steps(31, 0.01);
    g_assert_cmpfloat_with_epsilon(tried, limit, 0.05);
    g_assert_true(isinf(res_calibration_steps(4, 0.01)));
}

static void
test_json(void)
{
    g_autoptr(GPtrArray) records = new_runs();
    /* json-glib leaves this one control character as it is, and writes large numbers wrongly */
    for (guint i = 0; i < 2; i++) {
        g_free(add_boot(records, "s1", i, 3.25e20 + i * 1e20)->cell);
        ((ResRecord *)g_ptr_array_index(records, i))->cell = g_strdup("a\x1f\x01\\\"b");
    }
    g_autoptr(ResCalibration) c = res_calibration_new(records, 3, 0.01);
    g_autofree char *text = res_calibration_to_json(c);
    g_autoptr(GError) error = NULL;
    g_autoptr(ResCalibration) back = res_calibration_from_json(text, strlen(text), &error);
    g_assert_no_error(error);
    g_autofree char *again = res_calibration_to_json(back);
    g_assert_cmpstr(text, ==, again);
    g_assert_cmpuint(back->boots_a_side, ==, 3);
    const ResCalibrationEntry *e = g_ptr_array_index(back->entries, 0);
    g_assert_true(isinf(e->detectable));
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "{\"format\":\"x\",\"version\":1,\"boots_a_side\":1,\"alpha\":0.1}",
        "{\"format\":\"nohzlab-calibration\",\"version\":2,\"boots_a_side\":1,\"alpha\":0.1}",
        "{\"format\":\"nohzlab-calibration\",\"version\":1,\"boots_a_side\":1,\"alpha\":0.1,"
        "\"entries\":[{}]}",
        "{\"format\":\"nohzlab-calibration\",\"version\":1,\"boots_a_side\":-1,\"alpha\":0.1,"
        "\"entries\":[]}"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) why = NULL;
        g_assert_null(res_calibration_from_json(bad[i], strlen(bad[i]), &why));
        g_assert_error(why, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/calibration/entries", test_entries);
    g_test_add_func("/calibration/seeds", test_seeds);
    g_test_add_func("/calibration/steps", test_steps);
    g_test_add_func("/calibration/json", test_json);
    return g_test_run();
}
