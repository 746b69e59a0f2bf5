/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <math.h>
#include <string.h>

#include "results/json.h"
#include "results/record.h"

static ResRecord *
sample(void)
{
    ResRecord *r = res_record_new();
    r->id = g_strdup("20261201-015300-4f2a");
    r->set = g_strdup("20261201-015259-0001");
    r->profile = g_strdup("syscall");
    r->profile_sha256 =
        g_strdup("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    r->summary = g_strdup("what a \"system call\" costs\t\xc3\xa9");
    r->cell = g_strdup("variant=nohz_full");
    r->boot = 2;
    r->started_us = G_GINT64_CONSTANT(1796089980123456);
    r->ended_us = G_GINT64_CONSTANT(1796089990123457);
    r->outcome = RES_OUTCOME_DONE;
    r->platform = g_strdup("bare");
    r->clock = g_strdup("icount");
    r->fidelity = RES_FIDELITY_INSTRUCTIONS;
    g_hash_table_insert(r->parameters, g_strdup("host.cpus"), g_strdup("4"));
    g_hash_table_insert(r->parameters, g_strdup("guest.vcpus"), g_strdup("1"));
    g_hash_table_insert(r->environment, g_strdup("kernel.release"), g_strdup("6.1.0-44"));
    g_ptr_array_add(r->evidence, g_strdup("report.txt"));
    g_ptr_array_add(r->notes, g_strdup("a note\nin two lines"));
    g_ptr_array_add(r->metrics, res_metric_new("invalid.per_call", "insns", RES_LOWER_IS_BETTER,
                                               RES_FIDELITY_INSTRUCTIONS, 546.4, 545.1, 1e20, 40,
                                               "report.txt"));
    return r;
}

static void
assert_refused(const char *json, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(ResRecord) r = res_record_from_json(json, -1, &error);
    g_assert_null(r);
    g_assert_nonnull(error);
    if (strstr(error->message, part) == NULL) {
        g_error("\"%s\" does not say \"%s\"", error->message, part);
    }
}

/* The sample's JSON with FROM, which must be there, replaced by TO. */
static char *
edited(const char *from, const char *to)
{
    g_autoptr(ResRecord) r = sample();
    g_autofree char *json = res_record_to_json(r, NULL);
    if (strstr(json, from) == NULL) {
        g_error("no \"%s\" in %s", from, json);
    }
    GString *text = g_string_new(json);
    g_string_replace(text, from, to, 0);
    return g_string_free(text, FALSE);
}

static void
test_round_trip(void)
{
    g_autoptr(ResRecord) r = sample();
    g_autoptr(GError) error = NULL;
    g_autofree char *json = res_record_to_json(r, &error);
    g_assert_no_error(error);
    g_assert_true(g_str_has_suffix(json, "}\n"));
    g_autoptr(ResRecord) back = res_record_from_json(json, -1, &error);
    g_assert_no_error(error);
    g_autofree char *again = res_record_to_json(back, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(json, ==, again);

    g_assert_cmpstr(back->summary, ==, r->summary);
    g_assert_cmpint(back->started_us, ==, r->started_us);
    g_assert_cmpuint(back->boot, ==, 2);
    g_assert_cmpstr(g_hash_table_lookup(back->parameters, "guest.vcpus"), ==, "1");
    g_assert_cmpstr(g_ptr_array_index(back->notes, 0), ==, "a note\nin two lines");
    const ResMetric *m = res_record_metric(back, "invalid.per_call");
    g_assert_nonnull(m);
    g_assert_cmpfloat(m->value, ==, 546.4);
    g_assert_cmpfloat(m->max, ==, 1e20);
    g_assert_cmpuint(m->samples, ==, 40);
    g_assert_cmpint(m->direction, ==, RES_LOWER_IS_BETTER);
    g_assert_cmpint(m->fidelity, ==, RES_FIDELITY_INSTRUCTIONS);
    g_assert_null(res_record_metric(back, "invalid"));
}

static void
test_keys_sorted(void)
{
    g_autoptr(ResRecord) r = sample();
    g_autofree char *json = res_record_to_json(r, NULL);
    g_auto(GStrv) lines = g_strsplit(json, "\n", -1);
    g_autofree char *last = g_strdup("");
    unsigned int keys = 0;
    for (char **line = lines; *line != NULL; line++) {
        if (g_str_has_prefix(*line, "  \"")) {
            g_assert_cmpstr(last, <, *line);
            g_free(last);
            last = g_strdup(*line);
            keys++;
        }
    }
    g_assert_cmpuint(keys, ==, 21);
    g_assert_cmpuint(GPOINTER_TO_SIZE(strstr(json, "guest.vcpus")), <,
                     GPOINTER_TO_SIZE(strstr(json, "host.cpus")));
}

static void
check_double(double value)
{
    g_autoptr(ResRecord) r = sample();
    ResMetric *m = g_ptr_array_index(r->metrics, 0);
    m->value = m->min = m->max = value;
    g_autoptr(GError) error = NULL;
    g_autofree char *json = res_record_to_json(r, &error);
    g_assert_no_error(error);
    g_autoptr(ResRecord) back = res_record_from_json(json, -1, &error);
    g_assert_no_error(error);
    m = g_ptr_array_index(back->metrics, 0);
    g_assert_cmpmem(&m->value, sizeof m->value, &value, sizeof value);
    /* nothing a strict reader would stumble over */
    g_assert_false(g_regex_match_simple("e[-+]?[0-9]+\\.", json, 0, 0));
}

static void
test_doubles(void)
{
    static const double values[] = {0.0,   -0.0,      0.1,      5.0,
                                    1e20,  1e-300,    4.9e-324, 1.7976931348623157e308,
                                    228.2, 1.0 / 3.0, -1e21};
    const char *old = setlocale(LC_NUMERIC, NULL);
    g_autofree char *saved = g_strdup(old);
    /* where the decimal point is a comma, if this machine has such a locale */
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL) {
        g_test_message("no de_DE.UTF-8 here: only the C locale is tried");
    }
    for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
        check_double(values[i]);
    }
    for (int i = 0; i < 200; i++) {
        check_double(ldexp(g_test_rand_double(), g_test_rand_int_range(-1000, 1000)));
    }
    setlocale(LC_NUMERIC, saved);
}

static void
test_strings(void)
{
    g_autoptr(ResRecord) r = sample();
    g_free(r->message);
    r->message = g_strdup("bad \xff byte, \x01 \x1b[0m \x7f \"\\e1.0 e+20.0\"");
    g_autoptr(GError) error = NULL;
    g_autofree char *json = res_record_to_json(r, &error);
    g_assert_no_error(error);
    g_autoptr(ResRecord) back = res_record_from_json(json, -1, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(back->message, ==,
                    "bad \xef\xbf\xbd byte, \x01 \x1b[0m \x7f \"\\e1.0 e+20.0\"");
}

static void
test_strict(void)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"\"schema\" : 1", "\"schema\" : 2", "schema 2 is newer than 1"},
        {"\"schema\" : 1", "\"schema\" : \"1\"", "schema must be a whole number"},
        {"\"schema\" : 1,", "", "schema is missing"},
        {"\"boot\" : 2", "\"boot\" : -1", "boot is out of range"},
        {"\"boot\" : 2", "\"boot\" : 2.5", "boot must be a whole number"},
        {"\"boot\" : 2", "\"boot\" : 4294967296", "boot is out of range"},
        {"\"boot\" : 2", "\"boot\" : 02", "not a number"},
        {"\"boot\" : 2", "\"boot\" : 99999999999999999999", "out of range"},
        {"\"boot\" : 2", "\"boot\" : null", "boot must be a whole number"},
        {"\"boot\" : 2,", "", "boot is missing"},
        {"\"boot\" : 2", "\"boot\" : 2, \"boot\" : 3", "twice"},
        {"\"boot\" : 2", "\"boot\" : 2, \"boots\" : 3", "boots is not a field"},
        {"\"boot\" : 2", "\"boot\" : 2, /* x */ \"a\" : 3", "not JSON"},
        {"20261201-015300-4f2a", "../../etc", "id \"../../etc\""},
        {"20261201-015300-4f2a", "", "id \"\""},
        {"20261201-015300-4f2a", "last", "id \"last\""},
        {"20261201-015259-0001", "A", "set \"A\""},
        {"\"report.txt\"", "\"../x\"", "evidence \"../x\""},
        {"\"report.txt\"", "\".x\"", "evidence \".x\""},
        {"\"report.txt\"", "\"record.json\"", "evidence \"record.json\""},
        {"\"report.txt\"\n  ]", "\"report.txt\", \"report.txt\"\n  ]", "there twice"},
        {"\"evidence\" : \"report.txt\"", "\"evidence\" : \"other\"", "not in the list"},
        {"546.39999999999998", "1e999", "metrics[0].value is not a finite"},
        {"546.39999999999998", "NaN", "NaN"},
        {"546.39999999999998", "\"5\"", "metrics[0].value must be a number"},
        {"\"samples\" : 40", "\"samples\" : -1", "metrics[0].samples is out of range"},
        {"\"direction\" : \"lower\"", "\"direction\" : \"down\"", "direction \"down\""},
        {"\"unit\" : \"insns\",", "", "metrics[0].unit is missing"},
        {"\"unit\" : \"insns\"", "\"unit\" : \"insns\", \"x\" : 1", "metrics[0].x"},
        {"\"unit\" : \"insns\"", "\"unit\" : \"\"", "no unit"},
        {"\"max\" : 1e+20", "\"max\" : 1", "min is above max"},
        {"\"outcome\" : \"done\"", "\"outcome\" : \"fine\"", "outcome \"fine\""},
        {"\"outcome\" : \"done\"", "\"outcome\" : \"boot\"", "must not carry metrics"},
        {"\"platform\" : \"bare\"", "\"platform\" : \"\"", "platform"},
        {"\"clock\" : \"icount\"", "\"clock\" : \"sundial\"", "clock \"sundial\""},
        {"\"kernel.release\" : \"6.1.0-44\"", "\"kernel.release\" : 6",
         "environment.kernel.release"},
        {"\"a note\\nin two lines\"", "7", "notes[0] must be a string"},
        {"a note", "a \\u0000 note", "u0000"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *json = edited(cases[i].from, cases[i].to);
        assert_refused(json, cases[i].says);
    }
}

static void
test_not_json(void)
{
    static const char *const texts[][2] = {
        {"", "ends at line 1"},
        {"[]", "not a JSON object"},
        {"{", "ends at line 1 inside"},
        {"{\n\"schema\": 1, \"x\": \"", "ends at line 2 inside"},
        {"{}", "schema is missing"},
        {"{} {}", "after the end"},
        {"{'a':1}", "not JSON"},
        {"{\"schema\": 0x1}", "not a number"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested deeper"},
        {"{\"a\":\"\\ud800\"}", ""},
        {"{]", "closes nothing"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        assert_refused(texts[i][0], texts[i][1]);
    }
    g_autoptr(GString) many = g_string_new("{\"a\":[0");
    for (int i = 0; i < RES_JSON_VALUES_MAX; i++) {
        g_string_append(many, ",0");
    }
    g_string_append(many, "]}");
    assert_refused(many->str, "more than");
    g_autoptr(ResRecord) r = sample();
    g_autofree char *cut = res_record_to_json(r, NULL);
    cut[strlen(cut) - 2] = '\0';
    assert_refused(cut, "inside the JSON object");
}

static void
test_writer_refuses(void)
{
    g_autoptr(ResRecord) r = sample();
    g_autoptr(GError) error = NULL;
    ResMetric *m = g_ptr_array_index(r->metrics, 0);
    m->value = NAN;
    g_assert_null(res_record_to_json(r, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
    g_assert_nonnull(strstr(error->message, "invalid.per_call"));
    g_clear_error(&error);
    m->value = INFINITY;
    g_assert_null(res_record_to_json(r, &error));
    g_clear_error(&error);
    m->value = 1;
    g_free(r->id);
    r->id = g_strdup("a/b");
    g_assert_null(res_record_to_json(r, &error));
    g_assert_nonnull(strstr(error->message, "a/b"));
}

/* A run that failed before it had a platform can be recorded. */
static void
test_early_failure(void)
{
    g_autoptr(ResRecord) r = res_record_new();
    r->id = g_strdup("a");
    r->set = g_strdup("b");
    r->message = g_strdup("no QEMU");
    g_autoptr(GError) error = NULL;
    g_autofree char *json = res_record_to_json(r, &error);
    g_assert_no_error(error);
    g_autoptr(ResRecord) back = res_record_from_json(json, -1, &error);
    g_assert_no_error(error);
    g_assert_cmpint(back->outcome, ==, RES_OUTCOME_INFRA);
    g_assert_cmpstr(back->platform, ==, "");
}

static void
test_names(void)
{
    for (int o = RES_OUTCOME_DONE; o <= RES_OUTCOME_CANCELLED; o++) {
        ResOutcome back;
        g_assert_true(res_outcome_parse(res_outcome_name((ResOutcome)o), &back));
        g_assert_cmpint(back, ==, o);
    }
    ResOutcome outcome;
    g_assert_false(res_outcome_parse("?", &outcome));
    g_assert_false(res_outcome_parse(NULL, &outcome));
    for (int f = RES_FIDELITY_TIME; f <= RES_FIDELITY_FUNCTIONAL; f++) {
        ResFidelity back;
        g_assert_true(res_fidelity_parse(res_fidelity_name((ResFidelity)f), &back));
        g_assert_cmpint(back, ==, f);
    }
    for (int d = RES_LOWER_IS_BETTER; d <= RES_NO_DIRECTION; d++) {
        ResDirection back;
        g_assert_true(res_direction_parse(res_direction_name((ResDirection)d), &back));
        g_assert_cmpint(back, ==, d);
    }
    g_autofree char *longest = g_strnfill(64, 'a');
    g_autofree char *longer = g_strnfill(65, 'a');
    g_assert_true(res_id_valid(longest));
    g_assert_false(res_id_valid(longer));
    g_assert_false(res_id_valid("a b"));
    g_assert_false(res_id_valid(NULL));
    g_assert_true(res_evidence_name_valid("console.log"));
    g_assert_false(res_evidence_name_valid("a/b"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record/round-trip", test_round_trip);
    g_test_add_func("/record/keys-sorted", test_keys_sorted);
    g_test_add_func("/record/doubles", test_doubles);
    g_test_add_func("/record/strings", test_strings);
    g_test_add_func("/record/strict", test_strict);
    g_test_add_func("/record/not-json", test_not_json);
    g_test_add_func("/record/writer-refuses", test_writer_refuses);
    g_test_add_func("/record/early-failure", test_early_failure);
    g_test_add_func("/record/names", test_names);
    return g_test_run();
}
