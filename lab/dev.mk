# SPDX-License-Identifier: GPL-2.0-or-later
# What developers and CI call. NO_DEPS=1 skips the look at installed packages.
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 30
DEPS := $(if $(NO_DEPS),true,lab/deps.sh)

# A second make, so that pkg-config is asked after deps; with all CPUs unless -j was given.
build_more = $(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: help
help: ## what there is to make
	@printf '%s\n' 'make            build (V=1 shows commands, WERROR=1, SAN=1, B=DIR)'
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "make %-10s %s\n", $$1, $$2 }'
	@printf '%s\n' 'make clean      remove what was built'

.PHONY: deps deps-check
deps: ## install what building and running needs (root, Debian 12 or 13; nothing to do: no root needed)
	@$(DEPS) run
deps-check: deps ## the same for check-asan, fuzz and format-check
	@$(DEPS) check

.PHONY: run
run: deps ## see it work: what nohz_full costs at a system call, then a KVM guest on a nohz_full lab host
	@+$(build_more) programs
	@$(B)/nohzlab run profiles/syscall-overhead.ini
	@echo
	@$(B)/nohzlab run profiles/lab-host.ini

# Where it is looked for: below the state folder.
.PHONY: qemu
qemu: deps ## an emulator under which boxes with clock icount don't stall (lab/box-icount.md); five minutes
	@lab/qemu.sh "$${NOHZLAB_STATE:-/var/lib/nohzlab}/qemu"

.PHONY: check test
check: deps deps-check ## run all tests
	@+$(build_more) test
test: programs tests $(GUEST_TEST_PROGRAMS) ## all tests, with what is installed
	@B=$(B) lab/prove.sh $(TESTS) $(SHELL_TESTS)
SHELL_TESTS := $(wildcard $(addsuffix /*.t,$(ROOMS) guest profiles))

# Shell tests that start no guest say so, and are run on the sanitized program, too.
.PHONY: check-asan asan-test
check-asan: deps deps-check ## unit tests under AddressSanitizer, LeakSanitizer and UBSan
	@+$(build_more) SAN=1 asan-test
asan-test: programs tests $(GUEST_TEST_PROGRAMS)
	@B=$(B) ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
		lab/prove.sh $(TESTS) $(if $(SHELL_TESTS),$(shell grep -l '^# Starts no guest' $(SHELL_TESTS)))

# Built by the rules of everything else, into a folder and with flags of its own.
FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard $(addsuffix /fuzz_*.c,$(ROOMS) guest)))
.PHONY: fuzz fuzz-run
fuzz: deps deps-check ## run every fuzz target for FUZZ_SECONDS
	@+$(build_more) B=build-fuzz CC=clang CFLAGS='-g -O1' WARN=-w \
		SAN_FLAGS='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer' \
		fuzz-run
fuzz-run: $(FUZZERS)
	@lab/fuzz.sh $(FUZZ_SECONDS) $(B) $(FUZZERS)
$(FUZZERS): $(B)/%: $(B)/%.o $(LIBS)
	$(call say,LD,$@)
	$(Q)$(CC) -fsanitize=fuzzer,address,undefined -o $@ $^ $(PKG_LIBS) $(LDFLAGS)

BENCHES := $(patsubst %.c,$(B)/%,$(wildcard $(addsuffix /bench_*.c,$(ROOMS))))
.PHONY: bench bench-run
bench: deps ## what nohzlab costs beside the same guest started by hand
	@+$(build_more) bench-run
bench-run: programs $(BENCHES)
	@B=$(B) lab/bench.sh
$(BENCHES): $(B)/%: $(B)/%.o $(LIBS)
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN_FLAGS) -o $@ $^ $(PKG_LIBS) $(LDFLAGS)

# Programs of libexec are found beside bin/, wherever PREFIX is.
MAN_PAGES := $(wildcard $(foreach r,$(ROOMS) guest,$(r)/*.1 $(r)/*.5 $(r)/*.8))
.PHONY: install
install: programs ## install below DESTDIR and PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/nohzlab
	install $(B)/nohzlab $(DESTDIR)$(PREFIX)/bin
	install $(GUEST_PROGRAMS) $(FLAT_GUESTS) $(DESTDIR)$(PREFIX)/libexec/nohzlab
	install -D -m 644 results/report.schema.json $(DESTDIR)$(PREFIX)/share/nohzlab/report.schema.json
	cd profiles && find . -type f ! -name '*.mk' ! -name '*.t' \
		-exec install -D -m 644 '{}' '$(abspath $(DESTDIR)$(PREFIX))/share/nohzlab/profiles/{}' ';'
	$(foreach m,$(MAN_PAGES),install -D -m 644 $(m) \
		$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(m)))/$(notdir $(m)) &&) true

.PHONY: format-check
format-check: ## see that .clang-format was followed
	clang-format --dry-run -Werror $(wildcard $(foreach r,$(ROOMS) guest,$(r)/*.c $(r)/*.h))
