/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done with the folders of sessions that are gone, and of those that are not. */
#include "lab/session.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "lab/files.h"

typedef struct {
    char *root, *outside; /* the run root; a folder that is none of it */
    GPtrArray *lines;
} Fixture;

static void
set_up(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    f->root = g_dir_make_tmp("session-XXXXXX", NULL);
    f->outside = g_dir_make_tmp("outside-XXXXXX", NULL);
    f->lines = g_ptr_array_new_with_free_func(g_free);
}

static void
tear_down(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    lab_remove_tree(f->root);
    lab_remove_tree(f->outside);
    g_ptr_array_unref(f->lines);
    g_free(f->root);
    g_free(f->outside);
}

static void
add_file(const char *folder, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *dir = g_path_get_dirname(path);

    g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static gboolean
there(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    GStatBuf st;
    return g_lstat(path, &st) == 0;
}

static void
add_link(const char *folder, const char *name, const char *target)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_assert_cmpint(symlink(target, path), ==, 0);
}

/* A session's folder, with a journal of guests no process of this machine has. */
static void
add_session(const Fixture *f, const char *name)
{
    g_autofree char *dir = g_build_filename(f->root, name, NULL);

    add_file(dir, "lock", "");
    add_file(dir, "guests", "nohzlab-no-such-guest-0\nnohzlab-no-such-guest-1\n\n../x\n");
    add_file(dir, "nohzlab-no-such-guest-0/job", "nohzlab-job 1\n");
    add_file(dir, "libvirt/etc/qemu.conf", "x");
}

static void
test_dead(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    add_session(f, "s-00000001");
    add_session(f, "s-00000002");
    lab_session_reap(f->root, f->lines);
    g_assert_false(there(f->root, "s-00000001"));
    g_assert_false(there(f->root, "s-00000002"));
    /* No guest was there to be ended, so none is claimed. */
    g_assert_cmpuint(f->lines->len, ==, 0);
    lab_session_reap(f->root, f->lines);
    g_assert_cmpuint(f->lines->len, ==, 0);
}

/* Ended at any point of its life: before the journal, while its folder was being removed. */
static void
test_dead_in_part(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *no_journal = g_build_filename(f->root, "s-1", NULL);
    g_autofree char *no_lock = g_build_filename(f->root, "s-2", NULL);
    g_autofree char *torn = g_build_filename(f->root, "s-3", NULL);

    add_file(no_journal, "lock", "");
    add_file(no_lock, "libvirt/log", "x");
    add_file(torn, "lock", "");
    add_file(torn, "guests", "nohzlab-no-su");
    lab_session_reap(f->root, f->lines);
    g_assert_false(there(f->root, "s-1"));
    g_assert_false(there(f->root, "s-2"));
    g_assert_false(there(f->root, "s-3"));
}

static void
test_not_ours(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *other = g_build_filename(f->root, "other", NULL);
    g_autofree char *missing = g_build_filename(f->root, "missing", NULL);

    add_file(other, "lock", "");
    add_file(f->root, "s-file", "a file, no folder");
    lab_session_reap(f->root, f->lines);
    lab_session_reap(missing, f->lines);
    g_assert_true(there(other, "lock"));
    g_assert_true(there(f->root, "s-file"));
    g_assert_false(there(f->root, "missing"));
}

/* Another process that holds NAME's lock, as a session does; *WRITE_END keeps it alive. */
static pid_t
hold(const Fixture *f, const char *name, int *write_end)
{
    g_autofree char *lock = g_build_filename(f->root, name, "lock", NULL);
    int alive[2], ready[2];
    char byte = 0;

    g_assert_cmpint(pipe(alive), ==, 0);
    g_assert_cmpint(pipe(ready), ==, 0);
    pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        int fd = open(lock, O_RDWR | O_CLOEXEC);
        close(alive[1]);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        _exit(read(alive[0], &byte, 1) < 0);
    }
    close(alive[0]);
    close(ready[1]);
    g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
    close(ready[0]);
    *write_end = alive[1];
    return pid;
}

static void
test_live(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    int write_end, status;

    add_session(f, "s-live");
    add_session(f, "s-dead");
    pid_t pid = hold(f, "s-live", &write_end);
    lab_session_reap(f->root, f->lines);
    g_assert_true(there(f->root, "s-live/lock"));
    g_assert_true(there(f->root, "s-live/guests"));
    g_assert_true(there(f->root, "s-live/nohzlab-no-such-guest-0/job"));
    g_assert_false(there(f->root, "s-dead"));
    /* Its lock dies with it, however it ends. */
    g_assert_cmpint(kill(pid, SIGKILL), ==, 0);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFSIGNALED(status));
    close(write_end);
    lab_session_reap(f->root, f->lines);
    g_assert_false(there(f->root, "s-live"));
}

/* What links point to stays, wherever they stand. */
static void
test_links(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *dir = g_build_filename(f->root, "s-1", NULL);
    g_autofree char *precious = g_build_filename(f->outside, "precious", NULL);
    g_autofree char *lock_link = g_build_filename(f->root, "s-2", NULL);

    add_file(f->outside, "precious", "kept");
    add_file(f->outside, "folder/file", "kept");
    add_session(f, "s-1");
    add_link(dir, "link-to-folder", f->outside);
    add_link(dir, "link-to-file", precious);
    add_link(dir, "dangling", "/nowhere/at/all");
    /* A folder's name that is a link is none of ours. */
    add_link(f->root, "s-link", f->outside);
    /* Nor is a lock that is a link: what it points to is not locked, or made. */
    add_file(lock_link, "file", "x");
    g_autofree char *target = g_build_filename(f->outside, "made", NULL);
    add_link(lock_link, "lock", target);
    lab_session_reap(f->root, f->lines);

    g_assert_false(there(f->root, "s-1"));
    g_assert_true(there(f->outside, "precious"));
    g_assert_true(there(f->outside, "folder/file"));
    g_assert_false(there(f->outside, "lock"));
    g_assert_false(there(f->outside, "made"));
    g_assert_true(there(f->root, "s-2/file"));
}

/* A folder is made under another name; one that was left so is removed, but not at once. */
static void
test_unfinished(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *fresh = g_build_filename(f->root, "new-1", NULL);
    g_autofree char *old = g_build_filename(f->root, "new-2", NULL);
    const struct utimbuf long_ago = {1000000000, 1000000000};

    g_assert_cmpint(g_mkdir(fresh, 0755), ==, 0);
    g_assert_cmpint(g_mkdir(old, 0755), ==, 0);
    g_assert_cmpint(g_utime(old, (struct utimbuf *)&long_ago), ==, 0);
    lab_session_reap(f->root, f->lines);
    g_assert_true(there(f->root, "new-1"));
    g_assert_false(there(f->root, "new-2"));
}

static void
test_state_dir(void)
{
    g_autofree char *before = g_strdup(g_getenv("NOHZLAB_STATE"));

    g_setenv("NOHZLAB_STATE", "/some/where", TRUE);
    g_autofree char *set = lab_state_dir();
    g_assert_cmpstr(set, ==, "/some/where");
    g_setenv("NOHZLAB_STATE", "", TRUE);
    g_autofree char *empty = lab_state_dir();
    g_unsetenv("NOHZLAB_STATE");
    g_autofree char *unset = lab_state_dir();
    g_assert_cmpstr(empty, ==, unset);
    g_assert_true(g_str_has_suffix(unset, "/nohzlab"));
    g_assert_true(g_path_is_absolute(unset));
    if (before)
        g_setenv("NOHZLAB_STATE", before, TRUE);
}

static void
test_copy(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
    g_autofree char *from = g_build_filename(f->root, "from", NULL);
    g_autofree char *to = g_build_filename(f->root, "to", NULL);
    g_autofree char *nowhere = g_build_filename(f->root, "no", "to", NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    GStatBuf st;

    add_file(f->root, "from", "content");
    g_assert_cmpint(g_chmod(from, 0600), ==, 0);
    g_assert_true(lab_copy_file(from, to, &error));
    g_assert_no_error(error);
    g_assert_true(g_file_get_contents(to, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "content");
    g_assert_cmpint(g_stat(to, &st), ==, 0);
    g_assert_cmpuint(st.st_mode & 0777, ==, 0644);
    g_assert_false(lab_copy_file(nowhere, to, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
    g_clear_error(&error);
    g_assert_false(lab_copy_file(from, nowhere, &error));
    g_assert_nonnull(error);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *path;
        void (*run)(Fixture *, gconstpointer);
    } tests[] = {
        {"/session/dead", test_dead},         {"/session/dead-in-part", test_dead_in_part},
        {"/session/not-ours", test_not_ours}, {"/session/live", test_live},
        {"/session/links", test_links},       {"/session/unfinished", test_unfinished},
        {"/session/copy", test_copy},
    };

    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].path, Fixture, NULL, set_up, tests[i].run, tear_down);
    g_test_add_func("/session/state-dir", test_state_dir);
    return g_test_run();
}
