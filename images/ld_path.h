/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Where shared libraries are looked for: ld.so(8), ldconfig(8). */
#include <glib.h>

/*
 * A folder to search: where it is on this machine, and where its libraries go in the image, so that
 * the guest's ld.so, which has no /etc/ld.so.cache there, finds them.
 */
typedef struct {
    char *host;
    char *guest;
} ImgLibDir;
void img_lib_dir_free(ImgLibDir *d);

/* ImgLibDir *: those of ROOT/etc/ld.so.conf, then the default ones of Debian and others, in ld.so's
 * order. */
GPtrArray *img_ld_system_dirs(const char *root, GError **error);

/*
 * ImgLibDir * of a DT_RPATH or DT_RUNPATH of an object that lies in HOST_ORIGIN, and in
 * GUEST_ORIGIN in the image
 * ($ORIGIN). Entries that depend on the working directory or on other tokens are left out.
 */
GPtrArray *img_ld_rpath_dirs(const char *root, const char *rpath, const char *host_origin,
                             const char *guest_origin);
