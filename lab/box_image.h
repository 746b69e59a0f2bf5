/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What a box boots: the kernel, and an image that holds all the lab needs to run a guest there:
 * this very nohzlab, libvirt's driver, QEMU, its firmware, the same kernel again for the inner
 * guest, and the guest programs. So nothing is read from this machine while the box runs.
 */
#include <gio/gio.h>

#include "lab/prepare.h"

/*
 * As lab_image_prepare. IMG_ERROR_NOT_FOUND when the kernel has no KVM for AMD (kvm_amd), or QEMU,
 * its firmware or libvirt's driver are not where they should be. Takes a second or two: for worker
 * threads.
 */
LabImage *lab_box_image_prepare(const char *kernel, const GPtrArray *programs,
                                const char *cache_dir, const char *run_dir, GError **error);

/* Where the box keeps things. */
#define LAB_BOX_NOHZLAB "/usr/bin/nohzlab"
/* For tests: a static program that gets nohzlab's command line in the box, and runs it. */
#define LAB_BOX_WRAPPER_ENV "NOHZLAB_BOX_WRAPPER"
#define LAB_BOX_WRAPPER "/usr/bin/nohzlab-wrapper"
#define LAB_BOX_GUEST_DIR "/usr/libexec/nohzlab"
#define LAB_BOX_STATE "/var/lib/nohzlab"
/* What libvirt learns of QEMU: below the state folder, and in this machine's cache for the next
 * box. */
#define LAB_BOX_CAPABILITIES LAB_BOX_STATE "/cache/libvirt-kvm/qemu/capabilities"

/* The inner guest's kernel as a profile in the box names it (g_free). */
char *lab_box_inner_kernel(const ImgKernel *kernel);

/*
 * libvirt takes what it once learned of a QEMU (seconds, and in a box half a minute) for true as
 * long as QEMU's and its own driver's files have the change time they had. In an image they get it
 * by the job's `stamp`: that of this machine's files.
 */
#define LAB_BOX_STAMPS 2
typedef struct {
    char path[256];
    guint64 time_s;
} LabBoxStamp;
gboolean lab_box_stamps(LabBoxStamp stamps[LAB_BOX_STAMPS], GError **error);

/* The file's name in LAB_BOX_CAPABILITIES (g_free). */
char *lab_box_capabilities_name(void);
/* Keeps that file's TEXT, from a box booted from IMAGE, for the images that are prepared later.
 * Failing to costs the next box time, and nothing else. */
void lab_box_image_keep(const LabImage *image, const char *cache_dir, const char *text, gsize len);
