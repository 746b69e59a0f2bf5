/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any command line: joining what was split gives the same parameters, and the findings are
 * printable. */
#include "host/cmdline.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_same(const GPtrArray *a, const GPtrArray *b)
{
    if (a->len != b->len)
        abort();
    for (guint i = 0; i < a->len; i++) {
        const HostParam *x = a->pdata[i];
        const HostParam *y = b->pdata[i];
        if (strcmp(x->name, y->name) || g_strcmp0(x->value, y->value))
            abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autoptr(GPtrArray) params = host_cmdline_split(text, NULL);
    g_autofree char *joined = host_cmdline_join(params);
    if (!joined)
        abort();
    g_autoptr(GPtrArray) again = host_cmdline_split(joined, NULL);
    check_same(params, again);
    if (!host_cmdline_equal(text, joined))
        abort();

    g_autoptr(GPtrArray) findings = host_cmdline_lint(text, size & 1 ? 4 : 0);
    for (guint i = 0; i < findings->len; i++) {
        const HostFinding *f = findings->pdata[i];
        if ((f->severity != 'E' && f->severity != 'W') || !g_utf8_validate(f->message, -1, NULL) ||
            !g_utf8_validate(f->param, -1, NULL))
            abort();
    }
    return 0;
}
