/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/history.h"

#include <math.h>

#include "results/facts.h"
#include "results/test_store_util.h"

#define DAY_US ((gint64)24 * 3600 * G_USEC_PER_SEC)
#define START_US (20000 * DAY_US)
#define OLD "kernel=default\nkernel.release=6.1.0\nqemu.version=10.0.2\n"
#define NEW "kernel=default\nkernel.release=6.1.1\nqemu.version=10.0.2\n"

static void
add(ResSeries *s, guint night, double value, const char *facts)
{
    for (guint boot = 0; boot < 3; boot++) {
        g_autofree char *run = g_strdup_printf("r%03u-%u", night, boot);
        g_autofree char *set = g_strdup_printf("s%03u", night);
        res_series_add(s, START_US + night * DAY_US + boot, run, set, value + (boot == 2 ? 90 : 0),
                       facts);
    }
}

static ResSeries *
series_new(void)
{
    ResSeries *s = res_series_new();
    s->metric = g_strdup("invalid.per_call");
    s->profile = g_strdup("smoke");
    s->cell = g_strdup("");
    s->host = g_strdup("");
    s->unit = g_strdup("insns");
    s->direction = RES_LOWER_IS_BETTER;
    return s;
}

static const ResHistoryChange *
change_at(const ResHistory *h, guint at)
{
    g_assert_cmpuint(at, <, h->changes->len);
    return g_ptr_array_index(h->changes, at);
}

static void
test_told_once_and_gone(void)
{
    g_autoptr(ResSeries) s = series_new();
    guint fresh = 0, gone = 0;
    for (guint night = 0; night < 60; night++) {
        add(s, night, night >= 20 && night < 40 ? 547 : 546, night >= 20 && night < 40 ? NEW : OLD);
        g_autoptr(ResHistory) h = res_history_new(s, NULL, START_US + 100 * DAY_US);
        for (guint i = 0; i < h->changes->len; i++) {
            const ResHistoryChange *c = change_at(h, i);
            fresh += c->fresh && res_history_stands(c);
            gone += c->fresh && c->back_of == 0;
        }
    }
    g_assert_cmpuint(fresh, ==, 1);
    g_assert_cmpuint(gone, ==, 1);
    g_autoptr(ResHistory) h = res_history_new(s, NULL, START_US + 100 * DAY_US);
    const ResHistoryChange *c = change_at(h, 0);
    g_assert_cmpuint(h->nights->len, ==, 60);
    g_assert_cmpuint(c->change.at, ==, 20);
    g_assert_cmpint(c->kind, ==, RES_CHANGE_WORSE);
    g_assert_true(c->gone);
    g_assert_cmpuint(c->suspects->len, ==, 1);
    g_assert_cmpstr(c->suspects->pdata[0], ==, "kernel.release: 6.1.0 -> 6.1.1, that night");
    g_assert_cmpstr(c->good, ==, "boot:6.1.0");
    g_assert_cmpstr(c->bad, ==, "boot:6.1.1");
}

static void
test_accepted(void)
{
    g_autoptr(ResSeries) s = series_new();
    for (guint night = 0; night < 40; night++) {
        add(s, night, night >= 20 ? 547 : 546, OLD);
    }
    ResAnnotation a = {.when_us = START_US + 20 * DAY_US + 5,
                       .metric = (char *)"invalid.per_call",
                       .accept = TRUE,
                       .note = (char *)"meant"};
    g_autoptr(GPtrArray) notes = g_ptr_array_new();
    g_ptr_array_add(notes, &a);
    g_autoptr(ResHistory) h = res_history_new(s, notes, START_US + 100 * DAY_US);
    g_assert_true(change_at(h, 0)->accepted == &a);
    g_assert_false(res_history_stands(change_at(h, 0)));
    a.cell = (char *)"variant=other";
    g_autoptr(ResHistory) other = res_history_new(s, notes, START_US + 100 * DAY_US);
    g_assert_true(res_history_stands(change_at(other, 0)));
    a.cell = NULL;
    a.when_us += 10 * DAY_US;
    g_autoptr(ResHistory) late = res_history_new(s, notes, START_US + 100 * DAY_US);
    g_assert_true(res_history_stands(change_at(late, 0)));
}

static void
test_bad_input(void)
{
    g_autoptr(ResSeries) s = series_new();
    g_autoptr(ResHistory) empty = res_history_new(s, NULL, START_US);
    g_assert_cmpuint(empty->nights->len, ==, 0);
    g_assert_cmpuint(empty->more, ==, RES_CHANGES_NEEDED);
    res_series_add(s, START_US, "a", "sa", 1, "");
    res_series_add(s, START_US, "b", "sb", NAN, "");
    res_series_add(s, START_US, "c", "sc", INFINITY, "");
    res_series_add(s, START_US + 2 * DAY_US, "d", "sd", 1, "");
    res_series_add(s, G_MAXINT64, "e", "se", 1, "");
    g_autoptr(ResHistory) h = res_history_new(s, NULL, START_US);
    g_assert_cmpuint(h->nights->len, ==, 1);
    g_assert_cmpuint(h->unusable, ==, 2);
    g_assert_cmpuint(h->future, ==, 2);
    g_assert_cmpuint(h->more, ==, RES_CHANGES_NEEDED - 1);
}

static void
test_facts(void)
{
    g_autoptr(ResRecord) r = make_record("r", "s", 1);
    g_hash_table_insert(r->environment, g_strdup("qemu.version"), g_strdup("1\n\033[2Jx=2"));
    g_autofree char *facts = res_facts_of(r);
    g_autofree char *qemu = res_facts_get(facts, "qemu.version");
    g_autofree char *none = res_facts_get(facts, "qemu");
    g_assert_cmpstr(qemu, ==, "1??[2Jx=2");
    g_assert_null(none);
    g_autoptr(GPtrArray) d = res_facts_differences(OLD, "kernel=default\nkernel.release=6.1.0\n");
    g_assert_cmpuint(d->len, ==, 1);
    g_assert_cmpstr(d->pdata[0], ==, "qemu.version: 10.0.2 -> ?");
}

static void
assert_refused(const char *json, const char *word)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(res_annotations_from_json(json, strlen(json), &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
    g_assert_nonnull(strstr(error->message, word));
}

#define HEAD "{\"format\":\"nohzlab-annotations\",\"version\":1,\"annotations\":["

static void
test_annotations(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;
    ResAnnotation a = {
        .when_us = 5, .metric = (char *)"m", .accept = TRUE, .note = (char *)"\033\"\xff"};
    g_autoptr(GPtrArray) none = res_annotations_load(f->root, &error);
    g_assert_cmpuint(none->len, ==, 0);
    g_assert_true(res_annotations_add(f->root, &a, &error));
    a.cell = (char *)"variant=none";
    g_assert_true(res_annotations_add(f->root, &a, &error));
    res_store_free(open_ok(f->root));
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    guint count = 0;
    g_assert_true(res_store_reindex(s, &count, skipped, &error));
    g_autoptr(GPtrArray) two = res_annotations_load(f->root, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(two->len, ==, 2);
    const ResAnnotation *back = two->pdata[1];
    g_assert_cmpstr(back->cell, ==, "variant=none");
    g_assert_null(back->host);
    g_assert_true(back->accept);

    g_autofree char *path = g_build_filename(f->root, "annotations.json", NULL);
    g_assert_true(g_file_set_contents(path, "{", 1, NULL));
    g_assert_false(res_annotations_add(f->root, &a, &error));
    g_assert_nonnull(strstr(error->message, path));
    g_autofree char *kept = NULL;
    g_assert_true(g_file_get_contents(path, &kept, NULL, NULL));
    g_assert_cmpstr(kept, ==, "{");
    assert_refused("[]", "object");
    assert_refused("{\"format\":\"x\",\"version\":1,\"annotations\":[]}", "version 1");
    assert_refused(HEAD "1]}", "[0]");
    assert_refused(HEAD "{\"accept\":true,\"when_us\":-1}]}", "when_us");
    assert_refused(HEAD "{\"accept\":1}]}", "accept");
}

static void
test_store_series(StoreFixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autoptr(ResStore) s = open_ok(f->root);
    g_autoptr(GError) error = NULL;
    put_ok(s, "r1", "s1", 100);
    put_ok(s, "r2", "s1", 300);
    put_ok(s, "q3", "s2", 200);
    g_autoptr(GPtrArray) all = res_store_series(s, "a.b", NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(all->len, ==, 1);
    const ResSeries *series = all->pdata[0];
    g_assert_cmpstr(series->profile, ==, "smoke");
    g_assert_cmpstr(series->cell, ==, "variant=none");
    g_assert_cmpint(series->fidelity, ==, RES_FIDELITY_INSTRUCTIONS);
    g_assert_cmpuint(series->points->len, ==, 3);
    g_assert_cmpstr(g_array_index(series->points, ResSeriesPoint, 1).run, ==, "q3");
    g_assert_cmpfloat(g_array_index(series->points, ResSeriesPoint, 1).value, ==, 228.2);
    g_autoptr(GPtrArray) other = res_store_series(s, "a.b", "other", &error);
    g_autoptr(GPtrArray) unknown = res_store_series(s, "' OR 1=1 --", NULL, &error);
    g_assert_cmpuint(other->len + unknown->len, ==, 0);
    g_autofree char *gone = g_build_filename(f->root, "runs", "r1", NULL);
    remove_tree(gone);
    guint count = 0;
    g_assert_true(res_store_reindex(s, &count, NULL, &error));
    g_autoptr(GPtrArray) less = res_store_series(s, "a.b", "smoke", &error);
    g_assert_cmpuint(((ResSeries *)less->pdata[0])->points->len, ==, 2);
    g_autoptr(GPtrArray) metrics = res_store_metrics(s, &error);
    g_assert_true(g_ptr_array_find_with_equal_func(metrics, "a.b", g_str_equal, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/history/told-once-and-gone", test_told_once_and_gone);
    g_test_add_func("/history/accepted", test_accepted);
    g_test_add_func("/history/bad-input", test_bad_input);
    g_test_add_func("/history/facts", test_facts);
    g_test_add("/history/annotations", StoreFixture, NULL, setup, test_annotations, teardown);
    g_test_add("/history/store", StoreFixture, NULL, setup, test_store_series, teardown);
    return g_test_run();
}
