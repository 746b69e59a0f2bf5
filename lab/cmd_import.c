/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/command.h"
#include "lab/json.h"
#include "lab/judge.h"
#include "lab/session.h"
#include "lab/text.h"
#include "lab/verdict.h"
#include "results/import.h"

#define FILES_MAX 10000
#define ENVIRONMENT "environment."

typedef struct {
    char *command, *profile, *cell, *platform, *clock;
    char **settings;
    gboolean json;
    ResStore *store;
    ResImportDeclared declared;
    char *set;           /* of what is imported here; NULL as yet */
    GHashTable *boots;   /* cell -> runs so far */
    GHashTable *seen;    /* SHA-256 -> file */
    GPtrArray *records;  /* ResRecord * */
    GPtrArray *imported; /* char *: the file of each */
    gboolean failed;
} Import;

static const struct {
    LabPlatform platform;
    LabClock clock;
} combinations[] = {{LAB_PLATFORM_METAL, LAB_CLOCK_WALL},
                    {LAB_PLATFORM_BOX, LAB_CLOCK_WALL},
                    {LAB_PLATFORM_BARE, LAB_CLOCK_WALL},
                    {LAB_PLATFORM_BARE, LAB_CLOCK_ICOUNT}};

static gboolean usage(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean
usage(GError **error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, what);
    return FALSE;
}

/* What lab_fidelity() says of the two, or why there is no such lab. */
static gboolean
declare_platform(Import *im, GError **error)
{
    const char *clock = im->clock ? im->clock : "wall";

    if (!im->platform)
        return !im->clock || usage(error, "--clock %s says little without --platform", im->clock);
    for (gsize i = 0; i < G_N_ELEMENTS(combinations); i++) {
        if (g_str_equal(im->platform, lab_platform_name(combinations[i].platform)) &&
            g_str_equal(clock, lab_clock_name(combinations[i].clock))) {
            im->declared.platform = im->platform;
            im->declared.clock = clock;
            im->declared.fidelity = lab_fidelity(combinations[i].platform, combinations[i].clock);
            return TRUE;
        }
    }
    return usage(error,
                 "--platform %s with --clock %s: metal, box or bare with wall, or bare with "
                 "icount",
                 im->platform, clock);
}

static gboolean
printable_line(const char *text)
{
    g_autofree char *printable = lab_printable(text);
    return g_str_equal(printable, text);
}

static gboolean
declare_environment(Import *im, GError **error)
{
    for (char **s = im->settings; s && *s; s++) {
        const char *equals = strchr(*s, '=');
        gsize prefix = strlen(ENVIRONMENT);
        gboolean ours = g_str_has_prefix(*s, ENVIRONMENT) && equals && equals > *s + prefix;
        if (!ours || !printable_line(*s)) {
            g_autofree char *shown = lab_printable(*s);
            return usage(error, "--set %s: environment.KEY=VALUE is right, on one line of UTF-8",
                         shown);
        }
        char *key = g_strndup(*s + prefix, (gsize)(equals - *s) - prefix);
        if (!g_hash_table_insert(im->declared.environment, key, g_strdup(equals + 1)))
            return usage(error, "--set %s: %s is set twice", *s, key);
    }
    return TRUE;
}

static gboolean
declare(Import *im, GError **error)
{
    static const char allowed[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-";

    if (im->profile && (!*im->profile || im->profile[strspn(im->profile, allowed)]))
        return usage(error, "--profile takes a name of letters, digits, dots, - and _");
    if ((im->cell && !printable_line(im->cell)) || (im->command && !printable_line(im->command)))
        return usage(error, "--cell and --command take one line of UTF-8");
    im->declared.command = im->command;
    im->declared.profile = im->profile;
    im->declared.cell = im->cell;
    return declare_platform(im, error) && declare_environment(im, error);
}

/* One run that counts twice would make every comparison surer than it is. */
static gboolean
check_new(Import *im, const char *file, GHashTable *files, GError **error)
{
    GHashTableIter iter;
    gpointer name, bytes;

    g_hash_table_iter_init(&iter, files);
    while (g_hash_table_iter_next(&iter, &name, &bytes)) {
        if (!g_str_has_prefix(name, RES_IMPORT_ORIGINAL))
            continue;
        char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, bytes);
        const char *other = g_hash_table_lookup(im->seen, sum);
        if (other) {
            g_free(sum);
            return usage(error, "%s: the same content as %s; one run would count as two", file,
                         other);
        }
        g_hash_table_insert(im->seen, sum, g_strdup(file));
    }
    return TRUE;
}

static ResRecord *
import_result(Import *im, ResSource *source, const char *file, GError **error)
{
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
    g_autoptr(ResRecord) r = res_import_record(source, file, &im->declared, files, error);

    if (!r || !check_new(im, file, files, error))
        return NULL;
    r->id = res_store_new_id(im->store);
    if (!im->set)
        im->set = g_strdup(r->id);
    g_free(r->set);
    r->set = g_strdup(im->set);
    guint boot = GPOINTER_TO_UINT(g_hash_table_lookup(im->boots, r->cell));
    r->boot = boot;
    if (!res_store_put(im->store, r, files, error))
        return NULL;
    g_hash_table_replace(im->boots, g_strdup(r->cell), GUINT_TO_POINTER(boot + 1));
    return g_steal_pointer(&r);
}

static gboolean
import_file(Import *im, const char *file, GError **error)
{
    gboolean already = FALSE;
    g_autoptr(ResSource) source = res_source_open(file, error);
    ResRecord *r = NULL;

    if (source)
        r = res_import_is_record(source) ? res_import_own(im->store, source, file, &already, error)
                                         : import_result(im, source, file, error);
    if (!r)
        return FALSE;
    if (already)
        g_ptr_array_add(r->notes, g_strdup("it was in the store already"));
    g_ptr_array_add(im->records, r);
    g_ptr_array_add(im->imported, g_strdup(file));
    return TRUE;
}

static void
print_text(const Import *im)
{
    for (guint i = 0; i < im->records->len; i++) {
        const ResRecord *r = im->records->pdata[i];
        g_autofree char *file = lab_printable(im->imported->pdata[i]);
        g_autofree char *message = lab_printable(r->message);
        printf("%s  %s%s%s  %s\n", r->id, res_outcome_name(r->outcome), *r->detail ? ": " : "",
               r->detail, file);
        if (*message)
            printf("    %s\n", message);
        if (r->outcome == RES_OUTCOME_DONE && g_str_equal(r->platform, "unknown"))
            printf("    where it was measured is not declared (--platform): it is shown, but never "
                   "judged\n");
    }
    if (im->set)
        printf("set %s (nohzlab show %s)\n", im->set, im->set);
}

static void
print_json(const Import *im)
{
    g_autoptr(JsonBuilder) b = json_builder_new();

    json_builder_begin_array(b);
    for (guint i = 0; i < im->records->len; i++) {
        const ResRecord *r = im->records->pdata[i];
        g_autofree char *file = g_utf8_make_valid(im->imported->pdata[i], -1);
        const char *const fields[][2] = {{"file", file},
                                         {"id", r->id},
                                         {"set", r->set},
                                         {"outcome", res_outcome_name(r->outcome)},
                                         {"detail", r->detail},
                                         {"message", r->message},
                                         {"platform", r->platform},
                                         {"fidelity", res_fidelity_name(r->fidelity)}};
        json_builder_begin_object(b);
        for (gsize k = 0; k < G_N_ELEMENTS(fields); k++)
            lab_json_string(b, fields[k][0], fields[k][1]);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    g_autofree char *text = lab_json_text(b);
    fputs(text, stdout);
}

static int
import_all(Import *im, int n, char **files)
{
    gboolean incomplete = FALSE;

    for (int i = 0; i < n; i++) {
        g_autoptr(GError) error = NULL;
        if (!import_file(im, files[i], &error)) {
            g_autofree char *line = lab_printable(error->message);
            fprintf(stderr, "nohzlab import: %s\n", line);
            im->failed = TRUE;
        }
    }
    for (guint i = 0; i < im->records->len; i++)
        incomplete |= ((ResRecord *)im->records->pdata[i])->outcome != RES_OUTCOME_DONE;
    if (im->json)
        print_json(im);
    else
        print_text(im);
    return im->failed ? LAB_EXIT_CANNOT : incomplete ? LAB_EXIT_NOT_HELD : LAB_EXIT_HELD;
}

int
lab_cmd_import(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    g_autoptr(GHashTable) environment =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GHashTable) boots = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func((GDestroyNotify)res_record_free);
    g_autoptr(GPtrArray) imported = g_ptr_array_new_with_free_func(g_free);
    Import im = {.boots = boots, .seen = seen, .records = records, .imported = imported};
    int code = 0;
    const GOptionEntry entries[] = {
        {"command", 0, 0, G_OPTION_ARG_STRING, &im.command,
         "The command line of cyclictest that made the files, where they don't hold it", "LINE"},
        {"platform", 0, 0, G_OPTION_ARG_STRING, &im.platform,
         "Where it was measured: metal, box or bare (default: unknown, never judged)", "NAME"},
        {"clock", 0, 0, G_OPTION_ARG_STRING, &im.clock, "By which clock: wall (default) or icount",
         "NAME"},
        {"profile", 0, 0, G_OPTION_ARG_STRING, &im.profile,
         "Profile of the records (default: import)", "NAME"},
        {"cell", 0, 0, G_OPTION_ARG_STRING, &im.cell, "Cell of the records (default: tool=TOOL)",
         "NAME"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &im.settings,
         "Declare what the files don't say of where they were made", "environment.KEY=VALUE"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &im.json, "Print JSON", NULL},
        {NULL},
    };

    im.declared.environment = environment;
    if (lab_command_parse("import", entries, 1, FILES_MAX, &argc, &argv, &state, &code)) {
        g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
        im.store = declare(&im, &error) ? res_store_open(root, &error) : NULL;
        code = im.store ? import_all(&im, argc - 1, argv + 1) : lab_command_fail("import", error);
    }
    res_store_free(im.store);
    g_free(im.command);
    g_free(im.platform);
    g_free(im.clock);
    g_free(im.profile);
    g_free(im.cell);
    g_strfreev(im.settings);
    g_free(im.set);
    return code;
}
