/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/cyclictest.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "results/cyclictest_private.h"

/* A wake-up later than that is no latency: a negative number that wrapped, or a clock that was set.
 */
#define LATENCY_MAX_NS (G_GINT64_CONSTANT(3600) * 1000 * 1000 * 1000)

GQuark
res_cyclictest_error_quark(void)
{
    return g_quark_from_static_string("res-cyclictest-error");
}

gboolean
res_cyclictest_fail(GError **error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, RES_CYCLICTEST_ERROR, code, "cyclictest's output: %s", what);
    return FALSE;
}

static void
thread_free(ResCyclictestThread *t)
{
    g_array_unref(t->buckets);
    g_free(t);
}

ResCyclictest *
res_cyclictest_new(void)
{
    ResCyclictest *c = g_new0(ResCyclictest, 1);
    c->threads = g_ptr_array_new_with_free_func((GDestroyNotify)thread_free);
    c->notes = g_ptr_array_new_with_free_func(g_free);
    c->cmdline = g_strdup("");
    c->version = g_strdup("");
    c->resolution_ns = 1;
    return c;
}

void
res_cyclictest_free(ResCyclictest *c)
{
    if (c == NULL) {
        return;
    }
    g_ptr_array_unref(c->threads);
    g_ptr_array_unref(c->notes);
    g_free(c->cmdline);
    g_free(c->version);
    g_free(c);
}

ResCyclictestThread *
res_cyclictest_add_thread(ResCyclictest *c)
{
    ResCyclictestThread *t = g_new0(ResCyclictestThread, 1);
    t->thread = c->threads->len;
    t->cpu = -1;
    t->priority = -1;
    t->interval_us = -1;
    t->buckets = g_array_new(FALSE, FALSE, sizeof(ResCyclictestBucket));
    g_ptr_array_add(c->threads, t);
    return t;
}

void
res_cyclictest_note(ResCyclictest *c, const char *format, ...)
{
    if (c->notes->len > RES_CYCLICTEST_NOTES_MAX) {
        return;
    }
    if (c->notes->len == RES_CYCLICTEST_NOTES_MAX) {
        g_ptr_array_add(c->notes, g_strdup("more remarks were left out"));
        return;
    }
    va_list args;
    va_start(args, format);
    g_ptr_array_add(c->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

static gboolean
clock_fail(const ResCyclictestThread *t, const char *what, gint64 value, GError **error)
{
    g_autofree char *cpu =
        t->cpu >= 0 ? g_strdup_printf("CPU %d", t->cpu) : g_strdup("CPU not said");
    return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_CLOCK,
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
check_buckets(const ResCyclictestThread *t, GError **error)
{
    guint64 sum = t->overflows;
    for (guint i = 0; i < t->buckets->len; i++) {
        const ResCyclictestBucket *b = &g_array_index(t->buckets, ResCyclictestBucket, i);
        if (!plausible(b->latency_ns)) {
            return clock_fail(t, "the histogram's bucket", b->latency_ns, error);
        }
        if (b->count > G_MAXINT64 || sum > G_MAXINT64 - b->count) {
            return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                       "thread %u: the histogram's counts are out of range",
                                       t->thread);
        }
        sum += b->count;
    }
    if (sum > t->cycles) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                   "thread %u: the histogram holds %" G_GUINT64_FORMAT
                                   " samples, more than the %" G_GUINT64_FORMAT " cycles",
                                   t->thread, sum, t->cycles);
    }
    return TRUE;
}

static gboolean
check_thread(const ResCyclictestThread *t, double slack, GError **error)
{
    if (t->cycles == 0) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                   "thread %u took no sample", t->thread);
    }
    if (!plausible(t->min_ns)) {
        return clock_fail(t, "the minimum", t->min_ns, error);
    }
    if (!plausible(t->max_ns)) {
        return clock_fail(t, "the maximum", t->max_ns, error);
    }
    if (!isfinite(t->mean_ns) || t->mean_ns < 0) {
        return clock_fail(t, "the mean", (gint64)CLAMP(t->mean_ns, -1e18, -1), error);
    }
    if (t->min_ns > t->max_ns || t->mean_ns < (double)t->min_ns - slack ||
        t->mean_ns > (double)t->max_ns + slack) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                   "thread %u: min %" G_GINT64_FORMAT ", avg %.2f and max "
                                   "%" G_GINT64_FORMAT " are not in order",
                                   t->thread, t->min_ns, t->mean_ns, t->max_ns);
    }
    return check_buckets(t, error);
}

gboolean
res_cyclictest_check(const ResCyclictest *c, GError **error)
{
    if (c->threads->len == 0) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                   "neither T: lines nor a histogram's figures");
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
res_cyclictest_scale(ResCyclictest *c, gint64 resolution_ns, GError **error)
{
    for (guint i = 0; i < c->threads->len; i++) {
        ResCyclictestThread *t = g_ptr_array_index(c->threads, i);
        t->min_ns *= resolution_ns;
        t->max_ns *= resolution_ns;
        t->mean_ns *= (double)resolution_ns;
        for (guint k = 0; k < t->buckets->len; k++) {
            g_array_index(t->buckets, ResCyclictestBucket, k).latency_ns *= resolution_ns;
        }
    }
    c->break_value_ns *= resolution_ns;
    c->resolution_ns = resolution_ns;
    c->unit_known = TRUE;
    return res_cyclictest_check(c, error);
}

/* JSON has no word for a run that -b stopped, and cyclictest exits with 0 even so. But it compares
 * with the same figures it prints: a maximum above the threshold is the proof. */
static void
apply_break(ResCyclictest *c, gint64 break_raw, guint64 cycles, gint64 loops)
{
    gint64 min, max;
    double mean;
    guint64 all;
    res_cyclictest_overall(c, &min, &mean, &max, &all);
    gboolean hit = max / c->resolution_ns > break_raw;
    if (c->broken) {
        return; /* the text said so itself */
    }
    if (hit) {
        c->broken = TRUE;
        c->break_value_ns = c->break_value_ns > 0 ? c->break_value_ns : max;
        res_cyclictest_note(c,
                            "stopped by the threshold -b %" G_GINT64_FORMAT " at %" G_GINT64_FORMAT
                            " ns: not a clean run",
                            break_raw, c->break_value_ns);
    } else if (loops > 0 && cycles < (guint64)loops) {
        c->broken = TRUE;
        res_cyclictest_note(c,
                            "-b %" G_GINT64_FORMAT " was on and only %" G_GUINT64_FORMAT
                            " of %" G_GINT64_FORMAT " loops ran: stopped early",
                            break_raw, cycles, loops);
    }
}

static void
note_shared_cpus(ResCyclictest *c)
{
    g_autoptr(GHashTable) threads = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < c->threads->len; i++) {
        ResCyclictestThread *t = g_ptr_array_index(c->threads, i);
        ResCyclictestThread *other = g_hash_table_lookup(threads, GINT_TO_POINTER(t->cpu));
        if (t->cpu >= 0 && other != NULL) {
            res_cyclictest_note(c, "threads %u and %u both ran on CPU %d", other->thread, t->thread,
                                t->cpu);
        }
        g_hash_table_insert(threads, GINT_TO_POINTER(t->cpu), t);
    }
}

gboolean
res_cyclictest_apply(ResCyclictest *c, const ResCyclictestArgs *args, GError **error)
{
    guint64 cycles = 0;
    for (guint i = 0; i < c->threads->len; i++) {
        const ResCyclictestThread *t = g_ptr_array_index(c->threads, i);
        cycles = MAX(cycles, t->cycles);
        if (args->priority >= 0 && t->priority >= 0 && i == 0 && args->priority != t->priority) {
            res_cyclictest_note(c, "asked for priority %" G_GINT64_FORMAT ", ran with %d",
                                args->priority, t->priority);
        }
    }
    note_shared_cpus(c);
    if (args->histogram_empty) {
        res_cyclictest_note(c, "-h came without a value: there is no histogram");
    }
    if (args->break_raw > 0) {
        apply_break(c, args->break_raw, cycles, args->loops);
    }
    /* the first thread to reach -l ends the run, so one of them has all */
    if (!c->broken && args->loops > 0 && cycles < (guint64)args->loops) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                   "%" G_GUINT64_FORMAT " of %" G_GINT64_FORMAT
                                   " loops ran: stopped early",
                                   cycles, args->loops);
    }
    return TRUE;
}

ResCyclictest *
res_cyclictest_parse(const char *text, gsize len, GError **error)
{
    if (len > RES_CYCLICTEST_MAX) {
        res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                            "%" G_GSIZE_FORMAT " bytes, more than the %d read here", len,
                            RES_CYCLICTEST_MAX);
        return NULL;
    }
    gsize start = 0;
    while (start < len && g_ascii_isspace(text[start])) {
        start++;
    }
    if (start == len) {
        res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE, "empty");
        return NULL;
    }
    return text[start] == '{' ? res_cyclictest_parse_json(text, len, error)
                              : res_cyclictest_parse_text(text, len, error);
}

gboolean
res_cyclictest_set_cmdline(ResCyclictest *c, const char *cmdline, GError **error)
{
    g_auto(ResCyclictestArgs) args = {0};
    res_cyclictest_args_parse(&args, cmdline);
    gint64 resolution_ns = args.nsecs ? 1 : 1000;
    if (c->cmdline[0] != '\0') {
        return !c->unit_known || c->resolution_ns == resolution_ns
                   ? TRUE
                   : res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                         "its unit is %" G_GINT64_FORMAT
                                         " ns, but the command line "
                                         "given says %" G_GINT64_FORMAT,
                                         c->resolution_ns, resolution_ns);
    }
    g_free(c->cmdline);
    c->cmdline = g_strdup(cmdline);
    guint at = 0;
    if (g_ptr_array_find_with_equal_func(c->notes, RES_CYCLICTEST_NOTE_UNIT, g_str_equal, &at)) {
        g_ptr_array_remove_index(c->notes, at);
    }
    return (c->unit_known || res_cyclictest_scale(c, resolution_ns, error)) &&
           res_cyclictest_apply(c, &args, error);
}

void
res_cyclictest_overall(const ResCyclictest *c, gint64 *min_ns, double *mean_ns, gint64 *max_ns,
                       guint64 *cycles)
{
    *min_ns = *max_ns = 0;
    *cycles = 0;
    double sum = 0, samples = 0;
    for (guint i = 0; i < c->threads->len; i++) {
        const ResCyclictestThread *t = g_ptr_array_index(c->threads, i);
        *min_ns = i == 0 ? t->min_ns : MIN(*min_ns, t->min_ns);
        *max_ns = MAX(*max_ns, t->max_ns);
        *cycles += t->cycles;
        sum += t->mean_ns * (double)t->cycles;
        samples += (double)t->cycles;
    }
    *mean_ns = samples > 0 ? sum / samples : 0;
}

gboolean
res_cyclictest_quantile(const ResCyclictestThread *thread, double q, gint64 *latency_ns)
{
    guint64 total = thread->overflows, seen = 0;
    *latency_ns = 0;
    for (guint i = 0; i < thread->buckets->len; i++) {
        total += g_array_index(thread->buckets, ResCyclictestBucket, i).count;
    }
    if (!(q > 0) || q > 1 || total == 0) {
        return FALSE;
    }
    for (guint i = 0; i < thread->buckets->len; i++) {
        const ResCyclictestBucket *b = &g_array_index(thread->buckets, ResCyclictestBucket, i);
        seen += b->count;
        *latency_ns = b->latency_ns;
        if ((double)seen >= q * (double)total) {
            return TRUE;
        }
    }
    return FALSE;
}
