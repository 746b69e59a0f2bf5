/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTML page and what it is made of; lab/report_page.t looks at it in a browser. */
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "results/page_html.h"
#include "results/test_page.h"
#include "results/test_store_util.h"

static guint
count_of(const char *text, const char *what)
{
    guint n = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}

/* From the page's data block. */
static JsonNode *
data_of(const char *html)
{
    static const char begin[] = "<script type=\"application/json\" id=\"data\">";
    const char *from = strstr(html, begin), *to = from != NULL ? strstr(from, "</script>") : NULL;
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(to);
    g_autofree char *text = g_strndup(from + strlen(begin), (gsize)(to - from) - strlen(begin));
    JsonNode *node = json_from_string(text, &error);
    g_assert_no_error(error);
    return node;
}

/* The digest of every script and style that is in the page is in its policy, and no other. */
static void
check_policy(const char *html)
{
    static const char *const kinds[][2] = {{"<style>", "</style>"}, {"<script>", "</script>"}};
    guint found = 0;
    for (gsize k = 0; k < G_N_ELEMENTS(kinds); k++) {
        for (const char *at = strstr(html, kinds[k][0]); at != NULL;
             at = strstr(at + 1, kinds[k][0])) {
            const char *from = at + strlen(kinds[k][0]), *to = strstr(from, kinds[k][1]);
            guint8 digest[32];
            gsize len = sizeof digest;
            g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
            g_checksum_update(sum, (const guchar *)from, to - from);
            g_checksum_get_digest(sum, digest, &len);
            g_autofree char *base64 = g_base64_encode(digest, len);
            g_autofree char *named = g_strdup_printf("'sha256-%s'", base64);
            g_assert_nonnull(strstr(html, named));
            found++;
        }
    }
    g_assert_cmpuint(found, ==, 4);
    g_assert_cmpuint(count_of(html, "'sha256-"), ==, 4);
    g_assert_cmpuint(count_of(html, "default-src 'none'"), ==, 1);
}

static void
test_html(void)
{
    g_autoptr(ResPage) p = page_new_compared();
    g_autofree char *html = res_page_html(p);
    check_policy(html);
    g_assert_nonnull(strstr(html, "<p class=\"verdict bad\">Not held: 1 of 3"));
    g_assert_nonnull(strstr(html, "of 6 metrics 1 worse, 1 better, 3 without a relevant change, "
                                  "1 cannot be told."));
    g_assert_nonnull(strstr(html, "the guest said nothing for 120 s"));
    g_assert_null(strstr(html, "http://"));
    g_assert_null(strstr(html, " src="));
    /* every figure of the data has its table row */
    g_autoptr(JsonNode) data = data_of(html);
    JsonArray *boots = json_object_get_array_member(json_node_get_object(data), "boots");
    g_assert_cmpuint(json_array_get_length(boots), ==, 6);
    JsonObject *first = json_array_get_object_element(boots, 0);
    JsonArray *series = json_object_get_array_member(first, "series");
    g_assert_cmpuint(json_array_get_length(series), ==, 2);
    g_assert_cmpstr(json_object_get_string_member(json_array_get_object_element(series, 0), "role"),
                    ==, "baseline");
}

/* What a guest may have named is text, in the page and in its data. */
static void
test_hostile(void)
{
    static const char bad[] = "</script><script>alert(1)</script><!--\"'&\x1b[31m\xff\xe2\x80\xae";
    g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    for (guint i = 0; i < 3; i++) {
        ResRecord *r = page_record(i, bad, i, 228 + i);
        g_free(r->profile);
        r->profile = g_strdup(bad);
        g_free(r->summary);
        r->summary = g_strdup(bad);
        g_ptr_array_add(r->notes, g_strdup(bad));
        g_hash_table_insert(r->environment, g_strdup(bad), g_strdup_printf("%u%s", i, bad));
        g_ptr_array_add(records, r);
    }
    g_autoptr(ResPage) p = res_page_new(records, NULL, NULL, bad);
    p->sentence = g_strdup(bad);
    res_page_add_claim(p, bad, bad, RES_CLAIM_FAILS, bad, 1, 1, 1);
    g_autofree char *html = res_page_html(p);
    check_policy(html);
    g_assert_null(strstr(html, "alert(1)<"));
    g_assert_null(strstr(html, "<script>alert"));
    g_assert_cmpuint(count_of(html, "</script>"), ==, 3);
    g_assert_null(strchr(html, '\x1b'));
    g_assert_null(strstr(html, "\xe2\x80\xae"));
    g_assert_true(g_utf8_validate(html, -1, NULL));
    JsonNode *data = data_of(html);
    json_node_unref(data);
}

static void
test_differences(void)
{
    g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    for (guint i = 0; i < 12; i++) {
        ResRecord *r = page_record(i, "", i, 228);
        g_hash_table_insert(r->environment, g_strdup("seed"), g_strdup_printf("%02u", i));
        if (i > 0) {
            g_hash_table_insert(r->parameters, g_strdup("guest.pin"), g_strdup(i == 1 ? "" : "1"));
        }
        g_hash_table_insert(r->parameters, g_strdup("expect.000.x"), g_strdup_printf("%u", i));
        g_ptr_array_add(records, r);
    }
    g_autoptr(ResPage) p = res_page_new(records, NULL, NULL, "1");
    g_assert_cmpuint(p->differences->len, ==, 2);
    const ResDifference *seed = g_ptr_array_index(p->differences, 0);
    g_assert_cmpstr(seed->key, ==, "seed");
    g_assert_cmpstr(seed->b, ==,
                    "\"00\", \"01\", \"02\", \"03\", \"04\", \"05\", \"06\", \"07\", and 4 more");
    const ResDifference *pin = g_ptr_array_index(p->differences, 1);
    g_assert_true(pin->parameter);
    g_assert_cmpstr(pin->b, ==, "\"\", \"1\", not recorded");
}

/* --- latencies from a store --- */

static void
put(ResStore *s, ResRecord *r, const char *hist)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    g_hash_table_insert(files, g_strdup("report.txt"), g_bytes_new("end\n", 4));
    g_hash_table_insert(files, g_strdup("loop-hist.json"), g_bytes_new(hist, strlen(hist)));
    g_ptr_array_insert(r->evidence, 0, g_strdup("loop-hist.json"));
    g_assert_true(res_store_put(s, r, files, &error));
    g_assert_no_error(error);
}

static char *
hist_text(guint samples, gint64 first, guint censored)
{
    g_autoptr(GPtrArray) hists = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);
    ResHist *h = res_hist_new("insns", "");
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < samples; i++) {
        res_hist_add(h, first + i % 100, 1, &error);
        g_assert_no_error(error);
    }
    if (censored > 0) {
        res_hist_add_censored(h, 5000, 9000, censored, 6000 * (guint64)censored, &error);
        g_assert_no_error(error);
    }
    g_ptr_array_add(hists, h);
    return res_hist_to_json(hists);
}

static JsonObject *
first_latency(JsonNode *data)
{
    JsonArray *all = json_object_get_array_member(json_node_get_object(data), "latencies");
    g_assert_cmpuint(json_array_get_length(all), ==, 1);
    return json_array_get_object_element(all, 0);
}

static gint64
sum_counts(JsonObject *series)
{
    JsonArray *counts = json_object_get_array_member(series, "counts");
    gint64 sum = 0;
    for (guint i = 0; i < json_array_get_length(counts); i++) {
        sum += json_array_get_int_element(counts, i);
    }
    return sum;
}

static void
test_latencies(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GPtrArray) a = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    g_autoptr(GPtrArray) b = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    for (guint i = 0; i < 6; i++) {
        ResRecord *r = page_record(i, "", i % 3, 228);
        g_autofree char *hist =
            i < 3 ? hist_text(2000, 100, 0) : hist_text(300, 180, i == 5 ? 4 : 0);
        put(s, r, i == 4 ? "{}" : hist);
        g_ptr_array_add(i < 3 ? a : b, r);
    }
    g_autoptr(ResPage) p = res_page_new(b, a, NULL, "1");
    p->sentence = g_strdup("Measured.");
    res_page_load(p, s);
    g_assert_cmpuint(p->latencies->len, ==, 1);
    const ResPageLatency *l = g_ptr_array_index(p->latencies, 0);
    g_assert_cmpuint(res_hist_count(l->hist[0]), ==, 6000);
    g_assert_cmpuint(l->boots[0], ==, 3);
    g_assert_cmpuint(res_hist_count(l->hist[1]), ==, 604);
    g_assert_cmpuint(l->boots[1], ==, 2);
    g_assert_cmpuint(p->remarks->len, ==, 1); /* the one that is no histogram, by its run */
    g_assert_nonnull(strstr(g_ptr_array_index(p->remarks, 0), "20261201-040004-0000"));

    g_autofree char *html = res_page_html(p);
    g_autoptr(JsonNode) node = data_of(html);
    JsonObject *plot = first_latency(node);
    JsonArray *series = json_object_get_array_member(plot, "series");
    JsonObject *baseline = json_array_get_object_element(series, 0);
    JsonObject *subject = json_array_get_object_element(series, 1);
    /* No sample is lost between bins; those beyond the histogram's end are in none. */
    g_assert_cmpint(sum_counts(baseline), ==, 6000);
    g_assert_cmpint(sum_counts(subject), ==, 600);
    g_assert_cmpint(json_object_get_int_member(subject, "censored"), ==, 4);
    /* Bins are no finer than the values, and their edges ascend. */
    JsonArray *edges = json_object_get_array_member(plot, "edges");
    for (guint i = 1; i < json_array_get_length(edges); i++) {
        g_assert_cmpfloat(json_array_get_double_element(edges, i) -
                              json_array_get_double_element(edges, i - 1),
                          >=, 1 - 1e-9);
    }
    /* 6000 samples carry p99.9, 604 only p99, of which is known that it is that much at least. */
    g_assert_nonnull(strstr(html, "<td data-l=\"Quantile\">p99.9</td>"));
    g_assert_null(strstr(html, "p99.99"));
    g_assert_cmpuint(count_of(html, "too few samples"), ==, 1);
    g_assert_nonnull(strstr(html, "604 in 2 boots"));
}

static void
test_history(void)
{
    g_autoptr(ResPage) p = page_new_compared();
    ResPageHistory *h = res_page_add_history(p, "loop.per_call", "variant=none", "insns",
                                             RES_FIDELITY_INSTRUCTIONS);
    for (guint i = 0; i < 5; i++) {
        g_autofree char *set = g_strdup_printf("2026120%u-000000-0000", i + 1);
        res_page_add_point(h, set, G_GINT64_CONSTANT(86400000000) * i, 228 + i / 3, 227,
                           229 + i / 3, 3, i == 3);
    }
    g_autofree char *html = res_page_html(p);
    g_assert_cmpuint(count_of(html, "the level changed here"), ==, 1);
    g_autoptr(JsonNode) data = data_of(html);
    JsonArray *all = json_object_get_array_member(json_node_get_object(data), "history");
    JsonArray *points =
        json_object_get_array_member(json_array_get_object_element(all, 0), "points");
    g_assert_cmpuint(json_array_get_length(points), ==, 5);
}

/* Two kernels at three numbers of CPUs, and a figure of which one cell has none. */
static void
test_axes(void)
{
    static const char *const vcpus[] = {"8", "16", "40"}, *const kernels[] = {"old", "n<w"};
    g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);

    for (guint k = 0; k < 2; k++) {
        for (guint v = 0; v < 3; v++) {
            g_autofree char *cell =
                g_strdup_printf("kernel=%s guest.vcpus=%s", kernels[k], vcpus[v]);
            ResRecord *r = page_record(3 * k + v, cell, 0, 100 + 300 * k + 41 * v);
            g_hash_table_insert(r->parameters, g_strdup("axis.kernel"), g_strdup(kernels[k]));
            g_hash_table_insert(r->parameters, g_strdup("axis.guest.vcpus"), g_strdup(vcpus[v]));
            if (k == 1 && v == 2) {
                g_ptr_array_set_size(r->metrics, 0);
            }
            g_ptr_array_add(records, r);
        }
    }
    g_autoptr(ResPage) p = res_page_new(records, NULL, NULL, "0.1.0");
    p->sentence = g_strdup("Measured.");
    g_autofree char *html = res_page_html(p);
    g_assert_cmpuint(count_of(html, "data-along="), ==, 1); /* two kernels make no line */
    g_assert_nonnull(strstr(html, "loop.per_call by guest.vcpus, fidelity instructions"));
    g_assert_null(strstr(html, "n<w"));
    g_autoptr(JsonNode) data = data_of(html);
    JsonArray *all = json_object_get_array_member(json_node_get_object(data), "along");
    JsonObject *plot = json_array_get_object_element(all, 0);
    g_assert_true(json_object_get_boolean_member(plot, "numeric"));
    JsonArray *series = json_object_get_array_member(plot, "series");
    g_assert_cmpuint(json_array_get_length(series), ==, 2);
    JsonObject *second = json_array_get_object_element(series, 1);
    g_assert_cmpstr(json_object_get_string_member(second, "label"), ==, "kernel=n<w");
    JsonArray *medians = json_object_get_array_member(second, "medians");
    g_assert_cmpfloat(json_array_get_double_element(medians, 1), ==, 441);
    g_assert_true(json_array_get_null_element(medians, 2));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/page/html", test_html);
    g_test_add_func("/page/hostile", test_hostile);
    g_test_add_func("/page/differences", test_differences);
    g_test_add_func("/page/history", test_history);
    g_test_add_func("/page/axes", test_axes);
    g_test_add("/page/latencies", StoreFixture, NULL, setup, test_latencies, teardown);
    return g_test_run();
}
