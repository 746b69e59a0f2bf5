# SPDX-License-Identifier: GPL-2.0-or-later
host_PKGS := glib-2.0 gio-2.0 libvirt >= 9.0 libvirt-qemu >= 9.0 libvirt-glib-1.0 libxml-2.0 hwloc >= 2.8 libtracefs >= 1.6 libtraceevent >= 1.7
