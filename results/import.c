/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/import.h"

#include <string.h>

#include "results/cyclictest_private.h"
#include "results/rteval.h"
#include "results/text.h"

static const struct {
    const char *magic;
    gsize len;
    const char *what;
} strangers[] = {
    {"\x1f\x8b", 2, "compressed with gzip: unpack it first (gunzip)"},
    {"\xfd\x37zXZ", 5, "compressed with xz: unpack it first (unxz)"},
    {"BZh", 3, "compressed with bzip2: unpack it first (bunzip2)"},
    {"\x28\xb5\x2f\xfd", 4, "compressed with zstd: unpack it first (unzstd)"},
    {"PK\x03\x04", 4, "a zip archive: unpack it first"},
    {"\xff\xfe", 2, "UTF-16 text: turn it into UTF-8 first (iconv -f UTF-16)"},
    {"\xfe\xff", 2, "UTF-16 text: turn it into UTF-8 first (iconv -f UTF-16)"},
    {"\x7f\x45LF", 4, "a program"},
};

static gboolean
head_has(const char *head, gsize len, const char *word)
{
    return g_strstr_len(head, (gssize)len, word) != NULL;
}

static gboolean
begins_without_case(const char *at, gsize len, const char *word)
{
    return len >= strlen(word) && g_ascii_strncasecmp(at, word, strlen(word)) == 0;
}

static gboolean
check_stranger(const char *head, gsize len, GError **error)
{
    for (gsize i = 0; i < G_N_ELEMENTS(strangers); i++) {
        if (len >= strangers[i].len && memcmp(head, strangers[i].magic, strangers[i].len) == 0) {
            return res_latency_fail(error, RES_LATENCY_ERROR_FOREIGN, "%s", strangers[i].what);
        }
    }
    gsize start = 0;
    while (start < len && g_ascii_isspace(head[start])) {
        start++;
    }
    if (start == len && len < RES_SOURCE_HEAD) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FOREIGN, "empty");
    }
    if (memchr(head, '\0', len) != NULL) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FOREIGN, "a binary file");
    }
    if (begins_without_case(head + start, len - start, "<!DOCTYPE html") ||
        begins_without_case(head + start, len - start, "<html")) {
        return res_latency_fail(error, RES_LATENCY_ERROR_FOREIGN,
                                "an HTML page (a server's login or error page?)");
    }
    return TRUE;
}

static ResLatency *
read_json(ResSource *source, const char *head, gsize len, const char **tool, GError **error)
{
    if (!head_has(head, len, "\"thread\"") && !head_has(head, len, "\"num_threads\"") &&
        !head_has(head, len, "\"rt_test_version")) {
        res_latency_fail(error, RES_LATENCY_ERROR_FOREIGN,
                         "JSON, but neither of rt-tests nor a record of nohzlab");
        return NULL;
    }
    g_autoptr(GError) failed = NULL;
    ResLatency *c = res_cyclictest_read_json(source, &failed);
    *tool = c != NULL ? c->tool : head_has(head, len, "oslat") ? "oslat" : "cyclictest";
    if (c == NULL) {
        g_propagate_prefixed_error(error, g_steal_pointer(&failed), "%s's output: ", *tool);
    }
    return c;
}

static ResLatency *
read_xml(ResSource *source, const char *head, gsize len, const char **tool, GError **error)
{
    g_autoptr(GError) failed = NULL;
    gboolean is_rteval = head_has(head, len, "<rteval");
    ResLatency *c = res_rteval_read(source, &failed);
    if (c != NULL) {
        *tool = c->tool;
        return c;
    }
    if (failed->domain == RES_LATENCY_ERROR && !is_rteval) {
        failed->code = RES_LATENCY_ERROR_FOREIGN; /* whatever is wrong with it */
    }
    *tool = is_rteval && !g_error_matches(failed, RES_LATENCY_ERROR, RES_LATENCY_ERROR_FOREIGN)
                ? "rteval"
                : NULL;
    g_propagate_prefixed_error(error, g_steal_pointer(&failed), "%s",
                               *tool != NULL ? "rteval's summary: " : "");
    return NULL;
}

ResLatency *
res_import_read(ResSource *source, const char *command, const char **tool, GError **error)
{
    gsize len = 0, start = 0;
    *tool = NULL;
    const char *head = res_source_head(source, &len, error);
    if (head == NULL || !check_stranger(head, len, error)) {
        return NULL;
    }
    while (start < len && g_ascii_isspace(head[start])) {
        start++;
    }
    g_autoptr(ResLatency) c = NULL;
    /* reading consumes the head */
    g_autofree char *copy = g_memdup2(head, len);
    if (start < len && head[start] == '<') {
        c = read_xml(source, copy, len, tool, error);
    } else if (start < len && head[start] == '{') {
        c = read_json(source, copy, len, tool, error);
    } else {
        c = res_text_read(source, NULL, tool, error);
    }
    if (c == NULL) {
        return NULL;
    }
    gboolean told = c->cmdline[0] != '\0';
    g_autoptr(GError) failed = NULL;
    if (command == NULL || !g_str_equal(c->tool, "cyclictest") ||
        res_cyclictest_set_cmdline(c, command, &failed)) {
        return g_steal_pointer(&c);
    }
    if (told) { /* the user's mistake, not the file's */
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, failed->message);
    } else {
        g_propagate_error(error, g_steal_pointer(&failed));
    }
    return NULL;
}
