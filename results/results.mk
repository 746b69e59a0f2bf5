# SPDX-License-Identifier: GPL-2.0-or-later
results_PKGS := glib-2.0 gio-2.0 json-glib-1.0 gsl sqlite3 >= 3.37

# Taken in by the assembler, which the compiler's dependency files don't know.
$(B)/results/schema_sql.o: results/schema.sql
