/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/differences.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 160      /* bytes of a value shown in a difference */
#define TSC_TOLERANCE 1e-3 /* the kernel measures its frequency anew at each boot */

typedef struct {
    const GPtrArray *a, *b;
    const char *const *allow;
    GPtrArray *parameters; /* char *: keys of the profile that differ */
    gboolean kernel;       /* the kernel under test differs */
    ResFidelity fidelity;
    gboolean bare;
} Context;

void
res_difference_free(ResDifference *d)
{
    if (d == NULL) {
        return;
    }
    g_free(d->key);
    g_free(d->a);
    g_free(d->b);
    g_free(d);
}

const char *
res_difference_kind_name(ResDifferenceKind k)
{
    static const char *const names[] = {"unmeant", "allowed", "intended", "harmless"};
    return (gsize)k < G_N_ELEMENTS(names) ? names[k] : "?";
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* --- values --- */

/* A value on one line, cut to what a person reads. */
static char *
shown(const char *value)
{
    g_autofree char *valid = g_utf8_make_valid(value, -1);
    for (char *c = valid; *c != '\0'; c++) {
        *c = g_ascii_iscntrl(*c) ? ' ' : *c;
    }
    if (strlen(valid) <= SHOWN_MAX) {
        return g_strdup_printf("\"%s\"", valid);
    }
    const char *cut = g_utf8_find_prev_char(valid, valid + SHOWN_MAX);
    return g_strdup_printf("\"%.*s...\"", (int)(cut - valid), valid);
}

/* All values an entry has in a group, sorted, once each; MISSING tells that some runs lack it. */
static char **
values_in(const GPtrArray *records, gboolean parameter, const char *key, gboolean *missing)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    *missing = FALSE;
    for (guint i = 0; i < records->len; i++) {
        const ResRecord *r = g_ptr_array_index(records, i);
        char *value = g_hash_table_lookup(parameter ? r->parameters : r->environment, key);
        *missing |= value == NULL;
        if (value != NULL) {
            g_hash_table_add(seen, value);
        }
    }
    guint n = 0;
    char **values = (char **)g_hash_table_get_keys_as_array(seen, &n);
    qsort(values, n, sizeof *values, compare_texts);
    return values;
}

static char *
values_text(char **values, gboolean missing)
{
    GString *text = g_string_new(NULL);
    for (char **v = values; *v != NULL; v++) {
        g_autofree char *one = shown(*v);
        g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", one);
    }
    if (missing) {
        /* absent is not 0 and not empty */
        g_string_append(text, text->len > 0 ? ", not recorded" : "not recorded");
    }
    return g_string_free(text, FALSE);
}

/* --- what explains a difference --- */

static gboolean
starts(const char *key, const char *const *prefixes)
{
    for (; *prefixes != NULL; prefixes++) {
        if (g_str_has_prefix(key, *prefixes)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Profile keys that change no figure. */
static gboolean
is_harmless_parameter(const char *key)
{
    static const char *const harmless[] = {
        "main.boots", "main.jobs",  "main.summary", "guest.boot_timeout", "guest.seed",
        "expect.",    "reference.", "relevant.",    "axis-position.",     NULL};
    return starts(key, harmless);
}

/* "Mitigation: Retpolines; ..." is a mitigation, whatever a kernel calls it. */
static gboolean
same_words(char *const *a, char *const *b)
{
    for (; *a != NULL && *b != NULL; a++, b++) {
        gsize n = strcspn(*a, ":;");
        if (n != strcspn(*b, ":;") || strncmp(*a, *b, n) != 0) {
            return FALSE;
        }
    }
    return *a == *b;
}

static gboolean
about_equal(char *const *a, char *const *b)
{
    if (a[0] == NULL || b[0] == NULL) {
        return FALSE;
    }
    double first = g_ascii_strtod(a[0], NULL);
    for (int side = 0; side < 2; side++) {
        for (char *const *v = side == 0 ? a : b; *v != NULL; v++) {
            double x = g_ascii_strtod(*v, NULL);
            if (!(x > first * (1 - TSC_TOLERANCE) && x < first * (1 + TSC_TOLERANCE))) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static gboolean
parameter_differs(const Context *c, const char *const *prefixes)
{
    for (guint i = 0; i < c->parameters->len; i++) {
        if (starts(g_ptr_array_index(c->parameters, i), prefixes)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Which keys of a profile vary which entries of the environment; the first row that fits counts. */
static const struct {
    const char *prefix;
    const char *by[4];
    gboolean by_kernel; /* or follows from another kernel */
} explained[] = {
    {"guest.clocksource", {"guest.cmdline", "host.clock", NULL}, FALSE},
    {"box.clocksource", {"host.cmdline", "host.clock", NULL}, FALSE},
    {"guest.vulnerability.", {"guest.cmdline", NULL}, FALSE},
    {"box.vulnerability.", {"host.cmdline", NULL}, FALSE},
    {"guest.", {"guest.", NULL}, TRUE},
    {"box.thread.", {"guest.", "host.", NULL}, FALSE},
    {"box.", {"host.", NULL}, TRUE},
    {"host.thread.", {"guest.", "host.", NULL}, FALSE},
    {"initramfs.", {"workload ", "main.kernel", NULL}, TRUE},
};

static gboolean
is_explained(const Context *c, const char *key)
{
    for (gsize i = 0; i < G_N_ELEMENTS(explained); i++) {
        if (g_str_has_prefix(key, explained[i].prefix)) {
            return parameter_differs(c, explained[i].by) || (explained[i].by_kernel && c->kernel);
        }
    }
    return FALSE;
}

/* What is compared is kernels as often as not: a difference to be read, not to be refused. */
static gboolean
is_kernel(const char *key)
{
    static const char *const kernel[] = {"kernel.", "guest.kernel.", "box.kernel.", NULL};
    return starts(key, kernel);
}

static gboolean
is_harmless(const Context *c, const char *key, char *const *a, char *const *b)
{
    static const char *const machine[] = {"machine.", "host.kernel.", "host.thread.", NULL};
    static const char *const threads[] = {"host.thread.", "box.thread.", NULL};
    if (g_str_equal(key, "seed")) {
        return TRUE;
    }
    /* the machine under an emulator adds no instruction, and moves no event */
    if (c->fidelity != RES_FIDELITY_TIME &&
        (starts(key, machine) && (c->bare || g_str_has_prefix(key, "machine.")))) {
        return TRUE;
    }
    /* QEMU's threads come and go; where they may run is what counts */
    if (starts(key, threads) && (a[0] == NULL || b[0] == NULL || same_words(a, b))) {
        return TRUE;
    }
    if (g_str_has_suffix(key, ".tsc_khz")) {
        return about_equal(a, b);
    }
    if (c->kernel && strstr(key, ".vulnerability.") != NULL) {
        return a[0] == NULL || b[0] == NULL || same_words(a, b);
    }
    return FALSE;
}

static gboolean
is_allowed(const Context *c, const char *key)
{
    for (const char *const *p = c->allow; p != NULL && *p != NULL; p++) {
        if (g_pattern_match_simple(*p, key)) {
            return TRUE;
        }
    }
    return FALSE;
}

static ResDifferenceKind
kind_of(const Context *c, gboolean parameter, const char *key, char *const *a, char *const *b)
{
    if (parameter) {
        return is_harmless_parameter(key) ? RES_DIFFERENCE_HARMLESS : RES_DIFFERENCE_INTENDED;
    }
    if (is_harmless(c, key, a, b)) {
        return RES_DIFFERENCE_HARMLESS;
    }
    if (is_kernel(key) || is_explained(c, key)) {
        return RES_DIFFERENCE_INTENDED;
    }
    return is_allowed(c, key) ? RES_DIFFERENCE_ALLOWED : RES_DIFFERENCE_UNMEANT;
}

/* --- the list --- */

static void
collect_keys(const GPtrArray *records, gboolean parameters, GHashTable *keys)
{
    for (guint i = 0; i < records->len; i++) {
        const ResRecord *r = g_ptr_array_index(records, i);
        GHashTableIter iter;
        gpointer key;
        g_hash_table_iter_init(&iter, parameters ? r->parameters : r->environment);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
            g_hash_table_add(keys, key);
        }
    }
}

static void
add_differences(Context *c, gboolean parameters, GPtrArray *out)
{
    g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
    collect_keys(c->a, parameters, keys);
    collect_keys(c->b, parameters, keys);
    guint n = 0;
    g_autofree gpointer *sorted = g_hash_table_get_keys_as_array(keys, &n);
    qsort(sorted, n, sizeof *sorted, compare_texts);
    for (guint i = 0; i < n; i++) {
        gboolean missing_a = FALSE, missing_b = FALSE;
        const char *key = sorted[i];
        g_autofree char **left = values_in(c->a, parameters, key, &missing_a);
        g_autofree char **right = values_in(c->b, parameters, key, &missing_b);
        if (missing_a == missing_b &&
            g_strv_equal((const char *const *)left, (const char *const *)right)) {
            continue;
        }
        ResDifference *d = g_new0(ResDifference, 1);
        d->parameter = parameters;
        d->key = g_strdup(key);
        d->a = values_text(left, missing_a);
        d->b = values_text(right, missing_b);
        d->kind = kind_of(c, parameters, key, left, right);
        if (parameters && d->kind == RES_DIFFERENCE_INTENDED) {
            g_ptr_array_add(c->parameters, d->key);
        }
        g_ptr_array_add(out, d);
    }
}

static gboolean
kernels_differ(const Context *c)
{
    static const char *const keys[] = {"kernel.sha256", "kernel.release", "guest.kernel.version"};
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
        gboolean missing;
        g_autofree char **left = values_in(c->a, FALSE, keys[i], &missing);
        g_autofree char **right = values_in(c->b, FALSE, keys[i], &missing);
        if (!g_strv_equal((const char *const *)left, (const char *const *)right)) {
            return TRUE;
        }
    }
    return FALSE;
}

static int
compare_differences(gconstpointer x, gconstpointer y)
{
    const ResDifference *a = *(ResDifference *const *)x, *b = *(ResDifference *const *)y;
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->parameter != b->parameter ? b->parameter - a->parameter : strcmp(a->key, b->key);
}

GPtrArray *
res_differences_new(const GPtrArray *a, const GPtrArray *b, const char *const *allow)
{
    GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)res_difference_free);
    g_autoptr(GPtrArray) varied = g_ptr_array_new();
    const ResRecord *first = g_ptr_array_index(a, 0);
    Context c = {.a = a,
                 .b = b,
                 .allow = allow,
                 .parameters = varied,
                 .fidelity = first->fidelity,
                 .bare = g_strcmp0(first->platform, "bare") == 0};
    c.kernel = kernels_differ(&c);
    add_differences(&c, TRUE, out); /* first: they explain the environment's */
    add_differences(&c, FALSE, out);
    g_ptr_array_sort(out, compare_differences);
    return out;
}

gboolean
res_differences_check(const GPtrArray *differences, GError **error)
{
    g_autoptr(GString) all = g_string_new(NULL);
    g_autoptr(GString) keys = g_string_new(NULL);
    for (guint i = 0; i < differences->len; i++) {
        const ResDifference *d = g_ptr_array_index(differences, i);
        if (d->kind == RES_DIFFERENCE_UNMEANT) {
            g_string_append_printf(all, "\n  %s: A %s; B %s", d->key, d->a, d->b);
            g_string_append_printf(keys, "%s%s", keys->len > 0 ? "," : "", d->key);
        }
    }
    if (all->len == 0) {
        return TRUE;
    }
    g_set_error(error, RES_COMPARE_ERROR, RES_COMPARE_ERROR_ENVIRONMENT,
                "the two sides differ in what neither profile varies:%s\nso a difference between "
                "their figures could be due to that. Run both alike, or compare all the same with "
                "--allow-different '%s'",
                all->str, keys->str);
    return FALSE;
}
