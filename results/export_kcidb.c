/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schema 5.3 of github.com/kernelci/kcidb-io: objects are tied by ids "ORIGIN:...", a test's path
 * is words of [A-Za-z0-9_-] with dots between, no value is null, no text holds NUL.
 */
#include <string.h>

#include "results/escape.h"
#include "results/export.h"
#include "results/json_write.h"

#define MAJOR 5
#define MINOR 3
#define LOG_EXCERPT_MAX 16384 /* characters, by the schema */

gboolean
res_export_origin_valid(const char *origin)
{
    return origin[0] != '\0' &&
           origin[strspn(origin, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static void
add_id(JsonBuilder *b, const char *member, const char *origin, const char *kind, const char *id)
{
    g_autofree char *plain = res_printable(id);
    g_autofree char *text = g_strdup_printf("%s:%s%s", origin, kind, plain);
    res_json_string(b, member, text);
}

/* What the kernel of a run is known by. */
static const char *
kernel_of(const ResRecord *r)
{
    return res_page_known(g_hash_table_lookup(r->environment, "kernel.sha256"));
}

static const char *
release_of(const ResRecord *r)
{
    return res_page_known(g_hash_table_lookup(r->environment, "kernel.release"));
}

static void
begin_misc(JsonBuilder *b)
{
    json_builder_set_member_name(b, "misc");
    json_builder_begin_object(b);
}

static void
add_sources(JsonBuilder *b, const ResPage *p, const char *origin, gboolean builds)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    json_builder_set_member_name(b, builds ? "builds" : "checkouts");
    json_builder_begin_array(b);
    for (guint i = 0; i < p->records->len; i++) {
        const ResRecord *r = g_ptr_array_index(p->records, i);
        const char *id = builds ? kernel_of(r) : release_of(r);
        if (!g_hash_table_add(seen, (gpointer)id)) {
            continue;
        }
        g_autofree char *release = res_printable(release_of(r));
        json_builder_begin_object(b);
        if (builds) {
            add_id(b, "id", origin, "kernel-", id);
            add_id(b, "checkout_id", origin, "release-", release);
            res_json_string(b, "architecture", "x86_64");
            begin_misc(b);
            res_json_string(b, "kernel_release", release);
            res_json_string(b, "kernel_sha256", id);
            json_builder_end_object(b);
        } else {
            add_id(b, "id", origin, "release-", id);
            res_json_string(b, "comment", release);
        }
        res_json_string(b, "origin", origin);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

/* One word of a path. */
static void
add_word(GString *path, const char *word)
{
    g_autofree char *plain = res_printable(word);
    if (path->len > 0) {
        g_string_append_c(path, '.');
    }
    gsize before = path->len;
    for (const char *c = plain; *c != '\0'; c++) {
        g_string_append_c(path, g_ascii_isalnum(*c) || *c == '-' ? *c : '_');
    }
    if (path->len == before) {
        g_string_append_c(path, '_');
    }
}

/* "nohzlab.PROFILE.WORD.WORD": NAME's own dots are levels of the tree. */
static void
add_path(JsonBuilder *b, const ResPage *p, const char *name)
{
    g_autoptr(GString) path = g_string_new(NULL);
    g_auto(GStrv) words = g_strsplit(name, ".", -1);
    add_word(path, "nohzlab");
    add_word(path, res_page_first(p)->profile);
    for (guint i = 0; words[i] != NULL; i++) {
        add_word(path, words[i]);
    }
    res_json_string(b, "path", path->str);
}

static void
begin_test(JsonBuilder *b, const char *origin, const char *id, const ResRecord *r)
{
    json_builder_begin_object(b);
    add_id(b, "id", origin, "", id);
    res_json_string(b, "origin", origin);
    add_id(b, "build_id", origin, "kernel-", kernel_of(r));
    g_autofree char *start = res_utc(r->started_us);
    if (g_str_has_suffix(start, "Z")) {
        res_json_string(b, "start_time", start);
    }
}

static void
add_plain(JsonBuilder *b, const char *member, const char *text)
{
    g_autofree char *plain = res_printable(text);
    res_json_string(b, member, plain);
}

static int
by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
add_environment(JsonBuilder *b, const ResRecord *r)
{
    GHashTableIter iter;
    gpointer key, value;
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    g_autofree char *comment =
        g_strdup_printf("platform %s, clock %s, fidelity %s", res_page_known(r->platform),
                        res_page_known(r->clock), res_fidelity_name(r->fidelity));
    json_builder_set_member_name(b, "environment");
    json_builder_begin_object(b);
    add_plain(b, "comment", comment);
    begin_misc(b);
    g_hash_table_iter_init(&iter, r->environment);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        g_ptr_array_add(keys, key);
    }
    g_ptr_array_sort(keys, by_text);
    for (guint i = 0; i < keys->len; i++) {
        g_autofree char *name = res_printable(keys->pdata[i]);
        value = g_hash_table_lookup(r->environment, keys->pdata[i]);
        add_plain(b, name, value);
    }
    json_builder_end_object(b);
    json_builder_end_object(b);
}

static const char *
run_status(ResOutcome o)
{
    switch (o) {
    case RES_OUTCOME_DONE:
        return "DONE";
    case RES_OUTCOME_SKIP:
        return "SKIP";
    case RES_OUTCOME_INFRA:
    case RES_OUTCOME_CANCELLED:
        return "MISS"; /* the harness failed */
    case RES_OUTCOME_BOOT:
    case RES_OUTCOME_ISOLATION:
        return "FAIL"; /* the kernel did not do what it must */
    default:
        return "ERROR"; /* the test itself did not complete */
    }
}

static void
add_run(JsonBuilder *b, const ResPage *p, const char *origin, const ResRecord *r)
{
    g_autofree char *name = res_page_run_name(r);
    begin_test(b, origin, r->id, r);
    add_path(b, p, "run");
    add_plain(b, "comment", name);
    res_json_string(b, "status", run_status(r->outcome));
    res_json_number(b, "duration", (double)MAX(r->ended_us - r->started_us, 0) / G_USEC_PER_SEC);
    if (r->message != NULL && r->message[0] != '\0') {
        g_autofree char *plain = res_printable(r->message);
        g_autofree char *cut =
            g_utf8_substring(plain, 0, MIN(g_utf8_strlen(plain, -1), LOG_EXCERPT_MAX));
        res_json_string(b, "log_excerpt", cut);
    }
    add_environment(b, r);
    begin_misc(b);
    res_json_string(b, "outcome", res_outcome_name(r->outcome));
    add_plain(b, "detail", r->detail);
    res_json_string(b, "set", r->set);
    json_builder_end_object(b);
    json_builder_end_object(b);
}

static void
add_metric(JsonBuilder *b, const ResPage *p, const char *origin, const ResRecord *r,
           const ResMetric *m)
{
    g_autofree char *id = g_strdup_printf("%s.%s", r->id, m->name);
    begin_test(b, origin, id, r);
    add_path(b, p, m->name);
    g_autofree char *name = res_page_run_name(r);
    add_plain(b, "comment", name);
    res_json_string(b, "status", "DONE");
    json_builder_set_member_name(b, "number");
    json_builder_begin_object(b);
    res_json_number(b, "value", m->value);
    if (!g_str_equal(m->unit, "1")) {
        add_plain(b, "unit", m->unit);
    }
    json_builder_end_object(b);
    begin_misc(b);
    res_json_string(b, "fidelity", res_fidelity_name(m->fidelity));
    res_json_string(b, "better", res_direction_name(m->direction));
    res_json_number(b, "min", m->min);
    res_json_number(b, "max", m->max);
    res_json_whole(b, "samples", (gint64)m->samples);
    json_builder_set_member_name(b, "censored");
    json_builder_add_boolean_value(b, m->censored);
    add_plain(b, "cell", r->cell);
    res_json_whole(b, "boot", r->boot);
    res_json_string(b, "run", r->id);
    json_builder_end_object(b);
    json_builder_end_object(b);
}

static void
add_claim(JsonBuilder *b, const ResPage *p, const char *origin, const ResClaim *c)
{
    static const char *const statuses[] = {
        [RES_CLAIM_HOLDS] = "PASS",
        [RES_CLAIM_FAILS] = "FAIL",
        [RES_CLAIM_CANNOT_TELL] = "ERROR",
    };
    const ResRecord *first = res_page_first(p);
    gboolean skipped = p->outcomes[RES_OUTCOME_SKIP] == p->records->len;
    g_autofree char *id = g_strdup_printf("%s.%s", first->set, c->name);
    g_autofree char *name = g_strdup_printf("expectation.%s", c->name);
    g_autofree char *comment = g_strdup_printf("%s: %s", c->text, c->reason);
    begin_test(b, origin, id, first);
    add_path(b, p, name);
    add_plain(b, "comment", comment);
    res_json_string(b, "status", skipped ? "SKIP" : statuses[c->verdict]);
    json_builder_end_object(b);
}

char *
res_export_kcidb(const ResPage *p, const char *origin)
{
    g_autoptr(JsonBuilder) b = json_builder_new();

    json_builder_begin_object(b);
    json_builder_set_member_name(b, "version");
    json_builder_begin_object(b);
    res_json_whole(b, "major", MAJOR);
    res_json_whole(b, "minor", MINOR);
    json_builder_end_object(b);
    add_sources(b, p, origin, FALSE);
    add_sources(b, p, origin, TRUE);
    json_builder_set_member_name(b, "tests");
    json_builder_begin_array(b);
    for (guint i = 0; i < p->claims->len; i++) {
        add_claim(b, p, origin, g_ptr_array_index(p->claims, i));
    }
    for (guint i = 0; i < p->records->len; i++) {
        const ResRecord *r = g_ptr_array_index(p->records, i);
        add_run(b, p, origin, r);
        for (guint k = 0; k < r->metrics->len; k++) {
            const ResMetric *m = g_ptr_array_index(r->metrics, k);
            if (m->fidelity != RES_FIDELITY_FUNCTIONAL) {
                add_metric(b, p, origin, r, m);
            }
        }
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
    return res_json_finish(b);
}
