/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/annotations.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/json.h"

#define FORMAT "nohzlab-annotations"
#define VERSION 1

void
res_annotation_free(ResAnnotation *a)
{
    if (a == NULL) {
        return;
    }
    g_free(a->metric);
    g_free(a->profile);
    g_free(a->cell);
    g_free(a->host);
    g_free(a->note);
    g_free(a);
}

static void
set_text(JsonObject *o, const char *key, const char *text)
{
    if (text != NULL) {
        g_autofree char *valid = g_utf8_make_valid(text, -1);
        json_object_set_string_member(o, key, valid);
    }
}

char *
res_annotations_to_json(const GPtrArray *annotations)
{
    g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
    JsonObject *o = json_object_new();
    JsonArray *entries = json_array_new();
    json_node_take_object(root, o);
    json_object_set_string_member(o, "format", FORMAT);
    json_object_set_int_member(o, "version", VERSION);
    for (guint i = 0; i < annotations->len; i++) {
        const ResAnnotation *a = g_ptr_array_index(annotations, i);
        JsonObject *entry = json_object_new();
        json_object_set_int_member(entry, "when_us", a->when_us);
        json_object_set_int_member(entry, "written_us", a->written_us);
        json_object_set_boolean_member(entry, "accept", a->accept);
        set_text(entry, "metric", a->metric);
        set_text(entry, "profile", a->profile);
        set_text(entry, "cell", a->cell);
        set_text(entry, "host", a->host);
        set_text(entry, "note", a->note);
        json_array_add_object_element(entries, entry);
    }
    json_object_set_array_member(o, "annotations", entries);
    return res_json_text(root);
}

static gboolean G_GNUC_PRINTF(2, 3) fail(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "annotations: %s", what);
    return FALSE;
}

/* NEEDED: must be there. */
static gboolean
get_text(JsonObject *o, const char *key, gboolean needed, char **text, GError **error)
{
    if (!needed && !json_object_has_member(o, key)) {
        return TRUE;
    }
    const char *value = res_json_get_string(o, key);
    if (value == NULL) {
        return fail(error, "\"%s\" must be a text", key);
    }
    *text = g_strdup(value);
    return TRUE;
}

static gboolean
get_time(JsonObject *o, const char *key, gint64 *us, GError **error)
{
    JsonNode *node = res_json_value(o, key, G_TYPE_INT64);
    if (node == NULL || json_node_get_int(node) < 0) {
        return fail(error, "\"%s\" must be a whole number of microseconds", key);
    }
    *us = json_node_get_int(node);
    return TRUE;
}

static gboolean
read_entry(JsonNode *node, ResAnnotation *a, GError **error)
{
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        return fail(error, "must be an object");
    }
    JsonObject *o = json_node_get_object(node);
    JsonNode *accept = res_json_value(o, "accept", G_TYPE_BOOLEAN);
    if (accept == NULL) {
        return fail(error, "\"accept\" must be true or false");
    }
    a->accept = json_node_get_boolean(accept);
    if (!get_time(o, "when_us", &a->when_us, error) ||
        !get_time(o, "written_us", &a->written_us, error) ||
        !get_text(o, "metric", TRUE, &a->metric, error) ||
        !get_text(o, "profile", FALSE, &a->profile, error) ||
        !get_text(o, "cell", FALSE, &a->cell, error) ||
        !get_text(o, "host", FALSE, &a->host, error) ||
        !get_text(o, "note", TRUE, &a->note, error)) {
        return FALSE;
    }
    return strlen(a->note) <= RES_ANNOTATION_NOTE_MAX ||
           fail(error, "\"note\" is longer than %d bytes", RES_ANNOTATION_NOTE_MAX);
}

static GPtrArray *
empty(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)res_annotation_free);
}

GPtrArray *
res_annotations_from_json(const char *text, gsize len, GError **error)
{
    ResJsonState state = RES_JSON_OK;
    g_autofree char *reason = NULL, *format = NULL;
    g_autoptr(GPtrArray) all = empty();
    g_autoptr(JsonNode) root =
        res_json_parse(text, len, RES_ANNOTATIONS_MAX, FALSE, &state, &reason);
    if (root == NULL) {
        fail(error, "%s", reason);
        return NULL;
    }
    JsonObject *o = json_node_get_object(root);
    JsonNode *version = res_json_value(o, "version", G_TYPE_INT64);
    JsonNode *entries = json_object_get_member(o, "annotations");
    if (!get_text(o, "format", TRUE, &format, error)) {
        return NULL;
    }
    if (!g_str_equal(format, FORMAT) || version == NULL || json_node_get_int(version) != VERSION) {
        fail(error, "this nohzlab reads format " FORMAT ", version %d", VERSION);
        return NULL;
    }
    if (entries == NULL || !JSON_NODE_HOLDS_ARRAY(entries)) {
        fail(error, "\"annotations\" must be an array");
        return NULL;
    }
    JsonArray *array = json_node_get_array(entries);
    for (guint i = 0; i < json_array_get_length(array); i++) {
        ResAnnotation *a = g_new0(ResAnnotation, 1);
        g_ptr_array_add(all, a);
        if (!read_entry(json_array_get_element(array, i), a, error)) {
            g_prefix_error(error, "[%u]: ", i);
            return NULL;
        }
    }
    return g_steal_pointer(&all);
}

/* A plain file only: a pipe would keep us waiting, and a link lead elsewhere. */
static char *
read_plain(const char *path, gsize *len, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int failed = errno;
    struct stat st;
    if (fd < 0) {
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(failed), "%s: %s", path,
                    g_strerror(failed));
        return NULL;
    }
    char *text = NULL;
    gssize got = -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= RES_ANNOTATIONS_MAX) {
        text = g_malloc((gsize)st.st_size + 1);
        got = read(fd, text, (gsize)st.st_size);
    }
    close(fd);
    if (got < 0 || got != st.st_size) {
        g_free(text);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                    "%s: not a plain file of at most %d bytes, or changed meanwhile", path,
                    RES_ANNOTATIONS_MAX);
        return NULL;
    }
    *len = (gsize)got;
    return text;
}

GPtrArray *
res_annotations_load(const char *root, GError **error)
{
    g_autofree char *path = g_build_filename(root, "annotations.json", NULL);
    g_autoptr(GError) failed = NULL;
    gsize len = 0;
    g_autofree char *text = read_plain(path, &len, &failed);
    if (text == NULL && g_error_matches(failed, G_IO_ERROR, G_IO_ERROR_NOT_FOUND)) {
        return empty();
    }
    GPtrArray *all = text != NULL ? res_annotations_from_json(text, len, &failed) : NULL;
    if (all == NULL) {
        if (text != NULL) {
            g_prefix_error(&failed, "%s: ", path);
        }
        g_propagate_error(error, g_steal_pointer(&failed));
    }
    return all;
}

static gboolean
add_locked(const char *root, const ResAnnotation *a, GError **error)
{
    g_autofree char *path = g_build_filename(root, "annotations.json", NULL);
    g_autoptr(GPtrArray) all = res_annotations_load(root, error);
    if (all == NULL) {
        return FALSE;
    }
    ResAnnotation *copy = g_new0(ResAnnotation, 1);
    *copy = *a;
    copy->metric = g_strdup(a->metric);
    copy->profile = g_strdup(a->profile);
    copy->cell = g_strdup(a->cell);
    copy->host = g_strdup(a->host);
    copy->note = g_strdup(a->note);
    g_ptr_array_add(all, copy);
    g_autofree char *json = res_annotations_to_json(all);
    /* What we write we must be able to read. */
    g_autoptr(GPtrArray) back = res_annotations_from_json(json, strlen(json), error);
    return back != NULL &&
           g_file_set_contents_full(path, json, -1,
                                    G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                    0644, error);
}

gboolean
res_annotations_add(const char *root, const ResAnnotation *a, GError **error)
{
    g_autofree char *lock = g_build_filename(root, ".annotations.lock", NULL);
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    int failed = errno;
    if (fd < 0) {
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(failed), "%s: %s", lock,
                    g_strerror(failed));
        return FALSE;
    }
    /* Where the file system has no locks the file is still whole, whoever comes last. */
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    gboolean ok = add_locked(root, a, error);
    close(fd);
    return ok;
}
