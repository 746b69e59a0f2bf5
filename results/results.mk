# SPDX-License-Identifier: GPL-2.0-or-later
results_PKGS := glib-2.0 gio-2.0 json-glib-1.0 gsl sqlite3 >= 3.37 libxml-2.0 yajl

# Taken in by the assembler, which the compiler's dependency files don't know.
$(B)/results/schema_sql.o: results/schema.sql

# Plots in reports. The digest is that of npm's archive; UPLOT=FILE takes the archive from there, for a build without a
# network.
UPLOT_VERSION := 1.6.32
UPLOT_SHA512 := 2883159c6ebccefbb95d751b0b82d010f9e1c0ec41b8bc96d401eda66e882935c89a46cb824332fa369b8cb8122cc6ac36e186cd09bf7a9ded3a4c93c6989023
UPLOT ?=
$(B)/uplot/uPlot.iife.min.js: results/npm.sh
	$(call say,NPM,uplot)
	$(Q)ARCHIVE='$(UPLOT)' results/npm.sh uplot $(UPLOT_VERSION) $(UPLOT_SHA512) $(@D) \
		LICENSE dist/uPlot.min.css dist/uPlot.iife.min.js
$(B)/results/page_assets.o: results/page.css results/page.js $(B)/uplot/uPlot.iife.min.js

# The judge on trial: a program of its own, and the report it writes (TRIALS comparisons a row).
results_MAIN := results/calibrate_%
CALIBRATE := $(patsubst %.c,$(B)/%.o,$(wildcard results/calibrate_*.c))
TRIALS ?= 10000
$(B)/results/calibrate: $(CALIBRATE) $(B)/libresults.a
	$(call say,LD,$@)
	$(Q)$(CC) $(SAN_FLAGS) -o $@ $^ $(PKG_LIBS) -lm $(LDFLAGS)
.PHONY: calibrate
calibrate: $(B)/results/calibrate ## measure what the judge can tell and how often it errs: results/calibration.md (minutes)
	@$(B)/results/calibrate $(TRIALS) results/fixtures/calibration results/calibration.md
