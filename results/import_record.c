/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/import.h"

#include <math.h>
#include <string.h>

#include "results/latency_private.h"

/* With fewer samples beyond it a quantile is no more than one of the largest values. */
#define QUANTILE_SAMPLES_BEYOND 5

static void note(ResRecord *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void
note(ResRecord *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(r->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

static void
set_text(char **field, const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    g_free(*field);
    *field = valid;
}

static void
fail(ResRecord *r, ResOutcome outcome, const char *detail, const char *message)
{
    if (r->outcome == RES_OUTCOME_DONE) {
        r->outcome = outcome;
        set_text(&r->detail, detail);
        set_text(&r->message, message);
    }
    g_ptr_array_set_size(r->metrics, 0);
}

typedef struct {
    ResRecord *record;
    const char *series, *unit, *evidence;
    GPtrArray *threads; /* of the series; borrowed */
    gint64 min, max;
    double mean; /* weighted by samples; NaN: one of them can't be right */
    guint64 cycles;
} Series;

static ResMetric *
add_metric(const Series *s, const char *what, ResDirection direction, double value, double min,
           double max, guint64 samples)
{
    g_autofree char *name = g_strdup_printf("%s.%s", s->series, what);
    ResRecord *r = s->record;
    /* in a box nothing that lasts means anything */
    ResFidelity fidelity =
        r->fidelity == RES_FIDELITY_EVENTS ? RES_FIDELITY_FUNCTIONAL : r->fidelity;
    ResMetric *m =
        res_metric_new(name, s->unit, direction, fidelity, value, min, max, samples, s->evidence);
    g_ptr_array_add(r->metrics, m);
    return m;
}

/* The worst of the threads: a partition is as good as its worst CPU. Beyond the end of a histogram
 * nothing is known but that it is beyond. */
static void
add_quantiles(const Series *s)
{
    static const double quantiles[] = {0.5, 0.99, 0.999, 0.9999, 0.99999, 0.999999};
    for (gsize k = 0; k < G_N_ELEMENTS(quantiles); k++) {
        gint64 worst = 0;
        gboolean censored = FALSE, histogram = TRUE;
        for (guint i = 0; i < s->threads->len; i++) {
            const ResLatencyThread *t = g_ptr_array_index(s->threads, i);
            gint64 at = 0;
            censored |= !res_latency_quantile(t, quantiles[k], &at);
            histogram &= t->buckets->len > 0 || t->overflows > 0;
            worst = MAX(worst, at);
        }
        if (!histogram ||
            (double)s->cycles / s->threads->len * (1 - quantiles[k]) < QUANTILE_SAMPLES_BEYOND) {
            return;
        }
        /* buckets have edges: a quantile is no larger than the largest and no less than the least
         */
        worst = CLAMP(worst, s->min, s->max);
        g_autofree char *name = res_hist_quantile_name(quantiles[k]);
        add_metric(s, name, RES_LOWER_IS_BETTER, (double)worst, (double)s->min, (double)s->max,
                   s->cycles)
            ->censored = censored;
        if (censored) {
            note(s->record, "%s.%s lies beyond the histogram", s->series, name);
        }
    }
}

/* Of each CPU its maximum, as evidence: it has no direction, or many CPUs would be many verdicts.
 */
static void
add_cpus(const Series *s)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; s->threads->len > 1 && i < s->threads->len; i++) {
        const ResLatencyThread *t = g_ptr_array_index(s->threads, i);
        gboolean cpu = t->cpu >= 0 && g_hash_table_add(seen, GINT_TO_POINTER(t->cpu));
        g_autofree char *name =
            cpu ? g_strdup_printf("max.cpu%d", t->cpu) : g_strdup_printf("max.thread%u", t->thread);
        add_metric(s, name, RES_NO_DIRECTION, (double)t->max_ns, (double)t->min_ns,
                   (double)t->max_ns, t->cycles);
    }
}

/* SERIES-hist.json, when every thread has a histogram. */
static gboolean
keep_histograms(const Series *s, GHashTable *files, GError **error)
{
    g_autoptr(GPtrArray) hists = g_ptr_array_new_with_free_func((GDestroyNotify)res_hist_free);
    g_autofree char *name = g_strconcat(s->series, RES_HIST_SUFFIX, NULL);
    for (guint i = 0; i < s->threads->len; i++) {
        const ResLatencyThread *t = g_ptr_array_index(s->threads, i);
        ResHist *h = t->buckets->len > 0 ? res_latency_hist(t, s->unit, 0, error) : NULL;
        if (h == NULL) {
            return t->buckets->len == 0;
        }
        g_ptr_array_add(hists, h);
    }
    char *text = hists->len <= RES_HIST_FILE_MAX ? res_hist_to_json(hists) : NULL;
    if (text == NULL || strlen(text) > RES_HIST_BYTES_MAX) {
        g_free(text);
        note(s->record, "%s: its histograms are too large to be kept apart", s->series);
        return TRUE;
    }
    g_ptr_array_add(s->record->evidence, g_strdup(name));
    g_hash_table_insert(files, g_strdup(name), g_bytes_new_take(text, strlen(text)));
    return TRUE;
}

static gboolean
add_series(ResRecord *r, const ResLatency *c, const char *series, const char *evidence,
           GHashTable *files, GError **error)
{
    g_autoptr(GPtrArray) threads = g_ptr_array_new();
    Series s = {.record = r,
                .series = series,
                .unit = r->fidelity == RES_FIDELITY_INSTRUCTIONS ? "insns" : "ns",
                .evidence = evidence,
                .threads = threads,
                .min = G_MAXINT64};
    double sum = 0;
    for (guint i = 0; i < c->threads->len; i++) {
        ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        if (g_str_equal(t->series, series)) {
            g_ptr_array_add(threads, t);
            s.min = MIN(s.min, t->min_ns);
            s.max = MAX(s.max, t->max_ns);
            s.cycles += t->cycles;
            sum += t->mean_doubtful ? NAN : t->mean_ns * (double)t->cycles;
        }
    }
    s.mean = sum / (double)s.cycles;
    double min = (double)s.min, max = (double)s.max;
    add_metric(&s, "min", RES_LOWER_IS_BETTER, min, min, min, s.cycles);
    if (isfinite(s.mean)) {
        add_metric(&s, "mean", RES_LOWER_IS_BETTER, s.mean, min, max, s.cycles);
    }
    add_metric(&s, "max", RES_LOWER_IS_BETTER, max, max, max, s.cycles);
    add_quantiles(&s);
    add_cpus(&s);
    return keep_histograms(&s, files, error);
}

static gboolean
add_metrics(ResRecord *r, const ResLatency *c, const char *evidence, GHashTable *files,
            GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < c->threads->len; i++) {
        const ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        if (g_hash_table_add(seen, (gpointer)t->series) &&
            !add_series(r, c, t->series, evidence, files, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
merge_environment(ResRecord *r, GHashTable *declared, GError **error)
{
    GHashTableIter iter;
    gpointer key, value;
    if (declared == NULL) {
        return TRUE;
    }
    g_hash_table_iter_init(&iter, declared);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const char *said = g_hash_table_lookup(r->environment, key);
        if (said != NULL && !g_str_equal(said, value)) {
            g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        "declared is %s=%s, but the file itself says %s", (char *)key,
                        (char *)value, said);
            return FALSE;
        }
        if (said == NULL) {
            g_hash_table_insert(r->environment, g_strdup(key), g_utf8_make_valid(value, -1));
            note(r, "declared at import, not in the file: %s=%s", (char *)key, (char *)value);
        }
    }
    return TRUE;
}

static void
take_facts(ResRecord *r, const ResLatency *c)
{
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, c->environment);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        g_hash_table_insert(r->environment, g_strdup(key), g_strdup(value));
    }
    if (c->version[0] != '\0') {
        const char *name = g_str_equal(c->tool, "rteval") ? "rteval.version" : "rt-tests.version";
        g_hash_table_insert(r->environment, g_strdup(name), g_utf8_make_valid(c->version, -1));
    }
    if (c->cmdline[0] != '\0') {
        g_hash_table_insert(r->parameters, g_strdup("command"), g_utf8_make_valid(c->cmdline, -1));
    }
    g_hash_table_insert(r->parameters, g_strdup("threads"), g_strdup_printf("%u", c->threads->len));
    if (c->started_us > 0 && c->ended_us >= c->started_us) {
        r->started_us = c->started_us;
        r->ended_us = c->ended_us;
    } else {
        note(r, "the file does not say when it ran: the record has the time of its import");
    }
    for (guint i = 0; i < c->notes->len; i++) {
        g_ptr_array_add(r->notes, g_utf8_make_valid(g_ptr_array_index(c->notes, i), -1));
    }
}

/* What stands between figures and metrics. */
static gboolean
judge(ResRecord *r, const ResLatency *c, const char *evidence, GHashTable *files, GError **error)
{
    static const char *const bad_clocks[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", NULL};
    const char *clock = g_hash_table_lookup(r->environment, "clocksource");
    if (clock != NULL && g_strv_contains(bad_clocks, clock)) {
        g_autofree char *what = g_strdup_printf("the clocksource was %s: its latencies are void. "
                                                "Measure with tsc or kvm-clock",
                                                clock);
        fail(r, RES_OUTCOME_CLOCK, "clocksource", what);
    } else if (c->broken) {
        fail(r, RES_OUTCOME_INCOMPLETE, "threshold",
             "stopped by its threshold (the notes tell where): not a clean run. Measure again "
             "without one");
    } else if (!c->unit_known) {
        fail(r, RES_OUTCOME_INCOMPLETE, "unit",
             "the unit of its figures is not known, and is not guessed. Import it with --command "
             "and the command line that was run (-N makes cyclictest print ns)");
    } else {
        return add_metrics(r, c, evidence, files, error);
    }
    return TRUE;
}

static void
note_origin(ResRecord *r, const char *path, guint64 size, const char *sha256, const char *kept)
{
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    g_autofree char *shown = g_utf8_make_valid(absolute, -1);
    note(r, "imported from %s, %" G_GUINT64_FORMAT " bytes, SHA-256 %s; %s", shown, size, sha256,
         kept);
    note(r, "one run of the tool; that it had a boot of its own is not known");
}

/* "json", "xml" or "txt", before anything is read. */
static const char *
kind_of(ResSource *source)
{
    gsize len = 0, start = 0;
    const char *head = res_source_head(source, &len, NULL);
    while (head != NULL && start < len && g_ascii_isspace(head[start])) {
        start++;
    }
    char first = head != NULL && start < len ? head[start] : '\0';
    return first == '{' ? "json" : first == '<' ? "xml" : "txt";
}

/* Keeps the original, or what stands for it, in the run's folder; its name there, to g_free. */
static char *
keep_original(ResRecord *r, ResSource *source, const char *path, const char *kind,
              GHashTable *files, GError **error)
{
    g_autofree char *sha256 = NULL;
    g_autoptr(GBytes) kept = NULL;
    gboolean gzipped = FALSE;
    if (!res_source_finish(source, &sha256, &kept, &gzipped, error)) {
        return NULL;
    }
    const char *how = gzipped ? "a gzip'd copy is kept" : "a copy is kept";
    g_autofree char *name =
        kept == NULL ? g_strdup(RES_IMPORT_ORIGINAL ".reference")
                     : g_strdup_printf(RES_IMPORT_ORIGINAL ".%s%s", kind, gzipped ? ".gz" : "");
    if (kept == NULL) {
        char *text = g_strdup_printf("bytes %" G_GUINT64_FORMAT "\nsha256 %s\n",
                                     res_source_size(source), sha256);
        kept = g_bytes_new_take(text, strlen(text));
        how = "no copy is kept: also compressed it is too large";
    }
    note_origin(r, path, res_source_size(source), sha256, how);
    g_ptr_array_add(r->evidence, g_strdup(name));
    g_hash_table_insert(files, g_strdup(name), g_bytes_ref(kept));
    return g_steal_pointer(&name);
}

static ResRecord *
record_new(const char *path, const ResImportDeclared *declared)
{
    ResRecord *r = res_record_new();
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *summary = g_strdup_printf("imported: %s", base);
    gboolean known = declared->platform != NULL && declared->clock != NULL;
    set_text(&r->summary, summary);
    set_text(&r->profile, declared->profile != NULL ? declared->profile : "import");
    set_text(&r->cell, declared->cell != NULL ? declared->cell : "");
    set_text(&r->platform, known ? declared->platform : "unknown");
    set_text(&r->clock, known ? declared->clock : "unknown");
    set_text(&r->profile_sha256, "");
    set_text(&r->detail, "");
    set_text(&r->message, "");
    r->fidelity = known ? declared->fidelity : RES_FIDELITY_FUNCTIONAL;
    r->outcome = RES_OUTCOME_DONE;
    r->started_us = r->ended_us = g_get_real_time();
    if (known) {
        note(r, "declared at import, not in the file: platform %s, clock %s", declared->platform,
             declared->clock);
    }
    return r;
}

ResRecord *
res_import_record(ResSource *source, const char *path, const ResImportDeclared *declared,
                  GHashTable *files, GError **error)
{
    g_autoptr(ResRecord) r = record_new(path, declared);
    g_autoptr(GError) failed = NULL;
    const char *tool = NULL, *kind = kind_of(source);
    g_autoptr(ResLatency) c = res_import_read(source, declared->command, &tool, &failed);
    if (c == NULL && (failed->domain != RES_LATENCY_ERROR || tool == NULL)) {
        g_set_error(error, failed->domain, failed->code, "%s%s%s",
                    failed->domain == RES_LATENCY_ERROR ? path : "",
                    failed->domain == RES_LATENCY_ERROR ? ": " : "", failed->message);
        return NULL;
    }
    g_hash_table_insert(r->environment, g_strdup("import.tool"), g_strdup(tool));
    if (declared->cell == NULL) {
        /* different tools' figures are no boots of one cell */
        g_autofree char *cell = g_strdup_printf("tool=%s", tool);
        set_text(&r->cell, cell);
    }
    if (c != NULL) {
        take_facts(r, c);
    }
    if (!merge_environment(r, declared->environment, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    g_autofree char *name = keep_original(r, source, path, kind, files, error);
    if (name == NULL) {
        return NULL;
    }
    if (c == NULL) {
        gboolean clock = failed->code == RES_LATENCY_ERROR_CLOCK;
        fail(r, clock ? RES_OUTCOME_CLOCK : RES_OUTCOME_INCOMPLETE, clock ? "latency" : "file",
             failed->message);
    } else if (!judge(r, c, name, files, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    return g_steal_pointer(&r);
}
