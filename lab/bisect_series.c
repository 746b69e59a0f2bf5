/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/bisect_series.h"

#include <string.h>

#include "lab/files.h"

#define FILE_MAX_BYTES ((gsize)1 << 20)
#define GIT_OUTPUT_MAX ((gsize)4 << 20)

static void
state_free(LabSeriesState *s)
{
    g_free(s->kernel);
    g_free(s->step);
    g_free(s);
}

static void
add(GPtrArray *series, char *kernel, char *step)
{
    LabSeriesState *s = g_new0(LabSeriesState, 1);

    s->kernel = kernel;
    s->step = step;
    g_ptr_array_add(series, s);
}

static GPtrArray *
series_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)state_free);
}

static gboolean G_GNUC_PRINTF(2, 3) refuse(GError **error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, message);
    return FALSE;
}

static gboolean
long_enough(const GPtrArray *series, GError **error)
{
    if (series->len < 2)
        return refuse(error, "good and bad are the same kernel: there is nothing between them");
    if (series->len > LAB_SERIES_MAX)
        return refuse(error, "more than %d kernels from good to bad", LAB_SERIES_MAX);
    return TRUE;
}

static GPtrArray *
patches(const char *good, const char *bad, GError **error)
{
    g_autoptr(GPtrArray) series = series_new();
    g_auto(GStrv) names = g_strsplit(bad + strlen(good) + 1, "+", -1);
    g_autoptr(GString) kernel = g_string_new(good);

    add(series, g_strdup(good), g_strdup("the good kernel"));
    for (char **name = names; *name || name == names; name++) {
        if (!*name || !**name) {
            refuse(error, "a patch without a name in %s", bad);
            return NULL;
        }
        g_string_append_printf(kernel, "+%s", *name);
        add(series, g_strdup(kernel->str), g_strdup(*name));
    }
    return long_enough(series, error) ? g_steal_pointer(&series) : NULL;
}

/* src:DIR@REV+PATCH: its parts; FALSE when SPEC is not of that shape. */
static gboolean
split(const char *spec, char **dir, char **rev, char **rest)
{
    if (!g_str_has_prefix(spec, "src:"))
        return FALSE;
    gsize end = strcspn(spec, "+");
    g_autofree char *head = g_strndup(spec, end);
    char *at = strrchr(head, '@');
    if (!at || at == head + strlen("src:") || !at[1])
        return FALSE;
    *rest = g_strdup(spec + end);
    *rev = g_strdup(at + 1);
    *dir = g_strndup(head + strlen("src:"), (gsize)(at - head) - strlen("src:"));
    return TRUE;
}

/* What git prints; NULL with git's own words. ARGUMENTS end with NULL. */
static char *
git(const char *dir, const char *const *arguments, GError **error)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) inner = NULL;
    char *out = NULL;
    g_autofree char *err = NULL;
    int status = 0;

    g_ptr_array_add(argv, (gpointer) "git");
    g_ptr_array_add(argv, (gpointer) "-C");
    g_ptr_array_add(argv, (gpointer)dir);
    for (; *arguments; arguments++)
        g_ptr_array_add(argv, (gpointer)*arguments);
    g_ptr_array_add(argv, NULL);
    if (!g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err,
                      &status, &inner) ||
        !g_spawn_check_wait_status(status, &inner)) {
        refuse(error, "%s: git: %s", dir, err && *err ? g_strchomp(err) : inner->message);
        g_free(out);
        return NULL;
    }
    return out;
}

static GPtrArray *
commits(const char *dir, const char *good, const char *bad, const char *rest, GError **error)
{
    g_autofree char *range = g_strdup_printf("%s..%s", good, bad);
    const char *const ancestor[] = {"merge-base", "--is-ancestor", good, bad, NULL};
    const char *const list[] = {
        "log", "--reverse", "--first-parent", "--format=%H %s", "--end-of-options", range,
        "--",  NULL};
    g_autoptr(GPtrArray) series = series_new();

    g_autofree char *none = git(dir, ancestor, error);
    if (!none) {
        g_prefix_error(error, "%s is no ancestor of %s, or one of them is unknown: ", good, bad);
        return NULL;
    }
    g_autofree char *out = git(dir, list, error);
    if (!out)
        return NULL;
    if (strlen(out) > GIT_OUTPUT_MAX) {
        refuse(error, "too many commits in %s", range);
        return NULL;
    }
    add(series, g_strdup_printf("src:%s@%s%s", dir, good, rest), g_strdup("the good kernel"));
    g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
    for (char **line = lines; *line && **line; line++) {
        gsize hash = strcspn(*line, " ");
        add(series, g_strdup_printf("src:%s@%.*s%s", dir, (int)hash, *line, rest),
            g_strdup_printf("%.12s%s", *line, *line + hash));
    }
    return long_enough(series, error) ? g_steal_pointer(&series) : NULL;
}

typedef struct {
    char *dir, *rev, *rest;
} Source;

static void
source_clear(Source *s)
{
    g_free(s->dir);
    g_free(s->rev);
    g_free(s->rest);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Source, source_clear)

GPtrArray *
lab_series_new(const char *good, const char *bad, GError **error)
{
    g_auto(Source) a = {0}, b = {0};

    if (*good && g_str_has_prefix(bad, good) && bad[strlen(good)] == '+')
        return patches(good, bad, error);
    if (split(good, &a.dir, &a.rev, &a.rest) && split(bad, &b.dir, &b.rev, &b.rest) &&
        strcmp(a.dir, b.dir) == 0 && strcmp(a.rest, b.rest) == 0)
        return commits(a.dir, a.rev, b.rev, a.rest, error);
    refuse(error,
           "from \"%s\" to \"%s\" leads no series: the bad kernel is the good one with patches "
           "(+FILE+FILE), or both are of one git tree (src:DIR@REV), with the same patches; "
           "otherwise name the kernels between in a file (--series)",
           good, bad);
    return NULL;
}

GPtrArray *
lab_series_read(const char *file, GError **error)
{
    g_autoptr(GBytes) bytes = lab_read_file(file, FILE_MAX_BYTES, error);
    g_autoptr(GPtrArray) series = series_new();

    if (!bytes) {
        g_prefix_error(error, "%s: ", file);
        return NULL;
    }
    gsize len;
    const char *data = g_bytes_get_data(bytes, &len);
    if (!g_utf8_validate(data ? data : "", (gssize)len, NULL)) {
        refuse(error, "%s: not UTF-8 text", file);
        return NULL;
    }
    g_autofree char *text = g_strndup(data, len);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_strstrip(*line);
        if (**line && **line != '#')
            add(series, g_strdup(*line), g_strdup(series->len ? *line : "the good kernel"));
    }
    if (series->len < 2) {
        refuse(error, "%s: a series is two kernels or more, one a line, from good to bad", file);
        return NULL;
    }
    return long_enough(series, error) ? g_steal_pointer(&series) : NULL;
}
