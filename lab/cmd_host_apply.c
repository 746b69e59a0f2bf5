/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets what of a partition can be had without a reboot, and leaves the journal that `host restore`
 * puts it back from. */
#include <signal.h>
#include <stdio.h>

#include "host/check.h"
#include "host/knobs.h"
#include "host/tune.h"
#include "lab/cmd_host.h"
#include "lab/session.h"
#include "lab/verdict.h"

#define NAME "host apply"

/* Signals that end us wait, so that they are seen between two settings. */
static void
hold_signals(sigset_t *held)
{
    sigemptyset(held);
    sigaddset(held, SIGINT);
    sigaddset(held, SIGTERM);
    sigaddset(held, SIGHUP);
    sigprocmask(SIG_BLOCK, held, NULL);
}

static gboolean
is_cancelled(const sigset_t *held)
{
    sigset_t pending;

    return sigpending(&pending) == 0 &&
           ((sigismember(held, SIGINT) && sigismember(&pending, SIGINT)) ||
            sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP));
}

static void
print_steps(const GPtrArray *steps)
{
    for (guint i = 0; i < steps->len; i++) {
        const HostTuneStep *s = steps->pdata[i];
        printf("would set %s: %s -> %s\n", s->path, s->old_value, s->new_value);
    }
    if (!steps->len)
        puts("nothing to set: all is as it should be");
}

/* FALSE with ERROR, or without when a signal came. */
static gboolean
set_all(HostKnobs *knobs, const GPtrArray *steps, const sigset_t *held, GError **error)
{
    guint set = 0, refused = 0;

    for (guint i = 0; i < steps->len; i++) {
        const HostTuneStep *s = steps->pdata[i];
        g_autoptr(GError) why = NULL;
        if (is_cancelled(held))
            return FALSE;
        gboolean changed = FALSE;
        if (host_knobs_set(knobs, s->path, s->new_value, &changed, &why)) {
            set += changed;
            if (changed)
                printf("set %s: %s -> %s\n", s->path, s->old_value, s->new_value);
            continue;
        }
        gboolean skip =
            s->may_fail && (g_error_matches(why, HOST_KNOB_ERROR, HOST_KNOB_ERROR_REFUSED) ||
                            g_error_matches(why, HOST_KNOB_ERROR, HOST_KNOB_ERROR_GONE));
        if (!skip) {
            g_propagate_error(error, g_steal_pointer(&why));
            return FALSE;
        }
        refused++;
        printf("left alone: %s (the kernel may manage this interrupt)\n", why->message);
    }
    printf("%u settings changed, %u refused by the kernel. To put all back: nohzlab host restore\n",
           set, refused);
    return TRUE;
}

static int
put_back(HostKnobs *knobs, const GError *why)
{
    g_autoptr(GError) error = NULL;

    if (why)
        fprintf(stderr, "nohzlab " NAME ": %s\n", why->message);
    if (host_knobs_restore(knobs, NULL, &error))
        fputs("nohzlab " NAME ": all settings are put back\n", stderr);
    else
        fprintf(stderr, "nohzlab " NAME ": %s\n", error->message);
    return why ? LAB_EXIT_CANNOT : LAB_EXIT_CANCELLED;
}

static int
apply(const HostRoot *root, const HostWish *wish, const char *journal, const char *halt_poll_ns)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) restored =
        g_ptr_array_new_with_free_func((GDestroyNotify)host_restore_line_free);
    sigset_t held;

    hold_signals(&held);
    g_autoptr(HostKnobs) knobs = host_knobs_open(root, journal, restored, &error);
    for (guint i = 0; i < restored->len; i++) {
        const HostRestoreLine *l = restored->pdata[i];
        if (l->state != HOST_RESTORE_ALREADY)
            printf("of an earlier apply: %s\n", l->message);
    }
    if (!knobs)
        return lab_command_fail(NAME, error);
    g_autoptr(GPtrArray) steps = host_tune_plan(root, wish, halt_poll_ns, &error);
    if (!steps)
        return lab_command_fail(NAME, error);
    if (!set_all(knobs, steps, &held, &error))
        return put_back(knobs, error);
    host_knobs_keep(g_steal_pointer(&knobs));
    return LAB_EXIT_HELD;
}

int
lab_cmd_host_apply(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL, *partition = NULL, *root_path = NULL, *halt_poll_ns = NULL;
    gboolean dry_run = FALSE;
    int code = 0;
    const GOptionEntry entries[] = {
        {"partition", 'p', 0, G_OPTION_ARG_FILENAME, &partition,
         "Profile or file with a [host] section (default: what the kernel command line asks for)",
         "FILE"},
        {"root", 0, 0, G_OPTION_ARG_FILENAME, &root_path,
         "Set the machine whose proc and sys are in DIR (default: this one)", "DIR"},
        {"halt-poll-ns", 0, 0, G_OPTION_ARG_STRING, &halt_poll_ns,
         "Set kvm.halt_poll_ns, too (default: left alone)", "NS"},
        {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "Print what would be set, set nothing",
         NULL},
        {NULL},
    };

    if (!lab_command_parse(NAME, entries, 0, 0, &argc, &argv, &state, &code))
        return code;
    g_autoptr(HostRoot) root = host_root_open(root_path, &error);
    if (!root)
        return lab_command_fail(NAME, error);
    unsigned int ncpus = host_root_ncpus(root);
    g_autofree char *cmdline = host_root_line(root, "proc/cmdline");
    g_autoptr(HostWish) wish = partition ? host_wish_from_file(partition, ncpus, &error)
                                         : host_wish_from_cmdline(cmdline ? cmdline : "", ncpus);
    if (!wish)
        return lab_command_fail(NAME, error);
    g_autoptr(GPtrArray) steps = host_tune_plan(root, wish, halt_poll_ns, &error);
    if (!steps)
        return lab_command_fail(NAME, error);
    if (dry_run) {
        print_steps(steps);
        return LAB_EXIT_HELD;
    }
    g_autofree char *own_state = state ? NULL : lab_state_dir();
    g_autofree char *journal = g_build_filename(state ? state : own_state, "host-journal", NULL);
    return apply(root, wish, journal, halt_poll_ns);
}
