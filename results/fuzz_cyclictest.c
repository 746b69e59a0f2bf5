/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cyclictest's output: what is accepted must hold together. */
#include <stdint.h>
#include <stdlib.h>

#include "results/cyclictest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const ResLatency *c)
{
    for (guint i = 0; i < c->threads->len; i++) {
        const ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        gint64 latency = 0;
        res_latency_quantile(t, 0.99, &latency);
        if (t->min_ns < 0 || t->max_ns < t->min_ns || t->cycles == 0 || latency < 0) {
            abort();
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(ResLatency) c = res_cyclictest_parse((const char *)data, size, NULL);
    if (c == NULL) {
        return 0;
    }
    check(c);
    if (res_cyclictest_set_cmdline(c, "cyclictest -b 100 -l 500 -h 30", NULL)) {
        check(c);
    }
    return 0;
}
