/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What a bisection has learned, on disk before it goes on: STATE/bisect/KEY.journal, a line each,
 *
 *   nohzlab-bisect 1 KEY
 *   boot STATE VALUE SHA256 RUN       a boot of the kernel with this hash gave VALUE; its run's id
 *   skip STATE REASON                 it can't be built or booted
 *
 * so that the same command goes on after a kill. A last line without its newline was cut short, and
 * is left out. The lock on it keeps two from going on at once.
 */
#include <gio/gio.h>

typedef struct LabJournal LabJournal;

typedef struct {
    unsigned int state;
    gboolean skip;
    double value; /* of a boot */
    char *sha256; /* of a boot: of the kernel */
    char *run;    /* of a boot */
    char *reason; /* of a skip */
} LabJournalEntry;

/* Opens KEY's journal below STATE_DIR, made where it is missing; ANEW: emptied first. STATES: how
 * many there are; an entry of another, like anything else that is wrong, is an error that names the
 * line. G_IO_ERROR_BUSY when another process has it. */
LabJournal *lab_journal_open(const char *state_dir, const char *key, unsigned int states,
                             gboolean anew, GError **error);
void lab_journal_close(LabJournal *j);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabJournal, lab_journal_close)

const GPtrArray *lab_journal_entries(const LabJournal *j); /* LabJournalEntry *, oldest first */
const char *lab_journal_path(const LabJournal *j);

/* Each is on disk (fdatasync) when it returns TRUE. */
gboolean lab_journal_boot(LabJournal *j, unsigned int state, double value, const char *sha256,
                          const char *run, GError **error);
gboolean lab_journal_skip(LabJournal *j, unsigned int state, const char *reason, GError **error);
