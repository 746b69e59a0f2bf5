/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bisection up to its boots: what it refuses, how it goes on from a journal, what it says. */
#include "lab/bisect.h"

#include <string.h>

#include "lab/files.h"

#define PROFILE                                                                                    \
    "[host]\nplatform = bare\nclock = icount\n[guest]\nvcpus = 2\n"                                \
    "[workload invalid]\ntype = syscall-loop\ncpu = 1\n"

typedef struct {
    char *dir, *profile;
    GPtrArray *series;
    LabBisectConfig config;
    GString *told;
} Case;

static void
hear(const char *line, gpointer data)
{
    g_string_append_printf(((Case *)data)->told, "%s\n", line);
}

static Case *
case_new(const char *profile)
{
    Case *c = g_new0(Case, 1);

    c->dir = g_dir_make_tmp("nohzlab-XXXXXX", NULL);
    c->profile = g_build_filename(c->dir, "p.ini", NULL);
    g_assert_true(g_file_set_contents(c->profile, profile, -1, NULL));
    c->series = lab_series_new("path:/k", "path:/k+one+two+three+four", NULL);
    c->told = g_string_new(NULL);
    c->config = (LabBisectConfig){.profile = c->profile,
                                  .series = c->series,
                                  .metric = "invalid.per_call",
                                  .options = res_bisect_defaults,
                                  .tell = hear,
                                  .data = c};
    return c;
}

static void
case_free(Case *c)
{
    lab_remove_tree(c->dir);
    g_ptr_array_unref(c->series);
    g_string_free(c->told, TRUE);
    g_free(c->profile);
    g_free(c->dir);
    g_free(c);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Case, case_free)

/* Its only journal; g_free. */
static char *
journal(const Case *c)
{
    g_autofree char *folder = g_build_filename(c->dir, "bisect", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name = g_dir_read_name(dir);

    g_assert_nonnull(name);
    g_assert_null(g_dir_read_name(dir));
    return g_build_filename(folder, name, NULL);
}

/* One that starts with LINES in its journal. */
static LabBisect *
started(Case *c, const char *lines, GError **error)
{
    g_autoptr(GError) first_error = NULL;
    LabBisect *first = lab_bisect_new(NULL, c->dir, &c->config, &first_error);

    g_assert_no_error(first_error);
    g_assert_cmpint(lab_bisect_result(first).end.kind, ==, RES_BISECT_BOOT);
    lab_bisect_free(first);
    g_autofree char *path = journal(c), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autofree char *all = g_strconcat(text, lines, NULL);
    g_assert_true(g_file_set_contents(path, all, -1, NULL));
    return lab_bisect_new(NULL, c->dir, &c->config, error);
}

#define ENDS                                                                                       \
    "boot 0 531.1 a r1\nboot 0 531.1 a r2\nboot 0 531.1 a r3\n"                                    \
    "boot 4 790.2 e r4\nboot 4 790.2 e r5\nboot 4 790.2 e r6\n"

static void
test_found(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Case) c = case_new(PROFILE);
    g_autoptr(LabBisect) b = started(c, ENDS "boot 2 790.2 c r7\nskip 1 does not build\n", &error);

    g_assert_no_error(error);
    LabBisectResult r = lab_bisect_result(b);
    g_assert_cmpint(r.end.kind, ==, RES_BISECT_RANGE);
    g_assert_cmpuint(r.builds, ==, 4);
    g_assert_cmpuint(r.boots, ==, 7);
    g_assert_nonnull(strstr(c->told->str, "goes on where it stopped: 7 boots"));
    g_autofree char *text = lab_bisect_text(b, &c->config);
    g_assert_nonnull(strstr(text, "One of the steps 1 to 2 is the first bad one"));
    g_assert_nonnull(strstr(text, "one  SKIPPED: does not build"));

    /* It asks for nothing more, so there is no session to ask. */
    g_assert_true(lab_bisect_execute(b, &error));

    g_autoptr(Case) d = case_new(PROFILE);
    g_autoptr(LabBisect) found = started(d, ENDS "boot 2 531.1 c r7\nboot 3 790.2 d r8\n", &error);
    g_assert_no_error(error);
    g_autofree char *said = lab_bisect_text(found, &d->config);
    g_assert_nonnull(strstr(said, "First bad: step 3, three\n"
                                  "invalid.per_call: 531.1 before, 790.2 with it (+48.79%)\n"
                                  "4 kernels of 5, 8 boots, 0 skipped\n"));
    g_autofree char *json = lab_bisect_json(found, &d->config);
    g_assert_nonnull(strstr(json, "\"result\" : \"found\""));
    g_assert_nonnull(strstr(json, "\"first\" : 3"));
}

/* A kernel that was built anew in between, from something else. */
static void
test_kernel_changed(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Case) c = case_new(PROFILE);
    g_autoptr(LabBisect) b = started(c, "boot 0 1 a r1\nboot 0 1 b r2\n", &error);

    g_assert_null(b);
    g_assert_nonnull(strstr(error->message, "path:/k has changed since its earlier boots"));
    g_clear_error(&error);
    c->config.again = TRUE;
    g_autoptr(LabBisect) anew = lab_bisect_new(NULL, c->dir, &c->config, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(lab_bisect_result(anew).boots, ==, 0);
}

static void
test_cells(void)
{
    const char *const one[] = {"matrix.guest.vcpus=2", NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(Case) c =
        case_new("[matrix]\nkernel = path:/x | path:/y\nguest.vcpus = 2, 4\n" PROFILE);

    g_assert_null(lab_bisect_new(NULL, c->dir, &c->config, &error));
    g_assert_nonnull(strstr(error->message, "this profile has 2 for one kernel"));
    g_assert_nonnull(strstr(error->message, "--set 'matrix.guest.vcpus=2'"));
    g_clear_error(&error);
    c->config.settings = one;
    g_autoptr(LabBisect) b = lab_bisect_new(NULL, c->dir, &c->config, &error);
    g_assert_no_error(error);
}

/* Another metric, another profile or another series is another bisection. */
static void
test_keys(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Case) c = case_new(PROFILE);
    LabBisect *first = lab_bisect_new(NULL, c->dir, &c->config, &error);
    g_autofree char *path = journal(c);

    /* Two at once would boot the same kernels. */
    g_assert_null(lab_bisect_new(NULL, c->dir, &c->config, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_BUSY);
    c->config.metric = "invalid.other";
    g_autoptr(LabBisect) other = lab_bisect_new(NULL, c->dir, &c->config, NULL);
    g_assert_nonnull(other);
    lab_bisect_free(first);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bisect/found", test_found);
    g_test_add_func("/bisect/kernel-changed", test_kernel_changed);
    g_test_add_func("/bisect/cells", test_cells);
    g_test_add_func("/bisect/keys", test_keys);
    return g_test_run();
}
