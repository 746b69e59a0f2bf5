/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a tool's own histogram to ours. */
#include <math.h>

#include "results/latency.h"

/* What CENSORED samples from LIMIT on add up to, by the mean, within what they can. */
static guint64
censored_sum(const ResLatencyThread *t, const ResHist *h, gint64 limit, guint64 censored)
{
    double low = (double)limit * (double)censored, high = (double)t->max_ns * (double)censored;
    double rest = t->mean_doubtful ? low : t->mean_ns * (double)t->cycles - (double)res_hist_sum(h);
    return (guint64)llround(MIN(CLAMP(rest, low, high), (double)RES_HIST_COUNT_MAX));
}

ResHist *
res_latency_hist(const ResLatencyThread *t, const char *unit, gint64 limit_ns, GError **error)
{
    g_autofree char *name = t->cpu >= 0 ? g_strdup_printf("cpu%d", t->cpu) : g_strdup("");
    g_autoptr(ResHist) h = res_hist_new(unit, name);
    gint64 last = t->min_ns;
    for (guint i = 0; i < t->buckets->len; i++) {
        const ResLatencyBucket *b = &g_array_index(t->buckets, ResLatencyBucket, i);
        if (!res_hist_add(h, b->latency_ns, b->count, error)) {
            return NULL;
        }
        last = b->count > 0 ? MAX(last, b->latency_ns) : last;
    }
    if (t->cycles > res_hist_count(h)) {
        guint64 censored = t->cycles - res_hist_count(h);
        gint64 limit = MIN(MAX(limit_ns, last), t->max_ns);
        if (!res_hist_add_censored(h, limit, t->max_ns, censored,
                                   censored_sum(t, h, limit, censored), error)) {
            return NULL;
        }
    }
    return res_hist_widen(h, t->min_ns, t->max_ns, error) ? g_steal_pointer(&h) : NULL;
}
