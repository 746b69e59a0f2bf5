/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file in /boot that only looks like a kernel; what is accepted has a release fit for a file
 * name. */
#include <stdint.h>
#include <string.h>

#include "images/bzimage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GError) error = NULL;
    gsize head = MIN(size, IMG_BZIMAGE_HEAD_BYTES);
    g_autoptr(ImgBzimage) image = img_bzimage_parse(data, head, size, "fuzz", &error);

    g_assert_true((image == NULL) == (error != NULL));
    if (image)
        g_assert_true(*image->release && *image->release != '.' && !strchr(image->release, '/'));
    return 0;
}
