/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "images/bzimage.h"
#include "images/file.h"
#include "images/image.h"

/* Real ones are 5 to 20 MiB; with everything built in, below 100. */
#define KERNEL_MAX_BYTES ((gsize)256 << 20)
#define CONFIG_MAX_BYTES ((gsize)4 << 20)
#define NAMES_SHOWN 16

/* A /boot/vmlinuz-* file: a header, or why it has none. */
typedef struct {
    char *path;
    ImgBzimage *header;
    GError *problem;
} Candidate;

static void
candidate_free(Candidate *c)
{
    g_free(c->path);
    img_bzimage_free(c->header);
    g_clear_error(&c->problem);
    g_free(c);
}

void
img_kernel_free(ImgKernel *k)
{
    if (!k)
        return;
    g_free(k->spec);
    g_free(k->path);
    g_free(k->release);
    g_free(k->modules_dir);
    g_free(k->config);
    g_free(k->sha256);
    g_free(k);
}

/*
 * By version: numbers as numbers (strverscmp), and a release candidate is older than what it is a
 * candidate for, which strverscmp does not know: 6.9.0 < 6.10.0-rc1 < 6.10.0 < 6.10.0-1-amd64.
 */
static int
release_compare(const char *a, const char *b)
{
    gsize na = strspn(a, "0123456789."), nb = strspn(b, "0123456789.");
    g_autofree char *head_a = g_strndup(a, na);
    g_autofree char *head_b = g_strndup(b, nb);
    int order = strverscmp(head_a, head_b);

    if (order != 0)
        return order;
    gboolean rc_a = g_str_has_prefix(a + na, "-rc"), rc_b = g_str_has_prefix(b + nb, "-rc");
    if (rc_a != rc_b)
        return rc_a ? -1 : 1;
    return strverscmp(a + na, b + nb);
}

/* vmlinuz-RELEASE comes before a copy of it under another name (vmlinuz-RELEASE.old). */
static gboolean
named_as_release(const Candidate *c)
{
    g_autofree char *name = g_path_get_basename(c->path);
    return strcmp(name + strlen("vmlinuz-"), c->header->release) == 0;
}

/* Newest first, those without a header last. */
static int
candidate_compare(gconstpointer pa, gconstpointer pb)
{
    const Candidate *a = *(const Candidate *const *)pa, *b = *(const Candidate *const *)pb;

    if (!a->header || !b->header)
        return a->header ? -1 : b->header ? 1 : strcmp(a->path, b->path);
    int order = release_compare(b->header->release, a->header->release);
    if (order != 0)
        return order;
    order = named_as_release(b) - named_as_release(a);
    return order != 0 ? order : strcmp(a->path, b->path);
}

static ImgBzimage *
parse_bytes(GBytes *bytes, guint64 file_bytes, const char *path, GError **error)
{
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);

    return img_bzimage_parse(data, MIN(size, IMG_BZIMAGE_HEAD_BYTES), file_bytes, path, error);
}

static Candidate *
candidate_read(const char *path)
{
    Candidate *c = g_new0(Candidate, 1);
    guint64 file_bytes = 0;
    g_autoptr(GBytes) head =
        img_file_read_head(path, IMG_BZIMAGE_HEAD_BYTES, &file_bytes, &c->problem);

    c->path = g_strdup(path);
    if (head)
        c->header = parse_bytes(head, file_bytes, path, &c->problem);
    return c;
}

/* Candidates of ROOT/boot, sorted. A folder that is not there has none. */
static GPtrArray *
scan_boot(const char *root, GError **error)
{
    g_autofree char *boot = g_strconcat(root, "/boot", NULL);
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)candidate_free);
    g_autoptr(GError) reason = NULL;
    g_autoptr(GDir) dir = g_dir_open(boot, 0, &reason);

    if (!dir) {
        if (g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_NOENT))
            return g_steal_pointer(&all);
        g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "%s", reason->message);
        return NULL;
    }
    const char *name;
    while ((name = g_dir_read_name(dir))) {
        if (!g_str_has_prefix(name, "vmlinuz-") || strstr(name, ".dpkg-"))
            continue;
        g_autofree char *path = g_build_filename(boot, name, NULL);
        g_ptr_array_add(all, candidate_read(path));
    }
    g_ptr_array_sort(all, candidate_compare);
    return g_steal_pointer(&all);
}

/* "there are A, B; unusable: PATH: why", for errors. */
static char *
describe(const char *root, const GPtrArray *all)
{
    g_autoptr(GString) usable = g_string_new(NULL);
    g_autoptr(GString) unusable = g_string_new(NULL);

    for (guint i = 0; i < all->len && i < NAMES_SHOWN; i++) {
        const Candidate *c = all->pdata[i];
        if (c->header)
            g_string_append_printf(usable, "%s%s", usable->len ? ", " : "", c->header->release);
        else
            g_string_append_printf(unusable, "; unusable: %s", c->problem->message);
    }
    if (all->len > NAMES_SHOWN)
        g_string_append_printf(unusable, "; and %u more files", all->len - NAMES_SHOWN);
    return g_strdup_printf("%s/boot/vmlinuz-* has %s%s", root,
                           usable->len ? usable->str : "no usable kernel", unusable->str);
}

static char *
find_modules_dir(const char *root, const char *release)
{
    static const char *const places[] = {"/lib/modules/", "/usr/lib/modules/"};

    for (gsize i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *dir = g_strconcat(root, places[i], release, NULL);
        if (g_file_test(dir, G_FILE_TEST_IS_DIR))
            return g_steal_pointer(&dir);
    }
    return NULL;
}

/* A config that cannot be read is not known: nobody is stopped by that. */
static char *
read_config(const char *path)
{
    g_autoptr(GBytes) bytes = img_file_read(path, CONFIG_MAX_BYTES, NULL);

    if (!bytes)
        return NULL;
    gsize size;
    const char *text = g_bytes_get_data(bytes, &size);
    return memchr(text, 0, size) ? NULL : g_strndup(text, size);
}

/* Beside the image (Debian), or with the modules (Fedora and others). */
static char *
find_config(const ImgKernel *k)
{
    g_autofree char *dir = g_path_get_dirname(k->path);
    g_autofree char *beside = g_strconcat(dir, "/config-", k->release, NULL);
    char *text = read_config(beside);

    if (text || !k->modules_dir)
        return text;
    g_autofree char *with_modules = g_build_filename(k->modules_dir, "config", NULL);
    return read_config(with_modules);
}

/* The header is read again from the very bytes that are hashed. MODULES_DIR may be NULL: the usual
 * place. */
static ImgKernel *
kernel_load(const char *root, const char *spec, const char *path, const char *modules_dir,
            GError **error)
{
    g_autoptr(GBytes) bytes = img_file_read(path, KERNEL_MAX_BYTES, error);
    if (!bytes)
        return NULL;
    g_autoptr(ImgBzimage) header = parse_bytes(bytes, g_bytes_get_size(bytes), path, error);
    if (!header)
        return NULL;

    g_autoptr(ImgKernel) k = g_new0(ImgKernel, 1);
    k->spec = g_strdup(spec);
    k->path = g_strdup(path);
    k->release = g_steal_pointer(&header->release);
    k->modules_dir = modules_dir ? g_strdup(modules_dir) : find_modules_dir(root, k->release);
    k->config = find_config(k);
    k->sha256 = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, bytes);
    return g_steal_pointer(&k);
}

static gboolean
is_cloud(const Candidate *c)
{
    return strstr(c->header->release, "-cloud-amd64") != NULL;
}

static const Candidate *
choose_default(const GPtrArray *all)
{
    const Candidate *newest = NULL;

    for (guint i = 0; i < all->len; i++) {
        const Candidate *c = all->pdata[i];
        if (!c->header)
            continue;
        if (is_cloud(c))
            return c;
        if (!newest)
            newest = c;
    }
    return newest;
}

/* Debian's builds say so in their version text; a kernel built from Debian's source does not. */
static gboolean
is_debian_series(const Candidate *c, const char *series)
{
    const char *release = c->header->release;

    return strstr(c->header->version, "debian-kernel@lists.debian.org") &&
           g_str_has_prefix(release, series) && !g_ascii_isdigit(release[strlen(series)]);
}

/* 6.1.0-57-cloud-amd64 -> 6.1.0-57 and how much its flavour is wanted. */
static char *
split_flavour(const char *release, int *rank)
{
    static const char *const flavours[] = {"-cloud-amd64", "-rt-amd64", "-amd64"};
    static const int ranks[] = {2, 0, 1};

    for (gsize i = 0; i < G_N_ELEMENTS(flavours); i++)
        if (g_str_has_suffix(release, flavours[i])) {
            *rank = ranks[i];
            return g_strndup(release, strlen(release) - strlen(flavours[i]));
        }
    *rank = 0;
    return g_strdup(release);
}

/* Newest version; of its flavours the cloud one, as "default" prefers it too. */
static const Candidate *
choose_debian(const GPtrArray *all, const char *series)
{
    const Candidate *best = NULL;

    for (guint i = 0; i < all->len; i++) {
        const Candidate *c = all->pdata[i];
        if (!c->header || !is_debian_series(c, series))
            continue;
        if (!best) {
            best = c;
            continue;
        }
        int rank, best_rank;
        g_autofree char *base = split_flavour(c->header->release, &rank);
        g_autofree char *best_base = split_flavour(best->header->release, &best_rank);
        int order = release_compare(base, best_base);
        if (order > 0 || (order == 0 && rank > best_rank))
            best = c;
    }
    return best;
}

static const Candidate *
choose_release(const GPtrArray *all, const char *release, GError **error)
{
    g_autofree char *name = g_strconcat("/vmlinuz-", release, NULL);

    for (guint i = 0; i < all->len; i++) {
        const Candidate *c = all->pdata[i];
        if (c->header && strcmp(c->header->release, release) == 0)
            return c;
        if (!c->header && g_str_has_suffix(c->path, name)) {
            g_propagate_error(error, g_error_copy(c->problem));
            return NULL;
        }
    }
    return NULL;
}

static gboolean
is_series(const char *text)
{
    return g_regex_match_simple("^[0-9]+\\.[0-9]+$", text, G_REGEX_DOLLAR_ENDONLY, 0);
}

static ImgKernel *
find_installed(const char *root, const char *spec, GError **error)
{
    g_autoptr(GPtrArray) all = scan_boot(root, error);
    if (!all)
        return NULL;

    const Candidate *c = NULL;
    g_autofree char *wanted = NULL;
    g_autoptr(GError) reason = NULL;
    if (strcmp(spec, "default") == 0) {
        c = choose_default(all);
        wanted = g_strdup("no kernel is installed");
    } else if (g_str_has_prefix(spec, "boot:")) {
        c = choose_release(all, spec + strlen("boot:"), &reason);
        wanted = g_strdup_printf("no kernel of release \"%s\"", spec + strlen("boot:"));
    } else {
        c = choose_debian(all, spec + strlen("debian:"));
        wanted = g_strdup_printf("no Debian kernel of series %s", spec + strlen("debian:"));
    }
    if (c)
        return kernel_load(root, spec, c->path, NULL, error);

    g_autofree char *there = describe(root, all);
    if (reason)
        g_set_error(error, IMG_ERROR, reason->code, "kernel \"%s\": %s", spec, reason->message);
    else
        g_set_error(error, IMG_ERROR, IMG_ERROR_NOT_FOUND, "kernel \"%s\": %s: %s", spec, wanted,
                    there);
    return NULL;
}

/* A build tree serves as well: a kernel without loadable modules has a modules.builtin there. */
static gboolean
check_modules_dir(const char *spec, const char *dir, GError **error)
{
    g_autofree char *dep = g_build_filename(dir, "modules.dep", NULL);
    g_autofree char *builtin = g_build_filename(dir, "modules.builtin", NULL);

    if (*dir && (g_file_test(dep, G_FILE_TEST_EXISTS) || g_file_test(builtin, G_FILE_TEST_EXISTS)))
        return TRUE;
    g_set_error(
        error, IMG_ERROR, IMG_ERROR_NOT_FOUND,
        "kernel \"%s\": modules=\"%s\" has neither modules.dep nor modules.builtin; it must be a "
        "folder like /lib/modules/RELEASE",
        spec, dir);
    return FALSE;
}

static char *
under_root(const char *root, const char *path)
{
    return *root && *path == '/' ? g_strconcat(root, path, NULL) : g_strdup(path);
}

static ImgKernel *
find_path(const char *root, const char *spec, GError **error)
{
    static const char option[] = ",modules=";
    const char *text = spec + strlen("path:");
    const char *comma = g_strrstr(text, option);
    g_autofree char *file = comma ? g_strndup(text, (gsize)(comma - text)) : g_strdup(text);
    g_autofree char *path = under_root(root, file);
    g_autofree char *dir = comma ? under_root(root, comma + strlen(option)) : NULL;

    if (!*file) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "kernel \"%s\": no file; it is path:FILE[,modules=DIR]", spec);
        return NULL;
    }
    if (dir && !check_modules_dir(spec, dir, error))
        return NULL;
    ImgKernel *k = kernel_load(root, spec, path, dir, error);
    if (!k)
        g_prefix_error(error, "kernel \"%s\": ", spec);
    return k;
}

ImgKernel *
img_kernel_find(const char *root, const char *spec, GError **error)
{
    if (g_str_has_prefix(spec, "path:"))
        return find_path(root, spec, error);
    if (strcmp(spec, "default") == 0 || g_str_has_prefix(spec, "boot:") ||
        (g_str_has_prefix(spec, "debian:") && is_series(spec + strlen("debian:"))))
        return find_installed(root, spec, error);

    g_autoptr(GPtrArray) all = scan_boot(root, NULL);
    g_autofree char *there = all ? describe(root, all) : g_strdup("its /boot cannot be read");
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                "kernel \"%s\": not one of default, debian:MAJOR.MINOR, boot:RELEASE, "
                "path:FILE[,modules=DIR], kernel:ID (nohzlab kernel list); %s",
                spec, there);
    return NULL;
}

GPtrArray *
img_kernel_list(const char *root, GError **error)
{
    g_autoptr(GPtrArray) all = scan_boot(root, error);
    if (!all)
        return NULL;

    GPtrArray *kernels = g_ptr_array_new_with_free_func((GDestroyNotify)img_kernel_free);
    for (guint i = 0; i < all->len; i++) {
        const Candidate *c = all->pdata[i];
        if (!c->header)
            continue;
        g_autofree char *spec = g_strconcat("boot:", c->header->release, NULL);
        ImgKernel *k = kernel_load(root, spec, c->path, NULL, NULL);
        if (k)
            g_ptr_array_add(kernels, k);
    }
    return kernels;
}
