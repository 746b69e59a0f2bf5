# SPDX-License-Identifier: GPL-2.0-or-later
# nohzlab: `make run` shows it, `make check` tests it. Each folder's *.mk says which libraries it stands on.
#
#   V=1 shows commands, WERROR=1 makes warnings errors, B=DIR builds elsewhere,
#   SAN=1 builds with AddressSanitizer and UBSan (check-asan does that for you).
B ?= build$(if $(SAN),-asan)
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-6s %s\n' $(1) $(2))
comma := ,

CC ?= cc
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes $(if $(WERROR),-Werror)
SAN_FLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer)
ALL_CFLAGS = -DLAB_VERSION=\"$(LAB_VERSION)\" -std=gnu11 -D_GNU_SOURCE $(WARN) -MMD -MP -I. -I$(B) $(SAN_FLAGS) $(CFLAGS)

.PHONY: all
all:

# Rooms of the house, each a static library; lab/ may use the others, they don't use each other.
ROOMS := host images results lab
include $(foreach r,$(ROOMS) guest profiles,$(wildcard $(r)/$(r).mk))

PKGS := $(foreach r,$(ROOMS),$($(r)_PKGS))
# pkg-config is asked once, with the floors; not for goals that need no libraries, or ask again after deps.
FREE_GOALS := help deps deps-check run check check-asan fuzz bench format-check clean
ifneq ($(filter-out $(FREE_GOALS),$(or $(MAKECMDGOALS),all)),)
PKG_OK := $(shell pkg-config --print-errors --exists '$(PKGS)' && echo yes)
ifneq ($(PKG_OK),yes)
$(error libraries are missing or too old (above): run "make deps" as root)
endif
PKG_CFLAGS := $(shell pkg-config --cflags '$(PKGS)')
PKG_LIBS := $(shell pkg-config --libs '$(PKGS)')
endif

srcs = $(filter-out $(1)/test_% $(1)/fuzz_% $(1)/bench_% $($(1)_MAIN),$(wildcard $(1)/*.c))
define room
$(1)_OBJS := $$(patsubst %.c,$(B)/%.o,$$(call srcs,$(1)) $$($(1)_GENERATED))
$(B)/lib$(1).a: $$($(1)_OBJS)
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))

# Leaves first on the right: lab uses the rest.
LIBS := $(foreach r,lab results images host,$(B)/lib$(r).a)

$(B)/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -c -o $@ $<

$(B)/nohzlab: $(B)/lab/main.o $(LIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN_FLAGS) -o $@ $^ $(PKG_LIBS) -lm $(LDFLAGS)

TESTS := $(patsubst %.c,$(B)/%,$(wildcard $(addsuffix /test_*.c,$(ROOMS) guest)))
$(TESTS): $(B)/%: $(B)/%.o $(LIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN_FLAGS) -o $@ $^ $(PKG_LIBS) -lm $(LDFLAGS)

.PHONY: programs tests
programs: $(B)/nohzlab $(GUEST_PROGRAMS) $(FLAT_GUESTS)
tests: $(TESTS)
all: programs

include lab/dev.mk

.PHONY: clean
clean:
	rm -rf build build-asan build-claims build-fuzz

-include $(shell find $(B) -name '*.d' 2>/dev/null)
