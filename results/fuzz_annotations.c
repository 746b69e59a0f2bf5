/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Annotations: what is read must be written and read again to the same text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/annotations.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GPtrArray) all = res_annotations_from_json((const char *)data, size, NULL);
    if (all == NULL) {
        return 0;
    }
    g_autofree char *json = res_annotations_to_json(all);
    g_autoptr(GPtrArray) back = res_annotations_from_json(json, strlen(json), NULL);
    g_autofree char *again = back != NULL ? res_annotations_to_json(back) : NULL;
    if (g_strcmp0(json, again) != 0) {
        abort();
    }
    return 0;
}
