/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that sets knobs, or puts them back, is killed (SIGKILL) at its first system call, at
 * its second, and so on, before and after each; the next restore must put the machine back every
 * time.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/knobs.h"
#include "host/test_root.h"

/* More stops than any of the processes below has. */
#define MAX_STOPS 5000

static const struct {
    const char *path, *old_text, *new_value;
} settings[] = {
    {"/proc/irq/default_smp_affinity", "0000000f", "3"},
    {"/proc/irq/45/smp_affinity_list", "0-3", "0"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "never"},
    {"/sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave", "performance"},
};

static void
put_old(const Fake *f)
{
    for (gsize i = 0; i < G_N_ELEMENTS(settings); i++) {
        g_autofree char *line = g_strconcat(settings[i].old_text, "\n", NULL);
        fake_put(f, settings[i].path + 1, line);
    }
}

/* How many knobs have neither their old nor their new value; *CHANGED: how many have the new one.
 */
static guint
count_odd(const Fake *f, guint *changed)
{
    guint odd = 0;

    *changed = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(settings); i++) {
        g_autofree char *now = fake_get(f, settings[i].path + 1);
        gboolean is_new = !strcmp(now, settings[i].new_value);
        *changed += is_new;
        odd += !is_new && strcmp(now, settings[i].old_text);
    }
    return odd;
}

static void
apply(const Fake *f, const char *journal)
{
    HostKnobs *k = host_knobs_open(f->root, journal, NULL, NULL);

    for (gsize i = 0; k && i < G_N_ELEMENTS(settings); i++)
        host_knobs_set(k, settings[i].path, settings[i].new_value, NULL, NULL);
    if (k)
        host_knobs_keep(k);
}

static void
recover(const Fake *f, const char *journal)
{
    host_knobs_recover(f->root, journal, NULL, NULL);
}

/* Runs WORK in a child that is killed at its stop number LAST. TRUE when it was, FALSE when the
 * work was done before. */
static gboolean
run_killed(const Fake *f, const char *journal, void (*work)(const Fake *, const char *), guint last)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        work(f, journal);
        _exit(0);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    for (guint stop = 0; WIFSTOPPED(status); stop++) {
        if (stop == last) {
            kill(pid, SIGKILL);
            g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
            break;
        }
        g_assert_cmpint(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), ==, 0);
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    }
    return WIFSIGNALED(status);
}

static gboolean
can_trace(void)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : 1);
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void
assert_put_back(const Fake *f, const char *journal)
{
    g_autoptr(GError) error = NULL;
    guint changed;

    host_knobs_recover(f->root, journal, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(count_odd(f, &changed), ==, 0);
    g_assert_cmpuint(changed, ==, 0);
    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
}

static void
kill_everywhere(void (*work)(const Fake *, const char *), gboolean applied_before)
{
    g_auto(Fake) f = fake_machine();
    g_autofree char *journal = g_build_filename(f.dir, "state", "host-journal", NULL);
    guint stop = 0, half_way = 0;
    gboolean killed = TRUE;

    if (!can_trace()) {
        g_test_skip("processes can't be traced here (ptrace), so none can be stopped at each call");
        return;
    }
    for (; killed && stop < MAX_STOPS; stop++) {
        guint changed;
        put_old(&f);
        if (applied_before)
            apply(&f, journal);
        killed = run_killed(&f, journal, work, stop);
        g_assert_cmpuint(count_odd(&f, &changed), ==, 0);
        half_way += changed > 0 && changed < G_N_ELEMENTS(settings);
        assert_put_back(&f, journal);
    }
    g_test_message("killed at %u stops, %u of them between settings", stop - 1, half_way);
    g_assert_false(killed);
    g_assert_cmpuint(half_way, >, 2 * G_N_ELEMENTS(settings));
}

static void
test_kill_apply(void)
{
    kill_everywhere(apply, FALSE);
}

static void
test_kill_restore(void)
{
    kill_everywhere(recover, TRUE);
}

int
main(int argc, char **argv)
{
    /* Hundreds of journals: in memory, where bringing them to disk costs nothing. */
    if (access("/dev/shm", W_OK) == 0)
        g_setenv("TMPDIR", "/dev/shm", TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/knobs/kill-apply", test_kill_apply);
    g_test_add_func("/knobs/kill-restore", test_kill_restore);
    return g_test_run();
}
