/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a set of records says: cells, expectations, exit codes, text and JSON. */
#include "lab/verdict.h"

#include <json-glib/json-glib.h>
#include <string.h>

typedef struct {
    GPtrArray *records;
    guint ids;
} Set;

static void
set_up(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    s->records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    s->ids = 0;
}

static void
tear_down(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    g_ptr_array_unref(s->records);
}

static void
assign(char **where, const char *text)
{
    g_free(*where);
    *where = g_strdup(text);
}

static void
parameter(ResRecord *r, const char *key, const char *value)
{
    g_hash_table_insert(r->parameters, g_strdup(key), g_strdup(value));
}

static void
metric(ResRecord *r, const char *name, double value)
{
    g_ptr_array_add(r->metrics, res_metric_new(name, "insns", RES_LOWER_IS_BETTER, r->fidelity,
                                               value, value, value, 100, "report.txt"));
}

/* A run of CELL ("kernel=a"; "": no matrix), done, with the metric loop.per_call; the next id. */
static ResRecord *
run(Set *s, const char *cell, double per_call)
{
    ResRecord *r = res_record_new();
    g_auto(GStrv) axes = g_strsplit(cell, " ", -1);

    g_free(r->id);
    r->id = g_strdup_printf("20260101-000000-%04x", s->ids++);
    assign(&r->set, "20260101-000000-ffff");
    assign(&r->profile, "example");
    assign(&r->profile_sha256, "0000");
    assign(&r->summary, "an example");
    assign(&r->cell, cell);
    for (guint i = 0; i < s->records->len; i++)
        r->boot += g_str_equal(((ResRecord *)s->records->pdata[i])->cell, cell);
    assign(&r->detail, "");
    assign(&r->message, "");
    assign(&r->platform, "bare");
    assign(&r->clock, "icount");
    r->fidelity = RES_FIDELITY_INSTRUCTIONS;
    r->outcome = RES_OUTCOME_DONE;
    for (char **axis = axes; *axis && **axis; axis++) {
        g_auto(GStrv) pair = g_strsplit(*axis, "=", 2);
        g_autofree char *key = g_strconcat("axis.", pair[0], NULL);
        parameter(r, key, pair[1]);
    }
    metric(r, "loop.per_call", per_call);
    g_ptr_array_add(r->evidence, g_strdup("report.txt"));
    g_ptr_array_add(s->records, r);
    return r;
}

static ResRecord *
failed_run(Set *s, const char *cell, ResOutcome outcome)
{
    ResRecord *r = run(s, cell, 0);

    g_ptr_array_set_size(r->metrics, 0);
    r->outcome = outcome;
    assign(&r->detail, "status");
    assign(&r->message, "it did not work");
    return r;
}

/* The profile's expectations, which every record carries. */
static void
expect(Set *s, guint n, const char *name, const char *text)
{
    g_autofree char *key = g_strdup_printf("expect.%03u.%s", n, name);

    for (guint i = 0; i < s->records->len; i++)
        parameter(s->records->pdata[i], key, text);
}

static const LabVerdictExpectation *
expectation(const LabVerdict *v, guint i)
{
    g_assert_cmpuint(i, <, v->expectations->len);
    return v->expectations->pdata[i];
}

/* What one EXPRESSION over the set comes to; in *WHY its reason or error. */
static LabExpectVerdict
judged(Set *s, const char *expression, char **why)
{
    expect(s, 0, "e", expression);
    g_autoptr(LabVerdict) v = lab_verdict_new(s->records);
    const LabVerdictExpectation *e = expectation(v, 0);
    g_autofree char *reason = g_strdup(e->result ? e->result->reason : e->error);

    g_test_message("%s: %s", expression, reason);
    if (why)
        *why = g_strdup(reason);
    return e->result ? e->result->verdict : LAB_EXPECT_CANNOT_TELL;
}

/* --- cells --- */

static void
test_cells(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    run(s, "kernel=b", 10);
    run(s, "kernel=a", 20);
    failed_run(s, "kernel=c", RES_OUTCOME_BOOT);
    run(s, "kernel=b", 14);
    run(s, "kernel=a", 20);
    failed_run(s, "kernel=a", RES_OUTCOME_GUEST);
    /* However they come: ids are in the order in which they were made. */
    g_ptr_array_insert(s->records, 0, g_ptr_array_steal_index(s->records, 4));
    g_ptr_array_insert(s->records, 2, g_ptr_array_steal_index(s->records, 5));
    g_autoptr(LabVerdict) v = lab_verdict_new(s->records);

    g_assert_cmpuint(v->cells->len, ==, 3);
    static const struct {
        const char *name;
        guint runs, done;
    } cells[] = {{"kernel=b", 2, 2}, {"kernel=a", 3, 2}, {"kernel=c", 1, 0}};
    for (guint i = 0; i < 3; i++) {
        const LabVerdictCell *c = v->cells->pdata[i];
        g_assert_cmpstr(c->name, ==, cells[i].name);
        g_assert_cmpuint(c->records->len, ==, cells[i].runs);
        g_assert_cmpuint(c->done, ==, cells[i].done);
        g_assert_cmpuint(c->summaries->len, ==, cells[i].done ? 1 : 0);
    }
    const ResSummary *summary = ((LabVerdictCell *)v->cells->pdata[0])->summaries->pdata[0];
    g_assert_cmpfloat(summary->median, ==, 12);
    g_assert_cmpuint(summary->boots, ==, 2);
    g_assert_cmpuint(v->outcomes[RES_OUTCOME_DONE], ==, 4);
    g_assert_cmpuint(v->outcomes[RES_OUTCOME_BOOT], ==, 1);
    g_assert_cmpuint(v->outcomes[RES_OUTCOME_GUEST], ==, 1);
    for (guint i = 1; i < v->records->len; i++)
        g_assert_cmpstr(((ResRecord *)v->records->pdata[i - 1])->id, <,
                        ((ResRecord *)v->records->pdata[i])->id);
}

/* --- expectations --- */

static void
three_kernels(Set *s)
{
    for (guint boot = 0; boot < 3; boot++) {
        run(s, "kernel=old pin=1", 100 + boot);
        run(s, "kernel=new pin=1", 50 + boot);
        run(s, "kernel=0 pin=1", 10);
    }
}

static void
test_selectors(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *why = NULL, *none = NULL, *many = NULL;

    three_kernels(s);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=old) in 100..102", NULL), ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=1) in 50..52", NULL), ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=2) == 10", NULL), ==, LAB_EXPECT_HOLDS);
    /* A value that is spelled so comes before a position. */
    g_assert_cmpint(judged(s, "loop.per_call(kernel=0) == 10", NULL), ==, LAB_EXPECT_HOLDS);
    /* Two axes; "1" is a value of one of them and a position of the other. */
    g_assert_cmpint(judged(s, "loop.per_call(kernel=1, pin=1) <= 52", NULL), ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=old) / loop.per_call(kernel=new) >= 1.9", NULL),
                    ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=old) <= 99", NULL), ==, LAB_EXPECT_FAILS);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=old) <= 101", NULL), ==,
                    LAB_EXPECT_CANNOT_TELL);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=3) >= 0", &none), ==, LAB_EXPECT_CANNOT_TELL);
    g_assert_nonnull(strstr(none, "kernel=3"));
    g_assert_cmpint(judged(s, "loop.per_call(host=x) >= 0", &why), ==, LAB_EXPECT_CANNOT_TELL);
    g_assert_nonnull(strstr(why, "host=x"));
    g_assert_cmpint(judged(s, "loop.per_call >= 0", &many), ==, LAB_EXPECT_CANNOT_TELL);
    g_assert_cmpint(judged(s, "spread(loop.per_call) <= 5%", NULL), ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "spread(loop.per_call) <= 1%", NULL), ==, LAB_EXPECT_FAILS);
    g_assert_cmpint(judged(s, "loop.other(kernel=old) >= 0", NULL), ==, LAB_EXPECT_CANNOT_TELL);
    g_assert_cmpint(judged(s, "((", NULL), ==, LAB_EXPECT_CANNOT_TELL);
}

/* The first kernel's runs were skipped and left no record: position 1 is still the second one. */
static void
test_position_of_missing(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    parameter(run(s, "kernel=b", 20), "axis-position.kernel", "1");
    parameter(run(s, "kernel=c", 30), "axis-position.kernel", "2");
    g_assert_cmpint(judged(s, "loop.per_call(kernel=1) == 20", NULL), ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=2) == 30", NULL), ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "loop.per_call(kernel=0) >= 0", NULL), ==, LAB_EXPECT_CANNOT_TELL);
}

/* A quantile beyond its histogram is at least that, and at most the maximum. */
static void
test_censored(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    run(s, "", 10);
    ResMetric *m = run(s, "", 30)->metrics->pdata[0];
    m->censored = TRUE;
    m->max = 90;
    g_assert_cmpint(judged(s, "loop.per_call <= 50", NULL), ==, LAB_EXPECT_CANNOT_TELL);
    g_assert_cmpint(judged(s, "loop.per_call <= 90", NULL), ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "loop.per_call >= 10", NULL), ==, LAB_EXPECT_HOLDS);
    g_assert_cmpint(judged(s, "spread(loop.per_call) <= 1000%", NULL), ==, LAB_EXPECT_CANNOT_TELL);
    g_autoptr(LabVerdict) v = lab_verdict_new(s->records);
    g_autofree char *text = lab_verdict_text(v, TRUE, FALSE);
    g_assert_nonnull(strstr(text, ">= 20"));
}

/* Only what is done counts, in the profile's order. */
static void
test_expectations(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    run(s, "", 10);
    run(s, "", 12);
    metric(failed_run(s, "", RES_OUTCOME_ISOLATION), "loop.per_call", 9999);
    for (guint i = 0; i < 12; i++) {
        g_autofree char *name = g_strdup_printf("%c", 'z' - i);
        expect(s, i, name, i == 5 ? "loop.per_call > 100" : "loop.per_call <= 12");
    }
    g_autoptr(LabVerdict) v = lab_verdict_new(s->records);
    g_assert_cmpuint(v->expectations->len, ==, 12);
    for (guint i = 0; i < 12; i++) {
        const LabVerdictExpectation *e = expectation(v, i);
        g_assert_cmpint(e->name[0], ==, 'z' - i);
        g_assert_nonnull(e->result);
        g_assert_null(e->error);
        g_assert_cmpint(e->result->verdict, ==, i == 5 ? LAB_EXPECT_FAILS : LAB_EXPECT_HOLDS);
    }
}

/* --- exit codes and sentence --- */

static void
test_exit_codes(gconstpointer data G_GNUC_UNUSED)
{
    static const struct {
        ResOutcome outcomes[3];
        const char *expectation; /* NULL: none */
        int code;
        const char *sentence; /* its beginning */
    } cases[] = {
        {{RES_OUTCOME_DONE, RES_OUTCOME_DONE, RES_OUTCOME_DONE},
         "loop.per_call == 10",
         LAB_EXIT_HELD,
         "Held: all 1 expectations, on 3 boots."},
        {{RES_OUTCOME_DONE, RES_OUTCOME_DONE, RES_OUTCOME_DONE},
         "loop.per_call == 11",
         LAB_EXIT_NOT_HELD,
         "Not held: 1 of 1 expectations failed (e: 10)."},
        {{RES_OUTCOME_DONE, RES_OUTCOME_DONE, RES_OUTCOME_DONE},
         "loop.none == 11",
         LAB_EXIT_NOT_HELD,
         "Cannot tell: 1 of 1 expectations could not be decided."},
        {{RES_OUTCOME_DONE, RES_OUTCOME_DONE, RES_OUTCOME_DONE},
         NULL,
         LAB_EXIT_HELD,
         "Measured: this profile claims nothing."},
        /* A run that gave no figures is no success, whatever the others say. */
        {{RES_OUTCOME_DONE, RES_OUTCOME_GUEST, RES_OUTCOME_DONE},
         "loop.per_call == 10",
         LAB_EXIT_NOT_HELD,
         "Incomplete: all 1 expectations hold, on 2 boots, but 1 of 3 runs gave no figures."},
        {{RES_OUTCOME_DONE, RES_OUTCOME_INCOMPLETE, RES_OUTCOME_DONE},
         NULL,
         LAB_EXIT_NOT_HELD,
         "Measured: this profile claims nothing. 1 of 3 runs gave no figures."},
        {{RES_OUTCOME_BOOT, RES_OUTCOME_CLOCK, RES_OUTCOME_ISOLATION},
         NULL,
         LAB_EXIT_NOT_HELD,
         "No figures: this profile claims nothing. 3 of 3 runs gave no figures."},
        {{RES_OUTCOME_DONE, RES_OUTCOME_SKIP, RES_OUTCOME_DONE},
         "loop.per_call == 10",
         LAB_EXIT_HELD,
         "Held: all 1 expectations, on 2 boots."},
        {{RES_OUTCOME_SKIP, RES_OUTCOME_SKIP, RES_OUTCOME_SKIP},
         "loop.per_call == 10",
         LAB_EXIT_SKIPPED,
         "Skipped: "},
        {{RES_OUTCOME_SKIP, RES_OUTCOME_GUEST, RES_OUTCOME_SKIP},
         NULL,
         LAB_EXIT_NOT_HELD,
         "No figures: "},
        {{RES_OUTCOME_DONE, RES_OUTCOME_INFRA, RES_OUTCOME_DONE},
         "loop.per_call == 10",
         LAB_EXIT_CANNOT,
         "Incomplete: all 1 expectations hold, on 2 boots, but 1 of 3 runs gave no figures."},
        {{RES_OUTCOME_DONE, RES_OUTCOME_INFRA, RES_OUTCOME_CANCELLED},
         "loop.per_call == 10",
         LAB_EXIT_CANCELLED,
         "Incomplete: all 1 expectations hold, on 1 boots, but 2 of 3 runs gave no figures."},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Set s;
        set_up(&s, NULL);
        for (guint k = 0; k < 3; k++) {
            if (cases[i].outcomes[k] == RES_OUTCOME_DONE)
                run(&s, "", 10);
            else
                failed_run(&s, "", cases[i].outcomes[k]);
        }
        if (cases[i].expectation)
            expect(&s, 0, "e", cases[i].expectation);
        g_autoptr(LabVerdict) v = lab_verdict_new(s.records);
        g_autofree char *sentence = lab_verdict_sentence(v);
        g_test_message("%s", sentence);
        g_assert_cmpint(lab_verdict_exit_code(v), ==, cases[i].code);
        g_assert_true(g_str_has_prefix(sentence, cases[i].sentence));
        tear_down(&s, NULL);
    }
}

/* The lab's own trouble, and the same boot again: told, but no run without figures. */
static void
test_retried(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    ResRecord *bad = failed_run(s, "", RES_OUTCOME_INFRA);
    ResRecord *other = failed_run(s, "", RES_OUTCOME_GUEST);

    run(s, "", 10)->boot = bad->boot;
    run(s, "", 10)->boot = other->boot; /* a workload's failure stands */
    expect(s, 0, "e", "loop.per_call == 10");
    g_autoptr(LabVerdict) v = lab_verdict_new(s->records);
    g_autofree char *text = lab_verdict_text(v, FALSE, FALSE);
    g_autofree char *json = lab_verdict_json(v, NULL);
    g_autoptr(JsonNode) root = json_from_string(json, NULL);
    JsonArray *retried = json_object_get_array_member(json_node_get_object(root), "retried");

    g_assert_cmpuint(v->retried->len, ==, 1);
    g_assert_true(v->retried->pdata[0] == bad);
    g_assert_cmpuint(v->outcomes[RES_OUTCOME_INFRA], ==, 0);
    g_assert_cmpint(lab_verdict_exit_code(v), ==, LAB_EXIT_NOT_HELD);
    g_assert_nonnull(strstr(text, "run boot 0: infra: status, tried again\n"));
    g_assert_nonnull(strstr(text, "1 of 3 runs gave no figures"));
    g_assert_cmpuint(json_array_get_length(retried), ==, 1);
}

/* --- text --- */

static void
test_text(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    three_kernels(s);
    for (guint i = 0; i < s->records->len; i++)
        metric(s->records->pdata[i], "loop.timer_interrupts", 3);
    failed_run(s, "kernel=old pin=1", RES_OUTCOME_CLOCK);
    g_ptr_array_add(((ResRecord *)s->records->pdata[0])->notes, g_strdup("twice"));
    g_ptr_array_add(((ResRecord *)s->records->pdata[1])->notes, g_strdup("twice"));
    expect(s, 0, "faster", "loop.per_call(kernel=1) < loop.per_call(kernel=old)");
    parameter(s->records->pdata[0], "reference.000.Somebody's page", "before: 44 us");
    g_autoptr(LabVerdict) v = lab_verdict_new(s->records);
    g_autofree char *text = lab_verdict_text(v, FALSE, FALSE);
    g_autofree char *all = lab_verdict_text(v, TRUE, FALSE);
    g_autofree char *color = lab_verdict_text(v, FALSE, TRUE);
    static const char *const parts[] = {
        "example: an example\n",
        "fidelity instructions: ",
        "loop.per_call",
        "kernel=old pin=1",
        "101.0",
        "100.0 .. 102.0",
        "boot 3: clock: status",
        "it did not work",
        "note: twice (run ",
        "holds        faster: ",
        "Somebody's page\n",
        "  before: 44 us\n",
        "Incomplete: all 1 expectations hold",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (!strstr(text, parts[i]))
            g_test_message("not in the text: %s\n%s", parts[i], text);
        g_assert_nonnull(strstr(text, parts[i]));
    }
    g_assert_null(strstr(strstr(text, "note: twice") + 1, "note: twice"));
    /* What no expectation names is left to those who ask for all. */
    g_assert_null(strstr(text, "timer_interrupts"));
    g_assert_nonnull(strstr(all, "timer_interrupts"));
    g_assert_null(strchr(text, '\033'));
    g_assert_nonnull(strstr(color, "\033[32mholds"));
    g_assert_true(g_str_has_suffix(text, "\n"));
}

#define EVIL                                                                                       \
    "\033]0;owned\007\033[2J\xc2\x9b"                                                              \
    "31m\r\n\x7f\xe2\x80\xae"

/* What a guest says stands in names, values and messages; none of it drives a terminal. */
static void
test_text_hostile(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    ResRecord *r = run(s, "kernel=" EVIL, 1);
    ResRecord *f = failed_run(s, "kernel=x" EVIL, RES_OUTCOME_GUEST);

    metric(r, "evil" EVIL, 1);
    assign(&f->message, "message " EVIL);
    assign(&f->detail, "detail " EVIL);
    for (guint i = 0; i < 2; i++) {
        ResRecord *each = s->records->pdata[i];
        assign(&each->summary, EVIL);
        assign(&each->profile, EVIL);
        assign(&each->platform, EVIL);
        assign(&each->clock, EVIL);
        g_hash_table_insert(each->environment, g_strdup("kernel.release"), g_strdup(EVIL));
        g_hash_table_insert(each->environment, g_strdup("qemu.version"), g_strdup(EVIL));
        g_hash_table_insert(each->environment, g_strdup("libvirt.version"), g_strdup(EVIL));
        g_ptr_array_add(each->notes, g_strdup("note " EVIL));
        parameter(each, "reference.000." EVIL, EVIL);
    }
    expect(s, 0, "name " EVIL, "loop.per_call(kernel=" EVIL ") > 0");
    g_autoptr(LabVerdict) v = lab_verdict_new(s->records);
    g_autofree char *text = lab_verdict_text(v, TRUE, FALSE);

    g_assert_true(g_utf8_validate(text, -1, NULL));
    for (const char *p = text; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        g_assert_true(c == '\n' || !g_unichar_iscntrl(c));
        g_assert_cmpuint(c, !=, 0x202e);
    }
    g_assert_nonnull(strstr(text, "detail ?]0;owned?"));
    g_assert_nonnull(strstr(text, "message ?]0;owned?"));
}

/* --- JSON --- */

static void
assert_no_nan(JsonNode *node)
{
    if (JSON_NODE_HOLDS_OBJECT(node)) {
        GList *members = json_object_get_values(json_node_get_object(node));
        for (GList *m = members; m; m = m->next)
            assert_no_nan(m->data);
        g_list_free(members);
    } else if (JSON_NODE_HOLDS_ARRAY(node)) {
        JsonArray *array = json_node_get_array(node);
        for (guint i = 0; i < json_array_get_length(array); i++)
            assert_no_nan(json_array_get_element(array, i));
    } else if (JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_DOUBLE) {
        double value = json_node_get_double(node);
        g_assert_true(value - value == 0);
    }
}

static JsonObject *
element(JsonObject *object, const char *array, guint i)
{
    JsonArray *a = json_object_get_array_member(object, array);
    g_assert_cmpuint(i, <, json_array_get_length(a));
    return json_array_get_object_element(a, i);
}

static void
test_json(Set *s, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;

    run(s, "kernel=a", 0);
    run(s, "kernel=b", 20);
    run(s, "kernel=a", 5); /* median 2.5, spread 200% */
    ResRecord *f = failed_run(s, "kernel=b", RES_OUTCOME_GUEST);
    assign(&f->message, "\033[31m \"quoted\" \\ \n \xc3\xa4");
    expect(s, 0, "held", "loop.per_call(kernel=b) == 20");
    expect(s, 1, "by zero", "loop.per_call(kernel=b) / (loop.per_call(kernel=a) - 2.5) > 1");
    expect(s, 2, "missing", "loop.none(kernel=b) > 1");
    expect(s, 3, "fails", "loop.per_call(kernel=b) > 21");
    g_autoptr(LabVerdict) v = lab_verdict_new(s->records);
    g_autofree char *json = lab_verdict_json(v, &error);
    g_assert_no_error(error);
    g_assert_true(g_str_has_suffix(json, "}\n"));
    for (const char *p = json; *p; p++)
        g_assert_true(*p == '\n' || !g_ascii_iscntrl(*p));

    g_autoptr(JsonNode) root = json_from_string(json, &error);
    g_assert_no_error(error);
    assert_no_nan(root);
    JsonObject *top = json_node_get_object(root);
    g_assert_cmpstr(json_object_get_string_member(top, "set"), ==, "20260101-000000-ffff");
    g_assert_cmpint(json_object_get_int_member(top, "exit_code"), ==, LAB_EXIT_NOT_HELD);
    g_assert_nonnull(strstr(json_object_get_string_member(top, "verdict"), "Not held"));
    static const char *const words[] = {"holds", "cannot tell", "cannot tell", "fails"};
    for (guint i = 0; i < 4; i++) {
        JsonObject *e = element(top, "expectations", i);
        g_assert_cmpstr(json_object_get_string_member(e, "verdict"), ==, words[i]);
        g_assert_cmpuint(strlen(json_object_get_string_member(e, "reason")), >, 0);
    }
    g_assert_cmpfloat(json_object_get_double_member(element(top, "expectations", 0), "value"), ==,
                      20);
    g_assert_true(json_object_get_null_member(element(top, "expectations", 1), "high"));
    JsonObject *summary = element(top, "summaries", 0);
    g_assert_cmpstr(json_object_get_string_member(summary, "metric"), ==, "loop.per_call");
    g_assert_cmpstr(json_object_get_string_member(summary, "cell"), ==, "kernel=a");
    g_assert_cmpstr(json_object_get_string_member(summary, "fidelity"), ==, "instructions");
    g_assert_cmpint(json_object_get_int_member(summary, "boots"), ==, 2);
    g_assert_cmpfloat(json_object_get_double_member(summary, "spread"), ==, 2);
    g_assert_cmpuint(json_array_get_length(json_object_get_array_member(top, "records")), ==, 4);
    g_assert_cmpstr(json_object_get_string_member(element(top, "records", 3), "message"), ==,
                    "\033[31m \"quoted\" \\ \n \xc3\xa4");
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *path;
        void (*run)(Set *, gconstpointer);
    } tests[] = {
        {"/verdict/cells", test_cells},
        {"/verdict/selectors", test_selectors},
        {"/verdict/position-of-missing", test_position_of_missing},
        {"/verdict/expectations", test_expectations},
        {"/verdict/censored", test_censored},
        {"/verdict/retried", test_retried},
        {"/verdict/text", test_text},
        {"/verdict/text-hostile", test_text_hostile},
        {"/verdict/json", test_json},
    };

    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].path, Set, NULL, set_up, tests[i].run, tear_down);
    g_test_add_data_func("/verdict/exit-codes", NULL, test_exit_codes);
    return g_test_run();
}
