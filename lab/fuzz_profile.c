/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a profile: an error or a profile, never a crash; the same bytes give the same hash.
 */
#include <stdint.h>
#include <string.h>

#include "lab/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LabProfile) p =
        lab_profile_parse((const char *)data, size, "fuzz", NULL, NULL, &error);

    if (!p != !!error)
        __builtin_trap();
    if (error && !g_utf8_validate(error->message, -1, NULL))
        __builtin_trap();
    if (!p)
        return 0;
    g_autoptr(LabProfile) again =
        lab_profile_parse((const char *)data, size, "fuzz", NULL, NULL, NULL);
    if (!again || strcmp(lab_profile_sha256(p), lab_profile_sha256(again)) != 0)
        __builtin_trap();
    return 0;
}
