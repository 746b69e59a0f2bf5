/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/observe_hist.h"

#include <string.h>

#include "host/error.h"

/* Where the reader is: the rest of one line, and which it is. */
typedef struct {
    const char *at, *end;
    guint line;
} Reader;

HostHist *
host_hist_new(void)
{
    HostHist *h = g_new0(HostHist, 1);

    h->entries = g_array_new(FALSE, FALSE, sizeof(HostHistEntry));
    return h;
}

void
host_hist_free(HostHist *h)
{
    if (!h)
        return;
    g_array_unref(h->entries);
    g_free(h);
}

typedef struct {
    guint64 keys[HOST_HIST_MAX_KEYS];
} KeySet;

static guint
keys_hash(gconstpointer data)
{
    const KeySet *k = data;
    guint64 hash = 0;

    for (guint i = 0; i < HOST_HIST_MAX_KEYS; i++)
        hash = (hash ^ k->keys[i]) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return (guint)(hash >> 32);
}

static gboolean
keys_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(KeySet)) == 0;
}

GHashTable *
host_hist_index_new(void)
{
    return g_hash_table_new_full(keys_hash, keys_equal, g_free, NULL);
}

gboolean
host_hist_add(HostHist *h, GHashTable *index, const guint64 *keys, guint64 hits, guint64 sum)
{
    KeySet set;

    memcpy(set.keys, keys, sizeof(set.keys));
    /* One more than the index, so that NULL says there is none. */
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, &set));
    if (at) {
        HostHistEntry *e = &g_array_index(h->entries, HostHistEntry, at - 1);
        e->hits += hits;
        e->sum += sum;
        return TRUE;
    }
    if (h->entries->len >= HOST_HIST_MAX_ENTRIES) {
        h->uncounted += hits;
        return FALSE;
    }
    HostHistEntry e = {.hits = hits, .sum = sum};
    memcpy(e.keys, keys, sizeof(e.keys));
    g_array_append_val(h->entries, e);
    g_hash_table_insert(index, g_memdup2(&set, sizeof(set)), GUINT_TO_POINTER(h->entries->len));
    return TRUE;
}

static gboolean
malformed(const Reader *r, const char *wanted, GError **error)
{
    gsize len = MIN((gsize)(r->end - r->at), 40);
    g_autofree char *raw = g_strndup(r->at, len);
    g_autofree char *found = g_strescape(raw, NULL);

    g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "hist file, line %u: %s expected, not \"%s\"",
                r->line, wanted, found);
    return FALSE;
}

static void
skip_spaces(Reader *r)
{
    while (r->at < r->end && *r->at == ' ')
        r->at++;
}

static gboolean
take(Reader *r, const char *word)
{
    gsize len = strlen(word);

    if ((gsize)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return FALSE;
    r->at += len;
    return TRUE;
}

static gboolean
take_number(Reader *r, guint64 *n)
{
    const char *start = r->at;

    *n = 0;
    for (; r->at < r->end && g_ascii_isdigit(*r->at); r->at++) {
        if (!g_uint64_checked_mul(n, *n, 10) ||
            !g_uint64_checked_add(n, *n, (guint64)(*r->at - '0')))
            return FALSE;
    }
    return r->at > start;
}

/* "NAME:   123" */
static gboolean
take_field(Reader *r, const char *name, guint64 *n, GError **error)
{
    Reader start = *r;

    gboolean named = take(r, name) || (g_str_equal(name, "common_cpu") && take(r, "cpu"));
    if (named && take(r, ":")) {
        skip_spaces(r);
        if (take_number(r, n))
            return TRUE;
    }
    g_autofree char *wanted = g_strdup_printf("\"%s: NUMBER\"", name);
    return malformed(&start, wanted, error);
}

static gboolean
parse_entry(Reader *r, const char *const *keys, guint n_keys, const char *value, HostHistEntry *e,
            GError **error)
{
    if (!take(r, "{ "))
        return malformed(r, "\"{ \" or \"Totals:\"", error);
    for (guint i = 0; i < n_keys; i++) {
        if (i > 0 && !take(r, ", "))
            return malformed(r, "\", \" and the next key", error);
        if (!take_field(r, keys[i], &e->keys[i], error))
            return FALSE;
    }
    if (!take(r, " }"))
        return malformed(r, "\" }\"", error);
    skip_spaces(r);
    if (!take_field(r, "hitcount", &e->hits, error))
        return FALSE;
    skip_spaces(r);
    if (value && !take_field(r, value, &e->sum, error))
        return FALSE;
    skip_spaces(r);
    return r->at == r->end || malformed(r, "the end of the line", error);
}

/* One line more, without its end; FALSE when there is none. */
static gboolean
next_line(Reader *r, const char *limit, gboolean first)
{
    const char *start = first ? r->at : r->end + 1;

    if (start >= limit)
        return FALSE;
    const char *end = memchr(start, '\n', (gsize)(limit - start));
    *r = (Reader){.at = start, .end = end ? end : limit, .line = r->line + 1};
    return TRUE;
}

static gboolean
parse_totals(Reader *r, const char *limit, HostHist *h, GError **error)
{
    static const char *const names[] = {"Hits", "Entries", "Dropped"};
    guint64 n[G_N_ELEMENTS(names)] = {0};

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!next_line(r, limit, FALSE)) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_IO,
                        "hist file: cut short after line %u, \"%s\" of the totals is missing",
                        r->line, names[i]);
            return FALSE;
        }
        skip_spaces(r);
        if (!take_field(r, names[i], &n[i], error))
            return FALSE;
    }
    if (n[1] != h->entries->len) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO,
                    "hist file: it says %" G_GUINT64_FORMAT
                    " entries, but %u different ones are there",
                    n[1], h->entries->len);
        return FALSE;
    }
    h->uncounted = n[2];
    while (next_line(r, limit, FALSE))
        if (r->at != r->end)
            return malformed(r, "an empty line", error);
    return TRUE;
}

HostHist *
host_hist_parse(const char *text, gsize len, const char *const *keys, guint n_keys,
                const char *value, GError **error)
{
    g_return_val_if_fail(n_keys > 0 && n_keys <= HOST_HIST_MAX_KEYS, NULL);
    if (len > HOST_HIST_MAX_BYTES) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "hist file: larger than %d bytes",
                    HOST_HIST_MAX_BYTES);
        return NULL;
    }
    g_autoptr(HostHist) h = host_hist_new();
    g_autoptr(GHashTable) index = host_hist_index_new();
    const char *limit = text + len;
    Reader r = {.at = text};

    for (gboolean first = TRUE; next_line(&r, limit, first); first = FALSE) {
        HostHistEntry e = {0};
        if (r.at == r.end || *r.at == '#')
            continue;
        if (take(&r, "Totals:")) {
            if (r.at != r.end) {
                malformed(&r, "the end of the line", error);
                return NULL;
            }
            return parse_totals(&r, limit, h, error) ? g_steal_pointer(&h) : NULL;
        }
        if (!parse_entry(&r, keys, n_keys, value, &e, error))
            return NULL;
        if (!host_hist_add(h, index, e.keys, e.hits, e.sum)) {
            g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "hist file: more than %d entries",
                        HOST_HIST_MAX_ENTRIES);
            return NULL;
        }
    }
    g_set_error(error, HOST_ERROR, HOST_ERROR_IO,
                "hist file: cut short after line %u, its totals are missing", r.line);
    return NULL;
}

static gboolean
stats_field(const char *text, const char *name, guint64 *n, GError **error)
{
    gsize len = strlen(name);

    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (strncmp(line, name, len) != 0 || line[len] != ':')
            continue;
        Reader r = {.at = line + len + 1, .end = line + strcspn(line, "\n")};
        skip_spaces(&r);
        if (take_number(&r, n) && r.at == r.end)
            return TRUE;
    }
    g_set_error(error, HOST_ERROR, HOST_ERROR_IO, "stats file of a trace buffer: no \"%s: NUMBER\"",
                name);
    return FALSE;
}

gboolean
host_trace_stats_parse(const char *text, guint64 *entries, guint64 *lost, GError **error)
{
    guint64 overrun, commit_overrun, dropped;

    if (!stats_field(text, "entries", entries, error) ||
        !stats_field(text, "overrun", &overrun, error) ||
        !stats_field(text, "commit overrun", &commit_overrun, error) ||
        !stats_field(text, "dropped events", &dropped, error))
        return FALSE;
    if (!g_uint64_checked_add(lost, overrun, commit_overrun) ||
        !g_uint64_checked_add(lost, *lost, dropped))
        *lost = G_MAXUINT64;
    return TRUE;
}
