/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels from the mirror of this machine, of all its suites, by apt with a configuration of its
 * own. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "images/deb.h"
#include "images/image.h"

#define SUITES "bullseye bookworm bookworm-backports trixie sid"
#define KEYRING "/usr/share/keyrings/debian-archive-keyring.gpg"
#define DEFAULT_MIRROR "http://deb.debian.org/debian"
#define FRESH_S (24 * 3600)
#define SUFFIX "-cloud-amd64"
#define SHOWN 12

/* Runs ARGV in FOLDER (NULL: here); its output. The error holds the last line it said. */
static char *
run(const char *folder, const char *const *argv, GError **error)
{
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) reason = NULL;
    int status = 0;

    if (!g_spawn_sync(folder, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err,
                      &status, error))
        return NULL;
    if (g_spawn_check_wait_status(status, &reason))
        return g_steal_pointer(&out);
    const char *last = strrchr(g_strchomp(err), '\n');
    g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "%s: %s: %s", argv[0], reason->message,
                last ? last + 1 : err);
    return NULL;
}

/* The mirror apt is configured with, so that proxies and local mirrors serve here, too. */
static char *
mirror(void)
{
    static const char *const argv[] = {
        "apt-get",        "indextargets",  "--format", "$(SITE)", "Created-By: Packages",
        "Origin: Debian", "Label: Debian", NULL};
    g_autofree char *out = run(NULL, argv, NULL);
    const char *end = out ? strchr(out, '\n') : NULL;

    return end && end > out ? g_strndup(out, (gsize)(end - out)) : g_strdup(DEFAULT_MIRROR);
}

/* apt's options for a configuration, lists and cache in LISTS; then ARGV's rest. */
static GPtrArray *
apt_argv(const char *program, const char *lists)
{
    static const char *const fixed[] = {"Dir::Etc::sourceparts=/dev/null",
                                        "APT::Sandbox::User=root", "Acquire::Languages=none",
                                        "APT::Get::List-Cleanup=false"};
    static const char *const places[] = {"Dir::Etc::sourcelist=%s/sources.list",
                                         "Dir::State=%s/state", "Dir::State::Lists=%s/lists",
                                         "Dir::State::status=%s/status", "Dir::Cache=%s/cache"};
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);

    g_ptr_array_add(argv, g_strdup(program));
    for (gsize i = 0; i < G_N_ELEMENTS(fixed); i++) {
        g_ptr_array_add(argv, g_strdup("-o"));
        g_ptr_array_add(argv, g_strdup(fixed[i]));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(places); i++) {
        g_auto(GStrv) halves = g_strsplit(places[i], "%s", 2);
        g_ptr_array_add(argv, g_strdup("-o"));
        g_ptr_array_add(argv, g_strconcat(halves[0], lists, halves[1], NULL));
    }
    return argv;
}

static char *
run_apt(const char *program, const char *lists, const char *folder, const char *const *words,
        GError **error)
{
    g_autoptr(GPtrArray) argv = apt_argv(program, lists);

    for (; *words; words++)
        g_ptr_array_add(argv, g_strdup(*words));
    g_ptr_array_add(argv, NULL);
    return run(folder, (const char *const *)argv->pdata, error);
}

static char *
package_names(const char *lists, GError **error)
{
    static const char *const words[] = {"pkgnames", "linux-", NULL};
    return run_apt("apt-cache", lists, NULL, words, error);
}

static gboolean
set_up(const char *lists, GError **error)
{
    static const char *const folders[] = {"state", "lists/partial", "cache/archives/partial"};
    g_autoptr(GString) sources = g_string_new(NULL);
    g_auto(GStrv) suites = g_strsplit(SUITES, " ", -1);
    g_autofree char *uri = mirror();
    g_autofree char *path = g_build_filename(lists, "sources.list", NULL);
    g_autofree char *status = g_build_filename(lists, "status", NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *folder = g_build_filename(lists, folders[i], NULL);
        if (g_mkdir_with_parents(folder, 0755) != 0) {
            g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "can't make %s", folder);
            return FALSE;
        }
    }
    for (char **s = suites; *s; s++)
        g_string_append_printf(sources, "deb [arch=amd64 signed-by=" KEYRING "] %s %s main\n", uri,
                               *s);
    return g_file_set_contents(status, "", 0, error) &&
           g_file_set_contents(path, sources->str, -1, error);
}

/* A suite that the mirror no longer has is no reason to do without the others. */
static gboolean
update(const char *lists, GError **error)
{
    static const char *const words[] = {"update", "-qq", NULL};
    g_autofree char *stamp = g_build_filename(lists, "updated", NULL);
    g_autoptr(GError) reason = NULL;
    GStatBuf st;

    if (g_stat(stamp, &st) == 0 && st.st_mtime + FRESH_S > time(NULL) && st.st_mtime <= time(NULL))
        return TRUE;
    if (!set_up(lists, error))
        return FALSE;
    g_autofree char *out = run_apt("apt-get", lists, NULL, words, &reason);
    g_autofree char *names = package_names(lists, NULL);
    if (!names || !*names) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "no list of packages could be had: %s",
                    reason ? reason->message : "the mirror's lists are empty");
        return FALSE;
    }
    return g_file_set_contents(stamp, "", 0, error);
}

/* "linux-image-6.12.38+deb13-cloud-amd64" is of series 6.12; builds without a signature, and those
 * with debugging symbols, end otherwise. */
static gboolean
is_of_series(const char *name, const char *series)
{
    const char *version = name + strlen("linux-image-");
    gsize n = strlen(series);

    return g_str_has_suffix(name, SUFFIX) && g_ascii_isdigit(*version) &&
           (n == 0 || (strncmp(version, series, n) == 0 && strchr(".-+~", version[n])));
}

static char *
choose(const char *names, const char *series)
{
    g_auto(GStrv) lines = g_strsplit(names, "\n", -1);
    const char *best = NULL;

    for (char **l = lines; *l; l++)
        if (g_str_has_prefix(*l, "linux-image-") && is_of_series(*l, series) &&
            (!best || strverscmp(*l, best) > 0))
            best = *l;
    return g_strdup(best);
}

static char *
what_there_is(const char *names)
{
    g_auto(GStrv) lines = g_strsplit(names, "\n", -1);
    g_autoptr(GString) text = g_string_new(NULL);
    unsigned int shown = 0;

    for (char **l = lines; *l; l++) {
        if (!g_str_has_prefix(*l, "linux-image-") || !is_of_series(*l, ""))
            continue;
        if (shown++ < SHOWN)
            g_string_append_printf(text, "%s%.*s", shown > 1 ? ", " : "",
                                   (int)(strlen(*l) - strlen("linux-image-") - strlen(SUFFIX)),
                                   *l + strlen("linux-image-"));
    }
    if (shown > SHOWN)
        g_string_append_printf(text, " and %u more", shown - SHOWN);
    return g_strdup(shown ? text->str : "no kernel at all");
}

/* Of IMAGE, "linux-image-VERSION", and its like that NAMES has. NULL-terminated. */
static GPtrArray *
parts_of(const char *image, const char *names)
{
    static const char *const likes[] = {"linux-binary-", "linux-modules-", "linux-base-"};
    g_auto(GStrv) lines = g_strsplit(names, "\n", -1);
    GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);

    g_ptr_array_add(parts, g_strdup("download"));
    g_ptr_array_add(parts, g_strdup(image));
    for (gsize i = 0; i < G_N_ELEMENTS(likes); i++) {
        g_autofree char *name = g_strconcat(likes[i], image + strlen("linux-image-"), NULL);
        if (g_strv_contains((const char *const *)lines, name))
            g_ptr_array_add(parts, g_steal_pointer(&name));
    }
    g_ptr_array_add(parts, NULL);
    return parts;
}

static int
image_first(gconstpointer a, gconstpointer b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    gboolean first_x = strstr(x, "/linux-image-") != NULL;
    gboolean first_y = strstr(y, "/linux-image-") != NULL;

    return first_x != first_y ? first_y - first_x : strcmp(x, y);
}

static GPtrArray *
packages_in(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    const char *name;

    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_suffix(name, ".deb"))
            g_ptr_array_add(paths, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(paths, image_first);
    return paths;
}

GPtrArray *
img_deb_fetch(const char *series, const char *lists, const char *into, GError **error)
{
    if (!update(lists, error))
        return NULL;
    g_autofree char *names = package_names(lists, error);
    if (!names)
        return NULL;
    g_autofree char *image = choose(names, series);
    if (!image) {
        g_autofree char *there = what_there_is(names);
        g_set_error(error, IMG_ERROR, IMG_ERROR_NOT_FOUND,
                    "debian:%s: no linux-image-%s*" SUFFIX " in " SUITES "; there is %s", series,
                    series, there);
        return NULL;
    }
    g_autoptr(GPtrArray) words = parts_of(image, names);
    g_autofree char *out =
        run_apt("apt-get", lists, into, (const char *const *)words->pdata, error);
    if (!out)
        return NULL;
    g_autoptr(GPtrArray) paths = packages_in(into);
    if (paths->len)
        return g_steal_pointer(&paths);
    g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "apt-get downloaded no %s", image);
    return NULL;
}
