/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/latency.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "results/latency_private.h"

/* A wake-up later than that is no latency: a negative number that wrapped, or a clock that was set.
 */
#define LATENCY_MAX_NS (G_GINT64_CONSTANT(3600) * 1000 * 1000 * 1000)

GQuark
res_latency_error_quark(void)
{
    return g_quark_from_static_string("res-latency-error");
}

gboolean
res_latency_fail(GError **error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *valid = g_utf8_make_valid(what, -1); /* it may hold a line of the file */
    g_set_error_literal(error, RES_LATENCY_ERROR, code, valid);
    return FALSE;
}

static void
thread_free(ResLatencyThread *t)
{
    g_array_unref(t->buckets);
    g_free(t);
}

ResLatency *
res_latency_new(const char *tool)
{
    ResLatency *c = g_new0(ResLatency, 1);
    c->tool = tool;
    c->threads = g_ptr_array_new_with_free_func((GDestroyNotify)thread_free);
    c->environment = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    c->notes = g_ptr_array_new_with_free_func(g_free);
    c->cmdline = g_strdup("");
    c->version = g_strdup("");
    c->resolution_ns = 1;
    return c;
}

void
res_latency_free(ResLatency *c)
{
    if (c == NULL) {
        return;
    }
    g_ptr_array_unref(c->threads);
    g_hash_table_unref(c->environment);
    g_ptr_array_unref(c->notes);
    g_free(c->cmdline);
    g_free(c->version);
    g_free(c);
}

ResLatencyThread *
res_latency_add_thread(ResLatency *c, const char *series)
{
    ResLatencyThread *t = g_new0(ResLatencyThread, 1);
    t->series = series;
    t->thread = c->threads->len;
    t->cpu = -1;
    t->priority = -1;
    t->interval_us = -1;
    t->buckets = g_array_new(FALSE, FALSE, sizeof(ResLatencyBucket));
    g_ptr_array_add(c->threads, t);
    return t;
}

void
res_latency_drop_buckets(ResLatency *c)
{
    c->buckets_dropped = TRUE;
    for (guint i = 0; i < c->threads->len; i++) {
        ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        g_array_unref(t->buckets);
        t->buckets = g_array_new(FALSE, FALSE, sizeof(ResLatencyBucket));
        t->overflows = 0;
    }
    res_latency_note(c, "the histogram has more than %d buckets: no quantile is taken from it",
                     RES_LATENCY_BUCKETS_MAX);
}

void
res_latency_add_bucket(ResLatency *c, ResLatencyThread *t, gint64 latency, guint64 count)
{
    ResLatencyBucket bucket = {.latency_ns = latency, .count = count};
    if (count == 0 || c->buckets_dropped) {
        return;
    }
    if (++c->buckets > RES_LATENCY_BUCKETS_MAX) {
        res_latency_drop_buckets(c);
        return;
    }
    g_array_append_val(t->buckets, bucket);
}

void
res_latency_env(ResLatency *c, const char *key, const char *value)
{
    g_autofree char *valid = g_strstrip(g_utf8_make_valid(value, -1));
    if (valid[0] != '\0') {
        g_hash_table_replace(c->environment, g_strdup(key), g_steal_pointer(&valid));
    }
}

gboolean
res_latency_number(const char *word, gint64 *value)
{
    const char *digits = word + (word[0] == '-');
    gsize n = strspn(digits, "0123456789");
    if (n == 0 || digits[n] != '\0') {
        return FALSE;
    }
    guint64 wide = 0;
    if (!g_ascii_string_to_signed(word, 10, G_MININT64, G_MAXINT64, value, NULL)) {
        /* as the 64 bits of a negative number, which it most probably was */
        gboolean fits = g_ascii_string_to_unsigned(word, 10, 0, G_MAXUINT64, &wide, NULL);
        *value = fits ? (gint64)wide : word[0] == '-' ? G_MININT64 : G_MAXINT64;
    }
    return TRUE;
}

void
res_latency_note(ResLatency *c, const char *format, ...)
{
    if (c->notes->len > RES_LATENCY_NOTES_MAX) {
        return;
    }
    if (c->notes->len == RES_LATENCY_NOTES_MAX) {
        g_ptr_array_add(c->notes, g_strdup("more remarks were left out"));
        return;
    }
    va_list args;
    va_start(args, format);
    g_autofree char *note = g_strdup_vprintf(format, args);
    va_end(args);
    g_ptr_array_add(c->notes, g_utf8_make_valid(note, -1));
}

static gboolean
clock_fail(const ResLatencyThread *t, const char *what, gint64 value, GError **error)
{
    g_autofree char *cpu =
        t->cpu >= 0 ? g_strdup_printf("CPU %d", t->cpu) : g_strdup("CPU not said");
    return res_latency_fail(error, RES_LATENCY_ERROR_CLOCK,
                            "thread %u (%s): %s %" G_GINT64_FORMAT
                            " is negative or wrapped: the clock ran backwards or was set",
                            t->thread, cpu, what, value);
}

static gboolean
plausible(gint64 latency)
{
    return latency >= 0 && latency <= LATENCY_MAX_NS;
}

static gboolean
check_buckets(const ResLatencyThread *t, GError **error)
{
    guint64 sum = t->overflows;
    for (guint i = 0; i < t->buckets->len; i++) {
        const ResLatencyBucket *b = &g_array_index(t->buckets, ResLatencyBucket, i);
        if (!plausible(b->latency_ns)) {
            return clock_fail(t, "the histogram's bucket", b->latency_ns, error);
        }
        if (b->count > G_MAXINT64 || sum > G_MAXINT64 - b->count) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                    "thread %u: the histogram's counts are out of range",
                                    t->thread);
        }
        sum += b->count;
    }
    if (sum > t->cycles) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "thread %u: the histogram holds %" G_GUINT64_FORMAT
                                " samples, more than the %" G_GUINT64_FORMAT " cycles",
                                t->thread, sum, t->cycles);
    }
    return TRUE;
}

static gboolean
check_thread(const ResLatencyThread *t, double slack, GError **error)
{
    if (t->cycles == 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "thread %u took no sample",
                                t->thread);
    }
    if (!plausible(t->min_ns)) {
        return clock_fail(t, "the minimum", t->min_ns, error);
    }
    if (!plausible(t->max_ns)) {
        return clock_fail(t, "the maximum", t->max_ns, error);
    }
    if (!t->mean_doubtful && (!isfinite(t->mean_ns) || t->mean_ns < 0)) {
        return clock_fail(t, "the mean",
                          isfinite(t->mean_ns) ? (gint64)MAX(t->mean_ns, -1e18) : G_MAXINT64,
                          error);
    }
    gboolean outside = !t->mean_doubtful && (t->mean_ns < (double)t->min_ns - slack ||
                                             t->mean_ns > (double)t->max_ns + slack);
    if (t->min_ns > t->max_ns || outside) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "thread %u: min %" G_GINT64_FORMAT ", avg %.2f and max "
                                "%" G_GINT64_FORMAT " are not in order",
                                t->thread, t->min_ns, t->mean_ns, t->max_ns);
    }
    return check_buckets(t, error);
}

gboolean
res_latency_check(const ResLatency *c, GError **error)
{
    if (c->threads->len == 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "there are no figures");
    }
    for (guint i = 0; i < c->threads->len; i++) {
        /* means come truncated, or rounded to 0.01 of a unit */
        double slack = 0.01 * (double)c->resolution_ns;
        if (!check_thread(g_ptr_array_index(c->threads, i), slack, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
res_latency_scale(ResLatency *c, gint64 resolution_ns, GError **error)
{
    /* first, or what is no latency overflows */
    if (!res_latency_check(c, error)) {
        return FALSE;
    }
    for (guint i = 0; i < c->threads->len; i++) {
        ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        t->min_ns *= resolution_ns;
        t->max_ns *= resolution_ns;
        t->mean_ns *= (double)resolution_ns;
        for (guint k = 0; k < t->buckets->len; k++) {
            g_array_index(t->buckets, ResLatencyBucket, k).latency_ns *= resolution_ns;
        }
    }
    c->break_value_ns *= resolution_ns;
    c->resolution_ns = resolution_ns;
    c->unit_known = TRUE;
    return res_latency_check(c, error);
}

void
res_latency_overall(const ResLatency *c, gint64 *min_ns, double *mean_ns, gint64 *max_ns,
                    guint64 *cycles)
{
    *min_ns = *max_ns = 0;
    *cycles = 0;
    double sum = 0, samples = 0;
    for (guint i = 0; i < c->threads->len; i++) {
        const ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        *min_ns = i == 0 ? t->min_ns : MIN(*min_ns, t->min_ns);
        *max_ns = MAX(*max_ns, t->max_ns);
        *cycles += t->cycles;
        sum += t->mean_ns * (double)t->cycles;
        samples += (double)t->cycles;
    }
    *mean_ns = samples > 0 ? sum / samples : 0;
}

gboolean
res_latency_quantile(const ResLatencyThread *thread, double q, gint64 *latency_ns)
{
    guint64 total = thread->overflows, seen = 0;
    *latency_ns = 0;
    for (guint i = 0; i < thread->buckets->len; i++) {
        total += g_array_index(thread->buckets, ResLatencyBucket, i).count;
    }
    if (!(q > 0) || q > 1 || total == 0) {
        return FALSE;
    }
    for (guint i = 0; i < thread->buckets->len; i++) {
        const ResLatencyBucket *b = &g_array_index(thread->buckets, ResLatencyBucket, i);
        seen += b->count;
        *latency_ns = b->latency_ns;
        if ((double)seen >= q * (double)total) {
            return TRUE;
        }
    }
    return FALSE;
}
