/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records: what is read must be written and read again to the same text. */
#include <stdint.h>
#include <stdlib.h>

#include "results/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(ResRecord) r = res_record_from_json((const char *)data, (gssize)size, NULL);
    if (r == NULL) {
        return 0;
    }
    g_autofree char *json = res_record_to_json(r, NULL);
    if (json == NULL) {
        abort();
    }
    g_autoptr(ResRecord) back = res_record_from_json(json, -1, NULL);
    g_autofree char *again = back != NULL ? res_record_to_json(back, NULL) : NULL;
    if (g_strcmp0(json, again) != 0) {
        abort();
    }
    return 0;
}
