/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cpulist.h"

#include <string.h>

typedef struct {
    const char *text;
    unsigned int ncpus;
    HostCpulistDialect dialect;
    const char *list; /* the set; NULL: an error, with the two below */
    HostCpulistError code;
    unsigned int at; /* 1-based character of the error */
} Case;

#define K HOST_CPULIST_KERNEL
#define T HOST_CPULIST_TOOL
#define MALFORMED HOST_CPULIST_ERROR_MALFORMED
#define RANGE HOST_CPULIST_ERROR_RANGE
#define OVERFLOW HOST_CPULIST_ERROR_OVERFLOW

static const Case cases[] = {
    /* Kernel dialect: what is right. */
    {"0-7:1/2", 8, K, "0,2,4,6", 0, 0},
    {"ALL:1/2", 8, K, "0,2,4,6", 0, 0},
    {"all", 8, K, "0-7", 0, 0},
    {"aLl", 3, K, "0-2", 0, 0},
    {"N", 8, K, "7", 0, 0},
    {"4-N", 8, K, "4-7", 0, 0},
    {"N-N", 8, K, "7", 0, 0},
    {"0-N:1/N", 8, K, "0,7", 0, 0},
    {"0-N:N/N", 8, K, "0-7", 0, 0},
    {"4-N", 16, K, "4-15", 0, 0},
    {"1,,5", 8, K, "1,5", 0, 0},
    {",44", 64, K, "44", 0, 0},
    {"", 8, K, "", 0, 0},
    {"", 0, K, "", 0, 0},
    {"\n", 8, K, "", 0, 0},
    {" , ,, ", 8, K, "", 0, 0},
    {"  2-3\n", 8, K, "2-3", 0, 0},
    {"1 3\t5", 8, K, "1,3,5", 0, 0},
    {"1, all , ", 4, K, "0-3", 0, 0},
    {"3-3", 8, K, "3", 0, 0},
    {"007", 8, K, "7", 0, 0},
    {"2-7:2/3", 8, K, "2-3,5-6", 0, 0},
    {"0-6:9/9", 8, K, "0-6", 0, 0},
    {"0-3:0/2", 8, K, "", 0, 0},
    {"5-7:1/4294967295", 8, K, "5", 0, 0},
    {"0-3:1/2 6", 8, K, "0,2,6", 0, 0},
    {"0-7:1/2N", 8, K, "0,2,4,6-7", 0, 0}, /* no separator is needed after a group */
    {"8191", 0, K, "8191", 0, 0},
    {"all", 8192, K, "0-8191", 0, 0},
    {"N", 100000, K, "8191", 0, 0},
    /* Kernel dialect: what is wrong, how, and where. */
    {",44", 8, K, NULL, RANGE, 2},
    {"8", 8, K, NULL, RANGE, 1},
    {"0,7-8", 8, K, NULL, RANGE, 5},
    {"9-10", 8, K, NULL, RANGE, 1},
    {"4-7", 4, K, NULL, RANGE, 1},
    {"2-7:1/2", 4, K, NULL, RANGE, 3},
    {"8192", 0, K, NULL, RANGE, 1},
    {"4294967295", 0, K, NULL, RANGE, 1},
    {"N", 0, K, NULL, RANGE, 1},
    {"4-N", 0, K, NULL, RANGE, 3},
    {"all", 0, K, NULL, RANGE, 1},
    {"4294967296", 8, K, NULL, OVERFLOW, 1},
    {"0-98765432109876543210:10/1", 8, K, NULL, OVERFLOW, 3},
    {"1-2:1/99999999999", 8, K, NULL, OVERFLOW, 7},
    {"0-6:3", 8, K, NULL, MALFORMED, 6},
    {"3-1", 8, K, NULL, MALFORMED, 3},
    {"30-10", 8, K, NULL, MALFORMED, 4}, /* as in the kernel, before its range is looked at */
    {"4-N", 4, K, NULL, MALFORMED, 3},
    {"0-3:5/4", 8, K, NULL, MALFORMED, 5},
    {"0-3:1/0", 8, K, NULL, MALFORMED, 7},
    {"0-3:0/0", 8, K, NULL, MALFORMED, 7},
    {"0-3:", 8, K, NULL, MALFORMED, 5},
    {"0-3:1/", 8, K, NULL, MALFORMED, 7},
    {"0-3:a/1", 8, K, NULL, MALFORMED, 5},
    {"0-3:1/2x", 8, K, NULL, MALFORMED, 8},
    {"last", 8, K, NULL, MALFORMED, 1},
    {"n", 8, K, NULL, MALFORMED, 1},
    {"4-n", 8, K, NULL, MALFORMED, 3},
    {"al", 8, K, NULL, MALFORMED, 1},
    {"alll", 8, K, NULL, MALFORMED, 4},
    {"all-3", 8, K, NULL, MALFORMED, 4},
    {"N:1/2", 8, K, NULL, MALFORMED, 2}, /* a group needs a range */
    {"3:1/2", 8, K, NULL, MALFORMED, 2},
    {"-1", 8, K, NULL, MALFORMED, 1},
    {"1-", 8, K, NULL, MALFORMED, 3},
    {"0-3-5", 8, K, NULL, MALFORMED, 4},
    {"0x3", 8, K, NULL, MALFORMED, 2},
    {"1 - 3", 8, K, NULL, MALFORMED, 3},
    {"+1", 8, K, NULL, MALFORMED, 1},
    {"1;2", 8, K, NULL, MALFORMED, 2},
    {"0\n5", 8, K, NULL, MALFORMED, 3},
    {"1\xa0", 8, K, NULL, MALFORMED, 2},
    {"0-4,^1", 8, K, NULL, MALFORMED, 5},
    {"(null)", 8, K, NULL, MALFORMED, 1},
    /* Tool dialect. */
    {"0-4,^1", 8, T, "0,2-4", 0, 0},
    {"1-3,!2", 8, T, "1,3", 0, 0},
    {"^2,1-3", 8, T, "1-3", 0, 0},
    {"^0", 8, T, "", 0, 0},
    {"0-7,^1-2,^6", 8, T, "0,3-5,7", 0, 0},
    {"0-3,^1,1", 8, T, "0-3", 0, 0},
    {"0-6:2", 8, T, "0,2,4,6", 0, 0},
    {"0-6:3", 8, T, "0,3,6", 0, 0},
    {"0-7,^0-7:2", 8, T, "1,3,5,7", 0, 0},
    {" 1 , 3-4 \n", 8, T, "1,3-4", 0, 0},
    {"", 8, T, "", 0, 0},
    {"N", 8, T, NULL, MALFORMED, 1},
    {"4-N", 16, T, NULL, MALFORMED, 3},
    {"all", 8, T, NULL, MALFORMED, 1},
    {"1,,5", 8, T, NULL, MALFORMED, 3},
    {"1,", 8, T, NULL, MALFORMED, 3},
    {"3-1", 8, T, NULL, MALFORMED, 3},
    {"4-3", 4, T, NULL, MALFORMED, 3},
    {"0-6:0", 8, T, NULL, MALFORMED, 5},
    {"3:2", 8, T, NULL, MALFORMED, 2},
    {"0-7:1/2", 8, T, NULL, MALFORMED, 6},
    {"^^1", 8, T, NULL, MALFORMED, 2},
    {"1 2", 8, T, NULL, MALFORMED, 3},
    {"0-3,^9", 8, T, NULL, RANGE, 6},
    {"^4294967296", 8, T, NULL, OVERFLOW, 2},
};

static void
test_grammar(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];
        g_autofree char *shown = g_strescape(c->text, NULL);
        g_test_message("%s for %u CPUs", shown, c->ncpus);
        g_autoptr(GError) error = NULL;
        g_autoptr(HostCpuset) set = host_cpulist_parse(c->text, c->dialect, c->ncpus, NULL, &error);
        if (c->list) {
            g_assert_no_error(error);
            g_autofree char *list = host_cpulist_format(set);
            g_assert_cmpstr(list, ==, c->list);
            continue;
        }
        g_assert_null(set);
        g_assert_error(error, HOST_CPULIST_ERROR, (int)c->code);
        g_autofree char *at = g_strdup_printf("character %u (", c->at);
        g_test_message("  %s", error->message);
        g_assert_nonnull(strstr(error->message, at));
        g_assert_true(g_str_has_prefix(error->message, c->dialect == K ? "kernel" : "tool"));
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
    }
}

static char *
parse_error(const char *text, HostCpulistDialect dialect, unsigned int ncpus)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) set = host_cpulist_parse(text, dialect, ncpus, NULL, &error);
    g_assert_null(set);
    return g_strdup(error->message);
}

/* A list of the other dialect is refused, never guessed, but the message has what to write. */
static void
test_conversion_is_suggested(void)
{
    g_autofree char *exclusion = parse_error("0-4,^1", K, 8);
    g_assert_nonnull(strstr(exclusion, "\"0,2-4\""));
    g_autofree char *other_mark = parse_error("1-3,!2", K, 8);
    g_assert_nonnull(strstr(other_mark, "\"1,3\""));
    g_autofree char *stride = parse_error("0-6:3", K, 8);
    g_assert_nonnull(strstr(stride, "\"0,3,6\""));
    g_autofree char *nothing = parse_error("^0", K, 8);
    g_assert_nonnull(strstr(nothing, "no CPU"));
    g_autofree char *unresolved = parse_error("4-N", T, 16);
    g_assert_nonnull(strstr(unresolved, "\"4-15\""));
    g_autofree char *neither = parse_error("3-1", K, 8);
    g_assert_null(strstr(neither, "write that"));
}

static void
test_shortfall(void)
{
    g_autofree char *none = parse_error("4-7", K, 4);
    g_assert_nonnull(strstr(none, "asked for 4-7, the machine has 0-3, nothing left"));
    g_autofree char *some = parse_error("2-7", T, 4);
    g_assert_nonnull(strstr(some, "asked for 2-7, the machine has 0-3, only 2-3 left"));
    g_autofree char *far = parse_error("2,90000", K, 4);
    g_assert_nonnull(strstr(far, "the machine has 0-3"));

    g_autofree char *excluded = parse_error("0-3,^9", T, 4);
    g_assert_nonnull(strstr(excluded, "the machine has 0-3"));
    g_autofree char *wrong_machine = parse_error("4-N", K, 4);
    g_assert_nonnull(strstr(wrong_machine, "4-3 (`N` is the last CPU"));

    g_autoptr(HostCpuset) asked = host_cpulist_parse("4-7", K, 0, NULL, NULL);
    g_autoptr(HostCpuset) have = host_cpulist_parse("0-3", K, 0, NULL, NULL);
    g_autofree char *why = host_cpuset_shortfall(asked, have, "host");
    g_assert_cmpstr(why, ==, "asked for 4-7, host has 0-3, nothing left");
    g_assert_null(host_cpuset_shortfall(have, have, "host"));
}

static guint
count_warnings(const char *text, HostCpulistDialect dialect)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) set = host_cpulist_parse(text, dialect, 8, warnings, &error);
    g_assert_no_error(error);
    g_assert_nonnull(set);
    return warnings->len;
}

static void
test_warnings(void)
{
    g_assert_cmpuint(count_warnings("0-4,^1", T), ==, 0);
    g_assert_cmpuint(count_warnings("^2,1-3", T), ==, 1);
    g_assert_cmpuint(count_warnings("^0", T), ==, 1);
    g_assert_cmpuint(count_warnings("1,^1,^1", T), ==, 1);
    g_assert_cmpuint(count_warnings("0-7:0/2", K), ==, 1);
    g_assert_cmpuint(count_warnings("0-7:1/2N", K), ==, 1);
    g_assert_cmpuint(count_warnings("0-7:1/2,N", K), ==, 0);
    g_assert_cmpuint(count_warnings("1,,5", K), ==, 0);
}

/* Lists from files: /proc/PID/status, thread_siblings_list. */
static void
test_status(void)
{
    static const struct {
        const char *status;
        const char *list; /* NULL: unknown */
    } lines[] = {
        {"Cpus_allowed_list:\t0-3,8", "0-3,8"},
        {"Cpus_allowed_list:\t5\n", "5"},
        {"Cpus_allowed_list:\t0,2,4\n", "0,2,4"},
        {"Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t1-2\nMems_allowed_list:\t0\n", "1-2"},
        {"Cpus_allowed_list:\t0-3,\xff\n", NULL},
        {"Cpus_allowed_list:\t\n", NULL},
        {"Cpus_allowed_list:", NULL},
        {"Name:\tCpus_allowed_list:\t1\n", NULL},
        {"Cpus_allowed:\tff\n", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(HostCpuset) set = host_cpulist_from_status(lines[i].status, &error);
        if (!lines[i].list) {
            g_assert_null(set);
            g_assert_error(error, HOST_CPULIST_ERROR, MALFORMED);
            continue;
        }
        g_assert_no_error(error);
        g_autofree char *list = host_cpulist_format(set);
        g_assert_cmpstr(list, ==, lines[i].list);
    }
}

static void
test_siblings(void)
{
    static const struct {
        const char *list;
        int threads;
    } shapes[] = {{"10-11\n", 2}, {"2,10\n", 2}, {"3\n", 1}, {"4-7\n", 4}};
    for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++) {
        g_autoptr(HostCpuset) set = host_cpulist_parse(shapes[i].list, K, 0, NULL, NULL);
        g_assert_cmpint(hwloc_bitmap_weight(set), ==, shapes[i].threads);
    }
}

static void
test_last(void)
{
    g_autoptr(HostCpuset) set = host_cpulist_parse("2,8191", K, 0, NULL, NULL);
    g_assert_cmpint(host_cpuset_last(set), ==, 8191);
    g_autoptr(HostCpuset) none = host_cpulist_parse("", K, 0, NULL, NULL);
    g_assert_cmpint(host_cpuset_last(none), ==, -1);
    g_assert_cmpint(host_cpuset_last(NULL), ==, -1);
    g_autofree char *text = host_cpulist_format(NULL);
    g_assert_cmpstr(text, ==, "");
}

/* What is printed reads back as the same set in both dialects, the widest text there is included.
 */
static void
test_round_trip(void)
{
    static const char *lists[] = {"0-N:1/2", "0-N:2/3", "all", "5,7,9-12,N", ""};
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
        g_autoptr(HostCpuset) set = host_cpulist_parse(lists[i], K, 8192, NULL, NULL);
        g_autofree char *text = host_cpulist_format(set);
        g_autoptr(HostCpuset) kernel = host_cpulist_parse(text, K, 8192, NULL, NULL);
        g_autoptr(HostCpuset) tool = host_cpulist_parse(text, T, 8192, NULL, NULL);
        g_assert_true(hwloc_bitmap_isequal(set, kernel));
        g_assert_true(hwloc_bitmap_isequal(set, tool));
    }
}

static void
test_bounds(void)
{
    g_autofree char *huge = g_strnfill(HOST_CPULIST_MAX_BYTES + 1, ',');
    g_autofree char *too_long = parse_error(huge, K, 8);
    g_assert_nonnull(strstr(too_long, "65536"));
    huge[HOST_CPULIST_MAX_BYTES] = '\0';
    g_autoptr(HostCpuset) set = host_cpulist_parse(huge, K, 8, NULL, NULL);
    g_assert_true(hwloc_bitmap_iszero(set));

    g_autofree char *odd = g_strnfill(5000, '1');
    g_autofree char *overflow = parse_error(odd, K, 8);
    g_assert_cmpuint(strlen(overflow), <, 400);

    g_autoptr(GString) many = g_string_new("^1");
    for (int i = 0; i < 1000; i++)
        g_string_append(many, ",^1");
    g_assert_cmpuint(count_warnings(many->str, T), ==, 16);
    g_autofree char *missing = parse_error(NULL, K, 8);
    g_assert_nonnull(strstr(missing, "no text"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/host/cpulist/grammar", test_grammar);
    g_test_add_func("/host/cpulist/conversion-is-suggested", test_conversion_is_suggested);
    g_test_add_func("/host/cpulist/shortfall", test_shortfall);
    g_test_add_func("/host/cpulist/warnings", test_warnings);
    g_test_add_func("/host/cpulist/status", test_status);
    g_test_add_func("/host/cpulist/siblings", test_siblings);
    g_test_add_func("/host/cpulist/last", test_last);
    g_test_add_func("/host/cpulist/round-trip", test_round_trip);
    g_test_add_func("/host/cpulist/bounds", test_bounds);
    return g_test_run();
}
