/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rtla timerlat hist and rtla osnoise hist print (Linux, tools/tracing/rtla, 5.17 and later):
 * a head with the unit, a histogram with a column for each CPU and context, its summary below. A
 * bucket is named by its lower edge.
 */
#include <math.h>
#include <string.h>

#include "results/latency_private.h"

#define HEAD "# RTLA "
#define HEAD_END " histogram"

enum { SUM_OVER, SUM_COUNT, SUM_MIN, SUM_AVG, SUM_MAX, SUM_N };
static const char *const summary_names[SUM_N] = {"over:", "count:", "min:", "avg:", "max:"};

typedef struct {
    gint64 last;   /* bucket with samples; -1: none */
    double sum;    /* of count * bucket */
    guint64 count; /* of the summary */
} Column;

typedef struct {
    ResLatency *c;
    gboolean osnoise, head, index, all;
    gint64 unit_ns;    /* 0: not said */
    gint64 last_index; /* -1: none */
    gint64 step;       /* the least distance of two rows: no bucket is wider; 0 unknown */
    gboolean seen[SUM_N];
    GArray *columns; /* Column */
} Rtla;

static gboolean
incomplete(GError **error, const char *what)
{
    return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "%s", what);
}

static gboolean
read_head(Rtla *r, const char *line, GError **error)
{
    if (r->head) {
        return incomplete(error, "another run begins; one file holds one run");
    }
    r->head = TRUE;
    r->osnoise = g_str_has_prefix(line + strlen(HEAD), "osnoise");
    return TRUE;
}

/* "Index   IRQ-000   Thr-000   Usr-000", or "Index   CPU-000". */
static gboolean
read_index(Rtla *r, char *line, GError **error)
{
    static const struct {
        const char *name, *series;
        gboolean osnoise;
    } kinds[] = {{"IRQ-", "timerlat.irq", FALSE},
                 {"Thr-", "timerlat.thread", FALSE},
                 {"Usr-", "timerlat.user", FALSE},
                 {"CPU-", "osnoise", TRUE}};
    g_auto(GStrv) words = g_strsplit_set(line, " \t", -1);
    if (r->index) {
        return incomplete(error, "another run begins; one file holds one run");
    }
    r->index = TRUE;
    for (char **word = words + 1; words[0] != NULL && *word != NULL; word++) {
        gint64 cpu = -1;
        gsize k = 0;
        if (**word == '\0') {
            continue;
        }
        while (k < G_N_ELEMENTS(kinds) &&
               (kinds[k].osnoise != r->osnoise || !g_str_has_prefix(*word, kinds[k].name))) {
            k++;
        }
        if (k == G_N_ELEMENTS(kinds) || !res_latency_number(*word + 4, &cpu) || cpu < 0 ||
            cpu > G_MAXINT || r->columns->len == RES_LATENCY_THREADS_MAX) {
            return res_latency_fail(
                error, RES_LATENCY_ERROR_FORMAT,
                "not a head of columns (IRQ-, Thr-, Usr- or CPU- and a number)");
        }
        Column none = {.last = -1};
        res_latency_add_thread(r->c, kinds[k].series)->cpu = (int)cpu;
        g_array_append_val(r->columns, none);
    }
    return r->columns->len > 0 ||
           incomplete(error, r->osnoise ? "no CPU saw noise above the threshold: no figure to take"
                                        : "no CPU has a sample");
}

/* The words behind the first; NULL when there are not as many as columns. */
static char **
column_words(const Rtla *r, const char *rest, GError **error)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    for (const char *at = rest + strspn(rest, " \t"); *at != '\0'; at += strspn(at, " \t")) {
        gsize len = strcspn(at, " \t");
        g_ptr_array_add(found, g_strndup(at, len));
        at += len;
    }
    if (found->len != r->columns->len) {
        res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "%u figures for %u columns",
                         found->len, r->columns->len);
        return NULL;
    }
    g_ptr_array_add(found, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&found), FALSE);
}

static gboolean
read_row(Rtla *r, const char *line, GError **error)
{
    gsize digits = strspn(line, "0123456789");
    g_autofree char *label = g_strndup(line, digits);
    gint64 index = 0;
    g_auto(GStrv) words = column_words(r, line + digits, error);
    if (words == NULL) {
        return FALSE;
    }
    if (!res_latency_number(label, &index) || index <= r->last_index || index > G_MAXINT64 / 2000) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "the histogram's rows don't fit each other");
    }
    if (r->last_index >= 0) {
        gint64 step = index - r->last_index;
        r->step = r->step == 0 ? step : MIN(r->step, step);
    }
    r->last_index = index;
    for (guint i = 0; i < r->columns->len; i++) {
        ResLatencyThread *t = g_ptr_array_index(r->c->threads, i);
        Column *column = &g_array_index(r->columns, Column, i);
        gint64 count = 0;
        if (!res_latency_number(words[i], &count) || count < 0 ||
            (guint64)count > G_MAXINT64 - t->cycles) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "not a row of counts");
        }
        if (count > 0) {
            t->min_ns = t->cycles == 0 ? index : t->min_ns;
            column->last = index;
            column->sum += (double)index * (double)count;
            t->cycles += (guint64)count;
        }
        res_latency_add_bucket(r->c, t, index, (guint64)count);
    }
    return TRUE;
}

static gboolean
set_summary(Rtla *r, guint i, int what, const char *word, GError **error)
{
    ResLatencyThread *t = g_ptr_array_index(r->c->threads, i);
    Column *column = &g_array_index(r->columns, Column, i);
    gint64 number = 0;
    gboolean whole = res_latency_number(word, &number);
    char *end = NULL;
    double real = g_ascii_strtod(word, &end);
    if (g_str_equal(word, "-") && what >= SUM_MIN) {
        return TRUE; /* no sample */
    }
    if (what == SUM_AVG ? *end != '\0' || end == word : !whole) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "not a row of figures");
    }
    if (what <= SUM_COUNT && (number < 0 || number > G_MAXINT64 / 2)) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "not a row of counts");
    }
    if (what == SUM_OVER) {
        t->overflows = (guint64)number;
    } else if (what == SUM_COUNT) {
        column->count = (guint64)number;
    } else if (what == SUM_MIN) {
        t->min_ns = number;
    } else if (what == SUM_MAX) {
        t->max_ns = number;
    } else {
        t->mean_ns = real;
    }
    return TRUE;
}

static gboolean
read_summary(Rtla *r, int what, const char *rest, GError **error)
{
    if (r->seen[what]) {
        return incomplete(error, "this line is there twice");
    }
    g_auto(GStrv) words = column_words(r, rest, error);
    r->seen[what] = TRUE;
    for (guint i = 0; words != NULL && i < r->columns->len; i++) {
        if (!set_summary(r, i, what, words[i], error)) {
            return FALSE;
        }
    }
    return words != NULL;
}

static gboolean
claims(const char *line)
{
    return (g_str_has_prefix(line, HEAD "timerlat" HEAD_END) ||
            g_str_has_prefix(line, HEAD "osnoise" HEAD_END));
}

static gboolean
read_line(gpointer reader, char *line, GError **error)
{
    Rtla *r = reader;
    if (claims(line)) {
        return read_head(r, line, error);
    }
    if (g_str_has_prefix(line, "# Time unit is ")) {
        r->unit_ns = g_str_has_suffix(g_strchomp(line), "(us)")   ? 1000
                     : g_str_has_suffix(g_strchomp(line), "(ns)") ? 1
                                                                  : 0;
        return r->unit_ns > 0 || incomplete(error, "a unit that is not known");
    }
    if (strstr(line, "hit stop tracing") != NULL && line[0] != '#') {
        r->c->broken = TRUE;
        res_latency_note(r->c, "stopped by a threshold: %s", line);
    }
    if (g_str_has_prefix(line, "Index")) {
        return read_index(r, line, error);
    }
    if (!r->index || r->all) {
        return TRUE;
    }
    if (g_ascii_isdigit(line[0]) && !r->seen[SUM_OVER]) {
        return read_row(r, line, error);
    }
    r->all = g_str_has_prefix(line, "ALL:"); /* what follows is over all CPUs */
    for (int what = 0; what < SUM_N; what++) {
        if (g_str_has_prefix(line, summary_names[what])) {
            return read_summary(r, what, line + strlen(summary_names[what]), error);
        }
    }
    return TRUE;
}

/* --no-summary: what the histogram itself says, as exact as its buckets. */
static gboolean
derive_figures(Rtla *r, guint i, GError **error)
{
    ResLatencyThread *t = g_ptr_array_index(r->c->threads, i);
    const Column *column = &g_array_index(r->columns, Column, i);
    if (t->overflows > 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "CPU %d, %s: %" G_GUINT64_FORMAT
                                " samples lie beyond the histogram and there is no summary: the "
                                "maximum is not known",
                                t->cpu, t->series, t->overflows);
    }
    t->max_ns = MAX(column->last, 0);
    t->mean_ns = t->cycles > 0 ? column->sum / (double)t->cycles : 0;
    return TRUE;
}

static gboolean
check_column(Rtla *r, guint i, GError **error)
{
    ResLatencyThread *t = g_ptr_array_index(r->c->threads, i);
    const Column *column = &g_array_index(r->columns, Column, i);
    if (t->cycles + t->overflows != column->count) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "CPU %d, %s: the histogram holds %" G_GUINT64_FORMAT
                                " samples, its summary counts %" G_GUINT64_FORMAT
                                ": rows are missing",
                                t->cpu, t->series, t->cycles + t->overflows, column->count);
    }
    double low = t->cycles > 0 ? column->sum / (double)t->cycles : 0;
    /* Without overflows the mean lies in the buckets' width. osnoise hist of some releases adds
     * each bucket up once instead of once a sample. */
    if (t->cycles > 0 && t->overflows == 0 &&
        (t->mean_ns < floor(low) || t->mean_ns > low + (double)MAX(r->step, 1) + 1)) {
        t->mean_doubtful = TRUE;
        res_latency_note(r->c,
                         "CPU %d, %s: the average %.0f is not the histogram's (%.0f): it is "
                         "not used",
                         t->cpu, t->series, t->mean_ns, low);
    }
    return TRUE;
}

static gboolean
drop_empty(Rtla *r, GError **error)
{
    for (guint i = r->c->threads->len; i-- > 0;) {
        const ResLatencyThread *t = g_ptr_array_index(r->c->threads, i);
        if (t->cycles > 0) {
            continue;
        }
        res_latency_note(r->c, "CPU %d: no sample of %s", t->cpu, t->series);
        g_ptr_array_remove_index(r->c->threads, i);
    }
    return r->c->threads->len > 0 || incomplete(error, "no CPU has a sample");
}

static gboolean
read_end(gpointer reader, unsigned int lines, GError **error)
{
    Rtla *r = reader;
    gboolean none =
        !r->seen[SUM_COUNT] && !r->seen[SUM_MIN] && !r->seen[SUM_AVG] && !r->seen[SUM_MAX];
    if (!r->index || !r->seen[SUM_OVER]) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "ends at line %u without its %s", lines,
                                r->index ? "\"over:\"" : "histogram");
    }
    for (int what = SUM_COUNT; what < SUM_N && !none; what++) {
        if (!r->seen[what]) {
            return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                    "ends at line %u without its \"%s\"", lines,
                                    summary_names[what]);
        }
    }
    if (none) {
        res_latency_note(r->c, "there is no summary: minimum and maximum are their buckets' lower "
                               "edges");
    }
    for (guint i = 0; i < r->columns->len; i++) {
        ResLatencyThread *t = g_ptr_array_index(r->c->threads, i);
        if (!(none ? derive_figures(r, i, error) : check_column(r, i, error))) {
            return FALSE;
        }
        t->cycles += t->overflows;
    }
    if (!drop_empty(r, error)) {
        return FALSE;
    }
    if (r->unit_ns == 0) {
        res_latency_note(r->c, "no line says the time unit: it is not known");
        return TRUE;
    }
    return res_latency_check(r->c, error) && res_latency_scale(r->c, r->unit_ns, error);
}

static gpointer
start(ResLatency *c)
{
    Rtla *r = g_new0(Rtla, 1);
    r->c = c;
    r->last_index = -1;
    r->columns = g_array_new(FALSE, FALSE, sizeof(Column));
    return r;
}

static void
rtla_free(gpointer reader)
{
    Rtla *r = reader;
    g_array_unref(r->columns);
    g_free(r);
}

const ResTextReader res_rtla_text = {
    .tool = "rtla",
    .claims = claims,
    .start = start,
    .line = read_line,
    .end = read_end,
    .free = rtla_free,
};
