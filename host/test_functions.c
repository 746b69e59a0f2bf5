/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls as the tracer tells of them, by hand: whose time is whose. */
#include "host/functions.h"

#include <string.h>

#define PARENT 0x10
#define CHILD 0x20
#define OTHER 0x30
static const char kallsyms[] = "0000000000000010 T parent\n0000000000000020 t child\t[kvm]\n"
                               "0000000000000028 T no_one\nnonsense\n0000000000000030 x\n";

static const HostFunctionCount *
find(const GPtrArray *counts, guint64 address)
{
    for (guint i = 0; i < counts->len; i++) {
        const HostFunctionCount *c = counts->pdata[i];
        if (c->address == address)
            return c;
    }
    return NULL;
}

static void
test_tree(void)
{
    g_autoptr(HostFunctionTree) t = host_function_tree_new();

    /* parent [0, 100] calls child twice; another task's calls come between */
    host_function_tree_add(t, 1, 1, CHILD, 10, 30);
    host_function_tree_add(t, 2, 1, CHILD, 15, 16);
    host_function_tree_add(t, 1, 1, CHILD, 40, 50);
    host_function_tree_add(t, 1, 0, PARENT, 0, 100);
    /* and a second time it calls nothing */
    host_function_tree_add(t, 1, 0, PARENT, 200, 205);
    host_function_tree_add(t, 2, 0, OTHER, 14, 20);
    g_autoptr(GPtrArray) counts = host_function_tree_counts(t, kallsyms);
    g_assert_cmpuint(counts->len, ==, 3);
    const HostFunctionCount *c = find(counts, PARENT);
    g_assert_cmpstr(c->name, ==, "parent");
    g_assert_cmpuint(c->calls, ==, 2);
    const HostFunctionCall *first = &g_array_index(c->sample, HostFunctionCall, 0);
    g_assert_cmpuint(first->self_ns, ==, 70);
    g_assert_cmpuint(first->children, ==, 2);
    g_assert_cmpuint(g_array_index(c->sample, HostFunctionCall, 1).self_ns, ==, 5);
    c = find(counts, CHILD);
    g_assert_cmpstr(c->name, ==, "child");
    g_assert_cmpuint(c->calls, ==, 3);
    c = find(counts, OTHER);
    g_assert_cmpstr(c->name, ==, "?");
    g_assert_cmpuint(g_array_index(c->sample, HostFunctionCall, 0).self_ns, ==, 5);
}

/* Depths no tracer has, ends before beginnings, callees longer than their caller. */
static void
test_nonsense(void)
{
    g_autoptr(HostFunctionTree) t = host_function_tree_new();

    host_function_tree_add(t, 1, -1, CHILD, 0, 1);
    host_function_tree_add(t, 1, 100000, CHILD, 0, 1);
    host_function_tree_add(t, 1, 0, CHILD, 2, 1);
    host_function_tree_add(t, 1, 1, OTHER, 0, G_MAXUINT64);
    host_function_tree_add(t, 1, 1, OTHER, 0, G_MAXUINT64);
    host_function_tree_add(t, 1, 0, PARENT, 5, 9);
    for (guint i = 0; i < 5000; i++)
        host_function_tree_add(t, 3, 0, CHILD, 0, 1);
    g_autoptr(GPtrArray) counts = host_function_tree_counts(t, "");
    const HostFunctionCount *c = find(counts, PARENT);
    g_assert_cmpuint(g_array_index(c->sample, HostFunctionCall, 0).self_ns, ==, 0);
    c = find(counts, CHILD);
    g_assert_cmpuint(c->calls, ==, 5000);
    g_assert_cmpuint(c->sample->len, ==, HOST_FUNCTION_SAMPLE);
    g_assert_cmpstr(c->name, ==, "?");
}

/* A tracer that adds 100 to each call and 50 to its caller; one call is hit by an interrupt. */
static void
test_overhead(void)
{
    g_autoptr(HostFunctionTree) t = host_function_tree_new();
    double inside, outside;

    for (guint i = 0; i < 5; i++) {
        guint64 at = i * 10000, more = i == 2 ? 5000 : 0;
        host_function_tree_add(t, 1, 1, OTHER, at + 10, at + 110); /* an empty leaf */
        host_function_tree_add(t, 1, 0, CHILD, at, at + 250);      /* calls it, nothing else */
        host_function_tree_add(t, 1, 1, OTHER, at + 1000, at + 1100);
        host_function_tree_add(t, 1, 0, PARENT, at + 990,
                               at + 1290 + more); /* and fifty of its own */
    }
    g_autoptr(GPtrArray) counts = host_function_tree_counts(t, kallsyms);
    host_functions_overhead(counts, &inside, &outside);
    g_assert_cmpfloat(inside, ==, 100);
    g_assert_cmpfloat(outside, ==, 50);
    g_assert_cmpfloat(host_function_own(find(counts, OTHER), inside, outside), ==, 0);
    g_assert_cmpfloat(host_function_own(find(counts, CHILD), inside, outside), ==, 0);
    g_assert_cmpfloat(host_function_own(find(counts, PARENT), inside, outside), ==, 50);

    g_autoptr(HostFunctionTree) none = host_function_tree_new();
    g_autoptr(GPtrArray) nothing = host_function_tree_counts(none, kallsyms);
    host_functions_overhead(nothing, &inside, &outside);
    g_assert_cmpfloat(inside, ==, 0);
    g_assert_cmpfloat(outside, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/tree", test_tree);
    g_test_add_func("/functions/nonsense", test_nonsense);
    g_test_add_func("/functions/overhead", test_overhead);
    return g_test_run();
}
