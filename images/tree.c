/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/tree.h"

#include <archive.h>
#include <archive_entry.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "images/image.h"

/* buffer-format.rst: 110 bytes of header, then name and content, each padded to 4 bytes. */
#define HEADER_BYTES 110
#define LARGEST_SHOWN 3

typedef struct archive ArchiveWriter;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveWriter, archive_write_free)
typedef struct archive_entry ArchiveEntry;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveEntry, archive_entry_free)

typedef struct {
    guint type; /* S_IFDIR, S_IFREG, S_IFCHR */
    guint mode;
    guint major, minor;
    GBytes *content;
    char *origin;
} Node;

struct ImgTree {
    gsize limit;
    gsize used;
    GTree *nodes; /* path -> Node *: parents come before what they hold */
};

static void
node_free(Node *n)
{
    g_clear_pointer(&n->content, g_bytes_unref);
    g_free(n->origin);
    g_free(n);
}

static int
path_compare(gconstpointer a, gconstpointer b, G_GNUC_UNUSED gpointer data)
{
    return strcmp(a, b);
}

/* The trailer is a header too. */
static gsize
entry_bytes(const char *name, gsize content)
{
    return ((HEADER_BYTES + strlen(name) + 1 + 3) & ~(gsize)3) + ((content + 3) & ~(gsize)3);
}

ImgTree *
img_tree_new(gsize limit)
{
    ImgTree *t = g_new0(ImgTree, 1);

    t->limit = limit;
    t->used = entry_bytes("TRAILER!!!", 0);
    t->nodes = g_tree_new_full(path_compare, NULL, g_free, (GDestroyNotify)node_free);
    return t;
}

void
img_tree_free(ImgTree *t)
{
    if (!t)
        return;
    g_tree_unref(t->nodes);
    g_free(t);
}

GBytes *
img_tree_lookup(const ImgTree *t, const char *path)
{
    const Node *n = g_tree_lookup(t->nodes, path);

    return n ? n->content : NULL;
}

gsize
img_tree_left(const ImgTree *t)
{
    return t->limit > t->used ? t->limit - t->used : 0;
}

static gboolean
check_path(const char *path, GError **error)
{
    g_autofree char *canonical = *path == '/' ? g_canonicalize_filename(path, "/") : NULL;
    const char *problem = NULL;

    if (!canonical || strcmp(canonical, path) != 0 || path[1] == 0)
        problem = "must be absolute, without '.', '..', '//' or an ending '/'";
    else if (strlen(path) >= PATH_MAX)
        problem = "is too long";
    for (const char *p = path; !problem && *p; p++)
        if (g_ascii_iscntrl(*p))
            problem = "holds a control character";
    g_auto(GStrv) parts = problem ? NULL : g_strsplit(path, "/", -1);
    for (gsize i = 0; parts && parts[i] && !problem; i++)
        if (strlen(parts[i]) > NAME_MAX)
            problem = "has a name of more than 255 bytes";
    if (!problem)
        return TRUE;
    g_autofree char *shown = g_strescape(path, NULL);
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID, "guest path \"%.300s\" %s", shown, problem);
    return FALSE;
}

typedef struct {
    const char *path;
    gsize bytes;
} Size;

static gboolean
collect_size(gpointer path, gpointer value, gpointer data)
{
    const Node *n = value;
    Size size = {path, n->content ? g_bytes_get_size(n->content) : 0};

    g_array_append_val((GArray *)data, size);
    return FALSE;
}

static int
larger_first(gconstpointer a, gconstpointer b)
{
    gsize sa = ((const Size *)a)->bytes, sb = ((const Size *)b)->bytes;
    return sa < sb ? 1 : sa > sb ? -1 : 0;
}

static gboolean
fail_limit(const ImgTree *t, const char *path, gsize bytes, GError **error)
{
    g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(Size));
    g_autoptr(GString) largest = g_string_new(NULL);

    g_tree_foreach(t->nodes, collect_size, sizes);
    g_array_sort(sizes, larger_first);
    for (guint i = 0; i < sizes->len && i < LARGEST_SHOWN; i++) {
        const Size *s = &g_array_index(sizes, Size, i);
        if (s->bytes > 0)
            g_string_append_printf(largest, "%s%s %zu", i ? ", " : "; largest so far: ", s->path,
                                   s->bytes);
    }
    g_set_error(error, IMG_ERROR, IMG_ERROR_LIMIT,
                "initramfs over its limit of %zu bytes: %s takes it to %zu%s", t->limit, path,
                t->used + bytes, largest->str);
    return FALSE;
}

static gboolean
fail_taken(const char *path, const Node *there, const Node *n, GError **error)
{
    g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                "guest path %s: wanted for %s, but it is %s already", path, n->origin,
                there->origin);
    return FALSE;
}

static gboolean add_node(ImgTree *t, const char *path, Node *n, GError **error);

static gboolean
add_parent(ImgTree *t, const char *path, const Node *n, GError **error)
{
    g_autofree char *parent = g_path_get_dirname(path);
    const Node *there = g_tree_lookup(t->nodes, parent);

    if (parent[1] == 0 || (there && there->type == S_IFDIR))
        return TRUE;
    if (there)
        return fail_taken(parent, there, n, error);
    Node *dir = g_new0(Node, 1);
    dir->type = S_IFDIR;
    dir->mode = 0755;
    dir->origin = g_strdup_printf("the folder of %s", path);
    return add_node(t, parent, dir, error);
}

static gboolean
check_node(const ImgTree *t, const char *path, const Node *n, GError **error)
{
    const Node *there = g_tree_lookup(t->nodes, path);
    gsize bytes = entry_bytes(path + 1, n->content ? g_bytes_get_size(n->content) : 0);

    if (there)
        return fail_taken(path, there, n, error);
    if (n->mode & ~07777u) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "guest path %s: mode 0%o has more than permission bits", path, n->mode);
        return FALSE;
    }
    return bytes <= img_tree_left(t) || fail_limit(t, path, bytes, error);
}

/* Takes N. Parents made on the way to a failure stay; the caller gives the whole tree up then. */
static gboolean
add_node(ImgTree *t, const char *path, Node *n, GError **error)
{
    if (!check_path(path, error) || !add_parent(t, path, n, error) ||
        !check_node(t, path, n, error)) {
        node_free(n);
        return FALSE;
    }
    t->used += entry_bytes(path + 1, n->content ? g_bytes_get_size(n->content) : 0);
    g_tree_insert(t->nodes, g_strdup(path), n);
    return TRUE;
}

gboolean
img_tree_add_dir(ImgTree *t, const char *path, guint mode, GError **error)
{
    Node *n = g_new0(Node, 1);

    n->type = S_IFDIR;
    n->mode = mode;
    n->origin = g_strdup("a folder of every image");
    return add_node(t, path, n, error);
}

gboolean
img_tree_add_device(ImgTree *t, const char *path, guint mode, guint major, guint minor,
                    GError **error)
{
    Node *n = g_new0(Node, 1);

    n->type = S_IFCHR;
    n->mode = mode;
    n->major = major;
    n->minor = minor;
    n->origin = g_strdup("a device of every image");
    return add_node(t, path, n, error);
}

gboolean
img_tree_add_file(ImgTree *t, const char *path, guint mode, GBytes *content, const char *origin,
                  GError **error)
{
    Node *n = g_new0(Node, 1);

    n->type = S_IFREG;
    n->mode = mode;
    n->content = g_bytes_ref(content);
    n->origin = g_strdup(origin);
    return add_node(t, path, n, error);
}

typedef struct {
    ArchiveWriter *archive;
    guint inode;
    char *problem;
} Writing;

static gboolean
write_node(gpointer key, gpointer value, gpointer data)
{
    const char *path = key;
    const Node *n = value;
    Writing *w = data;
    gsize size = 0;
    const void *bytes = n->content ? g_bytes_get_data(n->content, &size) : NULL;
    g_autoptr(ArchiveEntry) entry = archive_entry_new();

    archive_entry_set_pathname(entry, path + 1);
    archive_entry_set_filetype(entry, n->type);
    archive_entry_set_perm(entry, (mode_t)n->mode);
    archive_entry_set_size(entry, (la_int64_t)size);
    archive_entry_set_ino64(entry, ++w->inode);
    archive_entry_set_nlink(entry, 1); /* the kernel looks for hard links only from 2 on */
    archive_entry_set_uid(entry, 0);
    archive_entry_set_gid(entry, 0);
    archive_entry_set_mtime(entry, 0, 0);
    archive_entry_set_dev(entry, 0);
    if (n->type == S_IFCHR) {
        archive_entry_set_rdevmajor(entry, n->major);
        archive_entry_set_rdevminor(entry, n->minor);
    }
    if (archive_write_header(w->archive, entry) == ARCHIVE_OK &&
        (size == 0 || archive_write_data(w->archive, bytes, size) == (la_ssize_t)size))
        return FALSE;
    w->problem = g_strdup_printf("%s: %s", path, archive_error_string(w->archive));
    return TRUE;
}

static la_ssize_t
sink_write(G_GNUC_UNUSED struct archive *a, void *data, const void *buffer, size_t length)
{
    g_byte_array_append(data, buffer, (guint)length);
    return (la_ssize_t)length;
}

GBytes *
img_tree_archive(const ImgTree *t, GError **error)
{
    g_autoptr(GByteArray) out = g_byte_array_sized_new((guint)t->used + 1024);
    g_autoptr(ArchiveWriter) a = archive_write_new();
    Writing w = {.archive = a};

    /* No blocking: the archive ends right after its trailer. */
    gboolean ok = archive_write_set_format_cpio_newc(a) == ARCHIVE_OK &&
                  archive_write_add_filter_none(a) == ARCHIVE_OK &&
                  archive_write_set_bytes_per_block(a, 0) == ARCHIVE_OK &&
                  archive_write_open(a, out, NULL, sink_write, NULL) == ARCHIVE_OK;
    if (ok)
        g_tree_foreach(t->nodes, write_node, &w);
    if (!ok || w.problem || archive_write_close(a) != ARCHIVE_OK) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "initramfs: %s",
                    w.problem ? w.problem : archive_error_string(a));
        g_free(w.problem);
        return NULL;
    }
    return g_byte_array_free_to_bytes(g_steal_pointer(&out));
}
