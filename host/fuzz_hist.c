/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every text of the kernel that observers read: no crash, and what was read agrees with itself. */
#include "host/observe_hist.h"
#include "host/observe_interrupts.h"
#include "host/observe_private.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(gboolean ok)
{
    if (!ok)
        abort();
}

static void
check_error(const GError *error)
{
    check(error && g_utf8_validate(error->message, -1, NULL));
}

static void
try_hist(const char *text, gsize len, const char *const *keys, guint n_keys, const char *value)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostHist) h = host_hist_parse(text, len, keys, n_keys, value, &error);

    if (!h) {
        check_error(error);
        return;
    }
    check(!error && h->entries->len <= HOST_HIST_MAX_ENTRIES);
    /* No key set twice. */
    g_autoptr(GHashTable) index = host_hist_index_new();
    g_autoptr(HostHist) again = host_hist_new();
    for (guint i = 0; i < h->entries->len; i++) {
        const HostHistEntry *e = &g_array_index(h->entries, HostHistEntry, i);
        check(host_hist_add(again, index, e->keys, e->hits, e->sum));
    }
    check(again->entries->len == h->entries->len);
}

static void
try_interrupts(const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) cpus = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(cpus, 1, 3);
    g_autoptr(HostInterrupts) i = host_interrupts_parse(text, cpus, &error);
    g_autoptr(GArray) counts = host_interrupt_counts_new();

    if (!i) {
        check_error(error);
        return;
    }
    host_interrupts_delta(i, i, FALSE, counts, NULL);
    for (guint n = 0; n < counts->len; n++) {
        const HostInterruptCount *c = &g_array_index(counts, HostInterruptCount, n);
        check(hwloc_bitmap_isset(cpus, c->cpu) && c->count > 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const exits[] = {"exit_reason", "common_pid", "common_cpu"};
    static const char *const cpus[] = {"common_cpu"};
    static const char *const functions[] = {"apic_timer_fn", NULL};
    guint64 entries, lost;

    if (!size)
        return 0;
    const char *bytes = (const char *)data + 1;
    g_autofree char *text = g_strndup(bytes, size - 1);
    g_autoptr(GError) error = NULL;
    switch (data[0] % 5) {
    case 0:
        try_hist(bytes, size - 1, exits, 3, "isa");
        break;
    case 1:
        try_hist(bytes, size - 1, cpus, 1, NULL);
        break;
    case 2:
        try_interrupts(text);
        break;
    case 3:
        if (!host_trace_stats_parse(text, &entries, &lost, &error))
            check_error(error);
        break;
    default: {
        g_autoptr(GArray) found = host_kallsyms_find(text, functions);
        for (guint i = 0; found && i < found->len; i++)
            check(g_array_index(found, guint64, i) != 0);
        break;
    }
    }
    return 0;
}
