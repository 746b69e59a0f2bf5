/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Kernels and initramfs images for guests. */
#include <gio/gio.h>

typedef struct {
    char *spec;        /* as the profile named it */
    char *path;        /* the bzImage */
    char *release;     /* uname -r, read from the image's own header, not from its name */
    char *modules_dir; /* /lib/modules/RELEASE, or NULL */
    char *config;      /* text of its config file, or NULL when not known */
    char *sha256;      /* of the image file */
} ImgKernel;
void img_kernel_free(ImgKernel *k);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImgKernel, img_kernel_free)

#define IMG_ERROR (img_error_quark())
GQuark img_error_quark(void);
typedef enum {
    IMG_ERROR_NOT_FOUND, /* no such kernel, file, module, program */
    IMG_ERROR_INVALID,   /* not a kernel, not an ELF file, truncated, wrong architecture */
    IMG_ERROR_LIMIT,     /* image over its size limit */
    IMG_ERROR_IO,
} ImgError;
/* Whether it is the kernel that can't be had, and not this machine that is in trouble: others may
 * do. */
gboolean img_error_is_kernels(const GError *error);

/*
 * SPEC: "default" (the newest installed linux-image-cloud-amd64, or the newest of /boot),
 * "debian:6.1" (the newest installed Debian kernel of that series), "boot:RELEASE",
 * "path:FILE[,modules=DIR]". ROOT: "" or a fake root for tests. The error names what was looked
 * for, where, and what is there instead.
 */
ImgKernel *img_kernel_find(const char *root, const char *spec, GError **error);
GPtrArray *img_kernel_list(const char *root, GError **error); /* ImgKernel *, newest first */

/* One file of an image: HOST_PATH's content at GUEST_PATH, with MODE. Shared libraries come along.
 */
typedef struct {
    char *host_path;
    char *guest_path; /* absolute */
    guint mode;       /* 0755 for programs */
} ImgFile;

typedef struct {
    const ImgKernel *kernel; /* modules are taken from its modules_dir */
    /* Names as modprobe knows them, NULL-terminated (NULL: none). Built-in ones are skipped, their
     * dependencies come too; /modules in the image lists their paths there in load order. */
    const char *const *modules;
    GPtrArray *files; /* ImgFile * */
    gsize limit;      /* bytes; 0: 15 MiB */
} ImgInitramfsSpec;

typedef struct {
    char *path;
    char *sha256;
    guint64 bytes;
    gboolean reused; /* came from the cache */
} ImgInitramfs;
void img_initramfs_free(ImgInitramfs *i);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImgInitramfs, img_initramfs_free)

/*
 * Builds (or finds) the newc archive of SPEC in CACHE_DIR, named by a hash over everything that
 * goes in. The same inputs give the same bytes whoever builds, whenever. Written to a temporary
 * name, then renamed. Beside SPEC's files it holds /dev/console, /dev/null, /dev/kmsg,
 * /dev/ttyS0, the usual empty folders and /modules. The program to start, /init, is one of SPEC's
 * files.
 */
ImgInitramfs *img_initramfs_build(const ImgInitramfsSpec *spec, const char *cache_dir,
                                  GError **error);
