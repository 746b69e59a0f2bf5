/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verdict for people. */
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <string.h>

#include "lab/text.h"
#include "lab/verdict.h"
#include "lab/verdict_hot.h"

typedef struct libscols_table ScolsTable;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ScolsTable, scols_unref_table)

static const char *
env(const ResRecord *r, const char *key)
{
    const char *value = g_hash_table_lookup(r->environment, key);
    return value ? value : "unknown";
}

static const char *
fidelity_meaning(ResFidelity f)
{
    switch (f) {
    case RES_FIDELITY_TIME:
        return "nanoseconds on real hardware";
    case RES_FIDELITY_INSTRUCTIONS:
        return "instructions executed, exact and repeatable; says nothing about caches or "
               "nanoseconds";
    case RES_FIDELITY_EVENTS:
        return "who ran where and how often; no duration means anything";
    default:
        return "it boots and runs; no number means anything";
    }
}

static void
append_head(GString *out, const LabVerdict *v)
{
    const ResRecord *r = v->records->pdata[0];
    g_autofree char *summary = lab_printable(r->summary);
    g_autofree char *profile = lab_printable(r->profile);
    g_autofree char *kernel = lab_printable(env(r, "kernel.release"));
    g_autofree char *qemu = lab_printable(env(r, "qemu.version"));
    g_autofree char *libvirt = lab_printable(env(r, "libvirt.version"));
    g_autofree char *platform = lab_printable(r->platform), *clock = lab_printable(r->clock);

    g_string_append_printf(out, "%s: %s\n", profile, summary);
    g_string_append_printf(
        out,
        "set %s, %u runs, %u done · platform %s, clock %s · kernel %s · QEMU %s · libvirt %s\n",
        r->set, v->records->len, v->outcomes[RES_OUTCOME_DONE], platform, clock, kernel, qemu,
        libvirt);
    g_string_append_printf(out, "fidelity %s: %s\n\n", res_fidelity_name(r->fidelity),
                           fidelity_meaning(r->fidelity));
}

/* A metric belongs on the first page when an expectation names it. */
static gboolean
metric_shown(const LabVerdict *v, const char *name)
{
    if (v->expectations->len == 0)
        return TRUE;
    for (guint i = 0; i < v->expectations->len; i++) {
        const LabVerdictExpectation *e = v->expectations->pdata[i];
        if (strstr(e->text, name))
            return TRUE;
    }
    return FALSE;
}

/* Names of all metrics, in the order of their first appearance. */
static GPtrArray *
metric_names(const LabVerdict *v, gboolean all)
{
    GPtrArray *names = g_ptr_array_new();

    for (guint i = 0; i < v->cells->len; i++) {
        const LabVerdictCell *c = v->cells->pdata[i];
        for (guint k = 0; k < c->summaries->len; k++) {
            const ResSummary *s = c->summaries->pdata[k];
            if ((all || metric_shown(v, s->name)) &&
                !g_ptr_array_find_with_equal_func(names, s->name, g_str_equal, NULL))
                g_ptr_array_add(names, s->name);
        }
    }
    return names;
}

static ScolsTable *
new_table(const char *const *columns, gsize n, guint64 right)
{
    ScolsTable *table = scols_new_table();

    scols_table_enable_noencoding(table, 1); /* everything was made printable */
    scols_table_set_column_separator(table, "  ");
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (gsize i = 0; i < n; i++)
        scols_table_new_column(table, columns[i], 0, right & (1u << i) ? SCOLS_FL_RIGHT : 0);
    return table;
}

static void
append_table(GString *out, ScolsTable *table)
{
    char *text = NULL;

    if (scols_print_table_to_string(table, &text) == 0 && text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
            g_string_append_printf(out, "%s%s", g_strchomp(*line), line[1] ? "\n" : "");
    }
    free(text);
}

static void
add_metric_row(ScolsTable *table, const char *cell, const ResSummary *s)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    g_autofree char *name = lab_printable(s->name);
    g_autofree char *label = lab_printable(*cell ? cell : "-");
    g_autofree char *boots = g_strdup_printf("%u", s->boots);
    g_autofree char *figure = lab_figure(s->median);
    g_autofree char *median = g_strconcat(s->censored ? ">= " : "", figure, NULL);
    g_autofree char *min = lab_figure(s->min), *max = lab_figure(s->max);
    g_autofree char *range = g_strdup_printf("%s .. %s", min, max);
    g_autofree char *spread =
        s->boots > 1 ? g_strdup_printf("%.3f%%", 100 * s->spread) : g_strdup("one boot");
    g_autofree char *unit = lab_printable(s->unit);
    const char *const data[] = {name, label, boots,  median,
                                unit, range, spread, res_fidelity_name(s->fidelity)};

    for (gsize i = 0; i < G_N_ELEMENTS(data); i++)
        scols_line_set_data(line, i, data[i]);
}

static void
append_metrics(GString *out, const LabVerdict *v, gboolean all)
{
    static const char *const columns[] = {"METRIC",           "CELL",   "BOOTS",   "MEDIAN", "UNIT",
                                          "RANGE OVER BOOTS", "SPREAD", "FIDELITY"};
    g_autoptr(ScolsTable) table =
        new_table(columns, G_N_ELEMENTS(columns), 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6);
    g_autoptr(GPtrArray) names = metric_names(v, all);

    for (guint n = 0; n < names->len; n++) {
        for (guint i = 0; i < v->cells->len; i++) {
            const LabVerdictCell *c = v->cells->pdata[i];
            for (guint k = 0; k < c->summaries->len; k++) {
                const ResSummary *s = c->summaries->pdata[k];
                if (g_str_equal(s->name, names->pdata[n]))
                    add_metric_row(table, c->name, s);
            }
        }
    }
    if (names->len) {
        append_table(out, table);
        g_string_append(out, "\n\n");
    }
}

static void
append_failure(GString *out, const ResRecord *r, const char *and_then)
{
    g_autofree char *message = lab_printable(r->message);
    g_autofree char *cell = lab_printable(r->cell), *detail = lab_printable(r->detail);

    g_string_append_printf(out, "%s %s%s boot %u: %s%s%s%s\n  %s\n", r->id, cell,
                           *cell ? "" : "run", r->boot, res_outcome_name(r->outcome),
                           *detail ? ": " : "", detail, and_then, message);
}

static void
append_failures(GString *out, const LabVerdict *v)
{
    gsize before = out->len;

    for (guint i = 0; i < v->retried->len; i++)
        append_failure(out, v->retried->pdata[i], ", tried again");
    for (guint i = 0; i < v->records->len; i++) {
        const ResRecord *r = v->records->pdata[i];
        if (r->outcome != RES_OUTCOME_DONE)
            append_failure(out, r, "");
    }
    if (out->len > before)
        g_string_append_c(out, '\n');
}

static void
append_notes(GString *out, const LabVerdict *v)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < v->records->len; i++) {
        const ResRecord *r = v->records->pdata[i];
        for (guint k = 0; k < r->notes->len; k++) {
            g_autofree char *note = lab_printable(r->notes->pdata[k]);
            if (g_hash_table_add(seen, r->notes->pdata[k]))
                g_string_append_printf(out, "note: %s (run %s)\n", note, r->id);
        }
    }
    if (g_hash_table_size(seen))
        g_string_append_c(out, '\n');
}

static const char *
expectation_word(const LabVerdictExpectation *e, const char **color)
{
    LabExpectVerdict verdict = e->result ? e->result->verdict : LAB_EXPECT_CANNOT_TELL;
    static const char *const words[] = {"holds", "FAILS", "CANNOT TELL"};
    static const char *const colors[] = {"\033[32m", "\033[31m", "\033[33m"};

    *color = colors[verdict];
    return words[verdict];
}

static void
append_expectations(GString *out, const LabVerdict *v, gboolean color)
{
    for (guint i = 0; i < v->expectations->len; i++) {
        const LabVerdictExpectation *e = v->expectations->pdata[i];
        const char *start;
        const char *word = expectation_word(e, &start);
        g_autofree char *name = lab_printable(e->name);
        g_autofree char *text = lab_printable(e->text);
        g_autofree char *reason = lab_printable(e->result ? e->result->reason : e->error);
        g_string_append_printf(out, "%s%-11s%s  %s: %s\n             %s\n", color ? start : "",
                               word, color ? "\033[0m" : "", name, text, reason);
    }
    if (v->expectations->len)
        g_string_append_c(out, '\n');
}

static int
by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Parameters "reference.NNN.TITLE" = "LABEL: TEXT". */
static void
append_references(GString *out, const LabVerdict *v)
{
    static const char prefix[] = "reference.";
    GHashTable *parameters = ((ResRecord *)v->records->pdata[0])->parameters;
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    GHashTableIter iter;
    gpointer key;
    const char *title = NULL;

    g_hash_table_iter_init(&iter, parameters);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        if (g_str_has_prefix(key, prefix) && strlen(key) > strlen(prefix) + 4)
            g_ptr_array_add(keys, key);
    }
    g_ptr_array_sort(keys, by_text);
    for (guint i = 0; i < keys->len; i++) {
        const char *this_title = (char *)keys->pdata[i] + strlen(prefix) + 4;
        g_autofree char *shown_title = lab_printable(this_title);
        g_autofree char *line = lab_printable(g_hash_table_lookup(parameters, keys->pdata[i]));
        if (g_strcmp0(title, this_title) != 0)
            g_string_append_printf(out, "%s\n", shown_title);
        title = this_title;
        g_string_append_printf(out, "  %s\n", line);
    }
    if (keys->len)
        g_string_append_c(out, '\n');
}

char *
lab_verdict_text(const LabVerdict *v, gboolean all, gboolean color)
{
    GString *out = g_string_new(NULL);
    g_autofree char *sentence = lab_verdict_sentence(v);

    append_head(out, v);
    append_metrics(out, v, all);
    lab_verdict_append_hot(out, v);
    append_failures(out, v);
    append_notes(out, v);
    append_expectations(out, v, color);
    append_references(out, v);
    g_string_append_printf(out, "%s%s%s\n", color ? "\033[1m" : "", sentence,
                           color ? "\033[0m" : "");
    return g_string_free(out, FALSE);
}
