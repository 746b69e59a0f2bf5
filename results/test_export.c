/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports for programs: as the golden files have them, and whatever a record may hold. */
#include <json-glib/json-glib.h>
#include <libxml/parser.h>
#include <libxml/xmlschemas.h>
#include <math.h>
#include <string.h>

#include "results/escape.h"
#include "results/export.h"
#include "results/test_page.h"

#define GOLDEN "results/test_export.golden/"
#define HOSTILE "<b>&\"'\\ #\x1b[31m\xff\xfe \xc2\x9b]\xe2\x80\xae\nnot ok 99999\xef\xbf\xbf"

static char *
write_json(const ResPage *p)
{
    g_autoptr(GError) error = NULL;
    char *text = res_export_json(p, &error);
    g_assert_no_error(error);
    return text;
}

static char *
write_kcidb(const ResPage *p)
{
    return res_export_kcidb(p, "nohzlab");
}

static const struct {
    const char *name;
    char *(*write)(const ResPage *p);
} formats[] = {
    {"json", write_json},   {"junit", res_export_junit},           {"tap", res_export_tap},
    {"kcidb", write_kcidb}, {"prometheus", res_export_prometheus},
};

/* The first line that differs is enough to see. */
static void
assert_same_lines(const char *got, const char *want)
{
    g_auto(GStrv) a = g_strsplit(got, "\n", -1), b = g_strsplit(want, "\n", -1);
    for (guint i = 0; a[i] != NULL && b[i] != NULL; i++) {
        g_assert_cmpstr(a[i], ==, b[i]);
    }
    g_assert_cmpuint(g_strv_length(a), ==, g_strv_length(b));
}

/* NOHZLAB_GOLDEN=write makes them anew: look at the difference before committing it. */
static void
test_golden(void)
{
    g_autoptr(ResPage) p = page_new_compared();
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autofree char *path = g_strconcat(GOLDEN, formats[i].name, NULL);
        g_autofree char *got = formats[i].write(p);
        g_autofree char *want = NULL;
        g_autoptr(GError) error = NULL;
        if (g_strcmp0(g_getenv("NOHZLAB_GOLDEN"), "write") == 0) {
            g_file_set_contents(path, got, -1, &error);
            g_assert_no_error(error);
        }
        g_file_get_contents(path, &want, NULL, &error);
        g_assert_no_error(error);
        assert_same_lines(got, want);
    }
}

/* The records in the JSON are the records. */
static void
test_round_trip(void)
{
    g_autoptr(ResPage) p = page_new_compared();
    g_autofree char *text = write_json(p);
    g_autoptr(GError) error = NULL;
    g_autoptr(JsonNode) root = json_from_string(text, &error);
    g_assert_no_error(error);
    JsonArray *runs = json_object_get_array_member(json_node_get_object(root), "runs");
    g_assert_cmpuint(json_array_get_length(runs), ==, p->records->len);
    for (guint i = 0; i < p->records->len; i++) {
        g_autofree char *want = res_record_to_json(g_ptr_array_index(p->records, i), &error);
        g_assert_no_error(error);
        g_autofree char *one = json_to_string(json_array_get_element(runs, i), TRUE);
        g_autoptr(ResRecord) r = res_record_from_json(one, -1, &error);
        g_assert_no_error(error);
        g_autofree char *got = res_record_to_json(r, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(got, ==, want);
    }
}

static void
ignore(void *data G_GNUC_UNUSED, const char *format G_GNUC_UNUSED, ...)
{
}

static gboolean
junit_valid(const char *text)
{
    xmlSchemaParserCtxt *parser = xmlSchemaNewParserCtxt("results/fixtures/junit.xsd");
    xmlSchema *schema = xmlSchemaParse(parser);
    g_assert_nonnull(schema);
    xmlSchemaValidCtxt *validator = xmlSchemaNewValidCtxt(schema);
    xmlDoc *doc = xmlReadMemory(text, (int)strlen(text), "junit.xml", NULL,
                                XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET);
    xmlSchemaSetValidErrors(validator, ignore, ignore, NULL);
    gboolean valid = doc != NULL && xmlSchemaValidateDoc(validator, doc) == 0;
    xmlFreeDoc(doc);
    xmlSchemaFreeValidCtxt(validator);
    xmlSchemaFree(schema);
    xmlSchemaFreeParserCtxt(parser);
    return valid;
}

static void
test_junit_schema(void)
{
    g_autoptr(ResPage) p = page_new_compared();
    g_autofree char *text = res_export_junit(p);
    g_assert_true(junit_valid(text));
    /* and the schema tells right from wrong */
    g_autofree char *wrong = g_strdup(text);
    memcpy(strstr(wrong, "failures="), "failvres=", 9);
    g_assert_false(junit_valid(wrong));
    g_assert_false(junit_valid("<testsuites><testcase/></testsuites>"));
}

/* No line of a report is another one's doing, and nothing drives a terminal. */
static void
check_plain(const char *text)
{
    g_assert_true(g_utf8_validate(text, -1, NULL));
    g_assert_true(g_str_has_suffix(text, "\n"));
    for (const char *c = text; *c != '\0'; c = g_utf8_next_char(c)) {
        g_assert_true(*c == '\n' || !res_unprintable(g_utf8_get_char(c)));
    }
    g_assert_null(strstr(text, "\nnot ok 99999"));
}

static void
test_hostile(void)
{
    g_autoptr(GPtrArray) a = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    g_autoptr(GPtrArray) b = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    for (guint i = 0; i < 8; i++) {
        ResRecord *r = page_record(i, HOSTILE, i % 4, i < 4 ? 228 : 300);
        ResMetric *m = g_ptr_array_index(r->metrics, 0);
        g_free(r->profile);
        r->profile = g_strdup(HOSTILE);
        g_free(m->unit);
        m->unit = g_strdup(HOSTILE);
        g_free(m->name);
        m->name = g_strdup("<img/src=x>.\"{}#\\");
        g_hash_table_insert(r->environment, g_strdup(HOSTILE), g_strdup_printf("%u" HOSTILE, i));
        g_hash_table_insert(r->environment, g_strdup("kernel.release"), g_strdup(HOSTILE));
        g_hash_table_insert(r->environment, g_strdup("kernel.sha256"), g_strdup(HOSTILE));
        g_ptr_array_add(i < 4 ? a : b, r);
    }
    ResRecord *failed = page_record(9, HOSTILE, 9, 0);
    failed->outcome = RES_OUTCOME_GUEST;
    g_ptr_array_set_size(failed->metrics, 0);
    g_free(failed->message);
    failed->message = g_strdup(HOSTILE);
    g_free(failed->detail);
    failed->detail = g_strdup(HOSTILE);
    g_ptr_array_add(b, failed);

    g_autoptr(ResPage) p = res_page_new(b, a, NULL, HOSTILE);
    p->sentence = g_strdup(HOSTILE);
    res_page_add_claim(p, HOSTILE, HOSTILE, RES_CLAIM_FAILS, HOSTILE, 1, -HUGE_VAL, HUGE_VAL);
    res_page_add_claim(p, HOSTILE, HOSTILE, RES_CLAIM_CANNOT_TELL, HOSTILE, NAN, NAN, NAN);
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autofree char *text = formats[i].write(p);
        check_plain(text);
    }
    g_autofree char *junit = res_export_junit(p);
    g_assert_true(junit_valid(junit));
    g_autofree char *prometheus = res_export_prometheus(p);
    g_assert_nonnull(strstr(prometheus, "metric=\"<img/src=x>.\\\"{}#\\\\\""));
    g_autofree char *kcidb = write_kcidb(p);
    g_assert_null(strstr(kcidb, "null"));
}

static guint
count_of(const char *text, const char *what)
{
    guint n = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}

/* A set that gave no figure at all still is a report, and a red one. */
static void
test_only_failures(void)
{
    static const ResOutcome outcomes[] = {RES_OUTCOME_INFRA, RES_OUTCOME_BOOT, RES_OUTCOME_SKIP,
                                          RES_OUTCOME_CANCELLED};
    g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    for (guint i = 0; i < G_N_ELEMENTS(outcomes); i++) {
        ResRecord *r = page_record(i, "", i, 0);
        r->outcome = outcomes[i];
        g_ptr_array_set_size(r->metrics, 0);
        g_ptr_array_add(records, r);
    }
    g_autoptr(ResPage) p = res_page_new(records, records, NULL, "1");
    p->sentence = g_strdup("Cannot tell.");
    res_page_add_claim(p, "c", "a.b > 0", RES_CLAIM_CANNOT_TELL, "no run has a.b", NAN, NAN, NAN);
    g_assert_nonnull(p->refused);
    g_autofree char *junit = res_export_junit(p);
    g_assert_true(junit_valid(junit));
    g_assert_cmpuint(count_of(junit, "<error "), ==, 4); /* claim, infra, cancelled, comparison */
    g_assert_cmpuint(count_of(junit, "<failure "), ==, 1);
    g_assert_cmpuint(count_of(junit, "<skipped "), ==, 1);
    g_autofree char *tap = res_export_tap(p);
    g_assert_cmpuint(count_of(tap, "\nnot ok "), ==, 5);
    g_assert_cmpuint(count_of(tap, "\nok "), ==, 1);
    g_assert_nonnull(strstr(tap, "\n1..6\n"));
    g_autofree char *kcidb = write_kcidb(p);
    g_assert_cmpuint(count_of(kcidb, "\"MISS\""), ==, 2);
    g_assert_cmpuint(count_of(kcidb, "\"number\""), ==, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autofree char *text = formats[i].write(p);
        check_plain(text);
    }
}

/* Figures that mean nothing are not handed to those who can't be told so. */
static void
test_functional(void)
{
    g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    ResRecord *r = page_record(0, "", 0, 228);
    ((ResMetric *)g_ptr_array_index(r->metrics, 0))->fidelity = RES_FIDELITY_FUNCTIONAL;
    g_ptr_array_add(records, r);
    g_autoptr(ResPage) p = res_page_new(records, NULL, NULL, "1");
    p->sentence = g_strdup("Measured.");
    g_autofree char *kcidb = write_kcidb(p), *prometheus = res_export_prometheus(p);
    g_assert_null(strstr(kcidb, "\"number\""));
    g_assert_null(strstr(prometheus, "nohzlab_figure_"));
}

static void
test_origin(void)
{
    g_assert_true(res_export_origin_valid("nohzlab_2"));
    g_assert_false(res_export_origin_valid(""));
    g_assert_false(res_export_origin_valid("Lab"));
    g_assert_false(res_export_origin_valid("lab:1"));
}

static void
test_escape(void)
{
    static const struct {
        const char *text, *identifier;
    } names[] = {{"p99.9", "p99_9"}, {"9p", "_p"}, {"", "_"}, {"a-b\xc3\xa4", "a_b__"}};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *identifier = res_identifier(names[i].text);
        g_assert_cmpstr(identifier, ==, names[i].identifier);
    }
    g_autoptr(GString) out = g_string_new(NULL);
    res_markup(out, "<a href='x' title=\"&\">\n\x1b");
    g_assert_cmpstr(out->str, ==, "&lt;a href=&#39;x&#39; title=&quot;&amp;&quot;&gt;??");
    g_autofree char *utc = res_utc(G_GINT64_CONSTANT(1796100004000001));
    g_assert_cmpstr(utc, ==, "2026-12-01T04:40:04Z");
    g_autofree char *never = res_utc(G_MAXINT64);
    g_assert_cmpstr(never, ==, "unknown");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/export/golden", test_golden);
    g_test_add_func("/export/round-trip", test_round_trip);
    g_test_add_func("/export/junit-schema", test_junit_schema);
    g_test_add_func("/export/hostile", test_hostile);
    g_test_add_func("/export/only-failures", test_only_failures);
    g_test_add_func("/export/functional", test_functional);
    g_test_add_func("/export/origin", test_origin);
    g_test_add_func("/export/escape", test_escape);
    int status = g_test_run();
    xmlCleanupParser();
    return status;
}
