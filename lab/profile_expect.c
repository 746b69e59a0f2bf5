/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expectations at load: their syntax, and that their metrics and selectors exist in this profile.
 */
#include <string.h>

#include "lab/expect_parse.h"
#include "lab/profile_private.h"

typedef struct {
    LabProfile *profile;
    const LabExpectLine *line;
} Check;

static gboolean G_GNUC_PRINTF(5, 6) refuse(const Check *c, GError **error, LabProfileError code,
                                           int column, const char *format, ...)
{
    const LabExpectLine *e = c->line;
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, LAB_PROFILE_ERROR, code, "%s:%d:%d: [expect] %s", e->public.file,
                e->public.line, e->column + column - 1, message);
    return FALSE;
}

static gboolean
check_workload(const Check *c, const LabNode *n, GError **error)
{
    const GPtrArray *sections = c->profile->layer->sections;
    g_autofree char *workload = g_strndup(n->metric, strcspn(n->metric, "."));
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (guint i = 0; i < sections->len; i++) {
        const char *name =
            lab_workload_name(((const LabSection *)g_ptr_array_index(sections, i))->name);
        if (name && strcmp(name, workload) == 0)
            return TRUE;
        if (name)
            g_ptr_array_add(names, (gpointer)name);
    }
    g_autofree char *hint = lab_near_hint(workload, names);
    return refuse(c, error, LAB_PROFILE_ERROR_KEY, n->column, "`%s': there is no [workload %s]%s",
                  n->metric, workload, hint);
}

static GPtrArray *
value_names(const LabAxis *a)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < a->values->len; i++)
        g_ptr_array_add(names, ((const LabSetting *)g_ptr_array_index(a->values, i))->value);
    return names;
}

/* A matrix changed by --set may have lost the value, which is no mistake of the profile. */
static gboolean
check_value(const Check *c, const LabAxis *a, const LabExpectSelector *s, int column,
            GError **error)
{
    if (lab_axis_position(a, s->value) >= 0)
        return TRUE;
    if (a->from_set) {
        lab_warn(c->profile, "%s:%d: [expect] %s=%s is not in the matrix as set: cannot be told",
                 c->line->public.file, c->line->public.line, s->axis, s->value);
        return TRUE;
    }
    g_autoptr(GPtrArray) names = value_names(a);
    g_autofree char *hint = lab_near_hint(s->value, names);
    return refuse(c, error, LAB_PROFILE_ERROR_VALUE, column,
                  "`%s=%s': not a value of that axis, nor a position from 0 to %u%s", s->axis,
                  s->value, a->values->len - 1, hint);
}

static gboolean
check_axis(const Check *c, const LabExpectSelector *s, int column, GError **error)
{
    const LabAxis *a = lab_axis_find(c->profile, s->axis);

    if (a)
        return check_value(c, a, s, column, error);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < c->profile->axes->len; i++)
        g_ptr_array_add(names, ((const LabAxis *)g_ptr_array_index(c->profile->axes, i))->name);
    g_autofree char *hint = lab_near_hint(s->axis, names);
    return refuse(c, error, LAB_PROFILE_ERROR_KEY, column, "[matrix] has no axis `%s'%s", s->axis,
                  hint);
}

static gboolean
selects(const LabNode *n, const char *axis)
{
    for (guint i = 0; i < n->selectors->len; i++)
        if (strcmp(((const LabExpectSelector *)g_ptr_array_index(n->selectors, i))->axis, axis) ==
            0)
            return TRUE;
    return FALSE;
}

/* Outside spread() every axis of more than one value has to be named, but for the one, OPEN, that
 * slope() goes along. */
static gboolean
check_one_cell(const Check *c, const LabNode *n, const char *open, GError **error)
{
    for (guint i = 0; i < c->profile->axes->len; i++) {
        const LabAxis *a = g_ptr_array_index(c->profile->axes, i);
        if (a->values->len < 2 || selects(n, a->name) || g_strcmp0(a->name, open) == 0)
            continue;
        if (a->from_set) { /* no mistake of the profile either */
            lab_warn(c->profile,
                     "%s:%d: [expect] %s stands for %u cells of the axis %s as set: cannot be told",
                     c->line->public.file, c->line->public.line, n->metric, a->values->len,
                     a->name);
            continue;
        }
        return refuse(c, error, LAB_PROFILE_ERROR_VALUE, n->column,
                      "%s stands for %u cells: say which %s, as in %s(%s=%s)", n->metric,
                      a->values->len, a->name, n->metric, a->name,
                      ((const LabSetting *)g_ptr_array_index(a->values, 0))->value);
    }
    return TRUE;
}

static gboolean
check_metric(const Check *c, const LabNode *n, gboolean one_cell, const char *open, GError **error)
{
    if (!check_workload(c, n, error))
        return FALSE;
    for (guint i = 0; i < n->selectors->len; i++) {
        const LabExpectSelector *s = g_ptr_array_index(n->selectors, i);
        int column = g_array_index(n->columns, int, i);
        for (guint j = 0; j < i; j++)
            if (strcmp(((const LabExpectSelector *)g_ptr_array_index(n->selectors, j))->axis,
                       s->axis) == 0)
                return refuse(c, error, LAB_PROFILE_ERROR_VALUE, column, "`%s' is selected twice",
                              s->axis);
        if (!check_axis(c, s, column, error))
            return FALSE;
    }
    return !one_cell || check_one_cell(c, n, open, error);
}

static gboolean
check_slope(const Check *c, const LabNode *n, GError **error)
{
    const LabNode *metric = g_ptr_array_index(n->args, 0);
    const LabExpectSelector along = {.axis = n->axis, .value = (char *)"0"};

    if (!check_axis(c, &along, n->axis_column, error) ||
        !check_metric(c, metric, TRUE, n->axis, error))
        return FALSE;
    if (selects(metric, n->axis))
        return refuse(c, error, LAB_PROFILE_ERROR_VALUE, n->axis_column,
                      "a slope along %s needs all its values: take %s=... out of the selectors",
                      n->axis, n->axis);
    return TRUE;
}

static gboolean
check_node(const Check *c, const LabNode *n, gboolean one_cell, GError **error)
{
    if (n->kind == LAB_NODE_METRIC)
        return check_metric(c, n, one_cell, NULL, error);
    if (n->kind == LAB_NODE_SLOPE)
        return check_slope(c, n, error);
    for (guint i = 0; i < n->args->len; i++)
        if (!check_node(c, g_ptr_array_index(n->args, i), n->kind != LAB_NODE_SPREAD, error))
            return FALSE;
    return TRUE;
}

static gboolean
check_line(LabProfile *p, const LabExpectLine *line, GError **error)
{
    const Check c = {p, line};
    g_autoptr(GError) inner = NULL;
    int column = 1;
    g_autoptr(LabExpression) e = lab_expression_parse(line->public.text, &column, &inner);

    if (!e)
        return refuse(&c, error, LAB_PROFILE_ERROR_SYNTAX, column, "%s", inner->message);
    return check_node(&c, e->left, TRUE, error) &&
           (!e->right || check_node(&c, e->right, TRUE, error));
}

/* A made-up name must not be one the profile gives to another line, but `expect 1' has a space, so
 * it never is. */
gboolean
lab_expectations_check(LabProfile *p, GError **error)
{
    for (guint i = 0; i < p->layer->expects->len; i++) {
        LabExpectLine *line = g_ptr_array_index(p->layer->expects, i);
        if (!line->named) {
            g_free(line->public.name);
            line->public.name = g_strdup_printf("expect %u", i + 1);
        }
        if (!check_line(p, line, error))
            return FALSE;
        g_ptr_array_add(p->expectations, line);
    }
    return TRUE;
}
