/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a result file, whichever reader takes it: what is accepted must hold together. */
#include <stdint.h>
#include <stdlib.h>

#include "results/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const ResLatency *c)
{
    guint64 buckets = 0;
    for (guint i = 0; i < c->threads->len; i++) {
        const ResLatencyThread *t = g_ptr_array_index(c->threads, i);
        guint64 inside = t->overflows;
        for (guint k = 0; k < t->buckets->len; k++) {
            const ResLatencyBucket *b = &g_array_index(t->buckets, ResLatencyBucket, k);
            inside += b->count;
            if (b->count == 0 || b->latency_ns < 0 ||
                (k > 0 && b[-1].latency_ns >= b->latency_ns)) {
                abort();
            }
        }
        gint64 latency = 0;
        res_latency_quantile(t, 0.99, &latency);
        buckets += t->buckets->len;
        if (t->min_ns < 0 || t->max_ns < t->min_ns || t->cycles == 0 || inside > t->cycles ||
            latency < 0) {
            abort();
        }
    }
    if (c->threads->len == 0 || buckets > RES_LATENCY_BUCKETS_MAX) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const commands[] = {NULL, "cyclictest -q", "cyclictest -N -b 100 -l 5 -h 9"};
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(ResSource) source = res_source_from_memory((const char *)data, size);
        const char *tool = NULL;
        g_autoptr(ResLatency) c = res_import_read(source, commands[i], &tool, &error);
        if ((c == NULL) != (error != NULL) ||
            (error != NULL && !g_utf8_validate(error->message, -1, NULL)) ||
            (c != NULL && tool == NULL)) {
            abort();
        }
        if (c == NULL && i == 0) {
            return 0;
        }
        if (c != NULL) {
            check(c);
        }
    }
    return 0;
}
