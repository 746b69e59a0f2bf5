/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/jsonstream.h"

#include <string.h>
#include <yajl/yajl_parse.h>

#include "results/latency_private.h"

#define KEY_MAX 64
#define VALUE_MAX (256 * 1024) /* bytes that may go by without a value */

typedef struct {
    const ResJsonHandler *handler;
    gpointer context;
    char names[RES_JSON_STREAM_DEPTH + 1][KEY_MAX];
    char *keys[RES_JSON_STREAM_DEPTH + 1];
    unsigned int depth, lines;
    gsize since; /* bytes since the last value */
    GError *failed;
} Stream;

/* 0 ends the parser. */
static int
give(Stream *s, const ResJsonValue *v)
{
    s->since = 0;
    if (s->depth == 0 && v->type != RES_JSON_OBJECT) {
        return res_latency_fail(&s->failed, RES_LATENCY_ERROR_FORMAT, "not a JSON object");
    }
    return s->depth == 0 || s->handler->value(s->context, s->keys, s->depth, v, &s->failed);
}

static int
on_null(void *context)
{
    return give(context, &(ResJsonValue){.type = RES_JSON_NULL});
}

static int
on_boolean(void *context, int value G_GNUC_UNUSED)
{
    return give(context, &(ResJsonValue){.type = RES_JSON_OTHER});
}

static int
on_number(void *context, const char *text, size_t len)
{
    g_autofree char *word = g_strndup(text, len);
    ResJsonValue v = {.type = RES_JSON_NUMBER, .text = word};
    v.whole = res_latency_number(word, &v.number);
    v.real = g_ascii_strtod(word, NULL);
    return give(context, &v);
}

static int
on_string(void *context, const unsigned char *text, size_t len)
{
    g_autofree char *string = g_strndup((const char *)text, len);
    return give(context, &(ResJsonValue){.type = RES_JSON_STRING, .text = string});
}

static int
on_key(void *context, const unsigned char *text, size_t len)
{
    Stream *s = context;
    gsize n = MIN(len, KEY_MAX - 1);
    s->since = 0;
    memcpy(s->keys[s->depth], text, n);
    s->keys[s->depth][n] = '\0';
    return s->handler->key(s->context, s->keys, s->depth, &s->failed);
}

static int
open_level(Stream *s, ResJsonType type)
{
    if (!give(s, &(ResJsonValue){.type = type})) {
        return 0;
    }
    if (s->depth == RES_JSON_STREAM_DEPTH) {
        return res_latency_fail(&s->failed, RES_LATENCY_ERROR_FORMAT, "nests more than %d deep",
                                RES_JSON_STREAM_DEPTH);
    }
    s->keys[++s->depth][0] = '\0';
    return 1;
}

static int
on_object(void *context)
{
    return open_level(context, RES_JSON_OBJECT);
}

static int
on_array(void *context)
{
    return open_level(context, RES_JSON_OTHER);
}

static int
on_close(void *context)
{
    Stream *s = context;
    s->since = 0;
    s->depth--;
    return 1;
}

static void
tell_syntax(Stream *s, yajl_handle parser, const unsigned char *text, gsize len)
{
    unsigned char *words = yajl_get_error(parser, 0, text, len);
    g_autofree char *message = g_strchomp(g_strdup((const char *)words));
    yajl_free_error(parser, words);
    res_latency_fail(&s->failed, RES_LATENCY_ERROR_FORMAT, "not JSON: %s", message);
}

static gboolean
feed(Stream *s, yajl_handle parser, ResSource *source, GError **error)
{
    char buffer[4096]; /* small, so that a value that does not end is soon found out */
    gssize n;
    while ((n = res_source_read(source, buffer, sizeof buffer, error)) > 0) {
        const unsigned char *text = (const unsigned char *)buffer;
        s->since += (gsize)n;
        yajl_status status = yajl_parse(parser, text, (gsize)n);
        gsize used = status == yajl_status_ok ? (gsize)n : yajl_get_bytes_consumed(parser);
        for (gsize i = 0; i < MIN(used, (gsize)n); i++) {
            s->lines += buffer[i] == '\n';
        }
        if (status == yajl_status_error && s->failed == NULL) {
            tell_syntax(s, parser, text, (gsize)n);
        }
        if (s->failed == NULL && s->since > VALUE_MAX) {
            res_latency_fail(&s->failed, RES_LATENCY_ERROR_FORMAT,
                             "more than 256 KiB without a value");
        }
        if (s->failed != NULL) {
            g_set_error(error, s->failed->domain, s->failed->code, "line %u: %s", s->lines + 1,
                        s->failed->message);
            return FALSE;
        }
    }
    return n == 0;
}

gboolean
res_json_stream(ResSource *source, const ResJsonHandler *handler, gpointer context, GError **error)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_object,
        .yajl_map_key = on_key,
        .yajl_end_map = on_close,
        .yajl_start_array = on_array,
        .yajl_end_array = on_close,
    };
    Stream s = {.handler = handler, .context = context};
    for (gsize i = 0; i < G_N_ELEMENTS(s.keys); i++) {
        s.keys[i] = s.names[i];
    }
    yajl_handle parser = yajl_alloc(&callbacks, NULL, &s);
    gboolean ok = feed(&s, parser, source, error);
    if (ok && yajl_complete_parse(parser) != yajl_status_ok) {
        ok = res_latency_fail(error, RES_LATENCY_ERROR_INCOMPLETE,
                              "ends at line %u inside the JSON object", s.lines + 1);
    }
    yajl_free(parser);
    g_clear_error(&s.failed);
    return ok;
}
