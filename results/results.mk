# SPDX-License-Identifier: GPL-2.0-or-later
results_PKGS := glib-2.0 gio-2.0 json-glib-1.0 sqlite3 >= 3.37
