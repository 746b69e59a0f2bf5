# SPDX-License-Identifier: GPL-2.0-or-later
host_PKGS := glib-2.0 gio-2.0 libvirt >= 9.0 libvirt-qemu >= 9.0 libvirt-glib-1.0 libxml-2.0 hwloc >= 2.8 libtracefs >= 1.6 libtraceevent >= 1.7

# Loaded by QEMU, beside the programs that go into guests; never sanitized. What it calls of QEMU is QEMU's.
PLUGINS := $(B)/guest/hot-functions.so
programs: $(PLUGINS)
$(B)/guest/hot-functions.so: host/hot/hot_functions.c
	$(call say,PLUGIN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -Wno-missing-prototypes -MMD -MP -MF $(B)/guest/hot-functions.d -I. -O2 -fPIC -shared \
		-fvisibility=hidden $(shell pkg-config --cflags glib-2.0) -o $@ $< $(shell pkg-config --libs glib-2.0)
.PHONY: install-plugins
install: install-plugins
install-plugins: $(PLUGINS)
	install -d $(DESTDIR)$(PREFIX)/libexec/nohzlab
	install $(PLUGINS) $(DESTDIR)$(PREFIX)/libexec/nohzlab
