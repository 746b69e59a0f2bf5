/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/console.h"

#include <string.h>

#define LINE_BYTES 512 /* of a line, looked at */
#define SHOWN_BYTES 200
#define COMPLAINT "nohzlab: "
/* Looked for anywhere in a line, however long, since a program may have left it open when the
 * kernel began to speak. */
static const char panic_mark[] = "Kernel panic - not syncing: ";

struct LabConsole {
    GString *head; /* at most LAB_CONSOLE_HEAD_BYTES */
    GString *tail; /* at most twice LAB_CONSOLE_TAIL_BYTES, cut back to it when full */
    guint64 bytes;
    GString *line;       /* the current one, at most LINE_BYTES */
    gsize marked;        /* how much of panic_mark was just read */
    GString *after_mark; /* once all of it was: the rest of its line, at most LINE_BYTES */
    char *last_line, *panic, *complaint;
};

LabConsole *
lab_console_new(void)
{
    LabConsole *c = g_new0(LabConsole, 1);

    c->head = g_string_new(NULL);
    c->tail = g_string_new(NULL);
    c->line = g_string_new(NULL);
    return c;
}

void
lab_console_free(LabConsole *c)
{
    if (!c)
        return;
    g_string_free(c->head, TRUE);
    g_string_free(c->tail, TRUE);
    g_string_free(c->line, TRUE);
    if (c->after_mark)
        g_string_free(c->after_mark, TRUE);
    g_free(c->last_line);
    g_free(c->panic);
    g_free(c->complaint);
    g_free(c);
}

/* TEXT with everything but printable ASCII as '?', since it is shown on terminals. White space is
 * none of that: a serial console ends its lines with a carriage return, too. */
static char *
printable(const char *text)
{
    char *shown = g_strndup(text, SHOWN_BYTES);

    for (char *p = shown; *p; p++) {
        if (g_ascii_isspace(*p))
            *p = ' ';
        else if (!g_ascii_isprint(*p))
            *p = '?';
    }
    return g_strstrip(shown);
}

static void
look_for_panic(LabConsole *c, char byte)
{
    if (c->after_mark) {
        if (c->after_mark->len < LINE_BYTES)
            g_string_append_c(c->after_mark, byte);
        return;
    }
    /* Its first letter is not in it again, so a match can't begin within another one. */
    if (byte == panic_mark[c->marked])
        c->marked++;
    else
        c->marked = byte == panic_mark[0];
    if (c->marked == strlen(panic_mark))
        c->after_mark = g_string_new(NULL);
}

static void
end_line(LabConsole *c)
{
    c->marked = 0;
    if (c->after_mark && !c->panic)
        c->panic = printable(c->after_mark->str);
    if (!c->complaint && g_str_has_prefix(c->line->str, COMPLAINT))
        c->complaint = printable(c->line->str + strlen(COMPLAINT));
    g_autofree char *shown = printable(c->line->str);
    if (*shown) {
        g_free(c->last_line);
        c->last_line = g_steal_pointer(&shown);
    }
    g_string_truncate(c->line, 0);
}

static void
look_at(LabConsole *c, const char *bytes, gsize len)
{
    for (gsize i = 0; i < len; i++) {
        if (bytes[i] == '\n') {
            end_line(c);
        } else if (bytes[i] != '\0') {
            look_for_panic(c, bytes[i]);
            if (c->line->len < LINE_BYTES)
                g_string_append_c(c->line, bytes[i]);
        }
    }
}

void
lab_console_feed(LabConsole *c, const char *bytes, gsize len)
{
    gsize room = LAB_CONSOLE_HEAD_BYTES - c->head->len;
    gsize to_head = MIN(room, len);

    c->bytes += len;
    look_at(c, bytes, len);
    g_string_append_len(c->head, bytes, to_head);
    g_string_append_len(c->tail, bytes + to_head, len - to_head);
    if (c->tail->len > 2 * LAB_CONSOLE_TAIL_BYTES)
        g_string_erase(c->tail, 0, c->tail->len - LAB_CONSOLE_TAIL_BYTES);
}

guint64
lab_console_bytes(const LabConsole *c)
{
    return c->bytes;
}

const char *
lab_console_panic(const LabConsole *c)
{
    return c->panic;
}

const char *
lab_console_complaint(const LabConsole *c)
{
    return c->complaint;
}

char *
lab_console_last_line(const LabConsole *c)
{
    g_autofree char *open_line = printable(c->line->str);

    if (*open_line)
        return g_steal_pointer(&open_line);
    return g_strdup(c->last_line ? c->last_line : "");
}

GBytes *
lab_console_text(const LabConsole *c)
{
    GString *text = g_string_new_len(c->head->str, c->head->len);
    gsize tail = MIN(c->tail->len, LAB_CONSOLE_TAIL_BYTES);
    guint64 left_out = c->bytes - c->head->len - tail;

    if (left_out)
        g_string_append_printf(text, "\n[nohzlab: %" G_GUINT64_FORMAT " bytes left out here]\n",
                               left_out);
    g_string_append_len(text, c->tail->str + c->tail->len - tail, tail);
    return g_string_free_to_bytes(text);
}
