/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histogram files: what is read must be written and read again to the same text, and answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/hist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GPtrArray) hists = res_hist_from_json((const char *)data, size, NULL);
    if (hists == NULL) {
        return 0;
    }
    g_autofree char *json = res_hist_to_json(hists);
    g_autoptr(GPtrArray) back = res_hist_from_json(json, strlen(json), NULL);
    g_autofree char *again = back != NULL ? res_hist_to_json(back) : NULL;
    if (g_strcmp0(json, again) != 0) {
        abort();
    }
    g_autoptr(ResHist) all = res_hist_merge_all(hists, NULL);
    static const double qs[] = {0.001, 0.5, 0.99, 0.999999, 1};
    for (gsize i = 0; all != NULL && i < G_N_ELEMENTS(qs); i++) {
        ResQuantile q;
        if (res_hist_quantile(all, qs[i], 0.99, &q) && !(q.low <= q.high)) {
            abort();
        }
    }
    return 0;
}
