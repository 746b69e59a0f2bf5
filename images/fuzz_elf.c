/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A damaged library or module is refused or read, and never leads outside its bytes. */
#include <stdint.h>

#include "images/elf_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GBytes) bytes = g_bytes_new(data, size);
    g_autoptr(GError) error = NULL;
    g_autoptr(ImgElf) elf = img_elf_parse(bytes, "fuzz", &error);
    g_autofree char *vermagic = img_elf_modinfo(bytes, "fuzz", "vermagic", NULL);

    g_assert_true((elf == NULL) == (error != NULL));
    return 0;
}
