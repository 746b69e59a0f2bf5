/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a bundle: an error or runs whose files are those their records name. */
#include <stdint.h>

#include "lab/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) runs = lab_bundle_read((const char *)data, size, &error);

    if (!runs != !!error)
        __builtin_trap();
    for (guint i = 0; runs && i < runs->len; i++) {
        const LabBundleRun *run = runs->pdata[i];
        for (guint k = 0; k < run->record->evidence->len; k++)
            if (!g_hash_table_contains(run->files, run->record->evidence->pdata[k]))
                __builtin_trap();
    }
    return 0;
}
