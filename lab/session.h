/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * What one nohzlab process holds while it runs guests: a folder of its own in /run, the libvirt
 * connection, the store. The folder's lock dies with the process, so that the next session can tell
 * a dead one's folder, end its guests and remove it.
 */
#include <gio/gio.h>

#include "host/conn.h"
#include "host/kvm.h"
#include "results/store.h"

typedef struct LabSession LabSession;

typedef struct {
    const char *state_dir; /* NULL: lab_state_dir() */
    const char *uri;       /* libvirt's; NULL: embedded */
    gboolean kvm;          /* guests may use KVM: it is not hidden from them */
} LabSessionConfig;

/* $NOHZLAB_STATE, or /var/lib/nohzlab for root, or $XDG_STATE_HOME/nohzlab. g_free it. */
char *lab_state_dir(void);

/*
 * Reaps what dead sessions left (a line each in lab_session_reaped), then opens a new one. Must be
 * called before any thread is made: it hides /dev/kvm from the emulators of this platform (see
 * host/kvm.h).
 */
LabSession *lab_session_open(const LabSessionConfig *config, GError **error);
void lab_session_close(LabSession *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabSession, lab_session_close)

HostConn *lab_session_conn(LabSession *s);
ResStore *lab_session_store(LabSession *s);
const char *lab_session_run_dir(LabSession *s);
const char *lab_session_cache_dir(LabSession *s);
/* Where `make qemu` puts its emulator; it need not be there. */
const char *lab_session_qemu(LabSession *s);
const GPtrArray *lab_session_reaped(LabSession *s); /* char * */

/* What host_kvm_probe found before /dev/kvm was hidden; *DETAIL, if not NULL, is its sentence. */
HostKvmState lab_session_kvm(LabSession *s, const char **detail);

/* A new guest name, written to the session's journal (fsynced) before it is given out. g_free it.
 */
char *lab_session_guest_name(LabSession *s, GError **error);

/* Where the settings of the running kernel that this session changes are journalled; a dead
 * session's are put back by the next. One session at a time may change any: the first call takes
 * the machine, until the session's end, or fails with HOST_KNOB_ERROR_BUSY. g_free it. */
char *lab_session_knobs_journal(LabSession *s, GError **error);

/* Puts back the settings of dead sessions below RUN_ROOT, ends their guests and removes their
 * folders; LINES (char *) tells of each. */
void lab_session_reap(const char *run_root, GPtrArray *lines);
