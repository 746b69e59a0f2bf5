/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/knob_private.h"
#include "host/quote.h"

struct HostKnobs {
    const HostRoot *root;
    HostKnobJournal journal;
    int lock_fd;
};

void
host_restore_line_free(HostRestoreLine *l)
{
    if (!l)
        return;
    g_free(l->path);
    g_free(l->message);
    g_free(l);
}

static G_GNUC_PRINTF(4, 5) void tell(GPtrArray *lines, HostRestoreState state, const char *path,
                                     const char *format, ...)
{
    va_list args;

    if (!lines)
        return;
    HostRestoreLine *l = g_new0(HostRestoreLine, 1);
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    *l = (HostRestoreLine){state, g_strdup(path), host_quote(text, 1024)};
    g_ptr_array_add(lines, l);
}

/* The file stays: removing a lock's file lets two processes hold it. */
static int
lock_take(const char *journal, GError **error)
{
    g_autofree char *path = g_strdup_printf("%s.lock", journal);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0 && errno == EWOULDBLOCK)
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_BUSY,
                    "another nohzlab is changing the settings of this machine (it holds %s)", path);
    else
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_JOURNAL, "%s: can't be locked: %s",
                    path, g_strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Written, and there when read back. */
static gboolean
write_verified(const HostRoot *root, const char *path, const char *value, GError **error)
{
    if (!host_knob_write(root, path, value, error))
        return FALSE;
    g_autofree char *now = host_knob_read(root, path, error);
    if (!now)
        return FALSE;
    if (host_knob_values_equal(host_knob_kind(path), now, value))
        return TRUE;
    g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_REFUSED,
                "%s: was set to %s, but then has %s", path, value, now);
    return FALSE;
}

/* FALSE when it should be put back and can't. */
static gboolean
restore_one(const HostRoot *root, const HostKnobChange *c, GPtrArray *lines)
{
    HostKnobKind kind = host_knob_kind(c->path);
    g_autoptr(GError) error = NULL;
    g_autofree char *now = host_knob_read(root, c->path, &error);

    if (!now && g_error_matches(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_GONE)) {
        tell(lines, HOST_RESTORE_GONE, c->path, "%s", error->message);
        return TRUE;
    }
    if (!now && !g_error_matches(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_VALUE)) {
        tell(lines, HOST_RESTORE_FAILED, c->path, "%s", error->message);
        return FALSE;
    }
    if (now && host_knob_values_equal(kind, now, c->old_value)) {
        tell(lines, HOST_RESTORE_ALREADY, c->path, "%s: is %s, as before", c->path, c->old_value);
        return TRUE;
    }
    if (!now || !host_knob_values_equal(kind, now, c->new_value)) {
        tell(lines, HOST_RESTORE_FOREIGN, c->path,
             "%s: somebody else changed it: it was %s, nohzlab set %s, now it is %s; left as it is",
             c->path, c->old_value, c->new_value, now ? now : "something else");
        return TRUE;
    }
    if (!write_verified(root, c->path, c->old_value, &error)) {
        tell(lines, HOST_RESTORE_FAILED, c->path, "%s", error->message);
        return FALSE;
    }
    tell(lines, HOST_RESTORE_DONE, c->path, "%s: put back to %s", c->path, c->old_value);
    return TRUE;
}

/* In reverse order: a knob that was set twice ends with its first old value. */
gboolean
host_knobs_restore(HostKnobs *k, GPtrArray *lines, GError **error)
{
    HostKnobJournal *j = &k->journal;
    guint failed = 0;

    if (!j->changes->len && j->fd < 0 && access(j->file, F_OK) != 0)
        return TRUE;
    for (guint i = j->changes->len; i-- > 0;) {
        const HostKnobChange *c = j->changes->pdata[i];
        if (j->other_boot)
            tell(lines, HOST_RESTORE_REBOOT, c->path,
                 "%s: was %s before the machine was booted again; left as it is", c->path,
                 c->old_value);
        else
            failed += !restore_one(k->root, c, lines);
    }
    if (failed) {
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_REFUSED,
                    "%u of %u settings could not be put back; the journal %s stays", failed,
                    j->changes->len, j->file);
        return FALSE;
    }
    j->other_boot = FALSE;
    return host_knob_journal_remove(j, error);
}

static void
knobs_free(HostKnobs *k)
{
    host_knob_journal_clear(&k->journal);
    if (k->lock_fd >= 0)
        close(k->lock_fd);
    g_free(k);
}

HostKnobs *
host_knobs_open(const HostRoot *root, const char *journal, GPtrArray *restored, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(journal);

    if (g_mkdir_with_parents(folder, 0755) != 0) {
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_JOURNAL, "%s: can't be made: %s",
                    folder, g_strerror(errno));
        return NULL;
    }
    int lock_fd = lock_take(journal, error);
    if (lock_fd < 0)
        return NULL;
    HostKnobs *k = g_new0(HostKnobs, 1);
    k->root = root;
    k->lock_fd = lock_fd;
    host_knob_journal_init(&k->journal, root, journal);
    if (host_knob_journal_read(&k->journal, error) && host_knobs_restore(k, restored, error))
        return k;
    knobs_free(k);
    return NULL;
}

/* What was set is not what was asked for: back, since nobody wants it. */
static void
undo(HostKnobs *k, const char *path, const char *old_value, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_autofree char *now = host_knob_read(k->root, path, NULL);

    if (now && host_knob_values_equal(host_knob_kind(path), now, old_value))
        return;
    if (!write_verified(k->root, path, old_value, &why))
        g_prefix_error(error, "(and it could not be put back to %s: %s) ", old_value, why->message);
}

gboolean
host_knobs_set(HostKnobs *k, const char *path, const char *value, gboolean *changed, GError **error)
{
    HostKnobKind kind = host_knob_kind(path);
    g_autofree char *old_value = host_knob_read(k->root, path, error);
    g_autofree char *wanted = host_knob_value(kind, value);

    if (changed)
        *changed = FALSE;
    if (!old_value)
        return FALSE;
    if (!wanted) {
        g_autofree char *shown = host_quote(value, 80);
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_VALUE,
                    "%s: can't have the value \"%s\"", path, shown);
        return FALSE;
    }
    if (host_knob_values_equal(kind, old_value, wanted))
        return TRUE;
    if (!host_knob_journal_append(&k->journal, path, old_value, wanted, error))
        return FALSE;
    if (!write_verified(k->root, path, wanted, error)) {
        undo(k, path, old_value, error);
        return FALSE;
    }
    if (changed)
        *changed = TRUE;
    return TRUE;
}

void
host_knobs_keep(HostKnobs *k)
{
    knobs_free(k);
}

void
host_knobs_close(HostKnobs *k)
{
    if (!k)
        return;
    host_knobs_restore(k, NULL, NULL);
    knobs_free(k);
}

gboolean
host_knobs_recover(const HostRoot *root, const char *journal, GPtrArray *lines, GError **error)
{
    g_autofree char *lock = g_strdup_printf("%s.lock", journal);

    if (access(journal, F_OK) != 0 && access(lock, F_OK) != 0)
        return TRUE;
    HostKnobs *k = host_knobs_open(root, journal, lines, error);
    if (!k)
        return FALSE;
    knobs_free(k);
    return TRUE;
}
