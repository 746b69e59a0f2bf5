/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the emulator's plugin counted, by function. */
#include "lab/hot.h"

#include <glib/gstdio.h>
#include <string.h>

#include "lab/profile_testing.h"

#define SYMBOLS                                                                                    \
    "ffffffff81000000 T first\n"                                                                   \
    "ffffffff81000100 t second.constprop.0\n"                                                      \
    "ffffffff81000140 D not_code\n"                                                                \
    "ffffffff81000200 W third\t[module]\n"                                                         \
    "0000000000000000 T zero\n"                                                                    \
    "rubbish\n"                                                                                    \
    "ffffffff81000300 T \n"                                                                        \
    "ffffffff81000080 T between"
#define LOG                                                                                        \
    "2026-12-01 starting up libvirt\n"                                                             \
    "nohzlab-hot begin\nnohzlab-hot ffffffff81000000 999\nnohzlab-hot end 1\n"                     \
    "nohzlab-hot begin\n"                                                                          \
    "nohzlab-hot ffffffff81000010 5000\n"                                                          \
    "nohzlab-hot ffffffff8100007f 1000\n"                                                          \
    "nohzlab-hot ffffffff81000150 30000\n"                                                         \
    "qemu-system-x86_64: something else\n"                                                         \
    "nohzlab-hot ffffffff81000200 200\n"                                                           \
    "nohzlab-hot ffffffff80000000 7\n"                                                             \
    "nohzlab-hot end 2000\n"                                                                       \
    "nohzlab-hot begin\nnohzlab-hot ffffffff81000000 1\n"

static void
test_table(void)
{
    static const LabHotFunction expected[] = {{(char *)"second.constprop.0", 30000},
                                              {(char *)"first", 6000},
                                              {(char *)"user", 2000},
                                              {(char *)"third", 200},
                                              {(char *)"unknown", 7}};
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) table = lab_hot_table(LOG, SYMBOLS, 1, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(table->len, ==, G_N_ELEMENTS(expected));
    for (guint i = 0; i < table->len; i++) {
        const LabHotFunction *f = table->pdata[i];
        g_assert_cmpstr(f->name, ==, expected[i].name);
        g_assert_cmpuint(f->instructions, ==, expected[i].instructions);
    }
}

static void
test_missing(void)
{
    static const struct {
        const char *log, *symbols, *words;
        unsigned int which;
    } cases[] = {
        {LOG, SYMBOLS, "no whole count", 2}, /* cut short */
        {LOG, SYMBOLS, "no whole count", 3},
        {"", SYMBOLS, "no whole count", 0},
        {LOG, "", "no symbols", 0},
        {LOG, "0000000000000000 T hidden\n", "no symbols", 0}, /* kptr_restrict */
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(lab_hot_table(cases[i].log, cases[i].symbols, cases[i].which, &error));
        g_assert_nonnull(strstr(error->message, cases[i].words));
    }
}

#define PROFILE(host)                                                                              \
    "[host]\n" host "[guest]\nvcpus = 2\n"                                                         \
    "[workload plain]\ntype = syscall-loop\n"                                                      \
    "[workload hot]\ntype = syscall-loop\nhot_functions = yes\ncalls = 10\nbatches = 100\n"
#define ICOUNT "platform = bare\nclock = icount\n"

static void
test_record(void)
{
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "nohzlab-test-hot.log", NULL);
    g_autoptr(LabProfile) p = parse_ok(PROFILE(ICOUNT), NULL);
    const LabParams *params = cell(p, 0)->params;
    g_autoptr(ResRecord) record = res_record_new();
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);

    g_assert_true(lab_hot_wanted(params));
    g_assert_true(g_file_set_contents(path, LOG, -1, NULL));
    record->outcome = RES_OUTCOME_DONE;
    record->fidelity = RES_FIDELITY_INSTRUCTIONS;
    g_hash_table_insert(files, g_strdup("hot-kallsyms"),
                        g_bytes_new_static(SYMBOLS, strlen(SYMBOLS)));
    lab_hot_record(params, path, record, files);
    g_assert_null(g_hash_table_lookup(files, "hot-kallsyms"));
    g_assert_nonnull(g_hash_table_lookup(files, "hot-hot-functions.txt"));
    const ResMetric *m = res_record_metric(record, "hot.in.second.constprop.0");
    g_assert_nonnull(m);
    g_assert_cmpfloat(m->value, ==, 30);
    g_assert_cmpfloat(res_record_metric(record, "hot.in.first")->value, ==, 6);
    g_assert_nonnull(res_record_metric(record, "hot.in.third")); /* 0.52% */
    g_assert_null(res_record_metric(record, "hot.in.unknown"));  /* 0.02% */

    /* Without its log it is said, and no figure made up. */
    g_autoptr(ResRecord) none = res_record_new();
    none->outcome = RES_OUTCOME_DONE;
    lab_hot_record(params, NULL, none, files);
    g_assert_cmpuint(none->metrics->len, ==, 0);
    g_assert_cmpuint(none->notes->len, ==, 1);
    g_assert_nonnull(strstr(none->notes->pdata[0], "hot: no hot functions"));
    g_remove(path);
}

static void
test_refused(void)
{
    static const Refusal cases[] = {
        {PROFILE("platform = bare\nclock = wall\n"), "hot_functions*needs host.platform = bare",
         VALUE},
        {PROFILE("platform = metal\n"), "hot_functions*needs host.platform = bare", VALUE},
    };
    check_refused(cases, G_N_ELEMENTS(cases));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hot/table", test_table);
    g_test_add_func("/hot/missing", test_missing);
    g_test_add_func("/hot/record", test_record);
    g_test_add_func("/hot/refused", test_refused);
    return g_test_run();
}
