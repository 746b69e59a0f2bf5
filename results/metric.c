/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/metric.h"

static const char *const fidelity_names[] = {
    [RES_FIDELITY_TIME] = "time",
    [RES_FIDELITY_INSTRUCTIONS] = "instructions",
    [RES_FIDELITY_EVENTS] = "events",
    [RES_FIDELITY_FUNCTIONAL] = "functional",
};
static const char *const direction_names[] = {
    [RES_LOWER_IS_BETTER] = "lower",
    [RES_HIGHER_IS_BETTER] = "higher",
    [RES_NO_DIRECTION] = "none",
};

static int
name_index(const char *const *names, gsize n, const char *name)
{
    for (gsize i = 0; name != NULL && i < n; i++) {
        if (g_str_equal(names[i], name)) {
            return (int)i;
        }
    }
    return -1;
}

const char *
res_fidelity_name(ResFidelity f)
{
    return (gsize)f < G_N_ELEMENTS(fidelity_names) ? fidelity_names[f] : "?";
}

gboolean
res_fidelity_parse(const char *name, ResFidelity *f)
{
    int i = name_index(fidelity_names, G_N_ELEMENTS(fidelity_names), name);
    if (i < 0) {
        return FALSE;
    }
    *f = (ResFidelity)i;
    return TRUE;
}

const char *
res_direction_name(ResDirection d)
{
    return (gsize)d < G_N_ELEMENTS(direction_names) ? direction_names[d] : "?";
}

gboolean
res_direction_parse(const char *name, ResDirection *d)
{
    int i = name_index(direction_names, G_N_ELEMENTS(direction_names), name);
    if (i < 0) {
        return FALSE;
    }
    *d = (ResDirection)i;
    return TRUE;
}

ResMetric *
res_metric_new(const char *name, const char *unit, ResDirection direction, ResFidelity fidelity,
               double value, double min, double max, guint64 samples, const char *evidence)
{
    ResMetric *m = g_new0(ResMetric, 1);
    m->name = g_strdup(name);
    m->unit = g_strdup(unit);
    m->direction = direction;
    m->fidelity = fidelity;
    m->value = value;
    m->min = min;
    m->max = max;
    m->samples = samples;
    m->evidence = g_strdup(evidence);
    return m;
}

void
res_metric_free(ResMetric *m)
{
    if (m == NULL) {
        return;
    }
    g_free(m->name);
    g_free(m->unit);
    g_free(m->evidence);
    g_free(m);
}
