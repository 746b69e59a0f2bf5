/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/catalogue.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "images/deb.h"

#define ORIGIN "origin" /* key file: [kernel] origin=, source= */
#define MAKING ".new-"
#define LOCK ".lock"
#define ID_DIGITS 16
#define FILE_MAX ((gsize)512 << 20)

void
img_entry_free(ImgEntry *e)
{
    if (!e)
        return;
    g_free(e->id);
    g_free(e->origin);
    g_free(e->source);
    img_kernel_free(e->kernel);
    g_free(e);
}

static int
remove_one(const char *path, const struct stat *st G_GNUC_UNUSED, int flag G_GNUC_UNUSED,
           struct FTW *ftw G_GNUC_UNUSED)
{
    return remove(path);
}

static void
remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static gboolean
fail_io(GError **error, const char *what, const char *path)
{
    g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "%s %s: %s", what, path, g_strerror(errno));
    return FALSE;
}

/* --- reading entries --- */

static char *
boot_file(const char *entry)
{
    g_autofree char *boot = g_build_filename(entry, "boot", NULL);
    g_autoptr(GDir) dir = g_dir_open(boot, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_prefix(name, "vmlinuz-"))
            return g_build_filename(boot, name, NULL);
    return NULL;
}

static char *
modules_folder(const char *entry)
{
    g_autofree char *all = g_build_filename(entry, "lib/modules", NULL);
    g_autoptr(GDir) dir = g_dir_open(all, 0, NULL);
    const char *name = dir ? g_dir_read_name(dir) : NULL;

    return name ? g_build_filename(all, name, NULL) : NULL;
}

static ImgKernel *
entry_kernel(const char *entry, const char *spec, GError **error)
{
    g_autofree char *image = boot_file(entry);
    g_autofree char *modules = modules_folder(entry);

    if (!image) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: no kernel in it", entry);
        return NULL;
    }
    g_autofree char *path = modules ? g_strdup_printf("path:%s,modules=%s", image, modules)
                                    : g_strdup_printf("path:%s", image);
    ImgKernel *k = img_kernel_find("", path, error);
    if (k) {
        g_free(k->spec);
        k->spec = g_strdup(spec);
    }
    return k;
}

/* What its name and its origin file say: without its kernel, whose image would have to be hashed.
 */
static ImgEntry *
entry_read(const char *dir, const char *id)
{
    g_autofree char *path = g_build_filename(dir, id, NULL);
    g_autofree char *file = g_build_filename(path, ORIGIN, NULL);
    g_autoptr(GKeyFile) key = g_key_file_new();
    g_autoptr(ImgEntry) e = g_new0(ImgEntry, 1);

    if (!g_key_file_load_from_file(key, file, G_KEY_FILE_NONE, NULL))
        return NULL;
    e->id = g_strdup(id);
    e->origin = g_key_file_get_string(key, "kernel", "origin", NULL);
    e->source = g_key_file_get_string(key, "kernel", "source", NULL);
    e->bytes = g_key_file_get_uint64(key, "kernel", "bytes", NULL);
    return e->origin && e->source ? g_steal_pointer(&e) : NULL;
}

static gboolean
entry_load(const char *dir, ImgEntry *e, GError **error)
{
    g_autofree char *path = g_build_filename(dir, e->id, NULL);
    g_autofree char *spec = g_strconcat("kernel:", e->id, NULL);

    e->kernel = entry_kernel(path, spec, error);
    return e->kernel != NULL;
}

/* ImgEntry * without their kernels, in no order. */
static GPtrArray *
entries_read(const char *dir)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)img_entry_free);
    g_autoptr(GDir) folder = g_dir_open(dir, 0, NULL);
    const char *name;

    while (folder && (name = g_dir_read_name(folder))) {
        ImgEntry *e = *name == '.' ? NULL : entry_read(dir, name);
        if (e)
            g_ptr_array_add(all, e);
    }
    return all;
}

/* Numbers as numbers. */
static int
newest_first(gconstpointer a, gconstpointer b)
{
    const ImgEntry *x = *(ImgEntry *const *)a, *y = *(ImgEntry *const *)b;
    int order = strverscmp(y->kernel->release, x->kernel->release);

    return order ? order : strcmp(x->id, y->id);
}

GPtrArray *
img_catalogue_list(const char *dir)
{
    GPtrArray *all = entries_read(dir);

    for (guint i = all->len; i-- > 0;)
        if (!entry_load(dir, all->pdata[i], NULL))
            g_ptr_array_remove_index_fast(all, i);
    g_ptr_array_sort(all, newest_first);
    return all;
}

/* --- the hash --- */

static int
by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All files below ROOT/AT, by name, with their contents. Links are no part of a kernel. */
static gboolean
hash_tree(GChecksum *sum, const char *root, const char *at, guint64 *bytes, GError **error)
{
    g_autofree char *path = g_build_filename(root, at, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(path, 0, error);
    const char *name;

    if (!dir)
        return FALSE;
    while ((name = g_dir_read_name(dir)))
        g_ptr_array_add(names, g_build_filename(at, name, NULL));
    g_ptr_array_sort(names, by_name);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *file = g_build_filename(root, names->pdata[i], NULL);
        g_autoptr(GMappedFile) map = NULL;
        if (g_file_test(file, G_FILE_TEST_IS_SYMLINK))
            continue;
        if (g_file_test(file, G_FILE_TEST_IS_DIR)) {
            if (!hash_tree(sum, root, names->pdata[i], bytes, error))
                return FALSE;
            continue;
        }
        map = g_mapped_file_new(file, FALSE, error);
        if (!map)
            return FALSE;
        gsize len = g_mapped_file_get_length(map);
        g_autofree char *head =
            g_strdup_printf("%s %" G_GSIZE_FORMAT "\n", (const char *)names->pdata[i], len);
        g_checksum_update(sum, (const guchar *)head, -1);
        if (len)
            g_checksum_update(sum, (const guchar *)g_mapped_file_get_contents(map), (gssize)len);
        *bytes += len;
    }
    return TRUE;
}

/* --- adding --- */

static gboolean
copy_file(const char *from, const char *to, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(to);
    g_autoptr(GFile) a = g_file_new_for_path(from);
    g_autoptr(GFile) b = g_file_new_for_path(to);

    if (g_mkdir_with_parents(parent, 0755) != 0)
        return fail_io(error, "can't make", parent);
    return g_file_copy(a, b, G_FILE_COPY_NONE, NULL, NULL, NULL, error);
}

/* Folders and files; links (build, source) lead out of it and stay behind. */
static gboolean
copy_tree(const char *from, const char *to, GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(from, 0, error);
    const char *name;

    if (!dir)
        return FALSE;
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *a = g_build_filename(from, name, NULL);
        g_autofree char *b = g_build_filename(to, name, NULL);
        if (g_file_test(a, G_FILE_TEST_IS_SYMLINK))
            continue;
        if (!(g_file_test(a, G_FILE_TEST_IS_DIR) ? copy_tree(a, b, error) : copy_file(a, b, error)))
            return FALSE;
    }
    return TRUE;
}

static gboolean
copy_kernel(const char *spec, const char *into, char **source, GError **error)
{
    g_autoptr(ImgKernel) k = img_kernel_find("", spec, error);

    if (!k)
        return FALSE;
    g_autofree char *image = g_strdup_printf("%s/boot/vmlinuz-%s", into, k->release);
    g_autofree char *config = g_strdup_printf("%s/boot/config-%s", into, k->release);
    g_autofree char *modules = g_strdup_printf("%s/lib/modules/%s", into, k->release);
    *source = g_strdup(k->path);
    return copy_file(k->path, image, error) &&
           (!k->config || g_file_set_contents(config, k->config, -1, error)) &&
           (!k->modules_dir || copy_tree(k->modules_dir, modules, error));
}

/* Packages leave this to their installation. */
static gboolean
make_modules_dep(const char *entry, GError **error)
{
    g_autofree char *modules = modules_folder(entry);
    g_autofree char *release = modules ? g_path_get_basename(modules) : NULL;
    const char *argv[] = {"depmod", "-b", entry, release, NULL};
    g_autoptr(GError) reason = NULL;
    int status = 0;

    if (!modules)
        return TRUE;
    if (g_spawn_sync(NULL, (char **)argv, NULL,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                     NULL, NULL, NULL, NULL, &status, &reason) &&
        g_spawn_check_wait_status(status, &reason))
        return TRUE;
    g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "depmod (package kmod) for %s: %s", release,
                reason->message);
    return FALSE;
}

static gboolean
fill(const char *spec, const char *lists, const char *into, char **source, GError **error)
{
    g_autoptr(GPtrArray) packages = NULL;

    if (g_str_has_prefix(spec, "debian:")) {
        packages = img_deb_fetch(spec + strlen("debian:"), lists, into, error);
    } else if (g_str_has_prefix(spec, "deb:")) {
        packages = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(packages, g_strdup(spec + strlen("deb:")));
    } else {
        return copy_kernel(spec, into, source, error);
    }
    for (guint i = 0; packages && i < packages->len; i++) {
        const char *path = packages->pdata[i];
        if (!img_deb_unpack(path, into, error))
            return FALSE;
        if (i == 0)
            *source = g_path_get_basename(path);
        if (g_str_has_prefix(path, into))
            g_unlink(path);
    }
    g_autofree char *image = packages ? boot_file(into) : NULL;
    if (packages && !image)
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "%s: no /boot/vmlinuz-* in this package",
                    *source);
    return image && make_modules_dep(into, error);
}

static gboolean
finish(const char *dir, const char *making, const char *spec, const char *source, char **id,
       GError **error)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autoptr(GKeyFile) key = g_key_file_new();
    g_autofree char *origin = g_build_filename(making, ORIGIN, NULL);
    guint64 bytes = 0;

    g_autoptr(ImgKernel) k = entry_kernel(making, spec, error);
    if (!k || !hash_tree(sum, making, "", &bytes, error))
        return FALSE;
    *id = g_strndup(g_checksum_get_string(sum), ID_DIGITS);
    g_autofree char *entry = g_build_filename(dir, *id, NULL);
    if (g_file_test(entry, G_FILE_TEST_IS_DIR))
        return TRUE; /* it is there */
    g_key_file_set_string(key, "kernel", "origin", spec);
    g_key_file_set_string(key, "kernel", "source", source);
    g_key_file_set_uint64(key, "kernel", "bytes", bytes);
    if (!g_key_file_save_to_file(key, origin, error))
        return FALSE;
    return g_rename(making, entry) == 0 || fail_io(error, "can't make", entry);
}

/* What killed processes left; the lock is held. */
static void
clear_leftovers(const char *dir)
{
    g_autoptr(GDir) folder = g_dir_open(dir, 0, NULL);
    const char *name;

    while (folder && (name = g_dir_read_name(folder))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        if (g_str_has_prefix(name, MAKING))
            remove_tree(path);
    }
}

ImgEntry *
img_catalogue_add(const char *dir, const char *spec, const char *lists, GError **error)
{
    g_autofree char *lock = g_build_filename(dir, LOCK, NULL);
    g_autofree char *making = g_build_filename(dir, MAKING "XXXXXX", NULL);
    g_autofree char *source = NULL, *id = NULL;

    if (g_mkdir_with_parents(dir, 0755) != 0) {
        fail_io(error, "can't make", dir);
        return NULL;
    }
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || flock(fd, LOCK_EX) != 0 ||
        !(clear_leftovers(dir), g_mkdtemp_full(making, 0755))) {
        fail_io(error, "can't write in", dir);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    gboolean ok =
        fill(spec, lists, making, &source, error) && finish(dir, making, spec, source, &id, error);
    if (g_file_test(making, G_FILE_TEST_IS_DIR))
        remove_tree(making);
    close(fd);
    if (!ok)
        return NULL;
    g_autoptr(ImgEntry) e = entry_read(dir, id);
    if (e && entry_load(dir, e, error))
        return g_steal_pointer(&e);
    if (!e)
        g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "%s/%s can't be read again", dir, id);
    return NULL;
}

/* --- finding --- */

static ImgEntry *
find_entry(const GPtrArray *all, const char *name, GError **error)
{
    ImgEntry *found = NULL;

    for (guint i = 0; i < all->len; i++) {
        ImgEntry *e = all->pdata[i];
        if (!*name || (!g_str_has_prefix(e->id, name) && !g_str_equal(e->origin, name)))
            continue;
        if (found) {
            g_set_error(error, IMG_ERROR, IMG_ERROR_NOT_FOUND,
                        "\"%s\" is more than one kernel (%s, %s): say more of the ID", name,
                        found->id, e->id);
            return NULL;
        }
        found = e;
    }
    if (!found)
        g_set_error(error, IMG_ERROR, IMG_ERROR_NOT_FOUND,
                    "no kernel \"%s\" in the catalogue (nohzlab kernel list)", name);
    return found;
}

gboolean
img_catalogue_remove(const char *dir, const char *name, GError **error)
{
    g_autoptr(GPtrArray) all = entries_read(dir);
    const ImgEntry *e = find_entry(all, name, error);

    if (!e)
        return FALSE;
    g_autofree char *entry = g_build_filename(dir, e->id, NULL);
    g_autofree char *gone = g_strdup_printf("%s/" MAKING "%s", dir, e->id);
    if (g_rename(entry, gone) != 0)
        return fail_io(error, "can't remove", entry);
    remove_tree(gone);
    return TRUE;
}

/* "6.1" of "6.1.0-57-cloud-amd64". */
static gboolean
is_of(const char *release, const char *series)
{
    gsize n = strlen(series);
    return strncmp(release, series, n) == 0 && !g_ascii_isdigit(release[n]);
}

ImgKernel *
img_catalogue_find(const char *dir, const char *spec, GError **error)
{
    g_autoptr(GError) reason = NULL;

    if (g_str_has_prefix(spec, "kernel:")) {
        g_autoptr(GPtrArray) all = entries_read(dir);
        ImgEntry *e = find_entry(all, spec + strlen("kernel:"), error);
        return e && entry_load(dir, e, error) ? g_steal_pointer(&e->kernel) : NULL;
    }
    ImgKernel *k = img_kernel_find("", spec, &reason);
    if (k || !g_str_has_prefix(spec, "debian:") ||
        !g_error_matches(reason, IMG_ERROR, IMG_ERROR_NOT_FOUND)) {
        if (reason)
            g_propagate_error(error, g_steal_pointer(&reason));
        return k;
    }
    const char *series = spec + strlen("debian:");
    g_autoptr(GPtrArray) all = img_catalogue_list(dir);
    for (guint i = 0; i < all->len; i++) {
        ImgEntry *e = all->pdata[i];
        if (g_str_has_prefix(e->origin, "deb") && is_of(e->kernel->release, series))
            return g_steal_pointer(&e->kernel);
    }
    g_set_error(error, IMG_ERROR, IMG_ERROR_NOT_FOUND, "%s; nor is one kept: nohzlab kernel add %s",
                reason->message, spec);
    return NULL;
}
