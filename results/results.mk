# SPDX-License-Identifier: GPL-2.0-or-later
results_PKGS := glib-2.0 gio-2.0 json-glib-1.0 gsl sqlite3 >= 3.37 libxml-2.0 yajl

# Taken in by the assembler, which the compiler's dependency files don't know.
$(B)/results/schema_sql.o: results/schema.sql

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
