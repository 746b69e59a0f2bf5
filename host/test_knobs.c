/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/knobs.h"

#include <sys/stat.h>
#include <unistd.h>

#include "host/check.h"
#include "host/error.h"
#include "host/test_root.h"
#include "host/tune.h"

#define MIGRATION "proc/sys/kernel/timer_migration"
#define THP "sys/kernel/mm/transparent_hugepage/enabled"
#define IRQ "proc/irq/45/smp_affinity_list"
#define WQ "sys/devices/virtual/workqueue/cpumask"

static char *
journal_of(const Fake *f)
{
    return g_build_filename(f->dir, "state", "host-journal", NULL);
}

static void
assert_has(const Fake *f, const char *path, const char *text)
{
    g_autofree char *now = fake_get(f, path);
    g_assert_cmpstr(now, ==, text);
}

static GPtrArray *
lines_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)host_restore_line_free);
}

static const HostRestoreLine *
line_of(const GPtrArray *lines, const char *path)
{
    for (guint i = 0; i < lines->len; i++) {
        const HostRestoreLine *l = lines->pdata[i];
        if (!strcmp(l->path, path))
            return l;
    }
    g_assert_not_reached();
}

static HostKnobs *
open_ok(const Fake *f, const char *journal, GPtrArray *restored)
{
    g_autoptr(GError) error = NULL;
    HostKnobs *k = host_knobs_open(f->root, journal, restored, &error);
    g_assert_no_error(error);
    return k;
}

static void
set_ok(HostKnobs *k, const char *path, const char *value)
{
    g_autoptr(GError) error = NULL;
    gboolean changed = FALSE;
    gboolean ok = host_knobs_set(k, path, value, &changed, &error);
    g_assert_no_error(error);
    g_assert_true(ok && changed);
}

static void
test_paths(void)
{
    static const char *const bad[] = {
        "",
        "/",
        "/etc/passwd",
        "/proc/irq/../sys/kernel/core_pattern",
        "/proc/irq/x/smp_affinity_list",
        "/proc/irq//smp_affinity_list",
        "/proc/irq/1/../2/smp_affinity_list",
        "/proc/irq/1/smp_affinity_list/",
        "/proc/irq/12345678901/smp_affinity_list",
        "proc/irq/1/smp_affinity_list",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/timer_migration/x",
        "/sys/devices/system/cpu/cpufreq/policy/scaling_governor",
        "/sys/devices/virtual/workqueue/cpumask\n",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_cmpint(host_knob_kind(bad[i]), ==, HOST_KNOB_NONE);
    g_assert_cmpint(host_knob_kind("/proc/irq/45/smp_affinity_list"), ==, HOST_KNOB_LIST);
    g_assert_cmpint(host_knob_kind("/sys/devices/system/cpu/cpufreq/policy12/scaling_governor"), ==,
                    HOST_KNOB_WORD);
}

static void
test_values(void)
{
    g_assert_true(host_knob_values_equal(HOST_KNOB_LIST, "0-1\n", "0,1"));
    g_assert_false(host_knob_values_equal(HOST_KNOB_LIST, "0-1", "0-2"));
    g_assert_true(host_knob_values_equal(HOST_KNOB_MASK, "00000000,00000003", "3"));
    g_assert_false(host_knob_values_equal(HOST_KNOB_MASK, "3", "0-1"));
    g_assert_true(host_knob_values_equal(HOST_KNOB_CHOICE, "always [madvise] never", "madvise"));
    g_assert_false(host_knob_values_equal(HOST_KNOB_CHOICE, "[always] madvise never", "never"));
    g_assert_true(host_knob_values_equal(HOST_KNOB_NUMBER, "00\n", "0"));
    g_assert_false(host_knob_values_equal(HOST_KNOB_NUMBER, "", ""));
    g_assert_null(host_knob_value(HOST_KNOB_CHOICE, "always madvise never"));
    g_assert_null(host_knob_value(HOST_KNOB_CHOICE, "[]"));
    g_assert_null(host_knob_value(HOST_KNOB_LIST, ""));
    g_assert_null(host_knob_value(HOST_KNOB_MASK, "0"));
    g_assert_null(host_knob_value(HOST_KNOB_WORD, "a b"));
}

static void
test_set_and_restore(void)
{
    g_auto(Fake) f = fake_machine();
    g_autofree char *journal = journal_of(&f);
    g_autoptr(GError) error = NULL;
    fake_put(&f, THP, "[always] madvise never\n");
    fake_put(&f, WQ, "00000000,0000000f\n");
    g_autoptr(HostKnobs) k = open_ok(&f, journal, NULL);

    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
    gboolean changed = TRUE;
    g_assert_true(host_knobs_set(k, "/" IRQ, "0,1", &changed, &error)); /* has 0-1 */
    g_assert_false(changed);
    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));

    set_ok(k, "/" WQ, "3");
    set_ok(k, "/" THP, "never");
    set_ok(k, "/" IRQ, "1");
    set_ok(k, "/" IRQ, "0");
    assert_has(&f, WQ, "3");
    assert_has(&f, IRQ, "0");
    struct stat st;
    g_assert_cmpint(stat(journal, &st), ==, 0);
    g_assert_cmpuint(st.st_mode & 0777, ==, 0600);

    g_autoptr(GPtrArray) lines = lines_new();
    g_assert_true(host_knobs_restore(k, lines, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(lines->len, ==, 4);
    assert_has(&f, WQ, "00000000,0000000f");
    assert_has(&f, THP, "always"); /* a plain file keeps what is written */
    assert_has(&f, IRQ, "0-1");
    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
}

static void
test_refusals(void)
{
    g_auto(Fake) f = fake_machine();
    g_autofree char *journal = journal_of(&f);
    g_autoptr(HostKnobs) k = open_ok(&f, journal, NULL);
    static const struct {
        const char *path, *value;
        int code;
    } cases[] = {
        {"/etc/passwd", "x", HOST_KNOB_ERROR_PATH},
        {"/" MIGRATION, "one", HOST_KNOB_ERROR_VALUE},
        {"/" IRQ, "", HOST_KNOB_ERROR_VALUE},
        {"/proc/irq/99/smp_affinity_list", "0", HOST_KNOB_ERROR_GONE},
        {"/" THP, "a b", HOST_KNOB_ERROR_VALUE},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(host_knobs_set(k, cases[i].path, cases[i].value, NULL, &error));
        g_assert_error(error, HOST_KNOB_ERROR, cases[i].code);
    }
    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
}

/* A link in place of a knob, or of a folder on the way to it, leads nowhere. */
static void
test_links(void)
{
    g_auto(Fake) f = fake_machine();
    g_autofree char *journal = journal_of(&f);
    g_autofree char *knob = g_build_filename(f.dir, MIGRATION, NULL);
    g_autofree char *folder = g_build_filename(f.dir, "sys/kernel/mm/ksm", NULL);
    g_autofree char *victim = g_build_filename(f.dir, "victim", NULL);
    g_autoptr(HostKnobs) k = open_ok(&f, journal, NULL);

    fake_put(&f, "victim", "1\n");
    fake_put(&f, "elsewhere/run", "1\n");
    g_assert_cmpint(g_unlink(knob), ==, 0);
    g_assert_cmpint(symlink(victim, knob), ==, 0);
    fake_remove(&f, "sys/kernel/mm/ksm/run");
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    g_assert_cmpint(symlink("../../../elsewhere", folder), ==, 0);
    static const char *const paths[] = {"/" MIGRATION, "/sys/kernel/mm/ksm/run"};
    for (gsize i = 0; i < G_N_ELEMENTS(paths); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(host_knobs_set(k, paths[i], "0", NULL, &error));
        g_assert_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_PATH);
    }
    assert_has(&f, "victim", "1");
    assert_has(&f, "elsewhere/run", "1");
}

/* What somebody else set meanwhile is theirs; what is gone is gone. */
static void
test_foreign(void)
{
    g_auto(Fake) f = fake_machine();
    g_autofree char *journal = journal_of(&f);
    g_autoptr(GError) error = NULL;
    HostKnobs *k = open_ok(&f, journal, NULL);
    set_ok(k, "/" MIGRATION, "0");
    set_ok(k, "/" IRQ, "0");
    set_ok(k, "/" THP, "madvise");
    set_ok(k, "/proc/irq/1/smp_affinity_list", "1");
    host_knobs_keep(k);
    fake_put(&f, MIGRATION, "7\n");
    fake_put(&f, THP, "[always] madvise never\n");
    fake_remove(&f, "proc/irq/1/smp_affinity_list");

    g_autoptr(GPtrArray) lines = lines_new();
    g_assert_true(host_knobs_recover(f.root, journal, lines, &error));
    g_assert_no_error(error);
    g_assert_cmpint(line_of(lines, "/" MIGRATION)->state, ==, HOST_RESTORE_FOREIGN);
    g_assert_nonnull(strstr(line_of(lines, "/" MIGRATION)->message, "it was 1, nohzlab set 0"));
    g_assert_cmpint(line_of(lines, "/" THP)->state, ==, HOST_RESTORE_FOREIGN);
    g_assert_cmpint(line_of(lines, "/" IRQ)->state, ==, HOST_RESTORE_DONE);
    g_assert_cmpint(line_of(lines, "/proc/irq/1/smp_affinity_list")->state, ==, HOST_RESTORE_GONE);
    assert_has(&f, MIGRATION, "7");
    assert_has(&f, THP, "[always] madvise never");
    assert_has(&f, IRQ, "0-1");
    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
}

/* A knob that can't be written keeps the journal, so that it can be tried again. */
static void
test_failed(void)
{
    g_auto(Fake) f = fake_machine();
    g_autofree char *journal = journal_of(&f);
    g_autofree char *knob = g_build_filename(f.dir, MIGRATION, NULL);
    g_autoptr(GError) error = NULL;
    HostKnobs *k = open_ok(&f, journal, NULL);
    set_ok(k, "/" MIGRATION, "0");
    set_ok(k, "/" IRQ, "0");
    host_knobs_keep(k);
    fake_remove(&f, MIGRATION);
    g_assert_cmpint(g_mkdir(knob, 0755), ==, 0);

    g_autoptr(GPtrArray) lines = lines_new();
    g_assert_false(host_knobs_recover(f.root, journal, lines, &error));
    g_assert_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_REFUSED);
    g_assert_cmpint(line_of(lines, "/" MIGRATION)->state, ==, HOST_RESTORE_FAILED);
    assert_has(&f, IRQ, "0-1");
    g_assert_true(g_file_test(journal, G_FILE_TEST_EXISTS));

    g_assert_cmpint(g_rmdir(knob), ==, 0);
    fake_put(&f, MIGRATION, "0\n");
    g_assert_true(host_knobs_recover(f.root, journal, NULL, NULL));
    assert_has(&f, MIGRATION, "1");
    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
}

static void
test_reboot_and_other_root(void)
{
    g_auto(Fake) f = fake_machine();
    g_auto(Fake) other = fake_machine();
    g_autofree char *journal = journal_of(&f);
    g_autoptr(GError) error = NULL;
    HostKnobs *k = open_ok(&f, journal, NULL);
    set_ok(k, "/" MIGRATION, "0");
    host_knobs_keep(k);
    fake_put(&other, MIGRATION, "0\n");

    g_assert_false(host_knobs_recover(other.root, journal, NULL, &error));
    g_assert_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_JOURNAL);
    g_assert_nonnull(strstr(error->message, f.dir));
    assert_has(&other, MIGRATION, "0");

    fake_put(&f, "proc/sys/kernel/random/boot_id", "3f0e3b6c-0000-4000-8000-000000000002\n");
    g_autoptr(GPtrArray) lines = lines_new();
    g_assert_true(host_knobs_recover(f.root, journal, lines, NULL));
    g_assert_cmpint(line_of(lines, "/" MIGRATION)->state, ==, HOST_RESTORE_REBOOT);
    assert_has(&f, MIGRATION, "0");
    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
}

static void
test_busy(void)
{
    g_auto(Fake) f = fake_machine();
    g_autofree char *journal = journal_of(&f);
    g_autoptr(GError) error = NULL;
    g_autoptr(HostKnobs) k = open_ok(&f, journal, NULL);
    set_ok(k, "/" MIGRATION, "0");

    g_assert_null(host_knobs_open(f.root, journal, NULL, &error));
    g_assert_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_BUSY);
    g_clear_error(&error);
    g_assert_false(host_knobs_recover(f.root, journal, NULL, &error));
    g_assert_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_BUSY);
    assert_has(&f, MIGRATION, "0");
}

static void
put_journal(const Fake *f, const char *lines)
{
    g_autofree char *text = g_strdup_printf(
        "nohzlab-knobs 1 3f0e3b6c-0000-4000-8000-000000000001 %s\n%s", f->dir, lines);
    fake_put(f, "state/host-journal", text);
}

/* Nothing is put back from a journal that can't be trusted whole, but for a last line cut short:
 * its change was never made. */
static void
test_damaged_journals(void)
{
    static const char *const bad[] = {
        "/etc/passwd\tx\ty\n",
        "/" MIGRATION "\t1\n",
        "/" MIGRATION "\t1\t0\t2\n",
        "/" MIGRATION "\tx\t0\n",
        "\n",
        "/proc/irq/../../etc/x\t0\t1\n",
    };
    static const char *const heads[] = {"nohzlab-knobs 2 x /\n", "nohzlab-knobs\n", "{}\n",
                                        "nohzlab-knobs 1 x\n"};
    g_auto(Fake) f = fake_machine();
    g_autofree char *journal = journal_of(&f);
    fake_put(&f, MIGRATION, "0\n");
    for (gsize i = 0; i < G_N_ELEMENTS(bad) + G_N_ELEMENTS(heads); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text =
            g_strconcat("/" MIGRATION "\t1\t0\n", i < G_N_ELEMENTS(bad) ? bad[i] : "", NULL);
        if (i < G_N_ELEMENTS(bad))
            put_journal(&f, text);
        else
            fake_put(&f, "state/host-journal", heads[i - G_N_ELEMENTS(bad)]);
        g_assert_false(host_knobs_recover(f.root, journal, NULL, &error));
        g_assert_error(error, HOST_KNOB_ERROR, HOST_KNOB_ERROR_JOURNAL);
        assert_has(&f, MIGRATION, "0");
        g_assert_true(g_file_test(journal, G_FILE_TEST_EXISTS));
    }
    put_journal(&f, "/" MIGRATION "\t1\t0\n/" IRQ "\t0-1\t0");
    g_assert_true(host_knobs_recover(f.root, journal, NULL, NULL));
    assert_has(&f, MIGRATION, "1");
    g_assert_false(g_file_test(journal, G_FILE_TEST_EXISTS));
    g_assert_true(host_knobs_recover(f.root, journal, NULL, NULL));
}

static GPtrArray *
plan(const Fake *f, const char *partition, const char *halt_poll_ns, GError **error)
{
    g_autofree char *file = g_build_filename(f->dir, "partition.ini", NULL);
    fake_put(f, "partition.ini", partition);
    g_autoptr(HostWish) wish = host_wish_from_file(file, host_root_ncpus(f->root), error);
    return wish ? host_tune_plan(f->root, wish, halt_poll_ns, error) : NULL;
}

static char *
planned(const GPtrArray *steps)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < steps->len; i++) {
        const HostTuneStep *s = steps->pdata[i];
        const char *name = strrchr(s->path, '/') + 1;
        g_string_append_printf(text, "%s %s>%s%s\n", name, s->old_value, s->new_value,
                               s->may_fail ? "?" : "");
    }
    return g_string_free(text, FALSE);
}

static void
test_plan(void)
{
    g_auto(Fake) f = fake_machine();
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) nothing = plan(&f, "[host]\nisolated=2-3\n", NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(nothing->len, ==, 0);

    fake_put(&f, "proc/irq/default_smp_affinity", "f\n");
    fake_put(&f, "proc/irq/1/smp_affinity_list", "0-3\n");
    fake_put(&f, "proc/irq/45/smp_affinity_list", "2-3\n");
    fake_put(&f, WQ, "f\n");
    fake_put(&f, THP, "always [madvise] never\n");
    fake_put(&f, "sys/kernel/mm/ksm/run", "1\n");
    fake_put(&f, MIGRATION, "0\n");
    fake_put(&f, "proc/sys/kernel/nmi_watchdog", "1\n");
    fake_put(&f, "sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "powersave\n");
    g_autoptr(GPtrArray) steps = plan(&f, "[host]\nisolated=2-3\n", "0", &error);
    g_assert_no_error(error);
    g_autofree char *text = planned(steps);
    g_assert_cmpstr(text, ==,
                    "halt_poll_ns 200000>0\n"
                    "default_smp_affinity f>3\n"
                    "smp_affinity_list 0-3>0-1?\n"
                    "smp_affinity_list 2-3>0-1?\n"
                    "cpumask f>3\n"
                    "timer_migration 0>1\n"
                    "nmi_watchdog 1>0\n"
                    "enabled madvise>never\n"
                    "run 1>0\n"
                    "scaling_governor powersave>performance\n");
}

/* F12: nothing at all is planned for CPUs that are not there. */
static void
test_plan_refusals(void)
{
    static const char *const bad[][2] = {
        {"[host]\nisolated=4-7\nhousekeeping=0\n", "asked for 4-7, host has 0-3, nothing left"},
        {"[host]\nhousekeeping=0\n", "no CPU is to be isolated"},
        {"[host]\nisolated=2-3\nhousekeeping=0-2\n", "both name CPU 2"},
        {"[host]\nisolated=0-3\n", "no CPU is left for housekeeping"},
        {"[host]\nisolated=1-\n", "isolated"},
        {"[host]\nisolate=1\n", "isolate: there is no such key"},
        {"[host]\nisolated=1\nnohz_full=2-3\n", "yes or no"},
        {"[host]\nisolated=1\nisolcpus=domian\n", "domian is no flag"},
        {"[guest]\nisolated=1\n", "no [host] section"},
        {"isolated=1\n", "partition.ini"},
    };
    g_auto(Fake) f = fake_machine();
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(plan(&f, bad[i][0], NULL, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, bad[i][1]));
    }
    g_autoptr(GError) error = NULL;
    fake_put(&f, "sys/devices/system/cpu/online", "2-3\n");
    g_assert_null(plan(&f, "[host]\nisolated=2-3\n", NULL, &error));
    g_assert_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/knobs/paths", test_paths);
    g_test_add_func("/knobs/values", test_values);
    g_test_add_func("/knobs/set-and-restore", test_set_and_restore);
    g_test_add_func("/knobs/refusals", test_refusals);
    g_test_add_func("/knobs/links", test_links);
    g_test_add_func("/knobs/foreign", test_foreign);
    g_test_add_func("/knobs/failed", test_failed);
    g_test_add_func("/knobs/reboot-and-other-root", test_reboot_and_other_root);
    g_test_add_func("/knobs/busy", test_busy);
    g_test_add_func("/knobs/damaged-journals", test_damaged_journals);
    g_test_add_func("/tune/plan", test_plan);
    g_test_add_func("/tune/refusals", test_plan_refusals);
    return g_test_run();
}
