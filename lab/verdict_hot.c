/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/verdict_hot.h"

#include <string.h>

#include "lab/text.h"

#define ROWS 12 /* the rest is in the runs' folders */
#define INFIX ".in."

/* The figure per call of the workload that S, "WORKLOAD.in.FUNCTION", is of; 0: none. */
static double
per_call(const LabVerdictCell *c, const ResSummary *s)
{
    const char *infix = strstr(s->name, INFIX);
    g_autofree char *name = g_strdup_printf("%.*s.per_call", (int)(infix - s->name), s->name);

    for (guint i = 0; i < c->summaries->len; i++) {
        const ResSummary *other = c->summaries->pdata[i];
        if (g_str_equal(other->name, name))
            return other->median;
    }
    return 0;
}

static gboolean
is_hot(const LabVerdictCell *c, const ResSummary *s)
{
    return strstr(s->name, INFIX) && per_call(c, s) > 0;
}

static gboolean
same_workload(const ResSummary *a, const ResSummary *b)
{
    gsize n = (gsize)(strstr(a->name, INFIX) - a->name) + strlen(INFIX);
    return strncmp(a->name, b->name, n) == 0;
}

/* The summaries come in the order of the first run's metrics: the most first. */
static void
append_rows(GString *out, const LabVerdictCell *c, guint first)
{
    const ResSummary *head = c->summaries->pdata[first];
    const char *infix = strstr(head->name, INFIX);
    g_autofree char *cell = lab_printable(*c->name ? c->name : "-");
    guint rows = 0;

    g_string_append_printf(out, "hot functions of %.*s, %s\n", (int)(infix - head->name),
                           head->name, cell);
    for (guint i = first; i < c->summaries->len && rows < ROWS; i++) {
        const ResSummary *s = c->summaries->pdata[i];
        if (!is_hot(c, s) || !same_workload(head, s))
            continue;
        g_autofree char *function = lab_printable(strstr(s->name, INFIX) + strlen(INFIX));
        g_autofree char *figure = lab_figure(s->median);
        g_string_append_printf(out, "  %8s insns  %5.1f%%  %s\n", figure,
                               100 * s->median / per_call(c, s), function);
        rows++;
    }
    g_string_append_c(out, '\n');
}

void
lab_verdict_append_hot(GString *out, const LabVerdict *v)
{
    for (guint i = 0; i < v->cells->len; i++) {
        const LabVerdictCell *c = v->cells->pdata[i];
        const ResSummary *last = NULL;
        for (guint k = 0; k < c->summaries->len; k++) {
            const ResSummary *s = c->summaries->pdata[k];
            if (!is_hot(c, s) || (last && same_workload(last, s)))
                continue;
            append_rows(out, c, k);
            last = s;
        }
    }
}
