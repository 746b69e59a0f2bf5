/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cyclictest's text: T: lines (once with -q, again and again without), a histogram with its figures
 * below, remarks after #. Line by line, so that an error can say where.
 */
#include <stdlib.h>
#include <string.h>

#include "results/cyclictest_private.h"

#define FIGURES_LINE_MAX 512        /* bytes of a T: line */
#define LINE_MAX_BYTES (256 * 1024) /* of any line: a histogram's row for all threads fits */
#define COUNTS_MAX 8000000          /* in a whole histogram: 128 MB */

typedef struct {
    ResCyclictest *c;
    unsigned int line;
    GArray *seen;  /* guint: T: lines of each thread */
    GArray *rows;  /* ResCyclictestBucket, row by row, columns in each */
    guint columns; /* of the histogram; 0 without one */
    gint64 last_latency;
    GHashTable *lists; /* "Min Latencies" -> GArray of gint64 */
    GRegex *figures;
} Text;

static gboolean
text_fail(const Text *t, const char *what, GError **error)
{
    return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT, "line %u: %s", t->line, what);
}

/* Drops what moves a terminal's cursor (ESC [ ... letter) and carriage returns, in place. */
static void
strip_controls(char *line)
{
    char *to = line;
    for (const char *c = line; *c != '\0'; c++) {
        if (c[0] == '\033' && c[1] == '[') {
            c += 2;
            c += strspn(c, "0123456789;?");
            if (*c == '\0') {
                break;
            }
            continue;
        }
        if (*c != '\r') {
            *to++ = *c;
        }
    }
    *to = '\0';
}

static gboolean
match_number(GMatchInfo *match, int group, gint64 *value)
{
    g_autofree char *text = g_match_info_fetch(match, group);
    return g_ascii_string_to_signed(text, 10, G_MININT64, G_MAXINT64, value, NULL);
}

/* A later line of the same thread replaces an earlier one: the figures only grow. */
static gboolean
read_figures(Text *t, GMatchInfo *match, GError **error)
{
    gint64 n[8] = {0}; /* thread, priority, interval, cycles, min, act, avg, max */
    for (int i = 0; i < 8; i++) {
        if (!match_number(match, i + 1, &n[i])) {
            return text_fail(t, "a number is out of range", error);
        }
    }
    if (n[0] < 0 || n[0] >= RES_CYCLICTEST_THREADS_MAX) {
        return text_fail(t, "the thread's number is out of range", error);
    }
    if (n[0] > t->c->threads->len) {
        return text_fail(t, "a thread before this one is missing", error);
    }
    if (n[1] > G_MAXINT || n[3] < 0) {
        return text_fail(t, "priority or cycles are out of range", error);
    }
    if (n[0] == t->c->threads->len) {
        guint none = 0;
        res_cyclictest_add_thread(t->c);
        g_array_append_val(t->seen, none);
    }
    ResCyclictestThread *thread = g_ptr_array_index(t->c->threads, n[0]);
    thread->priority = (int)n[1];
    thread->interval_us = n[2];
    thread->cycles = (guint64)n[3];
    thread->min_ns = n[4];
    thread->mean_ns = (double)n[6];
    thread->max_ns = n[7];
    g_array_index(t->seen, guint, n[0])++;
    return TRUE;
}

/* "000041 000000<TAB>000001": the numbers are padded decimals. */
static gboolean
read_row(Text *t, const char *line, GError **error)
{
    g_auto(GStrv) words = g_strsplit_set(line, " \t", -1);
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (char **word = words; *word != NULL; word++) {
        gint64 value = 0;
        if ((*word)[0] == '\0') {
            continue;
        }
        if (!g_ascii_string_to_signed(*word, 10, G_MININT64, G_MAXINT64, &value, NULL) ||
            numbers->len > RES_CYCLICTEST_THREADS_MAX + 1) {
            return text_fail(t, "not a row of a histogram", error);
        }
        g_array_append_val(numbers, value);
    }
    if (numbers->len < 2) {
        return text_fail(t, "a row of a histogram has a latency and a count per thread", error);
    }
    gint64 latency = g_array_index(numbers, gint64, 0);
    if (latency < 0) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_CLOCK,
                                   "line %u: the latency %" G_GINT64_FORMAT
                                   " of all threads (CPU not said) is negative: the clock ran "
                                   "backwards or was set",
                                   t->line, latency);
    }
    if (t->columns != 0 && (t->columns != numbers->len - 1 || latency <= t->last_latency)) {
        return text_fail(t, "the histogram's rows don't fit each other", error);
    }
    t->columns = numbers->len - 1;
    t->last_latency = latency;
    if (t->rows->len > COUNTS_MAX) {
        return text_fail(t, "the histogram has more than 8000000 counts", error);
    }
    for (guint i = 1; i < numbers->len; i++) {
        gint64 count = g_array_index(numbers, gint64, i);
        if (count < 0) {
            return text_fail(t, "a count is negative", error);
        }
        ResCyclictestBucket bucket = {.latency_ns = latency, .count = (guint64)count};
        g_array_append_val(t->rows, bucket);
    }
    return TRUE;
}

/* "# Min Latencies: 00004 00004". */
static gboolean
read_list(Text *t, const char *name, const char *rest, GError **error)
{
    g_auto(GStrv) words = g_strsplit(rest, " ", -1);
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_hash_table_replace(t->lists, g_strdup(name), numbers);
    for (char **word = words; *word != NULL; word++) {
        gint64 value = 0;
        if ((*word)[0] == '\0') {
            continue;
        }
        if (!g_ascii_string_to_signed(*word, 10, G_MININT64, G_MAXINT64, &value, NULL) ||
            numbers->len > RES_CYCLICTEST_THREADS_MAX + 1) {
            return text_fail(t, "not a list of numbers", error);
        }
        g_array_append_val(numbers, value);
    }
    return numbers->len > 0 ? TRUE
                            : res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                                  "line %u: %s has no figures", t->line, name);
}

static gboolean
read_remark(Text *t, const char *line, GError **error)
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
            return text_fail(t, "the break value is not a number", error);
        }
        res_cyclictest_note(t->c, "stopped by the threshold -b at %s: not a clean run", value);
    }
    return TRUE;
}

static gboolean
read_line(Text *t, char *line, GError **error)
{
    strip_controls(line);
    /* what a log puts in front of a T: line stays unread */
    if (strstr(line, "T:") != NULL && strstr(line, "Min:") != NULL) {
        g_autoptr(GMatchInfo) match = NULL;
        if (strlen(line) > FIGURES_LINE_MAX || !g_regex_match(t->figures, line, 0, &match)) {
            return text_fail(t, "not a whole T: line (T: C: Min: Act: Avg: Max: with numbers)",
                             error);
        }
        return read_figures(t, match, error);
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

static const GArray *
list_of(const Text *t, const char *name, guint n, GError **error)
{
    const GArray *list = g_hash_table_lookup(t->lists, name);
    if (list == NULL) {
        res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                            "ends at line %u, after a histogram without \"# %s\"", t->line, name);
        return NULL;
    }
    if (list->len != n) {
        res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                            "\"# %s\" has %u figures for %u threads", name, list->len, n);
        return NULL;
    }
    return list;
}

/* One column of the histogram, whose sum has to be what "# Total" says (2.10 no longer prints it).
 */
static gboolean
fill_column(Text *t, guint column, ResCyclictestThread *thread, GError **error)
{
    guint64 sum = 0;
    for (guint at = column; at < t->rows->len; at += t->columns) {
        ResCyclictestBucket b = g_array_index(t->rows, ResCyclictestBucket, at);
        if (b.count > G_MAXINT64 - sum) {
            return text_fail(t, "the histogram's counts are out of range", error);
        }
        sum += b.count;
        if (thread != NULL && b.count > 0) {
            g_array_append_val(thread->buckets, b);
        }
    }
    const GArray *totals = g_hash_table_lookup(t->lists, "Total");
    if (totals != NULL &&
        (column >= totals->len || (guint64)g_array_index(totals, gint64, column) != sum)) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                   "column %u of the histogram adds up to %" G_GUINT64_FORMAT
                                   ", not to its \"# Total\": rows are missing",
                                   column + 1, sum);
    }
    if (thread != NULL) {
        thread->cycles = sum;
    }
    return TRUE;
}

static gboolean
finish_histogram(Text *t, GError **error)
{
    const GArray *min = g_hash_table_lookup(t->lists, "Min Latencies");
    guint n = min != NULL ? min->len : t->columns;
    /* 2.10 leaves rows of nothing but zeros out, and with all samples beyond the histogram that is
     * every row */
    t->columns = t->columns == 0 ? n : t->columns;
    /* -H adds a column with the sum over all threads */
    if (t->columns != n && t->columns != n + 1) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                   "a histogram of %u columns has \"# Min Latencies\" for %u "
                                   "threads",
                                   t->columns, n);
    }
    min = list_of(t, "Min Latencies", n, error);
    const GArray *mean = min != NULL ? list_of(t, "Avg Latencies", n, error) : NULL;
    const GArray *max = mean != NULL ? list_of(t, "Max Latencies", n, error) : NULL;
    if (max == NULL) {
        return FALSE;
    }
    const GArray *overflows = g_hash_table_lookup(t->lists, "Histogram Overflows");
    if (overflows != NULL && overflows->len < n) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_FORMAT,
                                   "\"# Histogram Overflows\" has %u figures for %u threads",
                                   overflows->len, n);
    }
    if (t->c->threads->len != 0 && t->c->threads->len != n) {
        return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                   "T: lines of %u threads, but a histogram of %u",
                                   t->c->threads->len, n);
    }
    for (guint i = 0; i < n; i++) {
        ResCyclictestThread *thread = t->c->threads->len > i ? g_ptr_array_index(t->c->threads, i)
                                                             : res_cyclictest_add_thread(t->c);
        gint64 beyond = overflows != NULL ? g_array_index(overflows, gint64, i) : 0;
        if (!fill_column(t, i, thread, error)) {
            return FALSE;
        }
        if (beyond < 0 || thread->cycles > G_MAXINT64 - (guint64)beyond) {
            return text_fail(t, "\"# Histogram Overflows\" is out of range", error);
        }
        thread->overflows = (guint64)beyond;
        thread->cycles += thread->overflows;
        thread->min_ns = g_array_index(min, gint64, i);
        thread->mean_ns = (double)g_array_index(mean, gint64, i);
        thread->max_ns = g_array_index(max, gint64, i);
        if (overflows == NULL && thread->max_ns > t->last_latency) {
            return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                       "thread %u has a maximum of %" G_GINT64_FORMAT
                                       ", beyond the histogram's last row, but no \"# Histogram "
                                       "Overflows\": lines are missing",
                                       i, thread->max_ns);
        }
    }
    return t->columns == n || fill_column(t, n, NULL, error);
}

/* Without -q the T: lines come in blocks; a block that lacks the last threads was cut. */
static gboolean
finish_figures(const Text *t, GError **error)
{
    for (guint i = 1; i < t->seen->len; i++) {
        if (g_array_index(t->seen, guint, i) != g_array_index(t->seen, guint, 0)) {
            return res_cyclictest_fail(
                error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                "ends at line %u: thread 0 has %u T: lines, thread %u has %u", t->line,
                g_array_index(t->seen, guint, 0), i, g_array_index(t->seen, guint, i));
        }
    }
    return TRUE;
}

static gboolean
read_all(Text *t, const char *text, gsize len, GError **error)
{
    const char *end = text + len;
    for (const char *at = text; at < end;) {
        const char *newline = memchr(at, '\n', (gsize)(end - at));
        t->line++;
        if (newline == NULL) {
            return res_cyclictest_fail(error, RES_CYCLICTEST_ERROR_INCOMPLETE,
                                       "ends in the middle of line %u", t->line);
        }
        if (newline - at > LINE_MAX_BYTES) {
            return text_fail(t, "longer than 256 KiB", error);
        }
        if (memchr(at, '\0', (gsize)(newline - at)) != NULL) {
            return text_fail(t, "a zero byte", error);
        }
        g_autofree char *line = g_strndup(at, (gsize)(newline - at));
        if (!read_line(t, line, error)) {
            return FALSE;
        }
        at = newline + 1;
    }
    gboolean histogram = t->columns != 0 || g_hash_table_contains(t->lists, "Min Latencies");
    return (!histogram || finish_histogram(t, error)) && finish_figures(t, error);
}

ResCyclictest *
res_cyclictest_parse_text(const char *text, gsize len, GError **error)
{
    static const char pattern[] =
        "T: *([0-9]{1,9}) *\\( *[0-9]+\\) *P: *([0-9]+) *I: *([0-9]+) *C: *([0-9]+)"
        " *Min: *(-?[0-9]+) *Act: *(-?[0-9]+) *Avg: *(-?[0-9]+) *Max: *(-?[0-9]+)"
        "( *SMI: *[0-9]+)? *$";
    g_autoptr(ResCyclictest) c = res_cyclictest_new();
    g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(ResCyclictestBucket));
    g_autoptr(GHashTable) lists =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    g_autoptr(GRegex) figures = g_regex_new(pattern, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, error);
    if (figures == NULL) {
        return NULL;
    }
    Text t = {.c = c, .seen = seen, .rows = rows, .lists = lists, .figures = figures};
    if (!read_all(&t, text, len, error) || !res_cyclictest_check(c, error)) {
        return NULL;
    }
    res_cyclictest_note(c, "%s", RES_CYCLICTEST_NOTE_UNIT);
    return g_steal_pointer(&c);
}
