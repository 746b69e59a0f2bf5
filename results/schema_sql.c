/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * results/schema.sql as a C string. The assembler takes the file in as it is (found from the root
 * of the tree, where the build runs), so that the schema is one .sql file and needs no generator.
 */
#include "results/index.h"

__asm__(".pushsection .rodata\n"
        ".global res_index_schema\n"
        ".type res_index_schema, %object\n"
        "res_index_schema:\n"
        ".incbin \"results/schema.sql\"\n"
        ".byte 0\n"
        ".size res_index_schema, . - res_index_schema\n"
        ".popsection\n");
