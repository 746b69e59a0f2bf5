/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/hot.h"

#include <math.h>
#include <string.h>

#include "lab/files.h"
#include "lab/judge_private.h"
#include "lab/prepare.h"

#define LOG_MAX ((gsize)16 << 20)
#define LINE_HEAD "nohzlab-hot "
#define METRICS_MAX 40     /* functions that become metrics, of at least... */
#define METRIC_SHARE 0.005 /* ...this share of a call */
#define NAME_MAX_BYTES 128

typedef struct {
    guint64 address;
    const char *name; /* in the text */
    gsize len;
} Symbol;

static void
function_free(LabHotFunction *f)
{
    g_free(f->name);
    g_free(f);
}

static int
by_address(gconstpointer a, gconstpointer b)
{
    const Symbol *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int
most_first(gconstpointer a, gconstpointer b)
{
    const LabHotFunction *x = *(LabHotFunction *const *)a, *y = *(LabHotFunction *const *)b;

    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* "ffffffff81000000 T _text", code only. The guest wrote it: anything else is passed over. */
static gboolean
symbol_parse(const char *line, gsize len, Symbol *s)
{
    char *end;

    s->address = g_ascii_strtoull(line, &end, 16);
    if (end <= line || (gsize)(end - line) + 4 > len || end[0] != ' ' || !strchr("tTwW", end[1]) ||
        end[2] != ' ')
        return FALSE;
    s->name = end + 3;
    s->len = strspn(s->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$");
    return s->len > 0 && s->len <= NAME_MAX_BYTES && s->address != 0;
}

static GArray *
symbols_parse(const char *kallsyms)
{
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(Symbol));

    for (const char *line = kallsyms; *line;) {
        gsize len = strcspn(line, "\n");
        Symbol s;
        if (symbol_parse(line, len, &s))
            g_array_append_val(symbols, s);
        line += len + (line[len] == '\n');
    }
    g_array_sort(symbols, by_address);
    return symbols;
}

/* g_free. */
static char *
symbol_at(const GArray *symbols, guint64 address)
{
    guint low = 0, high = symbols->len;

    while (low < high) { /* the last one that is not behind ADDRESS */
        guint at = low + (high - low) / 2;
        if (g_array_index(symbols, Symbol, at).address <= address)
            low = at + 1;
        else
            high = at;
    }
    if (low == 0)
        return g_strdup("unknown");
    const Symbol *s = &g_array_index(symbols, Symbol, low - 1);
    return g_strndup(s->name, s->len);
}

static void
count(GHashTable *sums, char *name, guint64 instructions)
{
    LabHotFunction *f = g_hash_table_lookup(sums, name);

    if (!f) {
        f = g_new0(LabHotFunction, 1);
        f->name = name;
        g_hash_table_insert(sums, f->name, f);
    } else {
        g_free(name);
    }
    f->instructions += instructions;
}

/* The lines of table WHICH, without their head; NULL when it is not there whole. */
static GPtrArray *
table_lines(char **lines, unsigned int which)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    unsigned int begun = 0;

    for (char **line = lines; *line; line++) {
        if (!g_str_has_prefix(*line, LINE_HEAD))
            continue;
        const char *rest = *line + strlen(LINE_HEAD);
        begun += g_str_equal(rest, "begin");
        if (begun != which + 1 || g_str_equal(rest, "begin"))
            continue;
        g_ptr_array_add(found, (gpointer)rest);
        if (g_str_has_prefix(rest, "end "))
            return g_steal_pointer(&found);
    }
    return NULL;
}

GPtrArray *
lab_hot_table(const char *log, const char *kallsyms, unsigned int which, GError **error)
{
    g_auto(GStrv) all = g_strsplit(log, "\n", -1);
    g_autoptr(GPtrArray) lines = table_lines(all, which);
    g_autoptr(GArray) symbols = symbols_parse(kallsyms);

    if (!lines || symbols->len == 0) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s",
                    lines ? "the guest's kernel shows no symbols"
                          : "the emulator's log holds no whole count of it");
        return NULL;
    }
    g_autoptr(GHashTable) sums = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < lines->len; i++) {
        const char *line = lines->pdata[i];
        gboolean user = g_str_has_prefix(line, "end ");
        char *end = (char *)line + strlen("end");
        guint64 address = user ? 0 : g_ascii_strtoull(line, &end, 16);
        count(sums, user ? g_strdup("user") : symbol_at(symbols, address),
              g_ascii_strtoull(end, NULL, 10));
    }
    GPtrArray *functions = g_ptr_array_new_with_free_func((GDestroyNotify)function_free);
    GHashTableIter iter;
    gpointer f;
    g_hash_table_iter_init(&iter, sums);
    while (g_hash_table_iter_next(&iter, NULL, &f))
        g_ptr_array_add(functions, f);
    g_ptr_array_sort(functions, most_first);
    return functions;
}

/* --- a run's --- */

gboolean
lab_hot_wanted(const LabParams *params)
{
    for (guint i = 0; i < params->workloads->len; i++)
        if (((const LabWorkload *)params->workloads->pdata[i])->hot_functions)
            return TRUE;
    return FALSE;
}

gboolean
lab_hot_lay_out(LabParams *params, const char *run_dir, GError **error)
{
    if (!lab_hot_wanted(params) || params->plugin)
        return TRUE;
    g_autofree char *programs = lab_guest_dir();
    g_autofree char *from = g_build_filename(programs, LAB_HOT_PLUGIN, NULL);
    g_autofree char *to = g_build_filename(run_dir, LAB_HOT_PLUGIN, NULL);
    if (!g_file_test(to, G_FILE_TEST_EXISTS) && !lab_copy_file(from, to, error))
        return FALSE;
    params->plugin = g_steal_pointer(&to);
    return TRUE;
}

static void
add_table(const LabWorkload *w, const GPtrArray *functions, ResRecord *record, GHashTable *files)
{
    double calls = (double)(w->calls * w->batches), all = 0;
    g_autofree char *file = g_strconcat(w->name, LAB_HOT_SUFFIX, NULL);
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < functions->len; i++)
        all += (double)((LabHotFunction *)functions->pdata[i])->instructions;
    g_string_append_printf(text,
                           "# %s: instructions per call by function, over %.0f calls; interrupts "
                           "and what is between batches included\n# %.2f in all\n"
                           "#  insns   share  function\n",
                           w->name, calls, all / calls);
    for (guint i = 0; i < functions->len; i++) {
        const LabHotFunction *f = functions->pdata[i];
        double insns = (double)f->instructions / calls;
        g_autofree char *what = g_strconcat("in.", f->name, NULL);
        const double value[3] = {insns, insns, insns};
        g_string_append_printf(text, "%8.2f  %5.2f%%  %s\n", insns, 100 * insns * calls / all,
                               f->name);
        if (i < METRICS_MAX && insns * calls >= METRIC_SHARE * all)
            lab_judge_add_metric(record, w->name, what, "insns", RES_LOWER_IS_BETTER, value,
                                 w->calls * w->batches, file);
    }
    gsize len = text->len;
    g_hash_table_insert(files, g_steal_pointer(&file),
                        g_bytes_new_take(g_string_free(text, FALSE), len));
}

static void
record_one(const LabWorkload *w, const char *log, GBytes *kallsyms, unsigned int which,
           ResRecord *record, GHashTable *files)
{
    g_autoptr(GError) error = NULL;
    gsize len = 0;
    const char *data = kallsyms ? g_bytes_get_data(kallsyms, &len) : NULL;
    g_autofree char *symbols = g_strndup(data ? data : "", len);
    g_autoptr(GPtrArray) functions = lab_hot_table(log, symbols, which, &error);

    if (functions)
        add_table(w, functions, record, files);
    else
        g_ptr_array_add(record->notes,
                        g_strdup_printf("%s: no hot functions: %s", w->name, error->message));
}

void
lab_hot_record(const LabParams *params, const char *log_path, ResRecord *record, GHashTable *files)
{
    g_autoptr(GBytes) bytes = log_path ? lab_read_file(log_path, LOG_MAX, NULL) : NULL;
    gsize len = 0;
    const char *data = bytes ? g_bytes_get_data(bytes, &len) : NULL;
    g_autofree char *log = g_strndup(data ? data : "", len);
    unsigned int marked = 0; /* every system call loop makes its marks */

    for (guint i = 0; i < params->workloads->len; i++) {
        const LabWorkload *w = params->workloads->pdata[i];
        if (!g_str_equal(w->type, "syscall-loop"))
            continue;
        g_autofree char *name = g_strconcat(w->name, "-kallsyms", NULL);
        GBytes *symbols = g_hash_table_lookup(files, name);
        if (w->hot_functions && record->outcome == RES_OUTCOME_DONE)
            record_one(w, log, symbols, marked, record, files);
        g_hash_table_remove(files, name);
        marked++;
    }
}
