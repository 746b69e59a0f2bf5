/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What a guest boots: the kernel and the image that carries our guest programs, laid where QEMU may
 * read them. */
#include <gio/gio.h>

#include "images/image.h"

typedef struct {
    ImgKernel *kernel;
    ImgInitramfs *initramfs;
    char *kernel_path, *initrd_path; /* copies in the session's run folder; initrd_path: or NULL */
} LabImage;
void lab_image_free(LabImage *i);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabImage, lab_image_free)

/*
 * PROGRAMS (char *): paths of further programs of this machine, which the image carries at the same
 * paths. Finds KERNEL (images/catalogue.h), builds or reuses its image in CACHE_DIR, and copies
 * both into RUN_DIR under names made of their hashes: a kernel that is upgraded while runs go on
 * can't change what they boot. Takes up to a few seconds: for worker threads.
 */
LabImage *lab_image_prepare(const char *kernel, const GPtrArray *programs, const char *cache_dir,
                            const char *run_dir, GError **error);

/* The flat guest NAME of lab_guest_dir, laid in RUN_DIR. It has no kernel: the one that is measured
 * is this machine's, whose release it gets, with the flat guest's path; initramfs is its hash
 * alone. */
LabImage *lab_flat_image_prepare(const char *name, const char *run_dir, GError **error);

/* For makers of other images (lab/box_image.c): copies IMAGE's kernel and initramfs into RUN_DIR
 * and sets the paths. */
gboolean lab_image_lay_out(LabImage *image, const char *run_dir, GError **error);
void lab_img_file_free(ImgFile *f);

/* Where kernels are kept (images/catalogue.h): in CACHE_DIR (g_free). */
char *lab_catalogue_dir(const char *cache_dir);
/* The same for commands without a session: of --state STATE (NULL: lab_state_dir()). */
char *lab_catalogue_dir_of(const char *state);

/* The folder of init, syscall-loop and exit-cost: $NOHZLAB_GUEST_DIR, beside the program
 * (build/guest), or PREFIX/libexec/nohzlab. g_free. */
char *lab_guest_dir(void);
