/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading: files, includes and --set laid over each other, then everything that is checked at load.
 */
#include "lab/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/profile_private.h"

static LabProfile *
profile_new(const char *file)
{
    LabProfile *p = g_new0(LabProfile, 1);
    g_autofree char *base = g_path_get_basename(file);

    p->name = g_str_has_suffix(base, ".ini") ? g_strndup(base, strlen(base) - 4) : g_strdup(base);
    p->layer = lab_layer_new();
    p->axes = g_ptr_array_new_with_free_func((GDestroyNotify)lab_axis_free);
    p->variants =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    p->cells = g_ptr_array_new_with_free_func((GDestroyNotify)lab_cell_free);
    p->expectations = g_ptr_array_new();
    p->references = g_ptr_array_new();
    p->relevant = g_ptr_array_new();
    p->warnings = g_ptr_array_new_with_free_func(g_free);
    p->warned = g_hash_table_new(g_str_hash, g_str_equal);
    return p;
}

void
lab_profile_free(LabProfile *p)
{
    if (!p)
        return;
    g_free(p->name);
    g_ptr_array_unref(p->axes);
    g_hash_table_unref(p->variants);
    g_ptr_array_unref(p->cells);
    g_ptr_array_unref(p->expectations);
    g_ptr_array_unref(p->references);
    g_ptr_array_unref(p->relevant);
    g_hash_table_unref(p->warned);
    g_ptr_array_unref(p->warnings);
    lab_layer_free(p->layer);
    g_free(p->sha256);
    g_free(p);
}

/* A file that is being read, and the one whose include led there. */
typedef struct Chain {
    const char *file;
    const struct Chain *from;
} Chain;

typedef struct {
    LabProfile *profile;
    guint files; /* read so far */
} Loader;

/* Reads a regular file of bounded size; the descriptor is checked, not the name. */
static GString *
read_fd(int fd, const char *file, GError **error)
{
    struct stat st;

    if (fstat(fd, &st) != 0) {
        lab_error_at(error, LAB_PROFILE_ERROR_IO, file, 0, "%s", g_strerror(errno));
        return NULL;
    }
    if (!S_ISREG(st.st_mode)) {
        lab_error_at(error, LAB_PROFILE_ERROR_IO, file, 0, "%s, not a profile",
                     S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
        return NULL;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    while (text->len <= LAB_PROFILE_BYTES_MAX) {
        char buffer[16384];
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            lab_error_at(error, LAB_PROFILE_ERROR_IO, file, 0, "%s", g_strerror(errno));
            return NULL;
        }
        if (n == 0)
            break;
        g_string_append_len(text, buffer, n);
    }
    return g_steal_pointer(&text);
}

static GString *
read_file(const char *file, GError **error)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0) {
        lab_error_at(error, LAB_PROFILE_ERROR_IO, file, 0, "%s",
                     errno == ENOENT ? "no such profile" : g_strerror(errno));
        return NULL;
    }
    GString *text = read_fd(fd, file, error);
    close(fd);
    return text;
}

static gboolean load_file(Loader *l, const char *file, const Chain *from, GError **error);

static gboolean
refuse_cycle(const char *file, const Chain *chain, const LabSetting *include, GError **error)
{
    gboolean met = FALSE;
    /* All files of a chain are in one folder, so the last part of their names tells them apart. */
    g_autofree char *base = g_path_get_basename(file);
    g_autoptr(GString) names = g_string_new(base);

    for (const Chain *c = chain; c && !met; c = c->from) {
        g_autofree char *name = g_path_get_basename(c->file);
        g_string_prepend(names, " -> ");
        g_string_prepend(names, name);
        met = strcmp(name, base) == 0;
    }
    if (met)
        lab_error_setting(error, LAB_PROFILE_ERROR_SYNTAX, include,
                          "the includes go in a circle: %s", names->str);
    return met;
}

static gboolean
load_include(Loader *l, const char *name, const char *folder, const LabSetting *include,
             const Chain *chain, GError **error)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    if (!folder) {
        lab_error_setting(error, LAB_PROFILE_ERROR_KEY, include,
                          "a profile without a folder can't include others");
        return FALSE;
    }
    if (!*name || *name == '.' || strspn(name, letters) != strlen(name)) {
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, include,
                          "`%s' is not the name of a profile in the same folder (letters, digits, "
                          "`.', `_', `-')",
                          name);
        return FALSE;
    }
    if (g_str_has_suffix(name, ".ini")) {
        lab_error_setting(error, LAB_PROFILE_ERROR_VALUE, include, "write it without .ini");
        return FALSE;
    }
    g_autofree char *base = g_strconcat(name, ".ini", NULL);
    g_autofree char *file = g_build_filename(folder, base, NULL);
    if (refuse_cycle(file, chain, include, error))
        return FALSE;
    g_autoptr(GError) inner = NULL;
    if (load_file(l, file, chain, &inner))
        return TRUE;
    /* What is wrong inside the file says where by itself; that it can't be read is about this line.
     */
    if (g_error_matches(inner, LAB_PROFILE_ERROR, LAB_PROFILE_ERROR_IO) &&
        !strstr(inner->message, "include = "))
        lab_error_setting(error, LAB_PROFILE_ERROR_IO, include, "%s", inner->message);
    else
        g_propagate_error(error, g_steal_pointer(&inner));
    return FALSE;
}

/* The includes of OWN, in order, then OWN itself: the later ones win. */
static gboolean
lay_over(Loader *l, LabLayer *own, const char *folder, const Chain *chain, GError **error)
{
    for (guint i = 0; i < own->settings->len; i++) {
        const LabSetting *s = g_ptr_array_index(own->settings, i);
        if (strcmp(s->section, "main") != 0 || strcmp(s->key, "include") != 0)
            continue;
        g_auto(GStrv) names = g_strsplit(s->value, ",", -1);
        for (char **name = names; *name; name++)
            if (!load_include(l, g_strstrip(*name), folder, s, chain, error))
                return FALSE;
        g_ptr_array_remove_index(own->settings, i);
        break;
    }
    lab_layer_merge(l->profile->layer, own);
    return TRUE;
}

static gboolean
load_file(Loader *l, const char *file, const Chain *from, GError **error)
{
    if (++l->files > LAB_PROFILE_FILES_MAX) {
        lab_error_at(error, LAB_PROFILE_ERROR_SYNTAX, file, 0, "more than %d files are included",
                     LAB_PROFILE_FILES_MAX);
        return FALSE;
    }
    g_autoptr(GString) text = read_file(file, error);
    if (!text)
        return FALSE;
    g_autoptr(LabLayer) own = lab_ini_parse(text->str, text->len, file, error);
    if (!own)
        return FALSE;
    g_autofree char *folder = g_path_get_dirname(file);
    Chain chain = {file, from};
    return lay_over(l, own, folder, &chain, error);
}

static gboolean
one_line(const char *text)
{
    if (!g_utf8_validate(text, -1, NULL) || strlen(text) > LAB_PROFILE_VALUE_MAX)
        return FALSE;
    for (; *text; text++)
        if (g_ascii_iscntrl(*text) && *text != '\t')
            return FALSE;
    return TRUE;
}

/* "matrix.workload.NAME.key" and "matrix.workload NAME.key" are the same axis. */
static char *
axis_from_address(const char *axis)
{
    return g_str_has_prefix(axis, "workload.")
               ? g_strconcat("workload ", axis + strlen("workload."), NULL)
               : g_strdup(axis);
}

static LabSetting *
setting_from_text(const LabLayer *l, const char *text, GError **error)
{
    if (!one_line(text)) {
        g_set_error(error, LAB_PROFILE_ERROR, LAB_PROFILE_ERROR_SYNTAX,
                    "a --set is not one line of UTF-8 of at most %d bytes", LAB_PROFILE_VALUE_MAX);
        return NULL;
    }
    const char *equals = strchr(text, '=');
    g_autofree char *shown = lab_shorten(text);
    if (!equals || equals == text) {
        g_set_error(error, LAB_PROFILE_ERROR, LAB_PROFILE_ERROR_SYNTAX,
                    "--set \"%s\": not section.key=value", shown);
        return NULL;
    }
    g_autofree char *address = g_strstrip(g_strndup(text, equals - text));
    g_autofree char *value = g_strstrip(g_strdup(equals + 1));
    if (g_str_has_prefix(address, "matrix.")) {
        g_autofree char *axis = axis_from_address(address + strlen("matrix."));
        return lab_setting_new("matrix", axis, value, LAB_SET_FILE, 0);
    }
    g_autofree char *section = NULL, *key = NULL;
    LabSetting where = {(char *)"", address, value, (char *)LAB_SET_FILE, 0};
    const LabKey *k = lab_address_resolve(l, address, &where, &section, &key, error);
    if (!k)
        return NULL;
    if (!strchr(address, '.') || strcmp(key, "include") == 0) {
        lab_error_setting(error, LAB_PROFILE_ERROR_KEY, &where,
                          strchr(address, '.') ? "includes are the profile's own: they can't be set"
                                               : "write the section too: main.%s=%s",
                          key, value);
        return NULL;
    }
    return lab_setting_new(section, key, value, LAB_SET_FILE, 0);
}

static gboolean
lay_settings_over(LabProfile *p, const char *const *settings, GError **error)
{
    for (; settings && *settings; settings++) {
        /* One at a time: of two for the same key the last wins. */
        g_autoptr(LabLayer) one = lab_layer_new();
        LabSetting *s = setting_from_text(p->layer, *settings, error);
        if (!s)
            return FALSE;
        g_ptr_array_add(one->settings, s);
        lab_layer_merge(p->layer, one);
    }
    return TRUE;
}

static void
collect_references(LabProfile *p)
{
    for (guint i = 0; i < p->layer->settings->len; i++) {
        LabSetting *s = g_ptr_array_index(p->layer->settings, i);
        const char *prefix = "reference ";
        if (!g_str_has_prefix(s->section, prefix))
            continue;
        memmove(s->section, s->section + strlen(prefix), strlen(s->section + strlen(prefix)) + 1);
        g_ptr_array_add(p->references, s);
    }
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds TEXTS (char *), sorted, each ended by a newline. */
static void
hash_sorted(GChecksum *sum, GPtrArray *texts)
{
    g_ptr_array_sort(texts, compare_texts);
    for (guint i = 0; i < texts->len; i++) {
        const char *text = g_ptr_array_index(texts, i);
        g_checksum_update(sum, (const guchar *)text, strlen(text));
        g_checksum_update(sum, (const guchar *)"\n", 1);
    }
}

static char *
hash_cell(const LabCell *c)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    gpointer key, value;

    g_hash_table_iter_init(&iter, c->settings);
    while (g_hash_table_iter_next(&iter, &key, &value))
        g_ptr_array_add(lines, g_strdup_printf("%s=%s", (char *)key, (char *)value));
    for (guint i = 0; i < c->axes->len; i++) {
        const LabSetting *s = g_ptr_array_index(c->axes, i);
        g_ptr_array_add(lines, g_strdup_printf("axis %s=%s", s->key, s->value));
    }
    hash_sorted(sum, lines);
    return g_strdup_printf("cell %s", g_checksum_get_string(sum));
}

static char *
hash_profile(const LabProfile *p)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < p->cells->len; i++)
        g_ptr_array_add(lines, hash_cell(g_ptr_array_index(p->cells, i)));
    for (guint i = 0; i < p->layer->expects->len; i++) {
        const LabExpectLine *e = g_ptr_array_index(p->layer->expects, i);
        g_ptr_array_add(
            lines, g_strdup_printf("expect %s=%s", e->named ? e->public.name : "", e->public.text));
    }
    for (guint i = 0; i < p->references->len; i++) {
        const LabSetting *s = g_ptr_array_index(p->references, i);
        g_ptr_array_add(lines, g_strdup_printf("reference %s.%s=%s", s->section, s->key, s->value));
    }
    for (guint i = 0; i < p->relevant->len; i++) {
        const LabSetting *s = g_ptr_array_index(p->relevant, i);
        g_ptr_array_add(lines, g_strdup_printf("relevant %s=%s", s->key, s->value));
    }
    hash_sorted(sum, lines);
    return g_strdup(g_checksum_get_string(sum));
}

static LabProfile *
finish(LabProfile *taken, const char *const *settings, GError **error)
{
    g_autoptr(LabProfile) p = taken;

    if (!lay_settings_over(p, settings, error) || !lab_axes_build(p, error) ||
        !lab_matrix_expand(p, error) || !lab_expectations_check(p, error) ||
        !lab_relevant_check(p, error))
        return NULL;
    collect_references(p);
    p->sha256 = hash_profile(p);
    return g_steal_pointer(&p);
}

LabProfile *
lab_profile_load(const char *file, const char *const *settings, GError **error)
{
    g_autoptr(LabProfile) p = profile_new(file);
    Loader l = {p, 0};

    if (!load_file(&l, file, NULL, error))
        return NULL;
    return finish(g_steal_pointer(&p), settings, error);
}

LabProfile *
lab_profile_parse(const char *text, gssize len, const char *name, const char *folder,
                  const char *const *settings, GError **error)
{
    g_autoptr(LabProfile) p = profile_new(name);
    Loader l = {p, 1};
    Chain chain = {name, NULL};

    g_autoptr(LabLayer) own = lab_ini_parse(text, len < 0 ? strlen(text) : (gsize)len, name, error);
    if (!own || !lay_over(&l, own, folder, &chain, error))
        return NULL;
    return finish(g_steal_pointer(&p), settings, error);
}

const char *
lab_profile_name(const LabProfile *p)
{
    return p->name;
}

const char *
lab_profile_sha256(const LabProfile *p)
{
    return p->sha256;
}

const GPtrArray *
lab_profile_expectations(const LabProfile *p)
{
    return p->expectations;
}

const GPtrArray *
lab_profile_references(const LabProfile *p)
{
    return p->references;
}

const GPtrArray *
lab_profile_warnings(const LabProfile *p)
{
    return p->warnings;
}

const GPtrArray *
lab_profile_cells(const LabProfile *p)
{
    return p->cells;
}
