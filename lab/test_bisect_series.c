/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From two kernels, a git range or a file to the series between; and the journal of a bisection. */
#include <glib/gstdio.h>
#include <string.h>

#include "lab/bisect_journal.h"
#include "lab/bisect_series.h"
#include "lab/files.h"

static const LabSeriesState *
at(const GPtrArray *series, guint i)
{
    return g_ptr_array_index(series, i);
}

static void
test_patches(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) s = lab_series_new("debian:6.1+x", "debian:6.1+x+a.patch+b/c", &error);

    g_assert_no_error(error);
    g_assert_cmpuint(s->len, ==, 3);
    g_assert_cmpstr(at(s, 0)->kernel, ==, "debian:6.1+x");
    g_assert_cmpstr(at(s, 1)->kernel, ==, "debian:6.1+x+a.patch");
    g_assert_cmpstr(at(s, 1)->step, ==, "a.patch");
    g_assert_cmpstr(at(s, 2)->kernel, ==, "debian:6.1+x+a.patch+b/c");
    g_assert_cmpstr(at(s, 2)->step, ==, "b/c");
}

static void
test_refused(void)
{
    static const struct {
        const char *good, *bad, *words;
    } cases[] = {
        {"debian:6.1", "debian:6.1", "leads no series"},
        {"debian:6.1", "debian:6.12", "leads no series"},
        {"debian:6.1", "debian:6.12+a", "leads no series"},
        {"debian:6.1", "debian:6.1+", "a patch without a name"},
        {"debian:6.1", "debian:6.1+a++b", "a patch without a name"},
        {"", "+a", "leads no series"},
        {"src:/x@a+p", "src:/x@b+q", "leads no series"},
        {"src:/x@a", "src:/y@b", "leads no series"},
        {"src:/nowhere@a", "src:/nowhere@b", "git"},
        {"src:/nowhere", "src:/nowhere@b", "leads no series"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(lab_series_new(cases[i].good, cases[i].bad, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[i].words));
    }
}

static void
run(const char *dir, const char *command)
{
    g_autofree char *line = g_strdup_printf("cd '%s' && { %s; } >/dev/null 2>&1", dir, command);
    const char *const argv[] = {"/bin/sh", "-c", line, NULL};
    int status = 1;

    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                               &status, NULL));
    g_assert_true(g_spawn_check_wait_status(status, NULL));
}

static void
test_git(void)
{
    g_autofree char *program = g_find_program_in_path("git");
    if (!program) {
        g_test_skip("there is no git");
        return;
    }
    g_autofree char *dir = g_dir_make_tmp("nohzlab-XXXXXX", NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *none = g_strconcat("src:", dir, "@v3+p", NULL);
    g_autofree char *good = g_strconcat("src:", dir, "@v1+p", NULL);
    g_autofree char *option = g_strconcat("src:", dir, "@--output=x+p", NULL);

    run(dir, "git init -q . && for n in 1 2 3; do git -c user.name=x -c user.email=x@y commit -q "
             "--allow-empty -m \"change $n\" && git tag v$n; done");
    g_autoptr(GPtrArray) s = lab_series_new(good, none, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(s->len, ==, 3);
    g_assert_cmpstr(at(s, 0)->kernel, ==, good);
    g_assert_true(g_str_has_suffix(at(s, 1)->step, " change 2"));
    g_assert_true(g_str_has_suffix(at(s, 2)->step, " change 3"));
    g_assert_true(g_str_has_suffix(at(s, 2)->kernel, "+p"));
    g_assert_cmpuint(strlen(at(s, 2)->kernel), ==, strlen(good) - 2 + 40);
    g_assert_null(lab_series_new(none, good, &error));
    g_assert_nonnull(strstr(error->message, "no ancestor"));
    g_clear_error(&error);
    g_assert_null(lab_series_new(good, option, &error));
    g_assert_nonnull(error);
    lab_remove_tree(dir);
}

static void
test_file(void)
{
    g_autofree char *dir = g_dir_make_tmp("nohzlab-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(dir, "series", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_true(
        g_file_set_contents(file, "# from good to bad\n path:/a,modules=/m \n\npath:/b", -1, NULL));
    g_autoptr(GPtrArray) s = lab_series_read(file, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(s->len, ==, 2);
    g_assert_cmpstr(at(s, 0)->kernel, ==, "path:/a,modules=/m");
    g_assert_cmpstr(at(s, 1)->step, ==, "path:/b");
    g_assert_true(g_file_set_contents(file, "one\n", -1, NULL));
    g_assert_null(lab_series_read(file, &error));
    g_assert_nonnull(strstr(error->message, "two kernels or more"));
    g_clear_error(&error);
    g_assert_true(g_file_set_contents(file, "\xff\nx\n", -1, NULL));
    g_assert_null(lab_series_read(file, &error));
    g_assert_nonnull(strstr(error->message, "not UTF-8"));
    lab_remove_tree(dir);
}

static LabJournal *
open_ok(const char *dir)
{
    g_autoptr(GError) error = NULL;
    LabJournal *j = lab_journal_open(dir, "key", 5, FALSE, &error);
    g_assert_no_error(error);
    return j;
}

static void
test_journal(void)
{
    g_autofree char *dir = g_dir_make_tmp("nohzlab-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "bisect", "key.journal", NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;

    LabJournal *j = open_ok(dir);
    g_assert_cmpuint(lab_journal_entries(j)->len, ==, 0);
    g_assert_true(lab_journal_boot(j, 0, 531.0999999999999, "abc", "run-1", &error));
    g_assert_true(lab_journal_skip(j, 3, "first\nsecond", &error));
    /* Nobody else goes on with it meanwhile. */
    g_assert_null(lab_journal_open(dir, "key", 5, FALSE, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_BUSY);
    g_clear_error(&error);
    lab_journal_close(j);

    /* A kill in the middle of a line: what is whole counts, and what follows is whole again. */
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autofree char *cut = g_strconcat(text, "boot 4 7", NULL);
    g_assert_true(g_file_set_contents(path, cut, -1, NULL));
    j = open_ok(dir);
    const GPtrArray *entries = lab_journal_entries(j);
    g_assert_cmpuint(entries->len, ==, 2);
    const LabJournalEntry *first = entries->pdata[0], *second = entries->pdata[1];
    g_assert_cmpfloat(first->value, ==, 531.0999999999999);
    g_assert_cmpstr(first->sha256, ==, "abc");
    g_assert_cmpstr(first->run, ==, "run-1");
    g_assert_true(second->skip);
    g_assert_cmpuint(second->state, ==, 3);
    g_assert_true(lab_journal_boot(j, 4, 7, "abc", "run-2", &error));
    lab_journal_close(j);
    j = open_ok(dir);
    g_assert_cmpuint(lab_journal_entries(j)->len, ==, 3);
    lab_journal_close(j);

    j = lab_journal_open(dir, "key", 5, TRUE, &error);
    g_assert_cmpuint(lab_journal_entries(j)->len, ==, 0);
    lab_journal_close(j);
    lab_remove_tree(dir);
}

static void
test_journal_bad(void)
{
    static const char *const bad[] = {
        "nohzlab-bisect 1 other\n",
        "nohzlab-bisect 1 key\nboot 5 1 a b\n",
        "nohzlab-bisect 1 key\nboot -1 1 a b\n",
        "nohzlab-bisect 1 key\nboot 1 nan a b\n",
        "nohzlab-bisect 1 key\nboot 1 1e999 a b\n",
        "nohzlab-bisect 1 key\nboot 1 1 a\n",
        "nohzlab-bisect 1 key\nskip 1\n",
        "nohzlab-bisect 1 key\nfrob 1 1 a b\n",
    };
    g_autofree char *dir = g_dir_make_tmp("nohzlab-XXXXXX", NULL);
    g_autofree char *folder = g_build_filename(dir, "bisect", NULL);
    g_autofree char *path = g_build_filename(folder, "key.journal", NULL);

    g_assert_cmpint(g_mkdir(folder, 0755), ==, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_true(g_file_set_contents(path, bad[i], -1, NULL));
        g_assert_null(lab_journal_open(dir, "key", 5, FALSE, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, "not a line of this bisection's journal"));
    }
    lab_remove_tree(dir);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bisect-series/patches", test_patches);
    g_test_add_func("/bisect-series/refused", test_refused);
    g_test_add_func("/bisect-series/git", test_git);
    g_test_add_func("/bisect-series/file", test_file);
    g_test_add_func("/bisect-series/journal", test_journal);
    g_test_add_func("/bisect-series/journal-bad", test_journal_bad);
    return g_test_run();
}
