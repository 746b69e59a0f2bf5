/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds a guest's image in an empty cache, again and again, and prints the milliseconds of each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lab/files.h"
#include "lab/prepare.h"

static gboolean
build_once(const GPtrArray *programs, GError **error)
{
    g_autofree char *dir = g_dir_make_tmp("nohzlab-bench-XXXXXX", error);
    if (!dir)
        return FALSE;
    gint64 begin_us = g_get_monotonic_time();
    g_autoptr(LabImage) image = lab_image_prepare("default", programs, dir, dir, error);
    if (image)
        printf("%.1f\n", (g_get_monotonic_time() - begin_us) / 1000.0);
    lab_remove_tree(dir);
    return image != NULL;
}

int
main(int argc, char **argv)
{
    g_autoptr(GPtrArray) programs = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    int repeats = argc > 1 ? atoi(argv[1]) : 1;

    for (int i = 0; i < repeats; i++) {
        if (!build_once(programs, &error)) {
            fprintf(stderr, "%s: %s\n", argv[0], error->message);
            return 1;
        }
    }
    return 0;
}
