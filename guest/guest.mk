# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that run inside the guest: static, libc only, never sanitized (they are PID 1 and measured loops).
GUEST_PROGRAMS := $(B)/guest/init $(B)/guest/syscall-loop
$(GUEST_PROGRAMS): CFLAGS_GUEST := -std=gnu11 -D_GNU_SOURCE $(WARN) -MMD -MP -I. -O2 -static
$(B)/guest/init: guest/init.c
$(B)/guest/syscall-loop: guest/syscall_loop.c
$(GUEST_PROGRAMS):
	$(call say,GUEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_GUEST) -MF $@.d -o $@ $(filter %.c,$^)
