# SPDX-License-Identifier: GPL-2.0-or-later
lab_PKGS := glib-2.0 gio-2.0 gio-unix-2.0 json-glib-1.0 smartcols
lab_MAIN := lab/main.c
LAB_VERSION := 0.1.0
