/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page's style and scripts, taken in by the assembler as they are. uPlot's come from npm
 * (results/npm.sh), below the build folder, which is in the include path. */
#include "results/page_html_private.h"

#define ASSET(name, path)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #name "\n"                                                                  \
            ".type " #name ", %object\n" #name ":\n"                                               \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection\n")

ASSET(res_page_css, "results/page.css");
ASSET(res_page_js, "results/page.js");
ASSET(res_uplot_css, "uplot/uPlot.min.css");
ASSET(res_uplot_js, "uplot/uPlot.iife.min.js");
ASSET(res_uplot_licence, "uplot/LICENSE");
