# SPDX-License-Identifier: GPL-2.0-or-later
images_PKGS := glib-2.0 gio-2.0 libarchive libelf
