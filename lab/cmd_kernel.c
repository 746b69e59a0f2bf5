/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>
#include <string.h>

#include "images/catalogue.h"
#include "lab/cmd_kernel.h"
#include "lab/json.h"
#include "lab/prepare.h"
#include "lab/text.h"
#include "lab/verdict.h"

/* Names are the last word of these. */
#define PREFIX "kernel "

static int kernel_add(int argc, char **argv);
static int kernel_list(int argc, char **argv);
static int kernel_check(int argc, char **argv);
static int kernel_rm(int argc, char **argv);

const LabCommand lab_kernel_commands[] = {
    {PREFIX "add", "KERNEL",
     "keep a kernel: debian:VERSION, deb:FILE, path:FILE[,modules=DIR], boot:RELEASE", kernel_add},
    {PREFIX "list", "", "list the kernels that are kept", kernel_list},
    {PREFIX "check", "KERNEL", "say what the lab wants of a kernel and it lacks", kernel_check},
    {PREFIX "rm", "KERNEL", "remove one that is kept, by its ID or origin", kernel_rm},
    {NULL, NULL, NULL, NULL},
};

static void
print_entry(const ImgEntry *e)
{
    g_autofree char *source = lab_printable(e->source);

    printf("kernel:%s  %s  from %s, %" G_GUINT64_FORMAT " MiB\n", e->id, e->kernel->release, source,
           e->bytes >> 20);
}

static int
kernel_add(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    int code = 0;

    if (!lab_command_parse(PREFIX "add", NULL, 1, 1, &argc, &argv, &state, &code))
        return code;
    g_autofree char *dir = lab_catalogue_dir_of(state);
    g_autofree char *lists = g_strconcat(dir, "-apt", NULL);
    if (g_str_has_prefix(argv[1], "debian:"))
        fprintf(stderr, "asking the mirror for %s (a minute the first time)\n", argv[1]);
    g_autoptr(ImgEntry) e = img_catalogue_add(dir, argv[1], lists, &error);
    if (!e)
        return lab_command_fail(PREFIX "add", error);
    print_entry(e);
    return LAB_EXIT_HELD;
}

static void
print_json(const GPtrArray *all)
{
    g_autoptr(JsonBuilder) b = json_builder_new();

    json_builder_begin_array(b);
    for (guint i = 0; i < all->len; i++) {
        const ImgEntry *e = all->pdata[i];
        json_builder_begin_object(b);
        lab_json_string(b, "kernel", e->kernel->spec);
        lab_json_string(b, "release", e->kernel->release);
        lab_json_string(b, "origin", e->origin);
        lab_json_string(b, "source", e->source);
        lab_json_string(b, "sha256", e->kernel->sha256);
        lab_json_int(b, "bytes", (gint64)e->bytes);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    g_autofree char *text = lab_json_text(b);
    fputs(text, stdout);
}

static void
print_table(const GPtrArray *all)
{
    static const char *const columns[] = {"KERNEL", "RELEASE", "ORIGIN", "SOURCE", "MIB"};
    struct libscols_table *table = scols_new_table();

    scols_table_set_column_separator(table, "  ");
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (gsize i = 0; i < G_N_ELEMENTS(columns); i++)
        scols_table_new_column(table, columns[i], 0, i == 4 ? SCOLS_FL_RIGHT : 0);
    for (guint i = 0; i < all->len; i++) {
        const ImgEntry *e = all->pdata[i];
        struct libscols_line *line = scols_table_new_line(table, NULL);
        char *data[] = {lab_printable(e->kernel->spec), lab_printable(e->kernel->release),
                        lab_printable(e->origin), lab_printable(e->source),
                        g_strdup_printf("%" G_GUINT64_FORMAT, e->bytes >> 20)};
        for (gsize k = 0; k < G_N_ELEMENTS(data); k++) {
            scols_line_set_data(line, k, data[k]);
            g_free(data[k]);
        }
    }
    scols_print_table(table);
    scols_unref_table(table);
}

static int
kernel_list(int argc, char **argv)
{
    g_autofree char *state = NULL;
    gboolean json = FALSE;
    int code = 0;
    const GOptionEntry options[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "as JSON", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };

    if (!lab_command_parse(PREFIX "list", options, 0, 0, &argc, &argv, &state, &code))
        return code;
    g_autofree char *dir = lab_catalogue_dir_of(state);
    g_autoptr(GPtrArray) all = img_catalogue_list(dir);
    if (json)
        print_json(all);
    else if (all->len)
        print_table(all);
    else
        puts("no kernel is kept yet (nohzlab kernel add debian:6.12)");
    return LAB_EXIT_HELD;
}

static int
kernel_check(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    unsigned int missing = 0;
    int code = 0;

    if (!lab_command_parse(PREFIX "check", NULL, 1, 1, &argc, &argv, &state, &code))
        return code;
    g_autofree char *dir = lab_catalogue_dir_of(state);
    g_autoptr(ImgKernel) k = img_catalogue_find(dir, argv[1], &error);
    if (!k)
        return lab_command_fail(PREFIX "check", error);
    g_autofree char *path = lab_printable(k->path);
    printf("%s, Linux %s, modules %s\n", path, k->release, k->modules_dir ? "known" : "not known");
    g_autoptr(GArray) needs = img_kernel_needs(k);
    if (!needs) {
        puts("CANNOT TELL  its config is not known (config-RELEASE beside the image)");
        return LAB_EXIT_NOT_HELD;
    }
    for (guint i = 0; i < needs->len; i++) {
        const ImgNeed *n = &g_array_index(needs, ImgNeed, i);
        printf("%-11s  %-30s %s\n",
               n->have     ? "has"
               : n->needed ? "LACKS"
                           : "lacks",
               n->option, n->why);
        missing += n->needed && !n->have;
    }
    if (missing)
        printf("\nNo guest of the lab can run it: %u options are missing.\n", missing);
    return missing ? LAB_EXIT_NOT_HELD : LAB_EXIT_HELD;
}

static int
kernel_rm(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    int code = 0;

    if (!lab_command_parse(PREFIX "rm", NULL, 1, 1, &argc, &argv, &state, &code))
        return code;
    g_autofree char *dir = lab_catalogue_dir_of(state);
    const char *name = argv[1];
    if (g_str_has_prefix(name, "kernel:"))
        name += strlen("kernel:");
    if (!img_catalogue_remove(dir, name, &error))
        return lab_command_fail(PREFIX "rm", error);
    return LAB_EXIT_HELD;
}

int
lab_cmd_kernel(int argc, char **argv)
{
    return lab_command_group("kernel",
                             "Kernels that are kept for profiles, without installing them.",
                             lab_kernel_commands, argc, argv);
}
