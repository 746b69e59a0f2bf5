/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The shared libraries programs need, found as ld.so(8) would find them, and placed where the
 * guest's ld.so looks. Not covered, as nothing in an ELF file tells of it: libraries a program
 * opens by itself (dlopen).
 */
#include <glib.h>

typedef struct {
    char *host_path;
    char *guest_path;
    char *wanted_by; /* host path of the first object that needs it */
    GBytes *content;
} ImgLibrary;

typedef struct ImgClosure ImgClosure;
/* ROOT: "" or a fake root for tests. */
ImgClosure *img_closure_new(const char *root, GError **error);
void img_closure_free(ImgClosure *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImgClosure, img_closure_free)

/*
 * Adds what the program or library CONTENT needs, which comes from HOST_PATH and goes to
 * GUEST_PATH. What is no ELF file, and static programs of any machine, need nothing. What
 * is kept is at most MAX_BYTES in all, over every call.
 */
gboolean img_closure_add(ImgClosure *c, const char *host_path, const char *guest_path,
                         GBytes *content, gsize max_bytes, GError **error);

/* ImgLibrary *, in the order they were found; owned by C. */
const GPtrArray *img_closure_libraries(const ImgClosure *c);
