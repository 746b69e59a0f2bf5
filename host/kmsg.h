/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Kernel messages as lines of text, from a console, dmesg or a report. */
#include <glib.h>

/* Where LINE's message starts: behind a "<6>", a "[    0.000000]" and a "[    T0]" (printk.caller),
 * all optional. White space of the message itself (some start with a tab) is passed over too. */
const char *host_kmsg_text(const char *line);

/* Whether the kernel names parameter NAME in LINE, one of its "Unknown kernel command line
 * parameters" (5.14 and newer). It lists what no part of it took: also what was refused. Quotes are
 * lost there, so a value with spaces can look like more parameters than it is. */
gboolean host_kmsg_is_unknown_param(const char *line, const char *name);
