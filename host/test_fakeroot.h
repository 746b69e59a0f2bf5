/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Folders that stand for a machine, for tests. */
#include <glib.h>
#include <glib/gstdio.h>

#include "host/root.h"

typedef struct {
    char *dir;
} FakeRoot;

static inline void
fake_write(const FakeRoot *f, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(f->dir, name, NULL);
    g_autofree char *folder = g_path_get_dirname(path);
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_file_set_contents(path, text, -1, &error);
    g_assert_no_error(error);
}

static inline G_GNUC_PRINTF(3, 4) void fake_cpu(const FakeRoot *f, unsigned int cpu,
                                                const char *file_format, ...)
{
    va_list args;

    /* "topology/core_cpus_list=0-1": what stands behind the `=` is the text. */
    va_start(args, file_format);
    g_autofree char *both = g_strdup_vprintf(file_format, args);
    va_end(args);
    g_auto(GStrv) parts = g_strsplit(both, "=", 2);
    g_autofree char *name = g_strdup_printf("sys/devices/system/cpu/cpu%u/%s", cpu, parts[0]);
    g_autofree char *text = g_strconcat(parts[1], "\n", NULL);
    fake_write(f, name, text);
}

static inline FakeRoot
fake_new(const char *possible, const char *present, const char *online)
{
    FakeRoot f = {.dir = g_dir_make_tmp("nohzlab-root-XXXXXX", NULL)};

    g_assert_nonnull(f.dir);
    fake_write(&f, "sys/devices/system/cpu/possible", possible);
    fake_write(&f, "sys/devices/system/cpu/present", present);
    fake_write(&f, "sys/devices/system/cpu/online", online);
    return f;
}

static inline HostRoot *
fake_open(const FakeRoot *f)
{
    g_autoptr(GError) error = NULL;
    HostRoot *root = host_root_open(f->dir, &error);

    g_assert_no_error(error);
    return root;
}

static inline void
fake_remove(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        fake_remove(child);
    }
    g_remove(path);
}

static inline void
fake_clear(FakeRoot *f)
{
    fake_remove(f->dir);
    g_free(f->dir);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FakeRoot, fake_clear)
