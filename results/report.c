/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/report.h"

#include <string.h>

#include "guest/report.h"
#include "results/report_private.h"

G_DEFINE_QUARK(res - report - error - quark, res_report_error)

ResReport *
res_report_new(ResReportBarrier barrier, gpointer data)
{
    ResReport *r = g_new0(ResReport, 1);

    r->barrier = barrier;
    r->barrier_data = data;
    r->raw = g_string_new(NULL);
    r->facts =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    r->no_facts = g_ptr_array_new();
    r->workloads = g_ptr_array_new_with_free_func(res_report_workload_free);
    r->pieces = g_string_new(NULL);
    r->strings = g_string_chunk_new(256);
    return r;
}

void
res_report_free(ResReport *r)
{
    if (r == NULL)
        return;
    g_string_free(r->raw, TRUE);
    g_clear_error(&r->error);
    g_free(r->failure);
    g_hash_table_unref(r->facts);
    g_ptr_array_unref(r->no_facts);
    g_ptr_array_unref(r->workloads);
    g_string_free(r->pieces, TRUE);
    g_string_chunk_free(r->strings);
    g_free(r);
}

/* Every byte of a report but the newline prints. */
static gboolean
check_bytes(const char *line, gsize len, GError **error)
{
    for (gsize i = 0; i < len; i++)
        if (line[i] < ' ' || line[i] > '~')
            return res_report_wrong(error,
                                    "byte 0x%02x at column %" G_GSIZE_FORMAT
                                    ": only 0x20 to 0x7e may stand for themselves",
                                    (unsigned char)line[i], i + 1);
    return TRUE;
}

static gboolean
next_line(ResReport *r, gsize end, GError **error)
{
    char line[BM_LINE_MAX];
    gsize len = end - r->line_start;

    r->lines++;
    if (len >= BM_LINE_MAX) {
        g_set_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_LIMIT, "longer than %d bytes",
                    BM_LINE_MAX);
        return FALSE;
    }
    memcpy(line, r->raw->str + r->line_start, len);
    line[len] = '\0';
    r->line_start = end + 1;
    return check_bytes(line, len, error) && res_report_take_line(r, line, error);
}

static gboolean
feed(ResReport *r, const char *bytes, gsize len, GError **error)
{
    while (len > 0) {
        const char *newline = memchr(bytes, '\n', len);
        gsize n = newline == NULL ? len : (gsize)(newline - bytes) + 1;

        if (r->ended)
            return res_report_wrong(error, "%" G_GSIZE_FORMAT " bytes after `end`", len);
        if (r->raw->len + n > BM_REPORT_MAX) {
            g_set_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_LIMIT,
                        "the report is longer than %d bytes", BM_REPORT_MAX);
            return FALSE;
        }
        g_string_append_len(r->raw, bytes, (gssize)n);
        if (newline != NULL) {
            if (!next_line(r, r->raw->len - 1, error))
                return FALSE;
        } else if (r->raw->len - r->line_start >= BM_LINE_MAX) {
            r->lines++;
            g_set_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_LIMIT, "longer than %d bytes",
                        BM_LINE_MAX);
            return FALSE;
        }
        bytes += n;
        len -= n;
    }
    return TRUE;
}

gboolean
res_report_feed(ResReport *r, const char *bytes, gsize len, GError **error)
{
    g_autoptr(GError) wrong = NULL;

    if (r->error == NULL && !feed(r, bytes, len, &wrong))
        r->error = g_error_new(wrong->domain, wrong->code, "report line %" G_GUINT64_FORMAT ": %s",
                               r->lines, wrong->message);
    if (r->error == NULL)
        return TRUE;
    if (error != NULL)
        *error = g_error_copy(r->error);
    return FALSE;
}

gboolean
res_report_check_complete(const ResReport *r, GError **error)
{
    if (r->error != NULL) {
        if (error != NULL)
            *error = g_error_copy(r->error);
        return FALSE;
    }
    if (r->ended)
        return TRUE;
    g_set_error(error, RES_REPORT_ERROR, RES_REPORT_ERROR_TRUNCATED,
                "the report is cut short after line %" G_GUINT64_FORMAT ": %s%s%s", r->lines,
                r->lines == 0 ? "nothing came from the guest" : "`end` is missing",
                r->open == NULL ? "" : ", in workload ", r->open == NULL ? "" : r->open->name);
    return FALSE;
}

gboolean
res_report_ended(const ResReport *r)
{
    return r->ended && r->error == NULL;
}

const char *
res_report_failure(const ResReport *r)
{
    return r->failure;
}

const GPtrArray *
res_report_facts(const ResReport *r, const char *key)
{
    const GPtrArray *values = g_hash_table_lookup(r->facts, key);

    return values == NULL ? r->no_facts : values;
}

const char *
res_report_fact(const ResReport *r, const char *key)
{
    const GPtrArray *values = res_report_facts(r, key);

    return values->len == 0 ? NULL : values->pdata[values->len - 1];
}

GHashTable *
res_report_all_facts(const ResReport *r)
{
    return r->facts;
}

const GPtrArray *
res_report_workloads(const ResReport *r)
{
    return r->workloads;
}

const GString *
res_report_raw(const ResReport *r)
{
    return r->raw;
}
