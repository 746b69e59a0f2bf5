/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/knob_private.h"
#include "host/quote.h"

#define MAGIC "nohzlab-knobs"
#define VERSION 1
#define MAX_JOURNAL_BYTES (8 * 1024 * 1024)

void
host_knob_change_free(HostKnobChange *c)
{
    if (!c)
        return;
    g_free(c->path);
    g_free(c->old_value);
    g_free(c->new_value);
    g_free(c);
}

void
host_knob_journal_init(HostKnobJournal *j, const HostRoot *root, const char *file)
{
    char *id = host_root_line(root, "proc/sys/kernel/random/boot_id");

    *j = (HostKnobJournal){
        .file = g_strdup(file),
        .fd = -1,
        .root = g_strdup(host_root_path(root)),
        .boot_id = id ? id : g_strdup(""),
        .changes = g_ptr_array_new_with_free_func((GDestroyNotify)host_knob_change_free)};
    /* It is one word of a line of ours. */
    g_strcanon(j->boot_id, "0123456789abcdefABCDEF-", '-');
}

void
host_knob_journal_clear(HostKnobJournal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
    g_clear_pointer(&j->file, g_free);
    g_clear_pointer(&j->root, g_free);
    g_clear_pointer(&j->boot_id, g_free);
    g_clear_pointer(&j->changes, g_ptr_array_unref);
}

static gboolean
fail(const HostKnobJournal *j, const char *what, GError **error)
{
    g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_JOURNAL, "the journal %s: %s: %s", j->file,
                what, g_strerror(errno));
    return FALSE;
}

static gboolean
damaged(const HostKnobJournal *j, guint line, const char *why, GError **error)
{
    g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_JOURNAL,
                "the journal %s, line %u: %s; nothing was put back. Look at it, put back by hand "
                "what it says, and remove it",
                j->file, line, why);
    return FALSE;
}

static gboolean
parse_change(HostKnobJournal *j, const char *line, guint number, GError **error)
{
    g_auto(GStrv) fields = g_strsplit(line, "\t", 4);

    if (g_strv_length(fields) != 3)
        return damaged(j, number, "expected a path, the old and the new value", error);
    HostKnobKind kind = host_knob_kind(fields[0]);
    if (kind == HOST_KNOB_NONE)
        return damaged(j, number, "the path is not one of the files nohzlab sets", error);
    g_autofree char *old_text = g_strcompress(fields[1]);
    g_autofree char *new_text = g_strcompress(fields[2]);
    g_autofree char *old_value = host_knob_value(kind, old_text);
    g_autofree char *new_value = host_knob_value(kind, new_text);
    if (!old_value || !new_value)
        return damaged(j, number, "the values are none this file can have", error);
    HostKnobChange *c = g_new0(HostKnobChange, 1);
    c->path = g_strdup(fields[0]);
    c->old_value = g_steal_pointer(&old_value);
    c->new_value = g_steal_pointer(&new_value);
    g_ptr_array_add(j->changes, c);
    return TRUE;
}

static gboolean
parse_head(HostKnobJournal *j, const char *line, GError **error)
{
    g_auto(GStrv) words = g_strsplit(line, " ", 4);
    guint64 version;

    if (g_strv_length(words) != 4 || strcmp(words[0], MAGIC) ||
        !g_ascii_string_to_unsigned(words[1], 10, 1, G_MAXUINT32, &version, NULL))
        return damaged(j, 1, "this is no journal of nohzlab's knobs", error);
    if (version != VERSION)
        return damaged(j, 1, "written by another version of nohzlab, which can put it back", error);
    g_autofree char *root = g_strcompress(words[3]);
    if (strcmp(root, j->root)) {
        g_autofree char *shown = host_quote(root, 200);
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_JOURNAL,
                    "the journal %s is of the machine at %s, not of the one at %s; put that one "
                    "back first: nohzlab host restore --root %s",
                    j->file, shown, j->root, shown);
        return FALSE;
    }
    j->other_boot = strcmp(words[2], j->boot_id) != 0;
    return TRUE;
}

static gboolean
parse(HostKnobJournal *j, const char *text, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    guint n = g_strv_length(lines);

    /* The last piece has no line end: "", or what a crash cut short. */
    for (guint i = 0; i + 1 < n; i++)
        if (!(i == 0 ? parse_head(j, lines[i], error) : parse_change(j, lines[i], i + 1, error)))
            return FALSE;
    return TRUE;
}

/* -1 with errno, and ENOENT when there is no journal. */
static int
open_to_read(const char *file)
{
    int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_JOURNAL_BYTES &&
        st.st_uid == geteuid())
        return fd;
    close(fd);
    errno = EBADF;
    return -1;
}

gboolean
host_knob_journal_read(HostKnobJournal *j, GError **error)
{
    int fd = open_to_read(j->file);

    if (fd < 0 && errno == ENOENT)
        return TRUE;
    if (fd < 0 && errno == EBADF) {
        g_set_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_JOURNAL,
                    "the journal %s: not a regular file of ours of at most %d MiB", j->file,
                    MAX_JOURNAL_BYTES / (1024 * 1024));
        return FALSE;
    }
    if (fd < 0)
        return fail(j, "can't be opened", error);
    g_autoptr(GString) text = g_string_new(NULL);
    char buffer[16384];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof(buffer))) != 0 && text->len <= MAX_JOURNAL_BYTES) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        g_string_append_len(text, buffer, n);
    }
    close(fd);
    if (n < 0)
        return fail(j, "can't be read", error);
    if (strlen(text->str) != text->len)
        return damaged(j, 1, "it holds NUL bytes", error);
    return parse(j, text->str, error);
}

static gboolean
write_durably(HostKnobJournal *j, const char *text, GError **error)
{
    gsize len = strlen(text);

    for (gsize done = 0; done < len;) {
        ssize_t n = write(j->fd, text + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(j, "can't be written", error);
        done += (gsize)n;
    }
    return fsync(j->fd) == 0 || fail(j, "can't be brought to disk", error);
}

static gboolean
sync_folder(const HostKnobJournal *j, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(j->file);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gboolean ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        fail(j, "its folder can't be brought to disk", error);
    if (fd >= 0)
        close(fd);
    return ok;
}

static gboolean
begin(HostKnobJournal *j, GError **error)
{
    g_autofree char *root = g_strescape(j->root, NULL);
    g_autofree char *head = g_strdup_printf(MAGIC " %d %s %s\n", VERSION, j->boot_id, root);

    j->fd = open(j->file, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (j->fd < 0)
        return fail(j, "can't be made", error);
    return write_durably(j, head, error) && sync_folder(j, error);
}

gboolean
host_knob_journal_append(HostKnobJournal *j, const char *path, const char *old_value,
                         const char *new_value, GError **error)
{
    if (j->fd < 0 && !begin(j, error))
        return FALSE;
    g_autofree char *old_text = g_strescape(old_value, NULL);
    g_autofree char *new_text = g_strescape(new_value, NULL);
    g_autofree char *line = g_strdup_printf("%s\t%s\t%s\n", path, old_text, new_text);
    if (!write_durably(j, line, error))
        return FALSE;
    HostKnobChange *c = g_new0(HostKnobChange, 1);
    *c = (HostKnobChange){g_strdup(path), g_strdup(old_value), g_strdup(new_value)};
    g_ptr_array_add(j->changes, c);
    return TRUE;
}

gboolean
host_knob_journal_remove(HostKnobJournal *j, GError **error)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
    g_ptr_array_set_size(j->changes, 0);
    if (unlink(j->file) != 0)
        return errno == ENOENT || fail(j, "can't be removed", error);
    return sync_folder(j, error);
}
