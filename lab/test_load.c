/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A load really runs where it was put, and only as long. */
#include <string.h>
#include <unistd.h>

#include "lab/load.h"

/* Our children as the kernel lists them, and the CPUs they may run on. */
static char *
child_cpus(void)
{
    g_autofree char *path = g_strdup_printf("/proc/self/task/%d/children", (int)getpid());
    g_autofree char *children = NULL;

    g_assert_true(g_file_get_contents(path, &children, NULL, NULL));
    g_strchomp(children);
    if (!*children)
        return NULL;
    g_assert_null(strchr(children, ' '));
    g_autofree char *status_path = g_strdup_printf("/proc/%s/status", children);
    g_autofree char *status = NULL;
    g_assert_true(g_file_get_contents(status_path, &status, NULL, NULL));
    g_autoptr(HostCpuset) cpus = host_cpulist_from_status(status, NULL);
    g_assert_nonnull(cpus);
    return host_cpulist_format(cpus);
}

static void
test_start_stop(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) cpus = hwloc_bitmap_alloc();

    hwloc_bitmap_set(cpus, 0);
    LabLoad *l = lab_load_start(cpus, &error);
    g_assert_no_error(error);
    g_autofree char *there = child_cpus();
    g_assert_cmpstr(there, ==, "0");
    lab_load_stop(l);
    g_assert_null(child_cpus());
}

static void
test_no_such_cpu(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) cpus = hwloc_bitmap_alloc();

    hwloc_bitmap_set(cpus, 0);
    hwloc_bitmap_set(cpus, 8000);
    g_assert_null(lab_load_start(cpus, &error));
    g_assert_nonnull(strstr(error->message, "CPU 8000"));
    g_assert_null(child_cpus());
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/load/start-stop", test_start_stop);
    g_test_add_func("/load/no-such-cpu", test_no_such_cpu);
    return g_test_run();
}
