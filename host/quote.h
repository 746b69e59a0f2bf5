/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Foreign text (command lines, kernel messages, profile values) inside our own messages. */
#include <glib.h>

/* At most MAX_BYTES of TEXT as valid UTF-8 on one line, control characters as `?` (a tab as a
 * space), with "..." when it was cut. NULL gives "". g_free. */
char *host_quote(const char *text, gsize max_bytes);
