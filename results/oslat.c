/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oslat's text (rt-tests, src/oslat/oslat.c, write_summary): a column for each CPU, its figures
 * below its histogram. The unit is in every line. A bucket is named by its upper edge.
 */
#include <string.h>

#include "results/cyclictest_private.h"

typedef struct {
    ResLatency *c;
    gboolean cores, minimum, maximum, duration;
    gint64 last_latency; /* of the histogram's last row; -1: none yet */
} Oslat;

static gboolean
incomplete(GError **error, const char *what)
{
    return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "%s", what);
}

/* "12", or "0.100" with ns precision: us, into ns. */
static gboolean
parse_ns(const char *word, gint64 *ns)
{
    const char *dot = strchr(word, '.');
    if (dot != NULL) {
        g_autofree char *digits = g_strdup_printf("%.*s%s", (int)(dot - word), word, dot + 1);
        return strlen(dot + 1) == 3 && res_latency_number(digits, ns);
    }
    if (!res_latency_number(word, ns)) {
        return FALSE;
    }
    /* what can't be a latency stays one that can't */
    *ns = *ns > G_MAXINT64 / 1000 ? G_MAXINT64 : *ns < G_MININT64 / 1000 ? G_MININT64 : *ns * 1000;
    return TRUE;
}

/* The words of REST, one for each CPU; what is behind them in brackets goes. NULL: some are
 * missing, or too many. */
static char **
columns(Oslat *o, char *rest, GError **error)
{
    char *bracket = strchr(rest, '(');
    if (bracket != NULL) {
        *bracket = '\0';
    }
    g_auto(GStrv) words = g_strsplit_set(g_strstrip(rest), " \t", RES_LATENCY_THREADS_MAX + 1);
    guint n = g_strv_length(words);
    if (n == 0 || n > RES_LATENCY_THREADS_MAX) {
        incomplete(error, "no figures, or too many");
        return NULL;
    }
    for (guint i = o->c->threads->len; o->last_latency < 0 && i < n && !o->cores; i++) {
        res_latency_add_thread(o->c, "oslat");
    }
    if (n != o->c->threads->len) {
        res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "%u figures for %u CPUs", n,
                         o->c->threads->len);
        return NULL;
    }
    return g_steal_pointer(&words);
}

static gboolean
read_cores(Oslat *o, char *rest, GError **error)
{
    if (o->cores || o->last_latency >= 0) {
        return incomplete(error, "another run begins; one file holds one run");
    }
    g_auto(GStrv) words = columns(o, rest, error);
    for (guint i = 0; words != NULL && words[i] != NULL; i++) {
        gint64 cpu = -1;
        ResLatencyThread *t = g_ptr_array_index(o->c->threads, i);
        if (!res_latency_number(words[i], &cpu) || cpu < 0 || cpu > G_MAXINT) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "not a CPU's number");
        }
        t->cpu = (int)cpu;
    }
    o->cores = TRUE;
    return words != NULL;
}

static gboolean
read_bucket(Oslat *o, const char *label, char *rest, GError **error)
{
    gint64 latency = 0;
    g_auto(GStrv) words = columns(o, rest, error);
    if (words == NULL) {
        return FALSE;
    }
    if (!parse_ns(label, &latency)) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "not a bucket of a histogram");
    }
    if (latency <= o->last_latency) {
        return incomplete(error,
                          "a bucket before its turn: rows are missing, or another run begins");
    }
    o->last_latency = latency;
    for (guint i = 0; words[i] != NULL; i++) {
        gint64 count = 0;
        ResLatencyThread *t = g_ptr_array_index(o->c->threads, i);
        if (!res_latency_number(words[i], &count) || count < 0 ||
            (guint64)count > G_MAXINT64 - t->cycles) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "not a row of counts");
        }
        t->cycles += (guint64)count;
        res_latency_add_bucket(o->c, t, latency, (guint64)count);
    }
    return TRUE;
}

static gboolean
read_figures(Oslat *o, const char *name, char *rest, GError **error)
{
    if (strstr(rest, "(us)") == NULL) {
        return incomplete(error, "its unit is not (us)");
    }
    g_auto(GStrv) words = columns(o, rest, error);
    for (guint i = 0; words != NULL && words[i] != NULL; i++) {
        ResLatencyThread *t = g_ptr_array_index(o->c->threads, i);
        char *end = NULL;
        gboolean ok = TRUE;
        if (g_str_equal(name, "Average")) {
            t->mean_ns = g_ascii_strtod(words[i], &end);
            ok = *end == '\0';
        } else {
            ok = parse_ns(words[i], g_str_equal(name, "Minimum") ? &t->min_ns : &t->max_ns);
        }
        if (!ok) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "not a row of figures");
        }
    }
    o->minimum |= g_str_equal(name, "Minimum");
    o->maximum |= g_str_equal(name, "Maximum");
    return words != NULL;
}

static gboolean
claims(const char *line)
{
    line += strspn(line, " ");
    if (g_str_has_prefix(line, "Core:")) {
        return line[strlen("Core:") + strspn(line + strlen("Core:"), "\t 0123456789")] == '\0';
    }
    return g_str_has_prefix(line, "oslat V ") || g_str_has_prefix(line, "Counter Freq:") ||
           strstr(line, "(including overflows)") != NULL ||
           g_str_has_prefix(line, "oslat: Trace threshold (");
}

static gboolean
read_line(gpointer reader, char *line, GError **error)
{
    Oslat *o = reader;
    line += strspn(line, " ");
    if (g_str_has_prefix(line, "oslat V ")) {
        if (o->c->version[0] != '\0') {
            return incomplete(error, "another run begins; one file holds one run");
        }
        g_free(o->c->version);
        o->c->version = g_utf8_make_valid(line + strlen("oslat V "), -1);
        return TRUE;
    }
    if (g_str_has_prefix(line, "oslat: Trace threshold (")) {
        o->c->broken = TRUE;
        res_latency_note(o->c, "stopped by the threshold -T: %s", line);
        return TRUE;
    }
    char *colon = strchr(line, ':');
    if (colon == NULL || o->duration) {
        return TRUE;
    }
    *colon = '\0';
    char *unit = strstr(line, " (us)");
    if (unit != NULL && unit[strlen(" (us)")] == '\0') {
        *unit = '\0';
        return read_bucket(o, line, colon + 1, error);
    }
    if (g_str_equal(line, "Core")) {
        return read_cores(o, colon + 1, error);
    }
    if (g_str_equal(line, "Minimum") || g_str_equal(line, "Average") ||
        g_str_equal(line, "Maximum")) {
        return read_figures(o, line, colon + 1, error);
    }
    o->duration |= g_str_equal(line, "Duration");
    return TRUE;
}

gboolean
res_oslat_settle(ResLatency *c, gint64 unit_ns, GError **error)
{
    gboolean overflowed = FALSE;
    for (guint i = 0; i < c->threads->len; i++) {
        /* the mean's unit is another one until below */
        ((ResLatencyThread *)g_ptr_array_index(c->threads, i))->mean_doubtful = TRUE;
    }
    if (!res_latency_scale(c, unit_ns, error)) {
        return FALSE;
    }
    c->resolution_ns = unit_ns;
    for (guint i = 0; i < c->threads->len; i++) {
        ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        guint n = t->buckets->len;
        const ResLatencyBucket *last =
            n > 0 ? &g_array_index(t->buckets, ResLatencyBucket, n - 1) : NULL;
        if (last != NULL && last->latency_ns < t->max_ns) {
            t->overflows = last->count;
            g_array_set_size(t->buckets, n - 1);
            overflowed = TRUE;
        }
        t->mean_ns *= 1000.0 / (double)unit_ns; /* always printed in us */
    }
    for (guint i = 0; i < c->threads->len; i++) {
        ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        /* calculate() adds the first thread's overflows to every thread's sum */
        t->mean_doubtful = (i > 0 && overflowed) || !(t->mean_ns >= (double)t->min_ns) ||
                           !(t->mean_ns <= (double)t->max_ns);
    }
    if (overflowed && c->threads->len > 1) {
        res_latency_note(c, "oslat counts the first CPU's overflows into every CPU's average: "
                            "there is no mean over all");
    }
    return res_latency_check(c, error);
}

static gboolean
read_end(gpointer reader, unsigned int lines, GError **error)
{
    Oslat *o = reader;
    if (o->c->broken && !o->maximum) {
        return incomplete(error, g_ptr_array_index(o->c->notes, 0));
    }
    if (!o->minimum || !o->maximum || o->last_latency < 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "ends at line %u without its %s", lines,
                                o->last_latency < 0 ? "histogram"
                                : !o->minimum       ? "\"Minimum:\""
                                                    : "\"Maximum:\"");
    }
    return res_oslat_settle(o->c, 1, error);
}

static gpointer
start(ResLatency *c)
{
    Oslat *o = g_new0(Oslat, 1);
    o->c = c;
    o->last_latency = -1;
    return o;
}

const ResTextReader res_oslat_text = {
    .tool = "oslat",
    .claims = claims,
    .start = start,
    .line = read_line,
    .end = read_end,
    .free = g_free,
};
