/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --json=FILE of cyclictest and oslat leaves (rt-tests, src/lib/rt-utils.c), value by value: a
 * histogram of a million buckets for each CPU takes no more memory than a short one.
 */
#include <string.h>
#include <time.h>

#include "results/cyclictest_private.h"
#include "results/jsonstream.h"

#define CPU_MAX 1000000
#define CMDLINE_MAX 65536

/* Members of the file and of a thread; each may be there once. */
enum {
    KEY_FILE_VERSION,
    KEY_CMDLINE,
    KEY_VERSION,
    KEY_RETURN_CODE,
    KEY_NUM_THREADS,
    KEY_RESOLUTION,
    KEY_START,
    KEY_END,
    KEY_THREAD,
    KEY_SYSINFO,
};
static const char *const file_keys[] = {
    "file_version",     "cmdline",    "rt_test_version", "return_code", "num_threads",
    "resolution_in_ns", "start_time", "end_time",        "thread",      "sysinfo"};
enum { KEY_CYCLES, KEY_MIN, KEY_MAX_, KEY_AVG, KEY_CPU, KEY_HISTOGRAM };
static const char *const thread_keys[] = {"cycles", "min", "max", "avg", "cpu", "histogram"};

typedef struct {
    gboolean present;
    unsigned int seen; /* 1 << KEY_... */
    guint64 inside;    /* samples in buckets */
    gint64 last;       /* the last bucket's latency */
    gboolean unsorted;
    guint64 whole_keys, fraction_keys;
    gint64 cycles;
} ThreadState;

typedef struct {
    ResLatency *c;
    ResCyclictestArgs args;
    GArray *threads;      /* ThreadState, by number */
    unsigned int present; /* of them */
    unsigned int seen;    /* 1 << KEY_... */
    gint64 file_version, return_code, num_threads, resolution;
    guint current; /* thread */
} Json;

static int
find_key(const char *const *names, gsize n, const char *key)
{
    gsize len = strlen(key);
    /* up to rt-tests 2.10 some keys have the colon inside: "cmdline:" */
    len -= len > 0 && key[len - 1] == ':';
    for (gsize i = 0; i < n; i++) {
        if (strlen(names[i]) == len && strncmp(names[i], key, len) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static ThreadState *
thread_state(Json *j)
{
    return &g_array_index(j->threads, ThreadState, j->current);
}

static int
whole_value(const char *where, const char *key, const ResJsonValue *v, gint64 *number,
            GError **error)
{
    if (v->type == RES_JSON_NULL) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "%s%s is missing", where, key);
    }
    if (v->type != RES_JSON_NUMBER || !v->whole) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "%s%s must be a whole number",
                                where, key);
    }
    *number = v->number;
    return TRUE;
}

/* "Mon, 30 Nov 2026 23:55:50 +0000"; 0 when it is not that. */
static gint64
parse_time_us(const char *text)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S %z", &tm);
    long offset = tm.tm_gmtoff; /* timegm forgets it */
    return end != NULL && *end == '\0' ? ((gint64)timegm(&tm) - offset) * G_USEC_PER_SEC : 0;
}

static gboolean
file_member(Json *j, const char *key, const ResJsonValue *v, GError **error)
{
    int known = find_key(file_keys, G_N_ELEMENTS(file_keys), key);
    switch (known) {
    case KEY_FILE_VERSION:
        return whole_value("", key, v, &j->file_version, error);
    case KEY_RETURN_CODE:
        return whole_value("", key, v, &j->return_code, error);
    case KEY_NUM_THREADS:
        return whole_value("", key, v, &j->num_threads, error);
    case KEY_RESOLUTION:
        return whole_value("", key, v, &j->resolution, error);
    case KEY_CMDLINE:
    case KEY_VERSION:
        if (v->type != RES_JSON_STRING || strlen(v->text) > CMDLINE_MAX) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "%s must be a string",
                                    file_keys[known]);
        }
        char **text = known == KEY_CMDLINE ? &j->c->cmdline : &j->c->version;
        g_free(*text);
        *text = g_strdup(v->text);
        return TRUE;
    case KEY_START:
    case KEY_END:
        *(known == KEY_START ? &j->c->started_us : &j->c->ended_us) =
            v->type == RES_JSON_STRING ? parse_time_us(v->text) : 0;
        return TRUE;
    case KEY_THREAD:
    case KEY_SYSINFO:
        return v->type == RES_JSON_OBJECT
                   ? TRUE
                   : res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "%s must be an object", key);
    default:
        return TRUE;
    }
}

static void
system_member(Json *j, const char *key, const ResJsonValue *v)
{
    static const char *const names[][2] = {{"release", "kernel.release"},
                                           {"version", "kernel.version"},
                                           {"realtime", "kernel.realtime"},
                                           {"machine", "machine.arch"},
                                           {"nodename", "machine.name"}};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        if (g_str_equal(key, names[i][0]) && v->text != NULL) {
            res_latency_env(j->c, names[i][1], v->text);
        }
    }
}

static gboolean
thread_member(Json *j, const char *key, const ResJsonValue *v, GError **error)
{
    ResLatencyThread *t = g_ptr_array_index(j->c->threads, j->current);
    g_autofree char *where = g_strdup_printf("thread %u: ", t->thread);
    gint64 cpu = -1;
    switch (find_key(thread_keys, G_N_ELEMENTS(thread_keys), key)) {
    case KEY_CYCLES:
        return whole_value(where, key, v, &thread_state(j)->cycles, error);
    case KEY_MIN:
        return whole_value(where, key, v, &t->min_ns, error);
    case KEY_MAX_:
        return whole_value(where, key, v, &t->max_ns, error);
    case KEY_AVG:
        t->mean_ns = v->real;
        return v->type == RES_JSON_NUMBER
                   ? TRUE
                   : res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                      "%savg is missing or not a number", where);
    case KEY_CPU:
        if (!whole_value(where, key, v, &cpu, error)) {
            return FALSE;
        }
        if (cpu < -1 || cpu > CPU_MAX) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "%scpu is out of range",
                                    where);
        }
        t->cpu = (int)cpu;
        return TRUE;
    case KEY_HISTOGRAM:
        return v->type == RES_JSON_OBJECT
                   ? TRUE
                   : res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                      "%shistogram must be an object", where);
    default:
        return TRUE;
    }
}

/* "16", or "0.100": us with three decimals, where oslat counts ns. */
static gboolean
parse_bucket(ThreadState *state, const char *key, gint64 *latency)
{
    const char *dot = strchr(key, '.');
    if (dot == NULL) {
        state->whole_keys++;
        return res_latency_number(key, latency);
    }
    g_autofree char *digits = g_strdup_printf("%.*s%s", (int)(dot - key), key, dot + 1);
    state->fraction_keys++;
    return strlen(dot + 1) == 3 && res_latency_number(digits, latency);
}

static gboolean
bucket_member(Json *j, const char *key, const ResJsonValue *v, GError **error)
{
    ResLatencyThread *t = g_ptr_array_index(j->c->threads, j->current);
    ThreadState *state = thread_state(j);
    gint64 latency = 0;
    if (!parse_bucket(state, key, &latency)) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "thread %u: histogram: \"%s\" is not a latency", t->thread, key);
    }
    if (v->type != RES_JSON_NUMBER || !v->whole || v->number < 0 ||
        (guint64)v->number > G_MAXINT64 - state->inside) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "thread %u: histogram: bucket \"%s\" has no proper count",
                                t->thread, key);
    }
    state->unsorted |= state->whole_keys + state->fraction_keys > 1 && latency <= state->last;
    state->last = latency;
    state->inside += (guint64)v->number;
    res_latency_add_bucket(j->c, t, latency, (guint64)v->number);
    return TRUE;
}

static gboolean
on_value(gpointer context, char *const *keys, unsigned int depth, const ResJsonValue *v,
         GError **error)
{
    Json *j = context;
    const char *key = keys[depth];
    if (depth == 1) {
        return file_member(j, key, v, error);
    }
    if (depth == 2 && g_str_equal(keys[1], "sysinfo")) {
        system_member(j, key, v);
    }
    if (!g_str_equal(keys[1], "thread")) {
        return TRUE;
    }
    if (depth == 2) {
        return v->type == RES_JSON_OBJECT ? TRUE
                                          : res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                                             "thread %s must be an object", key);
    }
    if (depth == 3) {
        return thread_member(j, key, v, error);
    }
    return depth != 4 || !g_str_equal(keys[3], "histogram") || bucket_member(j, key, v, error);
}

static gboolean
see(unsigned int *seen, int known, const char *key, GError **error)
{
    if (known >= 0 && (*seen & (1U << known)) != 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "key \"%s\" is there twice", key);
    }
    *seen |= known >= 0 ? 1U << known : 0;
    return TRUE;
}

/* In any order: tools that sort keys put "10" before "2". */
static gboolean
on_thread_key(Json *j, const char *key, GError **error)
{
    gint64 n = -1;
    if (!res_latency_number(key, &n) || n < 0 || n >= RES_LATENCY_THREADS_MAX) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "thread \"%s\": not a number of 0 to %d", key,
                                RES_LATENCY_THREADS_MAX - 1);
    }
    while (j->threads->len <= n) {
        ThreadState none = {0};
        res_latency_add_thread(j->c, "cyclictest");
        g_array_append_val(j->threads, none);
    }
    j->current = (guint)n;
    ThreadState *state = thread_state(j);
    if (state->present) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "key \"%s\" is there twice", key);
    }
    state->present = TRUE;
    j->present++;
    return TRUE;
}

static gboolean
on_key(gpointer context, char *const *keys, unsigned int depth, GError **error)
{
    Json *j = context;
    const char *key = keys[depth];
    if (depth == 1) {
        return see(&j->seen, find_key(file_keys, G_N_ELEMENTS(file_keys), key), key, error);
    }
    if (!g_str_equal(keys[1], "thread") || depth > 3) {
        return TRUE;
    }
    return depth == 2 ? on_thread_key(j, key, error)
                      : see(&thread_state(j)->seen,
                            find_key(thread_keys, G_N_ELEMENTS(thread_keys), key), key, error);
}

static int
compare_buckets(const void *a, const void *b)
{
    const ResLatencyBucket *x = a, *y = b;
    return (x->latency_ns > y->latency_ns) - (x->latency_ns < y->latency_ns);
}

static gboolean
finish_thread(Json *j, guint i, GError **error)
{
    ResLatencyThread *t = g_ptr_array_index(j->c->threads, i);
    ThreadState *state = &g_array_index(j->threads, ThreadState, i);
    gboolean oslat = g_str_equal(j->c->tool, "oslat");
    if (!state->present) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "thread %u is missing", i);
    }
    for (int key = KEY_CYCLES; key <= KEY_AVG; key++) {
        /* oslat counts in its histogram only */
        if ((state->seen & (1U << key)) == 0 && !(oslat && key == KEY_CYCLES)) {
            return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "thread %u: %s is missing",
                                    i, thread_keys[key]);
        }
    }
    if (state->fraction_keys > 0 && (!oslat || state->whole_keys > 0)) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "thread %u: histogram: a fraction is not a latency", i);
    }
    if (state->cycles < 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "thread %u: cycles is negative",
                                i);
    }
    t->series = j->c->tool;
    t->cycles = (state->seen & (1U << KEY_CYCLES)) != 0 ? (guint64)state->cycles : state->inside;
    if (state->unsorted) {
        g_array_sort(t->buckets, compare_buckets);
    }
    for (guint k = 1; state->unsorted && k < t->buckets->len; k++) {
        /* "1" and "01" are two keys, but one latency */
        if (compare_buckets(&g_array_index(t->buckets, ResLatencyBucket, k - 1),
                            &g_array_index(t->buckets, ResLatencyBucket, k)) == 0) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                    "thread %u: histogram has a bucket twice", i);
        }
    }
    /* The file has no word for what was beyond the histogram. Without -h the histogram is there,
     * but empty. */
    if ((j->args.histogram || t->buckets->len > 0) && t->cycles > state->inside) {
        t->overflows = t->cycles - state->inside;
    }
    return TRUE;
}

/*
 * cyclictest writes its use_nsecs here: 0 means us. Other tools leave the key out, and each has its
 * own unit. 0 is "not settled", with the reason in the notes.
 */
static gboolean
settle_unit(Json *j, gint64 *unit_ns, GError **error)
{
    gboolean cyclictest = g_str_equal(j->args.tool, "cyclictest");
    *unit_ns = 0;
    if ((j->seen & (1U << KEY_RESOLUTION)) != 0) {
        if (j->resolution != 0 && j->resolution != 1) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                    "resolution_in_ns is %" G_GINT64_FORMAT
                                    "; 0 (us) or 1 (ns) is right",
                                    j->resolution);
        }
        if (cyclictest && j->args.nsecs != (j->resolution == 1)) {
            res_latency_note(j->c,
                             "resolution_in_ns says %s, the command line says %s: the unit is "
                             "not known",
                             j->resolution == 1 ? "ns" : "us", j->args.nsecs ? "ns" : "us");
            return TRUE;
        }
        *unit_ns = j->resolution == 1 ? 1 : 1000;
        return TRUE;
    }
    if (cyclictest || g_str_equal(j->args.tool, "oslat")) {
        *unit_ns = cyclictest && j->args.nsecs ? 1 : 1000;
        return TRUE;
    }
    res_latency_note(j->c, "no resolution_in_ns, and the tool %s%s%s: the unit is not known",
                     j->args.known ? "\"" : "", j->args.known ? j->args.tool : "is not said",
                     j->args.known ? "\" is not one whose unit is known" : "");
    return TRUE;
}

static gboolean
check_head(const Json *j, GError **error)
{
    if (j->file_version != 1) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "file_version %" G_GINT64_FORMAT " is not known; 1 is",
                                j->file_version);
    }
    if (j->return_code != 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "the program failed with return_code %" G_GINT64_FORMAT,
                                j->return_code);
    }
    if ((j->seen & (1U << KEY_THREAD)) == 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "the object \"thread\" is missing");
    }
    if ((j->seen & (1U << KEY_NUM_THREADS)) == 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "num_threads is missing");
    }
    if (j->num_threads < 1 || j->num_threads > RES_LATENCY_THREADS_MAX) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "num_threads is out of range (1 to %d)", RES_LATENCY_THREADS_MAX);
    }
    if (j->present != (guint)j->num_threads) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "num_threads is %" G_GINT64_FORMAT ", but there are %u threads",
                                j->num_threads, j->present);
    }
    return TRUE;
}

static gboolean
finish(Json *j, GError **error)
{
    gint64 unit_ns = 0;
    gboolean fractions = FALSE;
    res_cyclictest_args_parse(&j->args, j->c->cmdline);
    gboolean oslat = g_str_equal(j->args.tool, "oslat");
    j->c->tool = oslat ? "oslat" : "cyclictest";
    if (!check_head(j, error)) {
        return FALSE;
    }
    for (guint i = 0; i < j->threads->len; i++) {
        if (!finish_thread(j, i, error)) {
            return FALSE;
        }
        fractions |= g_array_index(j->threads, ThreadState, i).fraction_keys > 0;
    }
    if (!settle_unit(j, &unit_ns, error)) {
        return FALSE;
    }
    if (oslat && unit_ns > 0) {
        return res_oslat_settle(j->c, fractions ? 1 : 1000, error);
    }
    return res_latency_check(j->c, error) &&
           (unit_ns == 0 || res_latency_scale(j->c, unit_ns, error)) &&
           (oslat || res_cyclictest_apply(j->c, &j->args, error));
}

ResLatency *
res_cyclictest_read_json(ResSource *source, GError **error)
{
    static const ResJsonHandler handler = {.key = on_key, .value = on_value};
    g_autoptr(ResLatency) c = res_latency_new("cyclictest");
    g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(ThreadState));
    Json j = {.c = c, .threads = threads, .file_version = 1};
    gboolean ok = res_json_stream(source, &handler, &j, error) && finish(&j, error);
    res_cyclictest_args_clear(&j.args);
    return ok ? g_steal_pointer(&c) : NULL;
}
