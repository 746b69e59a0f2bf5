/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/cyclictest.h"

#include <string.h>

#include "results/cyclictest_private.h"
#include "results/text.h"

/* JSON has no word for a run that -b stopped, and cyclictest exits with 0 even so. But it compares
 * with the same figures it prints: a maximum above the threshold is the proof. */
static void
apply_break(ResLatency *c, gint64 break_raw, guint64 cycles, gint64 loops)
{
    gint64 min, max;
    double mean;
    guint64 all;
    res_latency_overall(c, &min, &mean, &max, &all);
    gboolean hit = max / c->resolution_ns > break_raw;
    if (c->broken) {
        return; /* the text said so itself */
    }
    if (hit) {
        c->broken = TRUE;
        c->break_value_ns = c->break_value_ns > 0 ? c->break_value_ns : max;
        res_latency_note(c,
                         "stopped by the threshold -b %" G_GINT64_FORMAT " at %" G_GINT64_FORMAT
                         " ns: not a clean run",
                         break_raw, c->break_value_ns);
    } else if (loops > 0 && cycles < (guint64)loops) {
        c->broken = TRUE;
        res_latency_note(c,
                         "-b %" G_GINT64_FORMAT " was on and only %" G_GUINT64_FORMAT
                         " of %" G_GINT64_FORMAT " loops ran: stopped early",
                         break_raw, cycles, loops);
    }
}

static void
note_shared_cpus(ResLatency *c)
{
    g_autoptr(GHashTable) threads = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < c->threads->len; i++) {
        ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        ResLatencyThread *other = g_hash_table_lookup(threads, GINT_TO_POINTER(t->cpu));
        if (t->cpu >= 0 && other != NULL) {
            res_latency_note(c, "threads %u and %u both ran on CPU %d", other->thread, t->thread,
                             t->cpu);
        }
        g_hash_table_insert(threads, GINT_TO_POINTER(t->cpu), t);
    }
}

gboolean
res_cyclictest_apply(ResLatency *c, const ResCyclictestArgs *args, GError **error)
{
    guint64 cycles = 0;
    for (guint i = 0; i < c->threads->len; i++) {
        const ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        cycles = MAX(cycles, t->cycles);
        if (args->priority >= 0 && t->priority >= 0 && i == 0 && args->priority != t->priority) {
            res_latency_note(c, "asked for priority %" G_GINT64_FORMAT ", ran with %d",
                             args->priority, t->priority);
        }
    }
    note_shared_cpus(c);
    if (args->histogram_empty) {
        res_latency_note(c, "-h came without a value: there is no histogram");
    }
    if (args->break_raw > 0) {
        apply_break(c, args->break_raw, cycles, args->loops);
    }
    /* the first thread to reach -l ends the run, so one of them has all */
    if (!c->broken && args->loops > 0 && cycles < (guint64)args->loops) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "%" G_GUINT64_FORMAT " of %" G_GINT64_FORMAT
                                " loops ran: stopped early",
                                cycles, args->loops);
    }
    return TRUE;
}

ResLatency *
res_cyclictest_parse(const char *text, gsize len, GError **error)
{
    g_autoptr(ResLatency) c = NULL;
    g_autoptr(GError) failed = NULL;
    gsize start = 0;
    while (start < len && g_ascii_isspace(text[start])) {
        start++;
    }
    if (len > RES_CYCLICTEST_MAX) {
        res_latency_fail(&failed, RES_LATENCY_ERROR_FORMAT,
                         "%" G_GSIZE_FORMAT " bytes, more than the %d read here", len,
                         RES_CYCLICTEST_MAX);
    } else if (start == len) {
        res_latency_fail(&failed, RES_LATENCY_ERROR_INCOMPLETE, "empty");
    } else {
        g_autoptr(ResSource) source = res_source_from_memory(text, len);
        if (text[start] != '{') {
            return res_text_read(source, &res_cyclictest_text, NULL, error);
        }
        c = res_cyclictest_read_json(source, &failed);
    }
    if (c == NULL) {
        g_propagate_prefixed_error(error, g_steal_pointer(&failed), "cyclictest's output: ");
    }
    return g_steal_pointer(&c);
}

gboolean
res_cyclictest_set_cmdline_raw(ResLatency *c, const char *cmdline, GError **error)
{
    g_auto(ResCyclictestArgs) args = {0};
    res_cyclictest_args_parse(&args, cmdline);
    gint64 resolution_ns = args.nsecs ? 1 : 1000;
    if (c->cmdline[0] != '\0') {
        return !c->unit_known || c->resolution_ns == resolution_ns
                   ? TRUE
                   : res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                      "its unit is %" G_GINT64_FORMAT
                                      " ns, but the command line given says %" G_GINT64_FORMAT,
                                      c->resolution_ns, resolution_ns);
    }
    g_free(c->cmdline);
    c->cmdline = g_strdup(cmdline);
    guint at = 0;
    if (g_ptr_array_find_with_equal_func(c->notes, RES_CYCLICTEST_NOTE_UNIT, g_str_equal, &at)) {
        g_ptr_array_remove_index(c->notes, at);
    }
    return (c->unit_known || res_latency_scale(c, resolution_ns, error)) &&
           res_cyclictest_apply(c, &args, error);
}

gboolean
res_cyclictest_set_cmdline(ResLatency *c, const char *cmdline, GError **error)
{
    g_autoptr(GError) failed = NULL;
    if (res_cyclictest_set_cmdline_raw(c, cmdline, &failed)) {
        return TRUE;
    }
    g_propagate_prefixed_error(error, g_steal_pointer(&failed), "cyclictest's output: ");
    return FALSE;
}
