/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibration files: what is read must be written and read again to the same text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/calibration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(ResCalibration) c = res_calibration_from_json((const char *)data, size, NULL);
    if (c == NULL) {
        return 0;
    }
    g_autofree char *json = res_calibration_to_json(c);
    g_autoptr(ResCalibration) back = res_calibration_from_json(json, strlen(json), NULL);
    g_autofree char *again = back != NULL ? res_calibration_to_json(back) : NULL;
    if (g_strcmp0(json, again) != 0) {
        abort();
    }
    return 0;
}
