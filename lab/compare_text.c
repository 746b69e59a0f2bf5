/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison for people. */
#include <math.h>

#include "lab/compare.h"
#include "lab/text.h"

/* An end of an interval: open ones are said to be. */
static char *
end_text(double value)
{
    if (isinf(value))
        return g_strdup(value > 0 ? "inf" : "-inf");
    return lab_figure(value);
}

static char *
interval_text(const ResInterval *i)
{
    g_autofree char *value = end_text(i->value), *low = end_text(i->low), *high = end_text(i->high);
    return g_strdup_printf("%s [%s .. %s]", value, low, high);
}

static const char *
estimate_words(ResEstimate e)
{
    switch (e) {
    case RES_ESTIMATE_COUNT:
        return "means over boots";
    case RES_ESTIMATE_SHARE:
        return "mean shares over boots";
    case RES_ESTIMATE_QUANTILE:
        return "quantiles of all boots, intervals by bootstrap over boots";
    default:
        return "medians over boots, shift by Hodges and Lehmann";
    }
}

static void
append_one(GString *out, const ResComparison *c)
{
    g_autofree char *a = lab_figure(c->a), *b = lab_figure(c->b);
    g_autofree char *metric = lab_printable(c->metric), *cell = lab_printable(c->cell);
    g_autofree char *unit = lab_printable(c->unit), *reason = lab_printable(c->reason);
    g_autofree char *next = lab_printable(c->next);
    g_autofree char *shift = interval_text(&c->shift), *ratio = interval_text(&c->ratio);

    g_string_append_printf(out, "%-12s %s%s%s: %s%s -> %s%s %s\n", res_verdict_name(c->verdict),
                           metric, *cell ? " " : "", cell, c->censored_a ? ">= " : "", a,
                           c->censored_b ? ">= " : "", b, unit);
    g_string_append_printf(out,
                           "             shift %s %s, ratio %s, confidence %.4g%%\n"
                           "             %u and %u boots, fidelity %s; %s\n",
                           shift, unit, ratio, c->confidence * 100, c->na, c->nb,
                           res_fidelity_name(c->fidelity), estimate_words(c->estimate));
    g_string_append_printf(out, "             why: %s\n", reason);
    if (*next)
        g_string_append_printf(out, "             now: %s\n", next);
}

static const char *
difference_words(ResDifferenceKind k)
{
    static const char *const words[] = {"not meant to vary", "allowed to vary", "varied",
                                        "of no matter here"};
    return words[k];
}

static void
append_differences(GString *out, const GPtrArray *differences)
{
    for (guint i = 0; i < differences->len; i++) {
        const ResDifference *d = differences->pdata[i];
        g_autofree char *key = lab_printable(d->key), *a = lab_printable(d->a);
        g_autofree char *b = lab_printable(d->b);
        if (i == 0)
            g_string_append(out, "What else differs between the two:\n");
        if (d->kind != RES_DIFFERENCE_HARMLESS)
            g_string_append_printf(out, "  %s%s (%s): A %s; B %s\n",
                                   d->parameter ? "profile key " : "", key,
                                   difference_words(d->kind), a, b);
    }
}

static void
append_tally(GString *out, const ResCompareResult *r)
{
    guint n[RES_VERDICT_DIFFERENT + 1] = {0};
    const char *separator = "";

    for (guint i = 0; i < r->comparisons->len; i++)
        n[((const ResComparison *)r->comparisons->pdata[i])->verdict]++;
    for (guint v = 0; v < G_N_ELEMENTS(n); v++) {
        if (n[v])
            g_string_append_printf(out, "%s%u %s", separator, n[v], res_verdict_name(v));
        separator = out->len && n[v] ? ", " : separator;
    }
    g_string_append_printf(
        out,
        ".\nFalse discovery rate %g%% over %u metrics with a better and a worse; intervals of "
        "%g%%.\nTo reach it a rank test takes 5 boots a side for one metric, 8 for twenty "
        "(results/calibration.md).\nResampling: seed %" G_GUINT64_FORMAT ", %u draws.\n",
        r->alpha * 100, r->judged, 100 - r->alpha * 100, r->seed, r->resamples);
}

static gboolean
worth_listing(const GPtrArray *differences)
{
    for (guint i = 0; i < differences->len; i++) {
        if (((const ResDifference *)differences->pdata[i])->kind != RES_DIFFERENCE_HARMLESS)
            return TRUE;
    }
    return FALSE;
}

char *
lab_compare_text(const ResCompareResult *r)
{
    GString *out = g_string_new(NULL);

    if (worth_listing(r->differences)) {
        append_differences(out, r->differences);
        g_string_append_c(out, '\n');
    }
    for (guint i = 0; i < r->notes->len; i++) {
        g_autofree char *line = lab_printable(r->notes->pdata[i]);
        g_string_append_printf(out, "%s\n%s", line, i + 1 == r->notes->len ? "\n" : "");
    }
    for (guint i = 0; i < r->comparisons->len; i++)
        append_one(out, r->comparisons->pdata[i]);
    g_string_append_c(out, '\n');
    append_tally(out, r);
    return g_string_free(out, FALSE);
}
