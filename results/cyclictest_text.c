/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cyclictest's text: T: lines (once with -q, again and again without), a histogram with its figures
 * below, remarks after #.
 */
#include <math.h>
#include <string.h>

#include "results/cyclictest_private.h"

typedef struct {
    ResLatency *c;
    GArray *seen;     /* guint: T: lines of each thread */
    ResLatency *hist; /* a thread for each column of the histogram */
    gint64 last_latency;
    GHashTable *lists; /* "Min Latencies" -> GArray of gint64 */
} Text;

static gboolean
text_fail(const char *what, GError **error)
{
    return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "%s", what);
}

/* LABEL and the number behind it, with any spaces; one beyond 64 bits is as res_latency_number()
 * has it. */
static gboolean
take_number(const char **at, const char *label, gint64 *value)
{
    const char *from = *at + strspn(*at, " ");
    char word[32];
    if (!g_str_has_prefix(from, label)) {
        return FALSE;
    }
    from += strlen(label);
    from += strspn(from, " ");
    gsize n = strspn(from, "-0123456789");
    g_strlcpy(word, from, MIN(n + 1, sizeof word));
    if (n >= sizeof word || !res_latency_number(word, value)) {
        return FALSE;
    }
    *at = from + n;
    return TRUE;
}

/* "T: 0 (11) P:80 I:1000 C: 300000 Min: 2 Act: 3 Avg: 3 Max: 9" into thread, pid, priority,
 * interval, cycles, min, act, avg, max; what a log puts in front stays unread. */
static gboolean
scan_figures(const char *line, gint64 n[9])
{
    static const char *const labels[] = {
        "T:", "(", ") P:", "I:", "C:", "Min:", "Act:", "Avg:", "Max:"};
    for (const char *start = strstr(line, "T:"); start != NULL; start = strstr(start + 1, "T:")) {
        const char *at = start;
        gint64 smi = 0;
        gsize i = 0;
        while (i < G_N_ELEMENTS(labels) && take_number(&at, labels[i], &n[i])) {
            i++;
        }
        if (i == G_N_ELEMENTS(labels)) {
            take_number(&at, "SMI:", &smi);
            return at[strspn(at, " ")] == '\0';
        }
    }
    return FALSE;
}

/* A later line of the same thread replaces an earlier one: the figures only grow. */
static gboolean
read_figures(Text *t, const char *line, GError **error)
{
    gint64 n[9] = {0};
    if (!scan_figures(line, n)) {
        return text_fail("not a whole T: line (T: C: Min: Act: Avg: Max: with numbers)", error);
    }
    if (n[0] < 0 || n[0] >= RES_LATENCY_THREADS_MAX) {
        return text_fail("the thread's number is out of range", error);
    }
    if (n[0] > t->seen->len) {
        return text_fail("a thread before this one is missing", error);
    }
    if (n[2] < 0 || n[2] > G_MAXINT || n[3] < 0 || n[4] < 0) {
        return text_fail("priority, interval or cycles are out of range", error);
    }
    if (n[0] == t->seen->len) {
        guint none = 0;
        res_latency_add_thread(t->c, "cyclictest");
        g_array_append_val(t->seen, none);
    }
    ResLatencyThread *thread = g_ptr_array_index(t->c->threads, n[0]);
    if ((guint64)n[4] < thread->cycles) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "thread %u falls back from %" G_GUINT64_FORMAT
                                " cycles: another run begins; one file holds one run",
                                thread->thread, thread->cycles);
    }
    thread->priority = (int)n[2];
    thread->interval_us = n[3];
    thread->cycles = (guint64)n[4];
    thread->min_ns = n[5];
    thread->mean_ns = (double)n[7];
    thread->max_ns = n[8];
    g_array_index(t->seen, guint, n[0])++;
    return TRUE;
}

/* The numbers of a line, apart by spaces and tabs; NULL when something else is there. */
static GArray *
read_numbers(char *line)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (char *word = line + strspn(line, " \t"); *word != '\0';) {
        gsize len = strcspn(word, " \t");
        gboolean last = word[len] == '\0';
        gint64 value = 0;
        word[len] = '\0';
        if (!res_latency_number(word, &value) || numbers->len > RES_LATENCY_THREADS_MAX + 1) {
            return NULL;
        }
        g_array_append_val(numbers, value);
        word += len + !last;
        word += strspn(word, " \t");
    }
    return g_steal_pointer(&numbers);
}

/* "000041 000000<TAB>000001": the numbers are padded decimals. */
static gboolean
read_row(Text *t, char *line, GError **error)
{
    g_autoptr(GArray) numbers = read_numbers(line);
    if (numbers == NULL) {
        return text_fail("not a row of a histogram", error);
    }
    if (numbers->len < 2) {
        return text_fail("a row of a histogram has a latency and a count per thread", error);
    }
    gint64 latency = g_array_index(numbers, gint64, 0);
    if (latency < 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_CLOCK,
                                "the latency %" G_GINT64_FORMAT
                                " of all threads (CPU not said) is negative: the clock ran "
                                "backwards or was set",
                                latency);
    }
    if (t->hist->threads->len == 0) {
        for (guint i = 1; i < numbers->len; i++) {
            res_latency_add_thread(t->hist, "");
        }
    } else if (t->hist->threads->len != numbers->len - 1 || latency <= t->last_latency) {
        return text_fail("the histogram's rows don't fit each other", error);
    }
    t->last_latency = latency;
    for (guint i = 1; i < numbers->len; i++) {
        gint64 count = g_array_index(numbers, gint64, i);
        ResLatencyThread *column = g_ptr_array_index(t->hist->threads, i - 1);
        if (count < 0) {
            return text_fail("a count is negative", error);
        }
        if ((guint64)count > G_MAXINT64 - column->cycles) {
            return text_fail("the histogram's counts are out of range", error);
        }
        if (count > 0) {
            column->min_ns = column->cycles == 0 ? latency : column->min_ns;
            column->max_ns = latency;
            column->mean_ns += (double)latency * (double)count; /* a sum, as yet */
            column->cycles += (guint64)count;
        }
        res_latency_add_bucket(t->hist, column, latency, (guint64)count);
    }
    return TRUE;
}

/* "# Min Latencies: 00004 00004". */
static gboolean
read_list(Text *t, const char *name, char *rest, GError **error)
{
    GArray *numbers = read_numbers(rest);
    if (numbers == NULL) {
        return text_fail("not a list of numbers", error);
    }
    if (numbers->len == 0) {
        g_array_unref(numbers);
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE, "%s has no figures", name);
    }
    if (g_hash_table_contains(t->lists, name)) {
        g_array_unref(numbers);
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "a second \"# %s\": another run begins; one file holds one run",
                                name);
    }
    g_hash_table_replace(t->lists, g_strdup(name), numbers);
    return TRUE;
}

static gboolean
read_remark(Text *t, char *line, GError **error)
{
    static const char *const lists[] = {"Total", "Min Latencies", "Avg Latencies", "Max Latencies",
                                        "Histogram Overflows"};
    static const char broken[] = "# Break value:";
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
        g_autofree char *head = g_strdup_printf("# %s:", lists[i]);
        if (g_str_has_prefix(line, head)) {
            return read_list(t, lists[i], line + strlen(head), error);
        }
    }
    if (g_str_has_prefix(line, "# Break thread:")) {
        t->c->broken = TRUE;
    } else if (g_str_has_prefix(line, broken)) {
        g_autofree char *value = g_strstrip(g_strdup(line + strlen(broken)));
        t->c->broken = TRUE;
        if (!g_ascii_string_to_signed(value, 10, 0, G_MAXINT32 * G_GINT64_CONSTANT(1000),
                                      &t->c->break_value_ns, NULL)) {
            return text_fail("the break value is not a number", error);
        }
        res_latency_note(t->c, "stopped by the threshold -b at %s: not a clean run", value);
    }
    return TRUE;
}

static gboolean
read_line(gpointer reader, char *line, GError **error)
{
    Text *t = reader;
    if (strstr(line, "T:") != NULL && strstr(line, "Min:") != NULL) {
        return read_figures(t, line, error);
    }
    if (line[0] == '#') {
        return read_remark(t, line, error);
    }
    const char *first = line + (line[0] == '-');
    gsize digits = strspn(first, "0123456789");
    if (digits > 0 && (first[digits] == ' ' || first[digits] == '\t')) {
        return read_row(t, line, error);
    }
    return TRUE; /* the load average, blank lines, warnings, -v's samples */
}

/* What no other program prints: not every row is one of a histogram. */
static gboolean
claims(const char *line)
{
    if (line[0] == '#') {
        return g_str_has_prefix(line, "# /dev/cpu_dma_latency set to") ||
               g_str_has_prefix(line, "# Min Latencies:") || g_str_equal(line, "# Histogram") ||
               g_str_has_prefix(line, "# Break value:");
    }
    if (g_ascii_isdigit(line[0])) {
        gsize digits = strspn(line, "0123456789");
        return digits >= 6 && line[digits] == ' ' && strspn(line + digits + 1, "0123456789") >= 6 &&
               strspn(line, "0123456789 \t") == strlen(line);
    }
    return strstr(line, "T:") != NULL && strstr(line, " C:") != NULL &&
           strstr(line, "Min:") != NULL && strstr(line, "Act:") != NULL;
}

static const GArray *
list_of(const Text *t, const char *name, guint n, unsigned int lines, GError **error)
{
    const GArray *list = g_hash_table_lookup(t->lists, name);
    if (list == NULL) {
        res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                         "ends at line %u, after a histogram without \"# %s\"", lines, name);
        return NULL;
    }
    if (list->len != n) {
        res_latency_fail(error, RES_LATENCY_ERROR_FORMAT, "\"# %s\" has %u figures for %u threads",
                         name, list->len, n);
        return NULL;
    }
    return list;
}

/* A column's sum has to be what "# Total" says (2.10 no longer prints it). */
static gboolean
check_total(const Text *t, guint i, GError **error)
{
    const GArray *totals = g_hash_table_lookup(t->lists, "Total");
    const ResLatencyThread *column =
        i < t->hist->threads->len ? g_ptr_array_index(t->hist->threads, i) : NULL;
    guint64 sum = column != NULL ? column->cycles : 0;
    if (totals != NULL && (i >= totals->len || (guint64)g_array_index(totals, gint64, i) != sum)) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "column %u of the histogram adds up to %" G_GUINT64_FORMAT
                                ", not to its \"# Total\": rows are missing",
                                i + 1, sum);
    }
    return TRUE;
}

/* Without overflows the rows say the same as the figures below them. */
static gboolean
check_rows(const ResLatencyThread *column, const ResLatencyThread *thread, GError **error)
{
    double mean = column->cycles > 0 ? floor(column->mean_ns / (double)column->cycles) : 0;
    if (thread->overflows > 0 || column->cycles == 0 ||
        (column->min_ns == thread->min_ns && column->max_ns == thread->max_ns &&
         fabs(mean - thread->mean_ns) <= 1)) {
        return TRUE;
    }
    return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                            "thread %u: the histogram's rows give min %" G_GINT64_FORMAT
                            ", avg %.0f, max "
                            "%" G_GINT64_FORMAT ", the figures below say %" G_GINT64_FORMAT
                            ", %.0f, %" G_GINT64_FORMAT ": rows are missing",
                            thread->thread, column->min_ns, mean, column->max_ns, thread->min_ns,
                            thread->mean_ns, thread->max_ns);
}

static gboolean
fill_thread(Text *t, guint i, ResLatencyThread *thread, const GArray *overflows, GError **error)
{
    g_autoptr(GArray) none = NULL;
    gint64 beyond = overflows != NULL ? g_array_index(overflows, gint64, i) : 0;
    ResLatencyThread *column =
        i < t->hist->threads->len ? g_ptr_array_index(t->hist->threads, i) : NULL;
    guint64 inside = column != NULL ? column->cycles : 0;
    if (beyond < 0 || inside > G_MAXINT64 - (guint64)beyond) {
        return text_fail("\"# Histogram Overflows\" is out of range", error);
    }
    thread->overflows = (guint64)beyond;
    thread->cycles = inside + thread->overflows;
    if (overflows == NULL && thread->max_ns > t->last_latency) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "thread %u has a maximum of %" G_GINT64_FORMAT
                                ", beyond the histogram's last row, but no \"# Histogram "
                                "Overflows\": lines are missing",
                                i, thread->max_ns);
    }
    if (column == NULL) {
        return TRUE;
    }
    none = thread->buckets;
    thread->buckets = g_array_ref(column->buckets);
    return check_rows(column, thread, error);
}

static gboolean
finish_histogram(Text *t, unsigned int lines, GError **error)
{
    const GArray *min = g_hash_table_lookup(t->lists, "Min Latencies");
    guint n = min != NULL ? min->len : t->hist->threads->len;
    /* 2.10 leaves rows of nothing but zeros out, and with all samples beyond the histogram that is
     * every row. -H adds a column with the sum over all threads. */
    guint columns = t->hist->threads->len > 0 ? t->hist->threads->len : n;
    if (columns != n && columns != n + 1) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "a histogram of %u columns has \"# Min Latencies\" for %u threads",
                                columns, n);
    }
    min = list_of(t, "Min Latencies", n, lines, error);
    const GArray *mean = min != NULL ? list_of(t, "Avg Latencies", n, lines, error) : NULL;
    const GArray *max = mean != NULL ? list_of(t, "Max Latencies", n, lines, error) : NULL;
    if (max == NULL) {
        return FALSE;
    }
    const GArray *overflows = g_hash_table_lookup(t->lists, "Histogram Overflows");
    if (overflows != NULL && overflows->len < n) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FORMAT,
                                "\"# Histogram Overflows\" has %u figures for %u threads",
                                overflows->len, n);
    }
    if (t->c->threads->len != 0 && t->c->threads->len != n) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "T: lines of %u threads, but a histogram of %u", t->c->threads->len,
                                n);
    }
    for (guint i = 0; i < columns; i++) {
        if (!check_total(t, i, error)) {
            return FALSE;
        }
    }
    for (guint i = 0; i < n; i++) {
        ResLatencyThread *thread = t->c->threads->len > i
                                       ? g_ptr_array_index(t->c->threads, i)
                                       : res_latency_add_thread(t->c, "cyclictest");
        thread->min_ns = g_array_index(min, gint64, i);
        thread->mean_ns = (double)g_array_index(mean, gint64, i);
        thread->max_ns = g_array_index(max, gint64, i);
        if (!fill_thread(t, i, thread, overflows, error)) {
            return FALSE;
        }
    }
    if (t->hist->buckets_dropped) {
        res_latency_drop_buckets(t->c);
    }
    return TRUE;
}

/* Without -q the T: lines come in blocks; a block that lacks the last threads was cut. */
static gboolean
read_end(gpointer reader, unsigned int lines, GError **error)
{
    Text *t = reader;
    gboolean histogram =
        t->hist->threads->len != 0 || g_hash_table_contains(t->lists, "Min Latencies");
    if (histogram && !finish_histogram(t, lines, error)) {
        return FALSE;
    }
    for (guint i = 1; i < t->seen->len; i++) {
        if (g_array_index(t->seen, guint, i) != g_array_index(t->seen, guint, 0)) {
            return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                    "ends at line %u: thread 0 has %u T: lines, thread %u has %u",
                                    lines, g_array_index(t->seen, guint, 0), i,
                                    g_array_index(t->seen, guint, i));
        }
    }
    if (t->c->threads->len == 0) {
        return res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                                "neither T: lines nor a histogram's figures in %u lines", lines);
    }
    res_latency_note(t->c, "%s", RES_CYCLICTEST_NOTE_UNIT);
    return TRUE;
}

static gpointer
start(ResLatency *c)
{
    Text *t = g_new0(Text, 1);
    t->c = c;
    t->hist = res_latency_new("cyclictest");
    t->seen = g_array_new(FALSE, FALSE, sizeof(guint));
    t->lists =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    return t;
}

static void
text_free(gpointer reader)
{
    Text *t = reader;
    res_latency_free(t->hist);
    g_array_unref(t->seen);
    g_hash_table_unref(t->lists);
    g_free(t);
}

const ResTextReader res_cyclictest_text = {
    .tool = "cyclictest",
    .claims = claims,
    .start = start,
    .line = read_line,
    .end = read_end,
    .free = text_free,
};
