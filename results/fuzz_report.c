/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's report is hostile input: whatever comes, in whatever pieces, is read or refused, alike
 * each time. */
#include "results/report.h"

#include <stdint.h>
#include <stdlib.h>

static guint barriers;

static void
count_barrier(const char *name, gpointer data)
{
    (void)data;
    barriers += name[0] != '\0';
}

static ResReport *
read_report(const uint8_t *data, size_t size, size_t step, gboolean *good)
{
    ResReport *r = res_report_new(count_barrier, NULL);

    *good = TRUE;
    for (size_t at = 0; at < size; at += step)
        *good = res_report_feed(r, (const char *)data + at, MIN(step, size - at), NULL);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gboolean good, good_again;
    g_autoptr(ResReport) once = read_report(data, size, size + 1, &good);
    g_autoptr(ResReport) pieces =
        read_report(data, size, size > 0 ? 1 + data[0] % 16 : 1, &good_again);
    const GPtrArray *workloads = res_report_workloads(once);

    if (good != good_again || res_report_ended(once) != res_report_ended(pieces) ||
        workloads->len != res_report_workloads(pieces)->len)
        abort();
    if (res_report_check_complete(once, NULL) && !res_report_ended(once))
        abort();
    for (guint i = 0; i < workloads->len; i++) {
        const ResWorkload *w = workloads->pdata[i];

        if (!g_utf8_validate_len(w->output->str, w->output->len, NULL))
            abort();
        if (res_report_ended(once) && w->status < 0 && res_report_failure(once) == NULL)
            abort();
    }
    return 0;
}
