/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What a loader needs to know of one ELF file, read with libelf; nothing is executed. */
#include <glib.h>

typedef struct {
    guint machine; /* EM_* */
    gboolean is_64bit;
    gboolean dynamic;  /* has a PT_DYNAMIC segment */
    char *interp;      /* PT_INTERP, or NULL */
    char *soname;      /* DT_SONAME, or NULL */
    char *rpath;       /* DT_RPATH, or NULL */
    char *runpath;     /* DT_RUNPATH, or NULL */
    GPtrArray *needed; /* char *, DT_NEEDED in order */
    gboolean unwinds;  /* imports pthread_exit or pthread_cancel: the C library then loads libgcc_s
                          by itself */
} ImgElf;
void img_elf_free(ImgElf *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImgElf, img_elf_free)

/* BYTES begin as an ELF file does. */
gboolean img_elf_is(GBytes *bytes);
/* IMG_ERROR_INVALID when BYTES (of a file called NAME) are damaged or cut short. */
ImgElf *img_elf_parse(GBytes *bytes, const char *name, GError **error);

/*
 * The value of KEY in the .modinfo section of a kernel module ("vermagic"). IMG_ERROR_INVALID when
 * BYTES are no x86-64 kernel module or have no such key. g_free it.
 */
char *img_elf_modinfo(GBytes *bytes, const char *name, const char *key, GError **error);
