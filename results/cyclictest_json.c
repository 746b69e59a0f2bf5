/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --json=FILE leaves; oslat and other tools of rt-tests write files of the same make. */
#include <string.h>

#include "results/cyclictest_private.h"
#include "results/json.h"

#define CPU_MAX 1000000

static gboolean
is_number(JsonNode *node)
{
    GType type = json_node_get_value_type(node);
    return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE;
}

/* A whole number that must be there. Negative values pass: the check on figures has the better
 * words for them. */
static gboolean
get_whole(JsonObject *o, const char *where, const char *key, gint64 *value, GError **error)
{
    JsonNode *node = json_object_get_member(o, key);
    if (node == NULL || JSON_NODE_HOLDS_NULL(node)) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE, "%s%s is missing", where,
                                   key);
    }
    if (json_node_get_value_type(node) != G_TYPE_INT64) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                   "%s%s must be a whole number", where, key);
    }
    *value = json_node_get_int(node);
    return TRUE;
}

/* Up to rt-tests 2.4 some keys have the colon inside: "cmdline:". */
static JsonNode *
either_member(JsonObject *o, const char *key)
{
    g_autofree char *with_colon = g_strconcat(key, ":", NULL);
    JsonNode *node = json_object_get_member(o, key);
    return node != NULL ? node : json_object_get_member(o, with_colon);
}

static gboolean
get_word(JsonObject *o, const char *key, char **text, GError **error)
{
    JsonNode *node = either_member(o, key);
    if (node == NULL) {
        return TRUE;
    }
    if (json_node_get_value_type(node) != G_TYPE_STRING) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT, "%s must be a string", key);
    }
    g_free(*text);
    *text = json_node_dup_string(node);
    return TRUE;
}

static int
compare_buckets(const void *a, const void *b)
{
    const ResCyclictestBucket *x = a, *y = b;
    return (x->latency_ns > y->latency_ns) - (x->latency_ns < y->latency_ns);
}

static gboolean
get_histogram(JsonObject *o, const char *where, ResCyclictestThread *t, GError **error)
{
    JsonNode *node = json_object_get_member(o, "histogram");
    if (node == NULL) {
        return TRUE;
    }
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                   "%shistogram must be an object", where);
    }
    JsonObjectIter iter;
    const char *key;
    JsonNode *count;
    json_object_iter_init(&iter, json_node_get_object(node));
    while (json_object_iter_next(&iter, &key, &count)) {
        ResCyclictestBucket bucket = {0};
        if (!g_ascii_string_to_signed(key, 10, G_MININT64, G_MAXINT64, &bucket.latency_ns, NULL)) {
            return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                       "%shistogram: \"%s\" is not a latency", where, key);
        }
        if (json_node_get_value_type(count) != G_TYPE_INT64 || json_node_get_int(count) < 0) {
            return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                       "%shistogram: bucket \"%s\" has no proper count", where,
                                       key);
        }
        bucket.count = (guint64)json_node_get_int(count);
        g_array_append_val(t->buckets, bucket);
    }
    g_array_sort(t->buckets, compare_buckets);
    for (guint i = 1; i < t->buckets->len; i++) {
        /* "1" and "01" are two keys, but one latency */
        if (compare_buckets(&g_array_index(t->buckets, ResCyclictestBucket, i - 1),
                            &g_array_index(t->buckets, ResCyclictestBucket, i)) == 0) {
            return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                       "%shistogram has a bucket twice", where);
        }
    }
    return TRUE;
}

static guint64
bucket_sum(const ResCyclictestThread *t)
{
    guint64 sum = 0;
    for (guint i = 0; i < t->buckets->len; i++) {
        guint64 count = g_array_index(t->buckets, ResCyclictestBucket, i).count;
        sum = sum > G_MAXINT64 - count ? G_MAXINT64 : sum + count;
    }
    return sum;
}

static gboolean
get_thread(JsonNode *node, ResCyclictest *c, const ResCyclictestArgs *args, GError **error)
{
    ResCyclictestThread *t = res_cyclictest_add_thread(c);
    g_autofree char *where = g_strdup_printf("thread %u: ", t->thread);
    if (node == NULL || !JSON_NODE_HOLDS_OBJECT(node)) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                   "thread %u must be an object", t->thread);
    }
    JsonObject *o = json_node_get_object(node);
    gint64 cycles = 0, cpu = -1;
    if (json_object_has_member(o, "cpu") && !get_whole(o, where, "cpu", &cpu, error)) {
        return FALSE;
    }
    if (cpu < -1 || cpu > CPU_MAX) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT, "%scpu is out of range",
                                   where);
    }
    t->cpu = (int)cpu;
    JsonNode *mean = json_object_get_member(o, "avg");
    if (mean == NULL || !is_number(mean)) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                   "%savg is missing or not a number", where);
    }
    t->mean_ns = json_node_get_double(mean);
    if (!get_whole(o, where, "min", &t->min_ns, error) ||
        !get_whole(o, where, "max", &t->max_ns, error) || !get_histogram(o, where, t, error)) {
        return FALSE;
    }
    guint64 in_buckets = bucket_sum(t);
    /* oslat counts in its histogram only */
    if (g_str_equal(args->tool, "oslat") && !json_object_has_member(o, "cycles")) {
        cycles = (gint64)in_buckets;
    } else if (!get_whole(o, where, "cycles", &cycles, error)) {
        return FALSE;
    }
    if (cycles < 0) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT, "%scycles is negative",
                                   where);
    }
    t->cycles = (guint64)cycles;
    /* The file has no word for what was beyond the histogram. Without -h the histogram is there,
     * but empty. */
    if ((args->histogram || t->buckets->len > 0) && t->cycles > in_buckets) {
        t->overflows = t->cycles - in_buckets;
    }
    return TRUE;
}

static gboolean
get_threads(JsonObject *root, ResCyclictest *c, const ResCyclictestArgs *args, GError **error)
{
    JsonNode *node = json_object_get_member(root, "thread");
    gint64 n = 0;
    if (node == NULL || !JSON_NODE_HOLDS_OBJECT(node)) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                   "the object \"thread\" is missing");
    }
    JsonObject *threads = json_node_get_object(node);
    if (!get_whole(root, "", "num_threads", &n, error)) {
        return FALSE;
    }
    if (n < 1 || n > RES_CYCLICTEST_THREADS_MAX) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                   "num_threads is out of range (1 to %d)",
                                   RES_CYCLICTEST_THREADS_MAX);
    }
    if (json_object_get_size(threads) != (guint)n) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                   "num_threads is %" G_GINT64_FORMAT ", but there are %u threads",
                                   n, json_object_get_size(threads));
    }
    for (guint i = 0; i < (guint)n; i++) {
        g_autofree char *key = g_strdup_printf("%u", i);
        if (!json_object_has_member(threads, key)) {
            return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                       "thread %u is missing", i);
        }
        if (!get_thread(json_object_get_member(threads, key), c, args, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/*
 * cyclictest writes its use_nsecs here: 0 means us. Other tools leave the key out, and each has its
 * own unit. 0 is "not settled", with the reason in the notes.
 */
static gboolean
settle_unit(JsonObject *root, ResCyclictest *c, const ResCyclictestArgs *args, gint64 *unit_ns,
            GError **error)
{
    gint64 flag = 0;
    gboolean ours = g_str_equal(args->tool, "cyclictest");
    *unit_ns = 0;
    if (json_object_has_member(root, "resolution_in_ns")) {
        if (!get_whole(root, "", "resolution_in_ns", &flag, error)) {
            return FALSE;
        }
        if (flag != 0 && flag != 1) {
            return res_cyclictest_fail(
                error, RES_CYCLICTEST_ERROR_FORMAT,
                "resolution_in_ns is %" G_GINT64_FORMAT "; 0 (us) or 1 (ns) is right", flag);
        }
        if (ours && args->nsecs != (flag == 1)) {
            res_cyclictest_note(c,
                                "resolution_in_ns says %s, the command line says %s: the unit is "
                                "not known",
                                flag == 1 ? "ns" : "us", args->nsecs ? "ns" : "us");
            return TRUE;
        }
        *unit_ns = flag == 1 ? 1 : 1000;
        return TRUE;
    }
    if (ours || g_str_equal(args->tool, "oslat")) {
        *unit_ns = ours && args->nsecs ? 1 : 1000;
        return TRUE;
    }
    res_cyclictest_note(c, "no resolution_in_ns, and the tool %s%s%s: the unit is not known",
                        args->known ? "\"" : "", args->known ? args->tool : "is not said",
                        args->known ? "\" is not one whose unit is known" : "");
    return TRUE;
}

static gboolean
check_return_code(JsonObject *root, GError **error)
{
    gint64 code = 0;
    if (!json_object_has_member(root, "return_code")) {
        return TRUE;
    }
    if (!get_whole(root, "", "return_code", &code, error)) {
        return FALSE;
    }
    return code == 0
               ? TRUE
               : res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                     "the program failed with return_code %" G_GINT64_FORMAT, code);
}

ResCyclictest *
res_cyclictest_parse_json(const char *text, gsize len, GError **error)
{
    ResJsonState state;
    g_autofree char *reason = NULL;
    g_autoptr(JsonNode) node = res_json_parse(text, len, RES_CYCLICTEST_MAX, TRUE, &state, &reason);
    if (node == NULL) {
        res_cyclictest_fail(error,
                            state == RES_JSON_CUT ? RES_CYCLICTEST_ERROR_INCOMPLETE
                                                  : RES_CYCLICTEST_ERROR_FORMAT,
                            "%s", reason);
        return NULL;
    }
    JsonObject *root = json_node_get_object(node);
    g_autoptr(ResCyclictest) c = res_cyclictest_new();
    g_auto(ResCyclictestArgs) args = {0};
    gint64 version = 1, unit_ns = 0;
    if (json_object_has_member(root, "file_version") &&
        !get_whole(root, "", "file_version", &version, error)) {
        return NULL;
    }
    if (version != 1) {
        res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                            "file_version %" G_GINT64_FORMAT " is not known; 1 is", version);
        return NULL;
    }
    if (!get_word(root, "cmdline", &c->cmdline, error) ||
        !get_word(root, "rt_test_version", &c->version, error)) {
        return NULL;
    }
    res_cyclictest_args_parse(&args, c->cmdline);
    if (!check_return_code(root, error) || !get_threads(root, c, &args, error) ||
        !settle_unit(root, c, &args, &unit_ns, error) || !res_cyclictest_check(c, error)) {
        return NULL;
    }
    if (unit_ns > 0 && !res_cyclictest_scale(c, unit_ns, error)) {
        return NULL;
    }
    return res_cyclictest_apply(c, &args, error) ? g_steal_pointer(&c) : NULL;
}
