/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Kernel modules for a guest, with what they depend on: modules.dep(5), as depmod writes it. */
#include "images/image.h"

typedef struct {
    char *host_path;
    char *guest_path; /* /lib/modules/RELEASE/..., without .gz, .xz or .zst */
    GBytes *content;  /* decompressed: finit_module(2) takes it as it is */
} ImgModule;

/*
 * NAMES (NULL: none) and their dependencies as ImgModule *, in load order, each once. `-` and `_`
 * are alike in names; what is built into the kernel is left out. Soft dependencies
 * (modules.softdep) are not followed: name them. IMG_ERROR_NOT_FOUND names module and kernel;
 * IMG_ERROR_INVALID: damaged list or module, or one built for another kernel; IMG_ERROR_LIMIT: more
 * than MAX_BYTES of modules.
 */
GPtrArray *img_modules_load(const ImgKernel *kernel, const char *const *names, gsize max_bytes,
                            GError **error);
