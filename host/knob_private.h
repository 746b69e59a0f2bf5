/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Between host/knobs.c, host/knob_file.c and host/knob_journal.c. */
#include "host/knobs.h"

/* Writes VALUE by one write(2), so that a knob has the one or the other value at any time. */
gboolean host_knob_write(const HostRoot *root, const char *path, const char *value, GError **error);

typedef struct {
    char *path, *old_value, *new_value;
} HostKnobChange;
void host_knob_change_free(HostKnobChange *c);

typedef struct {
    char *file;
    char *root;          /* of the machine it is about */
    int fd;              /* to append to, or -1: none begun */
    char *boot_id;       /* of the machine's running boot; "" when it is unknown */
    gboolean other_boot; /* what was read is of another boot */
    GPtrArray *changes;  /* HostKnobChange *, in order */
} HostKnobJournal;

/*
 * The journal is text, a line each: "nohzlab-knobs 1 BOOT-ID ROOT", then "PATH\tOLD\tNEW" with C
 * escapes. A last line without its end was cut short by a crash before the change was made, and is
 * passed over.
 */
void host_knob_journal_init(HostKnobJournal *j, const HostRoot *root, const char *file);
void host_knob_journal_clear(HostKnobJournal *j);
/* TRUE when there is none, too. */
gboolean host_knob_journal_read(HostKnobJournal *j, GError **error);
/* On disk when it returns TRUE. */
gboolean host_knob_journal_append(HostKnobJournal *j, const char *path, const char *old_value,
                                  const char *new_value, GError **error);
gboolean host_knob_journal_remove(HostKnobJournal *j, GError **error);
