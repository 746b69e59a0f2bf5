/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/modules.h"

#include <string.h>

#include "images/decompress.h"
#include "images/elf_object.h"
#include "images/file.h"

/* A distribution kernel with all its 6,000 modules has 1.5 MiB. */
#define LIST_MAX_BYTES ((gsize)16 << 20)
/* The deepest chain of a distribution kernel is about 20. */
#define DEPTH_MAX 128

typedef struct {
    char *path;   /* relative to the modules folder */
    char **needs; /* paths */
    guint line;   /* in modules.dep */
    enum { NEW, OPEN, DONE } state;
} Entry;

typedef struct {
    const ImgKernel *kernel;
    gsize max_bytes; /* still left */
    char *dep_path;
    GHashTable *entries; /* name -> Entry * */
    GHashTable *builtin; /* names */
    GPtrArray *loaded;   /* ImgModule * */
} Loader;

static void
entry_free(Entry *e)
{
    g_free(e->path);
    g_strfreev(e->needs);
    g_free(e);
}

static void
module_free(ImgModule *m)
{
    g_free(m->host_path);
    g_free(m->guest_path);
    g_bytes_unref(m->content);
    g_free(m);
}

static void
loader_clear(Loader *l)
{
    g_free(l->dep_path);
    g_hash_table_unref(l->entries);
    g_hash_table_unref(l->builtin);
    g_ptr_array_unref(l->loaded);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Loader, loader_clear)

/* kernel/drivers/virtio/virtio-pci.ko.xz, virtio-pci and virtio_pci are all virtio_pci. */
static char *
module_name(const char *path)
{
    char *name = g_path_get_basename(path);
    char *suffix = strstr(name, ".ko");

    if (suffix)
        *suffix = 0;
    return g_strdelimit(name, "-", '_');
}

/* Lines of a list in the modules folder; *LINES is NULL when there is no such file. */
static gboolean
read_lines(const char *path, char ***lines, GError **error)
{
    g_autoptr(GError) reason = NULL;
    g_autoptr(GBytes) bytes = img_file_read(path, LIST_MAX_BYTES, &reason);

    *lines = NULL;
    if (!bytes && g_error_matches(reason, IMG_ERROR, IMG_ERROR_NOT_FOUND))
        return TRUE;
    if (!bytes) {
        g_propagate_error(error, g_steal_pointer(&reason));
        return FALSE;
    }
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    if (size && memchr(data, 0, size)) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: holds a NUL byte: damaged", path);
        return FALSE;
    }
    g_autofree char *text = g_strndup(data, size);
    *lines = g_strsplit(text, "\n", -1);
    return TRUE;
}

/* "PATH: PATH PATH ..." */
static gboolean
read_dep(Loader *l, GError **error)
{
    g_auto(GStrv) lines = NULL;

    if (!read_lines(l->dep_path, &lines, error))
        return FALSE;
    for (guint i = 0; lines && lines[i]; i++) {
        if (!*g_strstrip(lines[i]) || lines[i][0] == '#')
            continue;
        char *colon = strchr(lines[i], ':');
        if (!colon || colon == lines[i]) {
            g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                        "%s: line %u: not of the form \"MODULE: MODULE...\"", l->dep_path, i + 1);
            return FALSE;
        }
        Entry *e = g_new0(Entry, 1);
        e->path = g_strndup(lines[i], (gsize)(colon - lines[i]));
        e->needs = g_strsplit_set(g_strstrip(colon + 1), " \t", -1);
        e->line = i + 1;
        g_hash_table_insert(l->entries, module_name(e->path), e);
    }
    return TRUE;
}

static gboolean
read_builtin(Loader *l, GError **error)
{
    g_auto(GStrv) lines = NULL;
    g_autofree char *path = g_build_filename(l->kernel->modules_dir, "modules.builtin", NULL);

    if (!read_lines(path, &lines, error))
        return FALSE;
    for (guint i = 0; lines && lines[i]; i++)
        if (*g_strstrip(lines[i]))
            g_hash_table_add(l->builtin, module_name(lines[i]));
    return TRUE;
}

/* The list is only trusted to name files below its own folder. */
static gboolean
check_path(const Loader *l, const Entry *e, GError **error)
{
    g_autofree char *canonical = g_canonicalize_filename(e->path, "/");

    if (*e->path != '/' && strcmp(canonical + 1, e->path) == 0)
        return TRUE;
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                "%s: line %u: \"%s\" is not a plain path below the modules folder", l->dep_path,
                e->line, e->path);
    return FALSE;
}

/*
 * With CONFIG_MODVERSIONS the kernel would overlook another release and compare symbols instead;
 * here a module of another kernel is a mistake in any case, and better told before the guest boots.
 */
static gboolean
check_release(const Loader *l, const char *host_path, GBytes *content, GError **error)
{
    g_autofree char *vermagic = img_elf_modinfo(content, host_path, "vermagic", error);

    if (!vermagic)
        return FALSE;
    vermagic[strcspn(vermagic, " ")] = 0;
    if (strcmp(vermagic, l->kernel->release) == 0)
        return TRUE;
    g_autofree char *shown = g_strescape(vermagic, NULL);
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: built for kernel %s, not for %s",
                host_path, shown, l->kernel->release);
    return FALSE;
}

static gboolean
read_module(Loader *l, const Entry *e, GError **error)
{
    if (!check_path(l, e, error))
        return FALSE;

    g_autofree char *host_path = g_build_filename(l->kernel->modules_dir, e->path, NULL);
    g_autoptr(GBytes) stored = img_file_read(host_path, l->max_bytes, error);
    if (!stored) {
        g_prefix_error(error, "%s: line %u: ", l->dep_path, e->line);
        return FALSE;
    }
    g_autofree char *plain_path = NULL;
    g_autoptr(GBytes) content =
        img_decompress(stored, host_path, l->max_bytes, e->path, &plain_path, error);
    if (!content || !check_release(l, host_path, content, error))
        return FALSE;

    l->max_bytes -= MIN(l->max_bytes, g_bytes_get_size(content));
    ImgModule *m = g_new0(ImgModule, 1);
    m->host_path = g_steal_pointer(&host_path);
    m->guest_path = g_strdup_printf("/lib/modules/%s/%s", l->kernel->release, plain_path);
    m->content = g_steal_pointer(&content);
    g_ptr_array_add(l->loaded, m);
    return TRUE;
}

static gboolean load(Loader *l, const char *path, const Entry *by, guint depth, GError **error);

/* From the last to the first, as modprobe loads them; each brings its own dependencies before it.
 */
static gboolean
load_needs(Loader *l, const Entry *e, guint depth, GError **error)
{
    for (guint i = g_strv_length(e->needs); i > 0; i--)
        if (*e->needs[i - 1] && !load(l, e->needs[i - 1], e, depth + 1, error))
            return FALSE;
    return TRUE;
}

static gboolean
fail_missing(const Loader *l, const char *name, const Entry *by, GError **error)
{
    g_autofree char *needed_by =
        by ? g_strdup_printf(", which %s needs (%s line %u)", by->path, l->dep_path, by->line)
           : g_strdup("");

    if (!l->kernel->modules_dir)
        g_set_error(
            error, IMG_ERROR, IMG_ERROR_NOT_FOUND,
            "module %s: kernel %s (%s) has no modules folder; name one (path:FILE,modules=DIR), "
            "its build folder will do when everything is built in",
            name, l->kernel->release, l->kernel->path);
    else
        g_set_error(error, IMG_ERROR, IMG_ERROR_NOT_FOUND,
                    "module %s%s: kernel %s has it neither in %s nor built in "
                    "(modules.builtin)",
                    name, needed_by, l->kernel->release, l->dep_path);
    return FALSE;
}

static gboolean
load(Loader *l, const char *path, const Entry *by, guint depth, GError **error)
{
    g_autofree char *name = module_name(path);
    Entry *e = g_hash_table_lookup(l->entries, name);

    if (!e)
        return g_hash_table_contains(l->builtin, name) || fail_missing(l, name, by, error);
    if (e->state == DONE)
        return TRUE;
    if (e->state == OPEN || depth > DEPTH_MAX) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: line %u: %s %s", l->dep_path, e->line,
                    e->path, e->state == OPEN ? "depends on itself" : "lies too deep: damaged");
        return FALSE;
    }
    e->state = OPEN;
    if (!load_needs(l, e, depth, error) || !read_module(l, e, error))
        return FALSE;
    e->state = DONE;
    return TRUE;
}

GPtrArray *
img_modules_load(const ImgKernel *kernel, const char *const *names, gsize max_bytes, GError **error)
{
    g_auto(Loader) l = {
        .kernel = kernel,
        .max_bytes = max_bytes,
        .entries =
            g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)entry_free),
        .builtin = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .loaded = g_ptr_array_new_with_free_func((GDestroyNotify)module_free),
    };

    if (!names || !names[0])
        return g_ptr_array_ref(l.loaded);
    if (!kernel) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "module %s: no kernel was given to take modules from", names[0]);
        return NULL;
    }
    if (kernel->modules_dir) {
        l.dep_path = g_build_filename(kernel->modules_dir, "modules.dep", NULL);
        if (!read_dep(&l, error) || !read_builtin(&l, error))
            return NULL;
    }
    for (guint i = 0; names[i]; i++) {
        if (!*names[i] || strchr(names[i], '/')) {
            g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                        "module \"%s\": not a module's name; it is one without path", names[i]);
            return NULL;
        }
        if (!load(&l, names[i], NULL, 0, error))
            return NULL;
    }
    return g_ptr_array_ref(l.loaded);
}
