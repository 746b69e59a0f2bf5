/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/report_private.h"

#include <string.h>

#include "guest/report.h"
#include "results/report_words.h"

/* Counts a guest has no reason to exceed; with BM_REPORT_MAX they bound the memory. */
#define FACTS_MAX 4096
#define BARRIERS_MAX (4 * BM_WORKLOADS_MAX)
#define BATCHES_MAX 100000                                  /* of one workload */
#define VALUES_MAX 1024                                     /* of one workload */
#define OUTPUT_MAX (3 * (BM_OUTPUT_MAX + BM_NOTES_MAX) + 2) /* a byte may become U+FFFD: three */
#define FILE_MAX (BM_FILE_MAX + 2)
#define WORDS_MAX 7

static void
file_free(gpointer data)
{
    ResFile *f = data;

    g_free(f->name);
    g_string_free(f->content, TRUE);
    g_free(f);
}

void
res_report_workload_free(gpointer data)
{
    ResWorkload *w = data;

    g_free(w->name);
    g_array_unref(w->batches);
    g_ptr_array_unref(w->files);
    g_hash_table_unref(w->values);
    g_string_free(w->output, TRUE);
    g_free(w);
}

/* The handlers below get a line's words, the keyword first, or (take_rest) the text after the
 * words. */

gboolean
res_report_wrong(GError **error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_propagate_error(error,
                      g_error_new_valist(RES_REPORT_ERROR, RES_REPORT_ERROR_FORMAT, format, args));
    va_end(args);
    return FALSE;
}

static gboolean
too_many(GError **error, const char *what, guint limit)
{
    g_set_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_LIMIT, "more than %u %s", limit, what);
    return FALSE;
}

static gboolean
take_fact(ResReport *r, char **words, GError **error)
{
    g_autofree char *value = res_rest_decode_text(words[2], error);
    GPtrArray *values = g_hash_table_lookup(r->facts, words[1]);

    if (value == NULL)
        return FALSE;
    if (!res_word_is_name(words[1], 3 * BM_NAME_MAX))
        return res_report_wrong(error, "a fact's key is of letters, digits, '.', '_' and '-'");
    if (r->n_facts++ == FACTS_MAX)
        return too_many(error, "facts", FACTS_MAX);
    if (values == NULL) {
        values = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(r->facts, g_strdup(words[1]), values);
    }
    g_ptr_array_add(values, g_steal_pointer(&value));
    return TRUE;
}

static gboolean
take_barrier(ResReport *r, char **words, GError **error)
{
    const char *colon = strchr(words[1], ':');

    if (!res_word_is_name(colon == NULL ? words[1] : colon + 1, BM_NAME_MAX) ||
        (colon != NULL && !g_str_has_prefix(words[1], "begin:") &&
         !g_str_has_prefix(words[1], "end:")))
        return res_report_wrong(
            error, "expected `barrier NAME`, NAME like ready, begin:WORKLOAD, end:WORKLOAD or end");
    if (r->n_barriers++ == BARRIERS_MAX)
        return too_many(error, "barriers", BARRIERS_MAX);
    if (r->barrier != NULL)
        r->barrier(words[1], r->barrier_data);
    return TRUE;
}

static gboolean
take_begin(ResReport *r, char **words, GError **error)
{
    ResWorkload *w;

    if (r->open != NULL)
        return res_report_wrong(error, "`begin` before the `done` of workload %s", r->open->name);
    if (!res_word_is_name(words[1], BM_NAME_MAX))
        return res_report_wrong(
            error, "a workload's name is of letters, digits, '.', '_' and '-', at most %d",
            BM_NAME_MAX);
    for (guint i = 0; i < r->workloads->len; i++)
        if (strcmp(((ResWorkload *)r->workloads->pdata[i])->name, words[1]) == 0)
            return res_report_wrong(error, "a second workload is called %s", words[1]);
    if (r->workloads->len == BM_WORKLOADS_MAX)
        return too_many(error, "workloads", BM_WORKLOADS_MAX);
    w = g_new0(ResWorkload, 1);
    w->name = g_strdup(words[1]);
    w->batches = g_array_new(FALSE, FALSE, sizeof(ResBatch));
    w->files = g_ptr_array_new_with_free_func(file_free);
    w->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    w->output = g_string_new(NULL);
    w->status = -1;
    g_ptr_array_add(r->workloads, w);
    r->open = w;
    r->file = NULL;
    r->closed = FALSE;
    return TRUE;
}

static gboolean
take_batch(ResReport *r, char **words, GError **error)
{
    ResBatch b;
    guint64 cpu, index;

    if (!res_word_is_name(words[1], BM_NAME_MAX) ||
        !res_word_to_number(words[2], BM_CPU_MAX, &cpu) ||
        !res_word_to_number(words[3], G_MAXUINT, &index) ||
        !res_word_to_number(words[5], G_MAXUINT64, &b.calls) ||
        !res_word_to_number(words[6], G_MAXUINT64, &b.ticks))
        return res_report_wrong(error, "expected `batch LOOP CPU INDEX PHASE CALLS TICKS`");
    b.measured = strcmp(words[4], "measure") == 0;
    if (!b.measured && strcmp(words[4], "warmup") != 0)
        return res_report_wrong(error, "a batch's phase is warmup or measure");
    if (b.calls == 0)
        return res_report_wrong(error, "a batch of no calls");
    if (r->open->batches->len == BATCHES_MAX)
        return too_many(error, "batches", BATCHES_MAX);
    b.cpu = (unsigned int)cpu;
    b.index = (unsigned int)index;
    b.loop = g_string_chunk_insert_const(r->strings, words[1]);
    g_array_append_val(r->open->batches, b);
    return TRUE;
}

static gboolean
take_value(ResReport *r, char **words, GError **error)
{
    double number;

    if (!res_word_is_name(words[1], BM_NAME_MAX) || !res_word_to_figure(words[2], &number))
        return res_report_wrong(error, "expected `value NAME NUMBER`, the number decimal");
    if (g_hash_table_contains(r->open->values, words[1]))
        return res_report_wrong(error, "a second value %s", words[1]);
    if (g_hash_table_size(r->open->values) == VALUES_MAX)
        return too_many(error, "values", VALUES_MAX);
    g_hash_table_insert(r->open->values, g_strdup(words[1]), g_memdup2(&number, sizeof number));
    return TRUE;
}

static gboolean
take_file(ResReport *r, char **words, GError **error)
{
    const GPtrArray *files = r->open->files;

    if (!res_word_is_name(words[1], BM_FILE_NAME_MAX))
        return res_report_wrong(error,
                                "a file's name is of letters, digits, '.', '_' and '-', at most %d",
                                BM_FILE_NAME_MAX);
    for (guint i = 0; i < files->len; i++)
        if (strcmp(((ResFile *)files->pdata[i])->name, words[1]) == 0)
            return res_report_wrong(error, "a second file is called %s", words[1]);
    if (files->len == BM_COLLECT_MAX)
        return too_many(error, "files", BM_COLLECT_MAX);
    r->file = g_new0(ResFile, 1);
    r->file->name = g_strdup(words[1]);
    r->file->content = g_string_new(NULL);
    g_ptr_array_add(r->open->files, r->file);
    r->closed = FALSE;
    return TRUE;
}

/* A line is kept back until it is whole; then a file gets its bytes, the output valid UTF-8 without
 * NULs. */
static gboolean
take_text(ResReport *r, char **words, GError **error)
{
    GString *to = r->file == NULL ? r->open->output : r->file->content;
    gsize limit = r->file == NULL ? OUTPUT_MAX : FILE_MAX;

    if (r->closed)
        return res_report_wrong(error, "text after `cut`");
    if (!res_rest_decode(words[1], r->pieces, error))
        return FALSE;
    if (to->len + r->pieces->len + 1 > limit) {
        g_set_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_LIMIT,
                    "%s of workload %s is longer than %" G_GSIZE_FORMAT " bytes",
                    r->file == NULL ? "the output" : r->file->name, r->open->name, limit);
        return FALSE;
    }
    if (strcmp(words[0], "part") == 0)
        return TRUE;
    if (r->file == NULL) {
        g_autofree char *line = g_utf8_make_valid(r->pieces->str, (gssize)r->pieces->len);

        g_string_append(to, line);
    } else {
        g_string_append_len(to, r->pieces->str, (gssize)r->pieces->len);
    }
    g_string_append_c(to, '\n');
    g_string_truncate(r->pieces, 0);
    return TRUE;
}

static gboolean
take_cut(ResReport *r, char **words, GError **error)
{
    const char *name = r->file == NULL ? "output" : r->file->name;

    if (strcmp(words[1], name) != 0)
        return res_report_wrong(error, "expected `cut %s`", name);
    if (r->closed)
        return res_report_wrong(error, "a second `cut`");
    r->closed = TRUE;
    g_string_truncate(r->pieces, 0);
    if (r->file == NULL)
        r->open->output_cut = TRUE;
    else
        r->file->cut = TRUE;
    return TRUE;
}

static gboolean
take_done(ResReport *r, char **words, GError **error)
{
    guint64 status;

    if (strcmp(words[1], r->open->name) != 0 || !res_word_to_number(words[2], 255, &status))
        return res_report_wrong(error, "expected `done %s STATUS`, the status from 0 to 255",
                                r->open->name);
    r->open->status = (int)status;
    r->open = NULL;
    r->file = NULL;
    return TRUE;
}

static gboolean
take_fail(ResReport *r, char **words, GError **error)
{
    r->failure = res_rest_decode_text(words[1], error);
    return r->failure != NULL;
}

static gboolean
take_end(ResReport *r, char **words, GError **error)
{
    guint64 lines;

    if (!res_word_to_number(words[1], G_MAXUINT64, &lines))
        return res_report_wrong(error, "expected `end LINES`");
    if (r->open != NULL && r->failure == NULL)
        return res_report_wrong(error, "`end` before the `done` of workload %s", r->open->name);
    if (lines != r->lines - 1)
        return res_report_wrong(
            error, "the guest sent %" G_GUINT64_FORMAT " lines, %" G_GUINT64_FORMAT " came through",
            lines, r->lines - 1);
    r->ended = TRUE;
    return TRUE;
}

typedef enum { ANYWHERE, IN_WORKLOAD, BEFORE_FILES } Place;

static const struct {
    const char *keyword;
    guint n_words; /* exactly; with a rest, the rest is the last */
    gboolean rest;
    Place place;
    gboolean (*take)(ResReport *r, char **words, GError **error);
} lines[] = {
    {"fact", 3, TRUE, ANYWHERE, take_fact},        {"barrier", 2, FALSE, ANYWHERE, take_barrier},
    {"begin", 2, FALSE, ANYWHERE, take_begin},     {"batch", 7, FALSE, BEFORE_FILES, take_batch},
    {"value", 3, FALSE, BEFORE_FILES, take_value}, {"file", 2, FALSE, IN_WORKLOAD, take_file},
    {"text", 2, TRUE, IN_WORKLOAD, take_text},     {"part", 2, TRUE, IN_WORKLOAD, take_text},
    {"cut", 2, FALSE, IN_WORKLOAD, take_cut},      {"done", 3, FALSE, IN_WORKLOAD, take_done},
    {"fail", 2, TRUE, ANYWHERE, take_fail},        {"end", 2, FALSE, ANYWHERE, take_end},
};

static gboolean
take_first_line(ResReport *r, const char *line, GError **error)
{
    const char *version = line + strlen(BM_REPORT_MAGIC " ");

    if (!g_str_has_prefix(line, BM_REPORT_MAGIC " "))
        return res_report_wrong(error, "expected \"" BM_REPORT_MAGIC " %d\"", BM_FORMAT_VERSION);
    if (strcmp(version, G_STRINGIFY(BM_FORMAT_VERSION)) != 0)
        return res_report_wrong(
            error,
            "version %.16s of the report; this nohzlab reads version %d: use the guest programs "
            "of the same release",
            version, BM_FORMAT_VERSION);
    r->started = TRUE;
    return TRUE;
}

/* LINE is changed. */
gboolean
res_report_take_line(ResReport *r, char *line, GError **error)
{
    gsize keyword_len = strcspn(line, " ");
    char *words[WORDS_MAX];

    if (!r->started)
        return take_first_line(r, line, error);
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        const char *keyword = lines[i].keyword;
        gboolean text = lines[i].take == take_text;

        if (strlen(keyword) != keyword_len || memcmp(keyword, line, keyword_len) != 0)
            continue;
        if (!res_line_split(line, words, lines[i].n_words, lines[i].rest))
            return res_report_wrong(error, "`%s` takes %u words, one space between them", keyword,
                                    lines[i].n_words - 1);
        if (r->failure != NULL && lines[i].take != take_end)
            return res_report_wrong(error, "`%s` after `fail`", keyword);
        if (lines[i].place != ANYWHERE && r->open == NULL)
            return res_report_wrong(error, "`%s` outside a workload", keyword);
        if (lines[i].place == BEFORE_FILES && r->file != NULL)
            return res_report_wrong(error, "`%s` after the first `file`", keyword);
        if (r->pieces->len > 0 && !text && lines[i].take != take_cut &&
            lines[i].take != take_fail && lines[i].take != take_end)
            return res_report_wrong(error, "`%s` inside a line of text", keyword);
        return lines[i].take(r, words, error);
    }
    return res_report_wrong(error, "unknown keyword `%.*s`", (int)MIN(keyword_len, 32), line);
}
