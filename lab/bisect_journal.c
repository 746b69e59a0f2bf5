/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/bisect_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lab/files.h"
#include "lab/text.h"

#define MAGIC "nohzlab-bisect 1 "
#define JOURNAL_MAX ((gsize)16 << 20)

struct LabJournal {
    char *path;
    int fd;
    GPtrArray *entries;
};

static void
entry_free(LabJournalEntry *e)
{
    g_free(e->sha256);
    g_free(e->run);
    g_free(e->reason);
    g_free(e);
}

void
lab_journal_close(LabJournal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    g_ptr_array_unref(j->entries);
    g_free(j->path);
    g_free(j);
}

static gboolean
fail_errno(const LabJournal *j, const char *what, GError **error)
{
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "%s: %s: %s", j->path, what,
                g_strerror(errno));
    return FALSE;
}

static gboolean
append(LabJournal *j, const char *line, GError **error)
{
    gsize len = strlen(line);

    if (write(j->fd, line, len) != (gssize)len || fdatasync(j->fd) != 0)
        return fail_errno(j, "can't be written", error);
    return TRUE;
}

static LabJournalEntry *
entry_parse(const char *line, unsigned int states)
{
    g_auto(GStrv) words = g_strsplit(line, " ", 5);
    guint n = g_strv_length(words);
    guint64 state;

    if (n < 3 || !g_ascii_string_to_unsigned(words[1], 10, 0, states - 1, &state, NULL))
        return NULL;
    if (strcmp(words[0], "skip") == 0) {
        LabJournalEntry *e = g_new0(LabJournalEntry, 1);
        e->state = (unsigned int)state;
        e->skip = TRUE;
        e->reason = g_strjoinv(" ", words + 2);
        return e;
    }
    char *end;
    double value = g_ascii_strtod(words[2], &end);
    if (strcmp(words[0], "boot") != 0 || n != 5 || *end || end == words[2] || !isfinite(value))
        return NULL;
    LabJournalEntry *e = g_new0(LabJournalEntry, 1);
    e->state = (unsigned int)state;
    e->value = value;
    e->sha256 = g_strdup(words[3]);
    e->run = g_strdup(words[4]);
    return e;
}

/* Takes in what is there; *GOOD is how much of it ends with a newline. */
static gboolean
replay(LabJournal *j, const char *head, unsigned int states, gsize *good, GError **error)
{
    g_autoptr(GBytes) bytes = lab_read_file(j->path, JOURNAL_MAX, error);
    if (!bytes)
        return FALSE;
    gsize len;
    const char *data = g_bytes_get_data(bytes, &len);
    const char *last = len ? memrchr(data, '\n', len) : NULL;
    *good = last ? (gsize)(last - data) + 1 : 0;
    g_autofree char *text = g_strndup(data ? data : "", *good);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] && *lines[i]; i++) {
        if (i == 0 && strcmp(lines[i], head) == 0)
            continue;
        LabJournalEntry *e = i ? entry_parse(lines[i], states) : NULL;
        if (!e) {
            g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                        "%s:%u: not a line of this bisection's journal; --again starts anew",
                        j->path, i + 1);
            return FALSE;
        }
        g_ptr_array_add(j->entries, e);
    }
    return TRUE;
}

LabJournal *
lab_journal_open(const char *state_dir, const char *key, unsigned int states, gboolean anew,
                 GError **error)
{
    g_autofree char *dir = g_build_filename(state_dir, "bisect", NULL);
    g_autofree char *name = g_strconcat(key, ".journal", NULL);
    g_autofree char *head = g_strconcat(MAGIC, key, NULL);
    g_autoptr(LabJournal) j = g_new0(LabJournal, 1);
    gsize good = 0;

    j->fd = -1;
    j->entries = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    j->path = g_build_filename(dir, name, NULL);
    if (g_mkdir_with_parents(dir, 0755) != 0 ||
        (j->fd = open(j->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644)) < 0) {
        fail_errno(j, "can't be opened", error);
        return NULL;
    }
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_BUSY,
                    "another nohzlab goes on with this bisection (%s)", j->path);
        return NULL;
    }
    if (anew && ftruncate(j->fd, 0) != 0) {
        fail_errno(j, "can't be emptied", error);
        return NULL;
    }
    if (!replay(j, head, states, &good, error))
        return NULL;
    if (ftruncate(j->fd, (off_t)good) != 0) {
        fail_errno(j, "can't be cut", error);
        return NULL;
    }
    g_autofree char *line = g_strconcat(head, "\n", NULL);
    if (good == 0 && !append(j, line, error))
        return NULL;
    return g_steal_pointer(&j);
}

const GPtrArray *
lab_journal_entries(const LabJournal *j)
{
    return j->entries;
}

const char *
lab_journal_path(const LabJournal *j)
{
    return j->path;
}

gboolean
lab_journal_boot(LabJournal *j, unsigned int state, double value, const char *sha256,
                 const char *run, GError **error)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *line = g_strdup_printf(
        "boot %u %s %s %s\n", state, g_ascii_dtostr(number, sizeof number, value), sha256, run);
    return append(j, line, error);
}

gboolean
lab_journal_skip(LabJournal *j, unsigned int state, const char *reason, GError **error)
{
    g_autofree char *shown = lab_printable(reason);
    g_autofree char *line = g_strdup_printf("skip %u %s\n", state, *shown ? shown : "unknown");
    return append(j, line, error);
}
