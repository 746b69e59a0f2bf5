/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images/elf_closure.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "images/elf_object.h"
#include "images/file.h"
#include "images/image.h"
#include "images/ld_path.h"

/* A browser has about 150. */
#define OBJECTS_MAX 1024

struct ImgClosure {
    char *root;
    GPtrArray *system_dirs; /* ImgLibDir * */
    GPtrArray *libraries;   /* ImgLibrary * */
    GHashTable *by_guest;   /* guest path -> ImgLibrary *, owned by LIBRARIES */
    GHashTable *by_host;    /* host path -> GBytes *: what is kept is read once */
    gsize bytes;            /* of what is kept */
};

/* An object of one program's link map. */
typedef struct Object Object;
struct Object {
    char *host_path;
    char *host_origin;
    char *guest_origin;
    ImgElf *elf;
    const Object *loader; /* what asked for it; NULL for the program */
};

/* One program being linked. */
typedef struct {
    ImgClosure *closure;
    GPtrArray *objects; /* Object *, in load order */
    GHashTable *loaded; /* names that are satisfied: file names and sonames */
    gsize max_bytes;
} Link;

static void
object_free(Object *o)
{
    g_free(o->host_path);
    g_free(o->host_origin);
    g_free(o->guest_origin);
    img_elf_free(o->elf);
    g_free(o);
}

static void
library_free(ImgLibrary *l)
{
    g_free(l->host_path);
    g_free(l->guest_path);
    g_free(l->wanted_by);
    g_bytes_unref(l->content);
    g_free(l);
}

static void
link_clear(Link *link)
{
    g_ptr_array_unref(link->objects);
    g_hash_table_unref(link->loaded);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Link, link_clear)

ImgClosure *
img_closure_new(const char *root, GError **error)
{
    g_autoptr(GPtrArray) dirs = img_ld_system_dirs(root, error);
    if (!dirs)
        return NULL;

    ImgClosure *c = g_new0(ImgClosure, 1);
    c->root = g_strdup(root);
    c->system_dirs = g_steal_pointer(&dirs);
    c->libraries = g_ptr_array_new_with_free_func((GDestroyNotify)library_free);
    c->by_guest = g_hash_table_new(g_str_hash, g_str_equal);
    c->by_host =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    return c;
}

void
img_closure_free(ImgClosure *c)
{
    if (!c)
        return;
    g_free(c->root);
    g_ptr_array_unref(c->system_dirs);
    g_hash_table_unref(c->by_guest);
    g_hash_table_unref(c->by_host);
    g_ptr_array_unref(c->libraries);
    g_free(c);
}

const GPtrArray *
img_closure_libraries(const ImgClosure *c)
{
    return c->libraries;
}

/* Takes ELF. The program's $ORIGIN is that of the file itself, a library's that of the name it was
 * found by. */
static void
link_object(Link *link, const char *host_path, const char *host_origin, const char *guest_path,
            ImgElf *elf, const Object *loader)
{
    Object *o = g_new0(Object, 1);

    o->host_path = g_strdup(host_path);
    o->host_origin = g_strdup(host_origin);
    o->guest_origin = g_path_get_dirname(guest_path);
    o->elf = elf;
    o->loader = loader;
    if (elf->soname)
        g_hash_table_add(link->loaded, g_strdup(elf->soname));
    g_ptr_array_add(link->objects, o);
}

/* The library of GUEST_PATH goes into the image; two different ones for one place cannot. */
static gboolean
keep_library(ImgClosure *c, const char *host_path, const char *guest_path, const Object *by,
             GBytes *content, GError **error)
{
    ImgLibrary *there = g_hash_table_lookup(c->by_guest, guest_path);

    if (there && g_bytes_equal(there->content, content))
        return TRUE;
    if (there) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s needs %s and %s needs %s, but both would be %s in the image",
                    there->wanted_by, there->host_path, by->host_path, host_path, guest_path);
        return FALSE;
    }
    ImgLibrary *l = g_new0(ImgLibrary, 1);
    l->host_path = g_strdup(host_path);
    l->guest_path = g_strdup(guest_path);
    l->wanted_by = g_strdup(by->host_path);
    l->content = g_bytes_ref(content);
    g_ptr_array_add(c->libraries, l);
    g_hash_table_insert(c->by_guest, l->guest_path, l);
    if (g_hash_table_insert(c->by_host, g_strdup(host_path), g_bytes_ref(content)))
        c->bytes += g_bytes_get_size(content);
    return TRUE;
}

typedef enum { FAILED, ABSENT, LOADED } Outcome;

static GBytes *
read_library(const Link *link, const char *host_path, GError **error)
{
    const ImgClosure *c = link->closure;
    GBytes *kept = g_hash_table_lookup(c->by_host, host_path);

    if (kept)
        return g_bytes_ref(kept);
    return img_file_read(host_path, link->max_bytes > c->bytes ? link->max_bytes - c->bytes : 0,
                         error);
}

/* One place to look in. As ld.so does, a file for another machine or word size is passed over. */
static Outcome
try_path(Link *link, const char *host_path, const char *guest_path, const Object *by,
         GError **error)
{
    g_autoptr(GError) reason = NULL;
    g_autoptr(GBytes) content = read_library(link, host_path, &reason);

    if (!content) {
        if (g_error_matches(reason, IMG_ERROR, IMG_ERROR_NOT_FOUND))
            return ABSENT;
        g_propagate_prefixed_error(error, g_steal_pointer(&reason),
                                   "needed by %s: ", by->host_path);
        return FAILED;
    }
    if (!img_elf_is(content)) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s, needed by %s: not an ELF file (ld.so would refuse it)", host_path,
                    by->host_path);
        return FAILED;
    }
    g_autoptr(ImgElf) elf = img_elf_parse(content, host_path, error);
    if (!elf) {
        g_prefix_error(error, "needed by %s: ", by->host_path);
        return FAILED;
    }
    if (!elf->is_64bit || elf->machine != EM_X86_64)
        return ABSENT;
    if (link->objects->len >= OBJECTS_MAX) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_LIMIT, "%s: more than %d shared libraries",
                    by->host_path, OBJECTS_MAX);
        return FAILED;
    }
    if (!keep_library(link->closure, host_path, guest_path, by, content, error))
        return FAILED;
    g_autofree char *origin = g_path_get_dirname(host_path);
    link_object(link, host_path, origin, guest_path, g_steal_pointer(&elf), by);
    return LOADED;
}

/* LOOKED collects the folders, for the message. */
static Outcome
try_dirs(Link *link, const GPtrArray *dirs, const char *name, const Object *by, GString *looked,
         GError **error)
{
    for (guint i = 0; i < dirs->len; i++) {
        const ImgLibDir *d = dirs->pdata[i];
        g_autofree char *host_path = g_build_filename(d->host, name, NULL);
        g_autofree char *guest_path = g_build_filename(d->guest, name, NULL);
        Outcome outcome = try_path(link, host_path, guest_path, by, error);
        if (outcome != ABSENT)
            return outcome;
        g_string_append_printf(looked, "%s%s", looked->len ? ", " : "", d->host);
    }
    return ABSENT;
}

static Outcome
try_rpath(Link *link, const char *rpath, const Object *of, const char *name, const Object *by,
          GString *looked, GError **error)
{
    g_autoptr(GPtrArray) dirs =
        img_ld_rpath_dirs(link->closure->root, rpath, of->host_origin, of->guest_origin);

    return try_dirs(link, dirs, name, by, looked, error);
}

/*
 * ld.so(8): DT_RPATH of the object, of what loaded it and so on up to the program, unless the
 * object has a DT_RUNPATH; then that; then the system's folders. LD_LIBRARY_PATH is not the
 * guest's.
 */
static Outcome
search(Link *link, const char *name, const Object *by, GString *looked, GError **error)
{
    Outcome outcome = ABSENT;

    for (const Object *o = by; o && !by->elf->runpath && outcome == ABSENT; o = o->loader)
        if (o->elf->rpath && !o->elf->runpath)
            outcome = try_rpath(link, o->elf->rpath, o, name, by, looked, error);
    if (outcome == ABSENT && by->elf->runpath)
        outcome = try_rpath(link, by->elf->runpath, by, name, by, looked, error);
    if (outcome == ABSENT)
        outcome = try_dirs(link, link->closure->system_dirs, name, by, looked, error);
    return outcome;
}

static gboolean
link_needed(Link *link, const char *name, const Object *by, GError **error)
{
    if (!g_hash_table_add(link->loaded, g_strdup(name)))
        return TRUE;

    g_autoptr(GString) looked = g_string_new(NULL);
    Outcome outcome = ABSENT;
    if (*name == '/') {
        g_autofree char *host_path = g_strconcat(link->closure->root, name, NULL);
        outcome = try_path(link, host_path, name, by, error);
        g_string_append(looked, "that very path");
    } else if (*name && !strchr(name, '/')) {
        outcome = search(link, name, by, looked, error);
    } else {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: needs a library \"%s\", which depends on the working directory",
                    by->host_path, name);
        return FALSE;
    }
    if (outcome == ABSENT)
        g_set_error(error, IMG_ERROR, IMG_ERROR_NOT_FOUND,
                    "%s: needs the x86-64 library %s, which is not in %s", by->host_path, name,
                    looked->str);
    return outcome == LOADED;
}

/* Programs name their interpreter by path; libraries then need it by the name it bears there. */
static gboolean
link_interp(Link *link, const Object *program, GError **error)
{
    const char *interp = program->elf->interp;
    g_autofree char *name = g_path_get_basename(interp);

    if (*interp != '/') {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: its interpreter \"%s\" is not an absolute path", program->host_path,
                    interp);
        return FALSE;
    }
    g_hash_table_add(link->loaded, g_steal_pointer(&name));
    return link_needed(link, interp, program, error);
}

static gboolean
link_all(Link *link, GError **error)
{
    /* The list grows meanwhile: breadth first, as ld.so loads. */
    for (guint i = 0; i < link->objects->len; i++) {
        const Object *o = link->objects->pdata[i];
        for (guint j = 0; j < o->elf->needed->len; j++)
            if (!link_needed(link, o->elf->needed->pdata[j], o, error))
                return FALSE;
        /* pthread_cancel(3) aborts the process where libgcc_s cannot be loaded. */
        if (o->elf->unwinds && i == 0 && !link_needed(link, "libgcc_s.so.1", o, error))
            return FALSE;
    }
    return TRUE;
}

gboolean
img_closure_add(ImgClosure *c, const char *host_path, const char *guest_path, GBytes *content,
                gsize max_bytes, GError **error)
{
    if (!img_elf_is(content))
        return TRUE;
    g_autoptr(ImgElf) elf = img_elf_parse(content, host_path, error);
    if (!elf)
        return FALSE;
    if (!elf->interp && elf->needed->len == 0)
        return TRUE;
    if (!elf->is_64bit || elf->machine != EM_X86_64) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_INVALID,
                    "%s: a dynamically linked program for another architecture (ELF machine %u, "
                    "%d-bit); guests are x86-64",
                    host_path, elf->machine, elf->is_64bit ? 64 : 32);
        return FALSE;
    }

    g_auto(Link) link = {
        .closure = c,
        .objects = g_ptr_array_new_with_free_func((GDestroyNotify)object_free),
        .loaded = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .max_bytes = max_bytes,
    };
    g_autofree char *real = realpath(host_path, NULL);
    g_autofree char *origin = g_path_get_dirname(real ? real : host_path);
    link_object(&link, host_path, origin, guest_path, g_steal_pointer(&elf), NULL);
    const Object *program = link.objects->pdata[0];
    if (program->elf->interp && !link_interp(&link, program, error))
        return FALSE;
    return link_all(&link, error);
}
