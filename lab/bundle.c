/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/bundle.h"

#include <string.h>

#include "results/json.h"

#define FORMAT "nohzlab-bundle"
#define VERSION 1
#define RUNS_MAX 1000
/* Of the files before base64 makes them a third longer; the rest is for the records. */
#define FILES_MAX_BYTES ((gsize)5 << 20)

void
lab_bundle_run_free(LabBundleRun *r)
{
    if (!r)
        return;
    g_clear_pointer(&r->record, res_record_free);
    g_clear_pointer(&r->files, g_hash_table_unref);
    g_free(r);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabBundleRun, lab_bundle_run_free)

/* --- writing --- */

typedef struct {
    const char *name;
    GBytes *bytes;
} File;

static void
file_clear(gpointer data)
{
    g_bytes_unref(((File *)data)->bytes);
}

static int
smaller_first(gconstpointer a, gconstpointer b)
{
    gsize x = g_bytes_get_size(((const File *)a)->bytes),
          y = g_bytes_get_size(((const File *)b)->bytes);
    return x < y ? -1 : x > y;
}

static gboolean
read_files(const ResStore *store, const ResRecord *record, GArray *files, GError **error)
{
    g_autofree char *dir = res_store_run_dir(store, record->id);

    for (guint i = 0; i < record->evidence->len; i++) {
        const char *name = record->evidence->pdata[i];
        g_autofree char *path = g_build_filename(dir, name, NULL);
        char *content;
        gsize len;
        if (!g_file_get_contents(path, &content, &len, error))
            return FALSE;
        File f = {name, g_bytes_new_take(content, len)};
        g_array_append_val(files, f);
    }
    g_array_sort(files, smaller_first);
    return TRUE;
}

static void
add_file(JsonBuilder *b, const File *f, gsize *left)
{
    gsize len;
    const guchar *data = g_bytes_get_data(f->bytes, &len);
    g_autofree char *instead =
        len > *left ? g_strdup_printf("left out of the bundle: %zu bytes\n", len) : NULL;

    if (instead) {
        data = (const guchar *)instead;
        len = strlen(instead);
    }
    *left -= MIN(*left, len);
    g_autofree char *text = g_base64_encode(data, len);
    json_builder_set_member_name(b, f->name);
    json_builder_add_string_value(b, text);
}

static gboolean
add_run(JsonBuilder *b, const ResStore *store, const ResRecord *record, gsize *left, GError **error)
{
    g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(File));
    g_autofree char *json = res_record_to_json(record, error);
    g_autoptr(JsonNode) node = json ? json_from_string(json, error) : NULL;

    g_array_set_clear_func(files, file_clear);
    if (!node || !read_files(store, record, files, error))
        return FALSE;
    json_builder_begin_object(b);
    json_builder_set_member_name(b, "record");
    json_builder_add_value(b, g_steal_pointer(&node));
    json_builder_set_member_name(b, "files");
    json_builder_begin_object(b);
    for (guint i = 0; i < files->len; i++)
        add_file(b, &g_array_index(files, File, i), left);
    json_builder_end_object(b);
    json_builder_end_object(b);
    return TRUE;
}

char *
lab_bundle_write(const ResStore *store, const GPtrArray *records, GError **error)
{
    g_autoptr(JsonBuilder) b = json_builder_new();
    gsize left = FILES_MAX_BYTES;

    json_builder_begin_object(b);
    json_builder_set_member_name(b, FORMAT);
    json_builder_add_int_value(b, VERSION);
    json_builder_set_member_name(b, "runs");
    json_builder_begin_array(b);
    for (guint i = 0; i < records->len; i++)
        if (!add_run(b, store, records->pdata[i], &left, error))
            return NULL;
    json_builder_end_array(b);
    json_builder_end_object(b);

    g_autoptr(JsonNode) root = json_builder_get_root(b);
    g_autofree char *text = json_to_string(root, FALSE);
    char *line = g_strconcat(text, "\n", NULL);
    if (strlen(line) <= LAB_BUNDLE_MAX)
        return line;
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                "%u runs are too many for one bundle: it would have %zu bytes, at most %zu can be",
                records->len, strlen(line), LAB_BUNDLE_MAX);
    g_free(line);
    return NULL;
}

/* --- reading --- */

static G_GNUC_PRINTF(2, 3) gpointer invalid(GError **error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "bundle: %s", what);
    return NULL;
}

static JsonNode *
member(JsonObject *object, const char *name, JsonNodeType type)
{
    JsonNode *n = json_object_get_member(object, name);

    return n && json_node_get_node_type(n) == type ? n : NULL;
}

static GHashTable *
read_run_files(JsonObject *object, GError **error)
{
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    JsonObjectIter iter;
    const char *name;
    JsonNode *value;

    json_object_iter_init(&iter, object);
    while (json_object_iter_next(&iter, &name, &value)) {
        if (!res_evidence_name_valid(name))
            return invalid(error, "a file's name is not plain");
        if (json_node_get_value_type(value) != G_TYPE_STRING)
            return invalid(error, "file %s is no text", name);
        gsize len;
        guchar *bytes = g_base64_decode(json_node_get_string(value), &len);
        g_hash_table_insert(files, g_strdup(name), g_bytes_new_take(bytes, len));
    }
    return g_steal_pointer(&files);
}

static LabBundleRun *
read_run(JsonNode *node, GError **error)
{
    g_autoptr(LabBundleRun) run = g_new0(LabBundleRun, 1);

    if (!JSON_NODE_HOLDS_OBJECT(node))
        return invalid(error, "a run is not an object");
    JsonObject *object = json_node_get_object(node);
    JsonNode *record = member(object, "record", JSON_NODE_OBJECT);
    JsonNode *files = member(object, "files", JSON_NODE_OBJECT);
    if (!record || !files)
        return invalid(error, "a run without \"record\" or \"files\"");
    g_autofree char *text = json_to_string(record, FALSE);
    run->record = res_record_from_json(text, -1, error);
    run->files = run->record ? read_run_files(json_node_get_object(files), error) : NULL;
    if (!run->files)
        return NULL;
    for (guint i = 0; i < run->record->evidence->len; i++)
        if (!g_hash_table_contains(run->files, run->record->evidence->pdata[i]))
            return invalid(error, "the file %s of run %s is missing",
                           (char *)run->record->evidence->pdata[i], run->record->id);
    if (g_hash_table_size(run->files) != run->record->evidence->len)
        return invalid(error, "run %s has files its record does not name", run->record->id);
    return g_steal_pointer(&run);
}

GPtrArray *
lab_bundle_read(const char *text, gsize len, GError **error)
{
    ResJsonState state;
    g_autofree char *reason = NULL;
    g_autoptr(JsonNode) root = res_json_parse(text, len, LAB_BUNDLE_MAX, FALSE, &state, &reason);
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify)lab_bundle_run_free);

    if (!root)
        return invalid(error, "%s", reason);
    JsonObject *object = json_node_get_object(root);
    JsonNode *version = member(object, FORMAT, JSON_NODE_VALUE);
    JsonNode *list = member(object, "runs", JSON_NODE_ARRAY);
    if (!version || json_node_get_value_type(version) != G_TYPE_INT64 ||
        json_node_get_int(version) != VERSION || !list)
        return invalid(error, "not of version %d", VERSION);
    JsonArray *array = json_node_get_array(list);
    if (json_array_get_length(array) > RUNS_MAX)
        return invalid(error, "more than %d runs", RUNS_MAX);
    for (guint i = 0; i < json_array_get_length(array); i++) {
        LabBundleRun *run = read_run(json_array_get_element(array, i), error);
        if (!run)
            return NULL;
        g_ptr_array_add(runs, run);
    }
    return g_steal_pointer(&runs);
}
