/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store's figures over time. */
#include "results/store_private.h"

typedef struct {
    const char *metric, *profile;
} Figures;

static GPtrArray *
ask_series(ResIndex *index, gconstpointer data, GError **error)
{
    const Figures *f = data;
    return res_index_series(index, f->metric, f->profile, error);
}

GPtrArray *
res_store_series(ResStore *s, const char *metric, const char *profile, GError **error)
{
    const Figures f = {metric, profile};
    return res_store_ask_index(s, ask_series, &f, error);
}

GPtrArray *
res_store_metrics(ResStore *s, GError **error)
{
    return res_store_ask(s, RES_STORE_METRICS, NULL, 0, error);
}
