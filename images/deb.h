/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Kernels out of Debian packages, without installing them. */
#include <glib.h>

/*
 * From the package PATH (deb(5)) into the folder INTO: boot/vmlinuz-*, boot/config-* and
 * lib/modules/ (also where that is usr/lib/modules/). Other files, links and whatever would lie
 * elsewhere are not unpacked. IMG_ERROR_INVALID: no package, or cut short; IMG_ERROR_LIMIT: more
 * than a kernel has. INTO may hold a part of it then.
 */
gboolean img_deb_unpack(const char *path, const char *into, GError **error);

/*
 * The newest linux-image-VERSION*-cloud-amd64 of SERIES ("6.1", "6.12.38", "7") that the suites of
 * this machine's mirror offer, with the packages its image and modules lie in (since 7.x these are
 * linux-binary- and linux-modules-), downloaded into INTO; nothing is installed, and apt's own
 * configuration and lists stay as they are (lists of all suites are kept in LISTS for a day).
 * Returns their paths, linux-image- first (char *; g_ptr_array_unref). IMG_ERROR_NOT_FOUND names
 * what there is.
 */
GPtrArray *img_deb_fetch(const char *series, const char *lists, const char *into, GError **error);
