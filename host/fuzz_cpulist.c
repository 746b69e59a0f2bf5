/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both dialects: no crash, nothing out of range, and every set reads back from its own text. */
#include "host/cpulist.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
try_list(const char *text, HostCpulistDialect dialect, unsigned int ncpus)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) set = host_cpulist_parse(text, dialect, ncpus, warnings, &error);
    if (!set != !!error)
        abort();
    if (!set) {
        if (error->domain != HOST_CPULIST_ERROR || !g_utf8_validate(error->message, -1, NULL))
            abort();
        return;
    }
    int last = ncpus ? (int)ncpus - 1 : HOST_CPULIST_MAX_CPU;
    if (host_cpuset_last(set) > last)
        abort();
    g_autofree char *list = host_cpulist_format(set);
    g_autoptr(HostCpuset) again = host_cpulist_parse(list, dialect, ncpus, NULL, NULL);
    if (!again || !hwloc_bitmap_isequal(set, again))
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned int machines[] = {0, 1, 4, 8192};
    if (!size)
        return 0;
    unsigned int ncpus = machines[data[0] & 3];
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
    try_list(text, data[0] & 4 ? HOST_CPULIST_TOOL : HOST_CPULIST_KERNEL, ncpus);
    g_autoptr(HostCpuset) allowed = host_cpulist_from_status(text, NULL);
    return 0;
}
