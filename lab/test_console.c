/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's console: what is kept, what is seen in it, in whatever pieces it comes. */
#include "lab/console.h"

#include <string.h>

#define HEAD LAB_CONSOLE_HEAD_BYTES
#define TAIL LAB_CONSOLE_TAIL_BYTES

static void
feed(LabConsole *c, const char *text)
{
    lab_console_feed(c, text, strlen(text));
}

/* TEXT in pieces of STEP bytes. */
static LabConsole *
fed(const char *text, gsize step)
{
    LabConsole *c = lab_console_new();
    gsize len = strlen(text);

    for (gsize at = 0; at < len; at += step)
        lab_console_feed(c, text + at, MIN(step, len - at));
    return c;
}

static void
assert_last(const LabConsole *c, const char *expected)
{
    g_autofree char *last = lab_console_last_line(c);
    g_assert_cmpstr(last, ==, expected);
}

/* LEN bytes that tell where they stand: no two of them within 64 KiB are alike by eight. */
static char *
pattern(gsize len)
{
    GString *text = g_string_sized_new(len + 16);

    for (guint i = 0; text->len < len; i++)
        g_string_append_printf(text, "%08u\n", i);
    g_string_truncate(text, len);
    return g_string_free(text, FALSE);
}

static void
test_empty(void)
{
    g_autoptr(LabConsole) c = lab_console_new();
    g_autoptr(GBytes) text = lab_console_text(c);

    g_assert_cmpuint(lab_console_bytes(c), ==, 0);
    g_assert_cmpuint(g_bytes_get_size(text), ==, 0);
    g_assert_null(lab_console_panic(c));
    g_assert_null(lab_console_complaint(c));
    assert_last(c, "");
}

/* Up to head and tail together nothing is left out, and no line says so. */
static void
test_whole(void)
{
    const gsize lengths[] = {1, HEAD - 1, HEAD, HEAD + 1, HEAD + TAIL};

    for (gsize i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autofree char *all = pattern(lengths[i]);
        g_autoptr(LabConsole) c = fed(all, 61 * 1024);
        g_autoptr(GBytes) text = lab_console_text(c);
        gsize len;
        const char *kept = g_bytes_get_data(text, &len);
        g_assert_cmpuint(lab_console_bytes(c), ==, lengths[i]);
        g_assert_cmpuint(len, ==, lengths[i]);
        g_assert_true(memcmp(kept, all, len) == 0);
    }
}

/* The first and the last part to the byte, and how much is missing between them. */
static void
check_bounds(gsize total, gsize step)
{
    g_autofree char *all = pattern(total);
    g_autoptr(LabConsole) c = fed(all, step);
    g_autoptr(GBytes) text = lab_console_text(c);
    g_autofree char *mark = g_strdup_printf(
        "\n[nohzlab: %" G_GSIZE_FORMAT " bytes left out here]\n", total - HEAD - TAIL);
    gsize len;
    const char *kept = g_bytes_get_data(text, &len);

    g_assert_cmpuint(lab_console_bytes(c), ==, total);
    g_assert_cmpuint(len, ==, HEAD + strlen(mark) + TAIL);
    g_assert_true(memcmp(kept, all, HEAD) == 0);
    g_assert_true(memcmp(kept + HEAD, mark, strlen(mark)) == 0);
    g_assert_true(memcmp(kept + len - TAIL, all + total - TAIL, TAIL) == 0);
}

static void
test_bounds(void)
{
    const gsize steps[] = {4093, 64 * 1024, 10 * 1024 * 1024};

    for (gsize i = 0; i < G_N_ELEMENTS(steps); i++)
        check_bounds(10 * 1024 * 1024, steps[i]);
    check_bounds(HEAD + TAIL + 1, 64 * 1024);
    check_bounds(HEAD + 2 * TAIL, 64 * 1024);
    check_bounds(HEAD + 2 * TAIL + 1, 64 * 1024);
}

static const char panic[] =
    "[    0.51] Run /init as init process\r\n"
    "[    0.52] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100\r\n"
    "[    0.53] CPU: 0 PID: 1 Comm: init\r\n"
    "[    0.54] ---[ end Kernel panic - not syncing: something else ]---\r\n"
    "\r\n";

/* Found wherever the pieces end, at the end of its line; the first one counts. */
static void
test_panic(void)
{
    for (gsize step = 1; step <= sizeof(panic); step++) {
        g_autoptr(LabConsole) c = fed(panic, step);
        g_assert_cmpstr(lab_console_panic(c), ==, "Attempted to kill init! exitcode=0x00000100");
        assert_last(c, "[    0.54] ---[ end Kernel panic - not syncing: something else ]---");
    }
    g_autoptr(LabConsole) c = lab_console_new();
    feed(c, "[    0.52] Kernel panic - not syncing: Attempted");
    g_assert_null(lab_console_panic(c));
    feed(c, " to kill init!\n");
    g_assert_cmpstr(lab_console_panic(c), ==, "Attempted to kill init!");
}

/* Also in the part of the text that is not kept, and after a line without end. */
static void
test_panic_in_flood(void)
{
    g_autofree char *before = pattern(HEAD + 1000), *after = pattern(2 * 1024 * 1024);
    g_autofree char *long_line = g_strnfill(3 * 1024 * 1024, 'x');
    g_autoptr(LabConsole) c = lab_console_new();

    feed(c, before);
    feed(c, long_line);
    feed(c, "\n");
    feed(c, panic);
    feed(c, after);
    g_assert_cmpstr(lab_console_panic(c), ==, "Attempted to kill init! exitcode=0x00000100");
    g_autoptr(GBytes) text = lab_console_text(c);
    g_assert_null(g_strstr_len(g_bytes_get_data(text, NULL), g_bytes_get_size(text), "panic"));

    /* A program that left its line open when the kernel began to speak. */
    g_autoptr(LabConsole) d = lab_console_new();
    feed(d, long_line);
    feed(d, panic + 39);
    g_assert_cmpstr(lab_console_panic(d), ==, "Attempted to kill init! exitcode=0x00000100");
}

static void
test_no_panic(void)
{
    g_autoptr(LabConsole) c = fed("Command line: panic=-1 nohzlab=1\n"
                                  "Kernel panics are rare - not syncing: no\n",
                                  7);
    g_assert_null(lab_console_panic(c));
    g_assert_null(lab_console_complaint(c));
    feed(c, "Kernel panic - not\n syncing: two lines\n");
    g_assert_null(lab_console_panic(c));
    feed(c, "Kernel panic - Kernel panic - not syncing: begun again\n");
    g_assert_cmpstr(lab_console_panic(c), ==, "begun again");
}

static void
test_complaint(void)
{
    for (gsize step = 1; step < 40; step++) {
        g_autoptr(LabConsole) c = fed("[ 0.5] Run /init\r\nnohzlab: no port org.nohzlab.report\r\n"
                                      "nohzlab: second\r\n",
                                      step);
        g_assert_cmpstr(lab_console_complaint(c), ==, "no port org.nohzlab.report");
    }
    /* The kernel repeating words is not PID 1 complaining. */
    g_autoptr(LabConsole) c =
        fed("[    0.0] Command line: console=ttyS0 x=\"nohzlab: no port\"\r\n", 64);
    g_assert_null(lab_console_complaint(c));
}

/* Nothing that drives a terminal comes out, and nothing is longer than a message may be. */
static void
test_escape_codes(void)
{
    g_autoptr(LabConsole) c =
        fed("\033[2J\033]0;owned\007Kernel panic - not syncing: \033[31mred\x9b"
            "0m\xc3\xa4\033[0m\r\n",
            5);
    g_assert_cmpstr(lab_console_panic(c), ==, "?[31mred?0m???[0m");
    assert_last(c, "?[2J?]0;owned?Kernel panic - not syncing: ?[31mred?0m???[0m");

    g_autofree char *much = g_strnfill(5000, 'y');
    g_autofree char *line =
        g_strdup_printf("nohzlab: %s\nKernel panic - not syncing: %s\n%s", much, much, much);
    g_autoptr(LabConsole) d = fed(line, 1000);
    g_assert_cmpuint(strlen(lab_console_complaint(d)), ==, 200);
    g_assert_cmpuint(strlen(lab_console_panic(d)), ==, 200);
    g_autofree char *last = lab_console_last_line(d);
    g_assert_cmpuint(strlen(last), ==, 200);
}

static void
test_last_line(void)
{
    static const struct {
        const char *text, *last;
    } cases[] = {
        {"one\r\ntwo\r\n", "two"},     {"one\ntwo", "two"},
        {"one\n\n \t\r\n\r\n", "one"}, /* lines that show nothing don't count */
        {"one\ntwo\r", "two"},         {"\r\n\r\n", ""},
        {"one\n  two  \n", "two"},     {"a\tb\n", "a b"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(LabConsole) c = fed(cases[i].text, 2);
        assert_last(c, cases[i].last);
    }
    /* Zero bytes are no end of the text. */
    g_autoptr(LabConsole) c = lab_console_new();
    lab_console_feed(c, "Kernel panic\0 - not syncing: x\0y\n", 33);
    g_assert_cmpstr(lab_console_panic(c), ==, "xy");
    g_assert_cmpuint(lab_console_bytes(c), ==, 33);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/console/empty", test_empty);
    g_test_add_func("/console/whole", test_whole);
    g_test_add_func("/console/bounds", test_bounds);
    g_test_add_func("/console/panic", test_panic);
    g_test_add_func("/console/panic-in-flood", test_panic_in_flood);
    g_test_add_func("/console/no-panic", test_no_panic);
    g_test_add_func("/console/complaint", test_complaint);
    g_test_add_func("/console/escape-codes", test_escape_codes);
    g_test_add_func("/console/last-line", test_last_line);
    return g_test_run();
}
