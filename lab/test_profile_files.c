/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files, includes and --set. */
#include "lab/profile_testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

static void
test_settings(void)
{
    static const char text[] =
        "[matrix]\nvariant = a, b\n[variant a]\n[variant b]\nguest.vcpus = 2\n"
        "[workload w]\ntype = cyclictest\n"
        "[expect]\nw.max(variant=a) / w.max(variant=b) < 2\nw.max(variant=1) > 0\n";
    const char *const set[] = {"main.boots=4",
                               "main.boots = 5",
                               "workload.w.loops=9",
                               "workload w.cpu=0",
                               "check.host.kvm=yes",
                               "guest.vcpus=1",
                               NULL};
    g_autoptr(LabProfile) p = parse_ok(text, set);
    const LabParams *params = cell(p, 1)->params;
    const LabWorkload *w = g_ptr_array_index(params->workloads, 0);

    g_assert_cmpuint(params->boots, ==, 5);
    g_assert_cmpuint(w->loops, ==, 9);
    g_assert_cmpint(w->cpu, ==, 0);
    g_assert_cmpuint(params->checks->len, ==, 1);
    /* --set wins over the variant, and says so */
    g_assert_cmpuint(params->vcpus, ==, 1);
    g_assert_true(
        warned(p, "--set \"guest.vcpus=1\": wins over [variant b], which sets it to `2'"));

    const char *const axes[] = {"matrix.variant=b", "matrix.workload.w.loops=1,2", NULL};
    g_autoptr(LabProfile) q = parse_ok(text, axes);
    g_assert_cmpuint(lab_profile_cells(q)->len, ==, 2);
    g_assert_cmpstr(cell(q, 1)->name, ==, "variant=b workload w.loops=2");
    g_assert_true(warned(q, "w.max stands for 2 cells of the axis workload w.loops as set"));
}

/* Restricting the matrix is no reason to refuse what the profile claims about the rest of it. */
static void
test_settings_restrict(void)
{
    static const char text[] = "[matrix]\nvariant = a, b\n[variant a]\n[variant b]\n"
                               "[workload w]\ntype = cyclictest\n"
                               "[expect]\nw.max(variant=a) / w.max(variant=b) < 2\n";
    const char *const set[] = {"matrix.variant=b", NULL};
    g_autoptr(LabProfile) p = parse_ok(text, set);

    g_assert_cmpuint(lab_profile_cells(p)->len, ==, 1);
    g_assert_cmpuint(lab_profile_expectations(p)->len, ==, 1);
    g_assert_true(warned(p, "variant=a is not in the matrix as set"));
}

static void
test_settings_refused(void)
{
    static const struct {
        const char *set, *message;
    } cases[] = {
        {"guest.vcpus=0", "--set \"guest.vcpus=0\": out of range: 1..255"},
        {"guest.vcpu=1", "--set \"guest.vcpu=1\": [guest] has no key `vcpu' (did you mean `vcpus'"},
        {"boots=1", "write the section too: main.boots=1"},
        {"guest.vcpus", "not section.key=value"},
        {"=1", "not section.key=value"},
        {"main.include=x", "includes are the profile's own"},
        {"main.kernel=x",
         "--set \"main.kernel=x\": this key is an axis of the profile: set matrix.kernel instead"},
        {"expect.a=1 < 2", "names no key"},
        {"workload.x.cpu=1", "there is no section [workload x]"},
        {"matrix.kernel=", "--set \"matrix.kernel=\": an axis without values"},
        {"matrix.zzz=1", "[main] has no key `zzz'"},
        {"guest.isolated=5", "--set \"guest.isolated=5\": asked for 5"},
        {"guest.cmdline=a\nb", "not one line"},
        {"guest.cmdline=\xff", "not one line"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        const char *const set[] = {cases[i].set, NULL};
        g_assert_null(parse("[matrix]\nkernel = a | b\n[workload cyclictest]\n", set, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, cases[i].message));
    }
}

/* A folder of profiles that goes away with the test. */
typedef struct {
    char *dir;
} Folder;

static void
folder_set_up(Folder *f, gconstpointer data)
{
    (void)data;
    f->dir = g_dir_make_tmp("nohzlab-profile-XXXXXX", NULL);
    g_assert_nonnull(f->dir);
}

static void
folder_tear_down(Folder *f, gconstpointer data)
{
    (void)data;
    g_autoptr(GDir) dir = g_dir_open(f->dir, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(f->dir, name, NULL);
        g_remove(path);
    }
    g_rmdir(f->dir);
    g_free(f->dir);
}

static char *
write_profile(const Folder *f, const char *name, const char *text)
{
    char *path = g_build_filename(f->dir, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static void
load_refused(const char *path, int code, const char *message)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(lab_profile_load(path, NULL, &error));
    g_test_message("%s", error->message);
    g_assert_error(error, LAB_PROFILE_ERROR, code);
    g_assert_nonnull(strstr(error->message, message));
}

static void
test_files(Folder *f, gconstpointer data)
{
    (void)data;
    g_autofree char *big = g_strnfill(1024 * 1024 + 1, '#');
    g_autofree char *large = write_profile(f, "large.ini", big);
    g_autofree char *missing = g_build_filename(f->dir, "missing.ini", NULL);
    g_autofree char *fifo = g_build_filename(f->dir, "fifo.ini", NULL);

    load_refused(missing, LAB_PROFILE_ERROR_IO, "missing.ini: no such profile");
    load_refused(f->dir, LAB_PROFILE_ERROR_IO, "a folder, not a profile");
    load_refused(large, LAB_PROFILE_ERROR_IO, "larger than 1048576 bytes");
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    load_refused(fifo, LAB_PROFILE_ERROR_IO, "not a regular file");
}

static void
test_includes(Folder *f, gconstpointer data)
{
    (void)data;
    g_autofree char *base = write_profile(f, "base.ini",
                                          "[main]\nboots = 7\nsummary = base\n"
                                          "[matrix]\nguest.vcpus = 1, 2\n[workload cyclictest]\n"
                                          "[expect]\nlow = cyclictest.max(guest.vcpus=1) < 5\n");
    g_autofree char *other = write_profile(f, "other.ini", "[guest]\nmemory = 1G\nseed = 5\n");
    g_autofree char *top = write_profile(f, "top.ini",
                                         "[main]\ninclude = base, other\nsummary = top\n"
                                         "[guest]\nseed = 6\n[expect]\nlow = 1 < 2\n");
    g_autoptr(GError) error = NULL;
    g_autoptr(LabProfile) p = lab_profile_load(top, NULL, &error);
    g_assert_no_error(error);
    const LabParams *params = cell(p, 1)->params;

    g_assert_cmpstr(lab_profile_name(p), ==, "top");
    g_assert_cmpstr(params->summary, ==, "top");
    g_assert_cmpuint(params->boots, ==, 7);
    g_assert_cmpuint(params->memory_mib, ==, 1024);
    g_assert_cmpuint(params->seed, ==, 6);
    g_assert_cmpuint(params->vcpus, ==, 2);
    g_assert_cmpuint(lab_profile_expectations(p)->len, ==, 1);
    g_assert_cmpstr(((LabExpectation *)g_ptr_array_index(lab_profile_expectations(p), 0))->text, ==,
                    "1 < 2");
}

static void
test_includes_refused(Folder *f, gconstpointer data)
{
    (void)data;
    g_autofree char *a = write_profile(f, "a.ini", "[main]\ninclude = b\n");
    g_autofree char *b = write_profile(f, "b.ini", "[main]\n# on\ninclude = c\n");
    g_autofree char *c = write_profile(f, "c.ini", "[main]\ninclude = a\n");
    g_autofree char *lost = write_profile(f, "lost.ini", "[main]\ninclude = nowhere\n");
    g_autofree char *above = write_profile(f, "above.ini", "[main]\ninclude = ../a\n");
    g_autofree char *suffix = write_profile(f, "suffix.ini", "[main]\ninclude = a.ini\n");
    g_autofree char *bad = write_profile(f, "bad.ini", "[host]\n\ncpus = 4 ; x\n");
    g_autofree char *outer = write_profile(f, "outer.ini", "[main]\ninclude = bad\n");

    load_refused(a, SYNTAX,
                 "c.ini:2: [main] include = a: the includes go in a circle: a.ini -> b.ini -> "
                 "c.ini -> a.ini");
    load_refused(lost, LAB_PROFILE_ERROR_IO, "lost.ini:2: [main] include = nowhere: ");
    load_refused(lost, LAB_PROFILE_ERROR_IO, "nowhere.ini: no such profile");
    load_refused(above, VALUE, "`../a' is not the name of a profile in the same folder");
    load_refused(suffix, VALUE, "write it without .ini");
    load_refused(outer, SYNTAX, "bad.ini:3: ");

    /* each file includes the next one twice: 2^20 files if nobody counted */
    for (int i = 0; i < 20; i++) {
        g_autofree char *name = g_strdup_printf("n%d.ini", i);
        g_autofree char *text = i < 19
                                    ? g_strdup_printf("[main]\ninclude = n%d, n%d\n", i + 1, i + 1)
                                    : g_strdup("[main]\n");
        g_autofree char *path = write_profile(f, name, text);
    }
    g_autofree char *first = g_build_filename(f->dir, "n0.ini", NULL);
    load_refused(first, SYNTAX, "more than 64 files are included");
}

#define IN_FOLDER(path, test) g_test_add(path, Folder, NULL, folder_set_up, test, folder_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/profile_files/settings", test_settings);
    g_test_add_func("/profile_files/settings-restrict", test_settings_restrict);
    g_test_add_func("/profile_files/settings-refused", test_settings_refused);
    IN_FOLDER("/profile_files/files", test_files);
    IN_FOLDER("/profile_files/includes", test_includes);
    IN_FOLDER("/profile_files/includes-refused", test_includes_refused);
    return g_test_run();
}
