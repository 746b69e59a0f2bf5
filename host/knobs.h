/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Settings of a running kernel, changed for a while: each change is written to a journal, with the
 * value to put back, and is on disk before it is made. Whatever ends us, the journal puts the
 * machine back: at once on success, failure and signals, at the next host_knobs_recover() after
 * kill -9. After a reboot there is nothing to put back, and the journal says so.
 *
 * A knob is one of a fixed list of files (host_knob_kind). It is opened beneath the root without
 * following any link (openat2(2), RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS).
 */
#include <glib.h>

#include "host/root.h"

#define HOST_KNOB_ERROR (host_knob_error_quark())
GQuark host_knob_error_quark(void);
typedef enum {
    HOST_KNOB_ERROR_PATH,    /* not on the list of knobs */
    HOST_KNOB_ERROR_VALUE,   /* not a value of its kind */
    HOST_KNOB_ERROR_GONE,    /* this machine does not have the file (now) */
    HOST_KNOB_ERROR_REFUSED, /* the kernel refused the value, or took another; it is as before */
    HOST_KNOB_ERROR_JOURNAL, /* the journal can't be written or understood */
    HOST_KNOB_ERROR_BUSY,    /* another process works with the journal */
} HostKnobError;

/* How values of a knob are compared: always as values, never as text. */
typedef enum {
    HOST_KNOB_NONE,   /* no knob */
    HOST_KNOB_WORD,   /* "performance" */
    HOST_KNOB_NUMBER, /* "200000" */
    HOST_KNOB_LIST,   /* CPU list: "0-1" is "0,1" */
    HOST_KNOB_MASK,   /* CPU mask: "3" is "00000000,00000003" */
    HOST_KNOB_CHOICE, /* "[always] madvise never" is "always" */
} HostKnobKind;
/* PATH is absolute ("/proc/irq/45/smp_affinity_list"), as seen from the root. */
HostKnobKind host_knob_kind(const char *path);
gboolean host_knob_values_equal(HostKnobKind kind, const char *a, const char *b);
/* What to write to get the value a file shows ("[always] madvise never" -> "always"); NULL when
 * TEXT is no value of KIND. g_free. */
char *host_knob_value(HostKnobKind kind, const char *text);

/* The value of a knob now, as it is written. g_free. */
char *host_knob_read(const HostRoot *root, const char *path, GError **error);

/* What became of a knob at restoring. */
typedef enum {
    HOST_RESTORE_DONE,    /* put back */
    HOST_RESTORE_ALREADY, /* it was as before */
    HOST_RESTORE_FOREIGN, /* somebody else changed it meanwhile: left alone */
    HOST_RESTORE_GONE,    /* the file is gone (interrupt freed, module unloaded) */
    HOST_RESTORE_REBOOT,  /* of an earlier boot: left alone */
    HOST_RESTORE_FAILED,  /* can't be written: the journal stays */
} HostRestoreState;
typedef struct {
    HostRestoreState state;
    char *path;
    char *message;
} HostRestoreLine;
void host_restore_line_free(HostRestoreLine *l);

typedef struct HostKnobs HostKnobs;

/*
 * Locks JOURNAL (JOURNAL.lock, beside it; the folder is made), puts back what it holds, and begins
 * a new one with the first change. RESTORED, if not NULL, gets a HostRestoreLine * for each knob
 * found in it. The file is of mode 0600.
 */
HostKnobs *host_knobs_open(const HostRoot *root, const char *journal, GPtrArray *restored,
                           GError **error);
/*
 * Sets PATH to VALUE, and reads it back. Where it has that value already, nothing is written and
 * *CHANGED (may be NULL) is FALSE. After an error this knob is as before; those set earlier are
 * not put back by it.
 */
gboolean host_knobs_set(HostKnobs *k, const char *path, const char *value, gboolean *changed,
                        GError **error);
/* Puts all back in reverse order, and removes the journal unless something FAILED (FALSE). LINES
 * may be NULL. */
gboolean host_knobs_restore(HostKnobs *k, GPtrArray *lines, GError **error);
/* Leaves the settings and the journal for a later host_knobs_recover(), and frees K. */
void host_knobs_keep(HostKnobs *k);
/* Puts all back, and frees K. */
void host_knobs_close(HostKnobs *k);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostKnobs, host_knobs_close)

/* Puts back what JOURNAL holds; without one there is nothing to do (and nothing is made). FALSE
 * when something FAILED, or as host_knobs_open. */
gboolean host_knobs_recover(const HostRoot *root, const char *journal, GPtrArray *lines,
                            GError **error);
