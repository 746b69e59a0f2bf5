# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that run inside the guest: static, libc only, never sanitized (they are PID 1 and measured loops).
GUEST_PROGRAMS := $(B)/guest/init $(B)/guest/syscall-loop
# For tests of how a run takes a guest that misbehaves; no image ships it unless a test asks.
GUEST_TEST_PROGRAMS := $(B)/guest/misbehave $(B)/guest/kill-runs

# Parts that are tested on the host, too (guest/test_*.c), and so are built both ways.
GUEST_PURE := word job own_lines cpus interrupts steady trace_line
guest_static = $(patsubst %,$(B)/guest/static/%.o,$(1))

$(B)/guest/init: $(call guest_static,init word job own_lines collect cpus facts lab_host port power setup trace trace_line \
	workload)
$(B)/guest/syscall-loop: $(call guest_static,syscall_loop loops steady interrupts cpus word)
$(B)/guest/misbehave: $(call guest_static,misbehave)
$(B)/guest/kill-runs: $(call guest_static,kill_runs)
$(GUEST_PROGRAMS) $(GUEST_TEST_PROGRAMS):
	$(call say,GUEST,$@)
	$(Q)$(CC) -static -o $@ $^

$(B)/guest/static/%.o: guest/%.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -MMD -MP -I. -O2 -c -o $@ $<

$(B)/guest/test_guest: $(patsubst %,$(B)/guest/%.o,$(GUEST_PURE))

# A flat guest: an image of a few KiB that QEMU boots as a kernel; no libc, no kernel, no registers beside the general ones.
FLAT_GUESTS := $(B)/guest/exit-cost
FLAT_CFLAGS := -std=gnu11 -Os -ffreestanding -fno-pic -fno-pie -mno-red-zone -mgeneral-regs-only -fno-stack-protector \
	-fno-asynchronous-unwind-tables -fcf-protection=none -fno-tree-loop-distribute-patterns
flat_guest = $(patsubst %,$(B)/guest/flat/%.o,$(1))

$(B)/guest/exit-cost: $(call flat_guest,flat_start flat_cpu flat_string flat_virtio flat_port exit_cost exit_cost_kinds word)
$(FLAT_GUESTS): guest/flat.lds
	$(call say,FLAT,$@)
	$(Q)$(CC) -nostdlib -static -no-pie -Wl,-T,guest/flat.lds -Wl,--build-id=none -Wl,-z,noexecstack,-n -Wl,--no-warn-rwx-segments -Wl,-s -o $@ $(filter %.o,$^)

$(B)/guest/flat/%.o: guest/%.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(FLAT_CFLAGS) $(WARN) -MMD -MP -I. -c -o $@ $<
$(B)/guest/flat/%.o: guest/%.S
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(FLAT_CFLAGS) -MMD -MP -I. -c -o $@ $<
