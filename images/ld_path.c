/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/ld_path.h"

#include <glob.h>
#include <string.h>

#include "images/file.h"
#include "images/image.h"

#define CONF_MAX_BYTES ((gsize)64 << 10)
#define CONF_MAX_DEPTH 8
#define CONF_MAX_FILES 256

/*
 * ld.so's built-in folders. Debian's has the multiarch ones and not lib64, Fedora's the other way
 * round; what one of them does not search holds no libraries for this machine's class there.
 */
static const char *const default_dirs[] = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
};

void
img_lib_dir_free(ImgLibDir *d)
{
    g_free(d->host);
    g_free(d->guest);
    g_free(d);
}

static void
add_dir(GPtrArray *dirs, const char *host, const char *guest)
{
    ImgLibDir *d = g_new0(ImgLibDir, 1);

    d->host = g_strdup(host);
    d->guest = g_strdup(guest);
    g_ptr_array_add(dirs, d);
}

static gboolean
is_default_dir(const char *dir)
{
    for (gsize i = 0; i < G_N_ELEMENTS(default_dirs); i++)
        if (strcmp(dir, default_dirs[i]) == 0)
            return TRUE;
    return FALSE;
}

/* A default folder of this machine's ld.so, for libraries from folders only its cache knows. */
static const char *
home_dir(const char *root)
{
    static const char *const loaders[][2] = {
        {"/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu/libc.so.6"},
        {"/lib64", "/lib64/libc.so.6"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(loaders); i++) {
        g_autofree char *path = g_strconcat(root, loaders[i][1], NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return loaders[i][0];
    }
    return "/lib";
}

typedef struct {
    const char *root;
    const char *home;
    GPtrArray *dirs;
    guint files;
} ConfReader;

static gboolean read_conf(ConfReader *r, const char *path, guint depth, GError **error);

static gboolean
read_included(ConfReader *r, const char *pattern, const char *from, guint depth, GError **error)
{
    g_autofree char *base = g_path_get_dirname(from);
    g_autofree char *full = *pattern == '/' ? g_strconcat(r->root, pattern, NULL)
                                            : g_build_filename(base, pattern, NULL);
    glob_t found;

    if (glob(full, 0, NULL, &found) != 0)
        return TRUE; /* as for ldconfig, nothing to include is no error */
    gboolean ok = TRUE;
    for (gsize i = 0; ok && i < found.gl_pathc; i++)
        ok = read_conf(r, found.gl_pathv[i], depth + 1, error);
    globfree(&found);
    return ok;
}

static gboolean
read_conf_line(ConfReader *r, char *line, const char *path, guint depth, GError **error)
{
    line[strcspn(line, "#")] = 0;
    g_strstrip(line);
    if (g_str_has_prefix(line, "hwcap ") || g_str_has_prefix(line, "hwcap\t"))
        return TRUE;

    gboolean include = g_str_has_prefix(line, "include ") || g_str_has_prefix(line, "include\t");
    g_auto(GStrv) words =
        g_strsplit_set(include ? line + strlen("include ") : line, include ? " \t" : " \t:,", -1);
    for (gsize i = 0; words[i]; i++) {
        if (include && *words[i] && !read_included(r, words[i], path, depth, error))
            return FALSE;
        if (include || *words[i] != '/')
            continue;
        g_autofree char *dir = g_canonicalize_filename(words[i], "/");
        g_autofree char *host = g_strconcat(r->root, dir, NULL);
        add_dir(r->dirs, host, is_default_dir(dir) ? dir : r->home);
    }
    return TRUE;
}

static gboolean
read_conf(ConfReader *r, const char *path, guint depth, GError **error)
{
    if (depth > CONF_MAX_DEPTH || ++r->files > CONF_MAX_FILES) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: included too deeply or too many files (does it include itself?)", path);
        return FALSE;
    }
    g_autoptr(GError) reason = NULL;
    g_autoptr(GBytes) bytes = img_file_read(path, CONF_MAX_BYTES, &reason);
    if (!bytes) {
        if (g_error_matches(reason, IMG_ERROR, IMG_ERROR_NOT_FOUND))
            return TRUE;
        g_propagate_error(error, g_steal_pointer(&reason));
        return FALSE;
    }
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    g_autofree char *text = g_strndup(data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (gsize i = 0; lines[i]; i++)
        if (!read_conf_line(r, lines[i], path, depth, error))
            return FALSE;
    return TRUE;
}

GPtrArray *
img_ld_system_dirs(const char *root, GError **error)
{
    g_autoptr(GPtrArray) dirs = g_ptr_array_new_with_free_func((GDestroyNotify)img_lib_dir_free);
    ConfReader r = {.root = root, .home = home_dir(root), .dirs = dirs};
    g_autofree char *conf = g_strconcat(root, "/etc/ld.so.conf", NULL);

    if (!read_conf(&r, conf, 0, error))
        return NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(default_dirs); i++) {
        g_autofree char *host = g_strconcat(root, default_dirs[i], NULL);
        add_dir(dirs, host, default_dirs[i]);
    }
    return g_steal_pointer(&dirs);
}

/* ENTRY with $ORIGIN and ${ORIGIN} replaced, or NULL when it has other tokens. */
static char *
expand_origin(const char *entry, const char *origin)
{
    g_autoptr(GString) text = g_string_new(entry);

    g_string_replace(text, "${ORIGIN}", origin, 0);
    g_string_replace(text, "$ORIGIN", origin, 0);
    /* The origin itself may hold a dollar sign, so the tokens left are looked for in the entry. */
    g_autoptr(GString) rest = g_string_new(entry);
    g_string_replace(rest, "${ORIGIN}", "", 0);
    g_string_replace(rest, "$ORIGIN", "", 0);
    if (strchr(rest->str, '$'))
        return NULL;
    return text->str[0] == '/' ? g_canonicalize_filename(text->str, "/") : NULL;
}

GPtrArray *
img_ld_rpath_dirs(const char *root, const char *rpath, const char *host_origin,
                  const char *guest_origin)
{
    GPtrArray *dirs = g_ptr_array_new_with_free_func((GDestroyNotify)img_lib_dir_free);
    g_auto(GStrv) entries = g_strsplit(rpath, ":", -1);

    for (gsize i = 0; entries[i]; i++) {
        gboolean relative_to_origin = g_str_has_prefix(entries[i], "$");
        g_autofree char *host = expand_origin(entries[i], host_origin);
        g_autofree char *guest = expand_origin(entries[i], guest_origin);
        if (!host || !guest)
            continue;
        g_autofree char *rooted =
            relative_to_origin ? g_strdup(host) : g_strconcat(root, host, NULL);
        add_dir(dirs, rooted, guest);
    }
    return dirs;
}
