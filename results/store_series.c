/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store's figures over time. */
#include "results/store_private.h"

GPtrArray *
res_store_series(ResStore *s, const char *metric, const char *profile, GError **error)
{
    g_autoptr(GError) failed = NULL;
    if (!res_store_ready_index(s, error)) {
        return NULL;
    }
    GPtrArray *series = res_index_series(s->index, metric, profile, &failed);
    if (series != NULL) {
        return series;
    }
    res_store_lock(s, LOCK_EX);
    gboolean healed = res_store_heal_index(s, failed, error);
    res_store_lock(s, LOCK_UN);
    if (!healed) {
        return NULL;
    }
    g_clear_error(&failed);
    series = res_index_series(s->index, metric, profile, &failed);
    if (series == NULL) {
        res_store_index_error(failed, error);
    }
    return series;
}

GPtrArray *
res_store_metrics(ResStore *s, GError **error)
{
    return res_store_ask(s, RES_STORE_METRICS, NULL, 0, error);
}
