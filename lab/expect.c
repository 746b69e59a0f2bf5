/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/expect.h"

#include <math.h>

#include "lab/expect_parse.h"
#include "results/compare.h"
#include "results/metric.h"
#include "results/slope.h"

#define SLOPE_CONFIDENCE 0.99

void
lab_expect_data_free(LabExpectData *d)
{
    if (!d)
        return;
    g_free(d->cell);
    g_free(d->unit);
    g_clear_pointer(&d->values, g_array_unref);
    g_clear_pointer(&d->axes, g_hash_table_unref);
    g_free(d);
}

void
lab_expect_result_free(LabExpectResult *r)
{
    if (!r)
        return;
    g_free(r->reason);
    g_free(r);
}

/* A figure with its interval. Unknown ones carry NaN and leave the reason in the Evaluation. */
typedef struct {
    double value, low, high;
    const char *unit; /* interned; NULL: none, or mixed */
} Figure;

typedef struct {
    LabExpectLookup lookup;
    gpointer data;
    char *unknown;      /* why it cannot be told: the first reason met */
    const char *metric; /* the first one with figures, which the others must match */
    int fidelity;
} Evaluation;

static Figure
figure_of(double value)
{
    return (Figure){value, value, value, NULL};
}

static Figure G_GNUC_PRINTF(2, 3) unknown(Evaluation *e, const char *format, ...)
{
    if (!e->unknown) {
        va_list args;
        va_start(args, format);
        e->unknown = g_strdup_vprintf(format, args);
        va_end(args);
    }
    return figure_of(NAN);
}

static gboolean
figure_known(const Figure *f)
{
    return isfinite(f->value) && isfinite(f->low) && isfinite(f->high);
}

/* The one place that lets a result of arithmetic through: overflow ends as "cannot tell". */
static Figure
checked(Evaluation *e, Figure f)
{
    return figure_known(&f) ? f : unknown(e, "the arithmetic leaves the range of numbers");
}

static gboolean
fidelity_matches(Evaluation *e, const LabNode *n, const LabExpectData *d, GError **error)
{
    if (!e->metric) {
        e->metric = n->metric;
        e->fidelity = d->fidelity;
        return TRUE;
    }
    if (e->fidelity == d->fidelity)
        return TRUE;
    g_set_error(error, LAB_EXPECT_ERROR, LAB_EXPECT_ERROR_FIDELITY,
                "column %d: %s is good for `%s', %s for `%s': these are never compared", n->column,
                e->metric, res_fidelity_name(e->fidelity), n->metric,
                res_fidelity_name(d->fidelity));
    return FALSE;
}

/* The cells of a metric; an empty array leaves the reason in E. NULL on error. */
static GPtrArray *
look_up(Evaluation *e, const LabNode *n, GError **error)
{
    g_autoptr(GError) inner = NULL;
    g_autoptr(GPtrArray) cells = e->lookup(n->metric, n->selectors, e->data, &inner);

    if (!cells) {
        g_propagate_prefixed_error(error, g_steal_pointer(&inner), "column %d: ", n->column);
        return NULL;
    }
    if (cells->len == 0)
        unknown(e, "no cell that was run matches %s in column %d", n->metric, n->column);
    for (guint i = 0; i < cells->len; i++) {
        const LabExpectData *d = g_ptr_array_index(cells, i);
        if (d->values->len > 0 && !fidelity_matches(e, n, d, error))
            return NULL;
    }
    return g_steal_pointer(&cells);
}

static const char *
cell_name(const LabExpectData *d)
{
    return d->cell && *d->cell ? d->cell : "the only one";
}

/* Median and range over boots; FALSE with the reason in E when there is nothing finite to take them
 * of. */
static gboolean
summarize(Evaluation *e, const LabNode *n, const LabExpectData *d, Figure *f)
{
    if (d->values->len == 0) {
        unknown(e, "no run of cell %s has %s", cell_name(d), n->metric);
        return FALSE;
    }
    const double *values = (const double *)(gpointer)d->values->data;
    *f = figure_of(values[0]);
    for (guint i = 0; i < d->values->len; i++) {
        if (!isfinite(values[i])) {
            unknown(e, "%s of cell %s is not a finite number", n->metric, cell_name(d));
            return FALSE;
        }
        f->low = MIN(f->low, values[i]);
        f->high = MAX(f->high, values[i]);
    }
    f->value = res_median(values, d->values->len);
    if (!isfinite(f->value)) {
        unknown(e, "the values of %s in cell %s leave the range of numbers", n->metric,
                cell_name(d));
        return FALSE;
    }
    if (d->censored)
        f->high = MAX(f->high, d->censored_max);
    f->unit = d->unit ? g_intern_string(d->unit) : NULL;
    return TRUE;
}

static gboolean
evaluate_metric(Evaluation *e, const LabNode *n, Figure *f, GError **error)
{
    g_autoptr(GPtrArray) cells = look_up(e, n, error);

    if (!cells)
        return FALSE;
    if (cells->len > 1) {
        const LabExpectData *a = g_ptr_array_index(cells, 0), *b = g_ptr_array_index(cells, 1);
        g_set_error(error, LAB_EXPECT_ERROR, LAB_EXPECT_ERROR_CELLS,
                    "column %d: %s stands for %u cells (%s, %s%s): pick one with (axis=value)",
                    n->column, n->metric, cells->len, cell_name(a), cell_name(b),
                    cells->len > 2 ? ", ..." : "");
        return FALSE;
    }
    if (cells->len == 0 || !summarize(e, n, g_ptr_array_index(cells, 0), f))
        *f = figure_of(NAN);
    return TRUE;
}

/* The spread of one cell, or NaN with the reason in E. */
static double
cell_spread(Evaluation *e, const LabNode *n, const LabExpectData *d)
{
    Figure f;

    if (!summarize(e, n, d, &f))
        return NAN;
    if (d->values->len < 2) {
        unknown(e, "one boot of cell %s has %s: a spread needs two", cell_name(d), n->metric);
        return NAN;
    }
    if (d->censored) {
        unknown(e, "%s of cell %s lies beyond its histogram: no spread", n->metric, cell_name(d));
        return NAN;
    }
    if (f.low == f.high)
        return 0;
    double spread = (f.high - f.low) / fabs(f.value);
    if (!isfinite(spread))
        unknown(e, "the median of %s in cell %s is 0: no spread relative to it", n->metric,
                cell_name(d));
    return spread;
}

static gboolean
evaluate_spread(Evaluation *e, const LabNode *n, Figure *f, GError **error)
{
    double largest = 0;

    for (guint i = 0; i < n->args->len; i++) {
        const LabNode *metric = g_ptr_array_index(n->args, i);
        g_autoptr(GPtrArray) cells = look_up(e, metric, error);
        if (!cells)
            return FALSE;
        if (cells->len == 0)
            largest = NAN;
        for (guint j = 0; j < cells->len; j++) {
            double spread = cell_spread(e, metric, g_ptr_array_index(cells, j));
            if (!(spread <= largest)) /* NaN stays */
                largest = isnan(largest) ? largest : spread;
        }
    }
    *f = figure_of(isfinite(largest) ? largest : NAN);
    return TRUE;
}

/* Adds the boots of one cell to the points of a line; FALSE with the reason in E. */
static gboolean
add_points(Evaluation *e, const LabNode *n, const LabExpectData *d, GArray *x, GArray *y)
{
    const char *text = d->axes ? g_hash_table_lookup(d->axes, n->axis) : NULL;
    char *end = NULL;
    double at = text ? g_ascii_strtod(text, &end) : NAN;
    Figure f;

    if (!text || end == text || *end || !isfinite(at)) {
        unknown(e, "%s of cell %s is no number: no slope", n->axis, cell_name(d));
        return FALSE;
    }
    if (!summarize(e, g_ptr_array_index(n->args, 0), d, &f))
        return FALSE;
    for (guint i = 0; i < d->values->len; i++)
        g_array_append_val(x, at);
    g_array_append_vals(y, d->values->data, d->values->len);
    return TRUE;
}

static gboolean
evaluate_slope(Evaluation *e, const LabNode *n, Figure *f, GError **error)
{
    g_autoptr(GPtrArray) cells = look_up(e, g_ptr_array_index(n->args, 0), error);
    g_autoptr(GArray) x = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) y = g_array_new(FALSE, FALSE, sizeof(double));
    gboolean known = cells && cells->len > 0;
    ResSlope line;

    *f = figure_of(NAN);
    if (!cells)
        return FALSE;
    for (guint i = 0; i < cells->len; i++)
        known = add_points(e, n, g_ptr_array_index(cells, i), x, y) && known;
    if (!known)
        return TRUE;
    if (!res_slope((const double *)(gpointer)x->data, (const double *)(gpointer)y->data, x->len,
                   SLOPE_CONFIDENCE, &line)) {
        unknown(e, "a slope needs three boots or more, at two values of %s at least", n->axis);
        return TRUE;
    }
    *f = (Figure){line.slope, line.low, line.high, NULL};
    return TRUE;
}

static double
least(const double *x, gsize n)
{
    double m = x[0];
    for (gsize i = 1; i < n; i++)
        m = MIN(m, x[i]);
    return m;
}

static double
greatest(const double *x, gsize n)
{
    double m = x[0];
    for (gsize i = 1; i < n; i++)
        m = MAX(m, x[i]);
    return m;
}

static Figure
combine(Evaluation *e, LabNodeKind kind, Figure a, Figure b)
{
    const char *same = a.unit == b.unit ? a.unit : NULL;

    switch (kind) {
    case LAB_NODE_ADD:
        return (Figure){a.value + b.value, a.low + b.low, a.high + b.high, same};
    case LAB_NODE_SUBTRACT:
        return (Figure){a.value - b.value, a.low - b.high, a.high - b.low, same};
    case LAB_NODE_MIN:
        return (Figure){MIN(a.value, b.value), MIN(a.low, b.low), MIN(a.high, b.high), same};
    case LAB_NODE_MAX:
        return (Figure){MAX(a.value, b.value), MAX(a.low, b.low), MAX(a.high, b.high), same};
    case LAB_NODE_MULTIPLY: {
        double ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
        return (Figure){a.value * b.value, least(ends, 4), greatest(ends, 4), NULL};
    }
    default: {
        if (b.low <= 0 && b.high >= 0)
            return unknown(e, "divided by a figure whose range, %g to %g, holds 0", b.low, b.high);
        double ends[] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
        return (Figure){a.value / b.value, least(ends, 4), greatest(ends, 4), NULL};
    }
    }
}

static gboolean evaluate(Evaluation *e, const LabNode *n, Figure *f, GError **error);

static gboolean
evaluate_operator(Evaluation *e, const LabNode *n, Figure *f, GError **error)
{
    if (!evaluate(e, g_ptr_array_index(n->args, 0), f, error))
        return FALSE;
    if (n->kind == LAB_NODE_NEGATE) {
        *f = (Figure){-f->value, -f->high, -f->low, f->unit};
        return TRUE;
    }
    /* All operands are visited, even behind an unknown one, so that an error is always found. */
    for (guint i = 1; i < n->args->len; i++) {
        Figure next;
        if (!evaluate(e, g_ptr_array_index(n->args, i), &next, error))
            return FALSE;
        *f = figure_known(f) && figure_known(&next) ? checked(e, combine(e, n->kind, *f, next))
                                                    : figure_of(NAN);
    }
    return TRUE;
}

static gboolean
evaluate(Evaluation *e, const LabNode *n, Figure *f, GError **error)
{
    switch (n->kind) {
    case LAB_NODE_NUMBER:
        *f = figure_of(n->number);
        return TRUE;
    case LAB_NODE_METRIC:
        return evaluate_metric(e, n, f, error);
    case LAB_NODE_SPREAD:
        return evaluate_spread(e, n, f, error);
    case LAB_NODE_SLOPE:
        return evaluate_slope(e, n, f, error);
    default:
        return evaluate_operator(e, n, f, error);
    }
}

/* `holds` and `fails` are each true on the whole of both intervals. */
static LabExpectVerdict
compare(LabExpectOp op, const Figure *a, double low, double high)
{
    gboolean holds = FALSE, fails = FALSE;

    switch (op) {
    case LAB_OP_GE:
        holds = a->low >= high;
        fails = a->high < low;
        break;
    case LAB_OP_LE:
        holds = a->high <= low;
        fails = a->low > high;
        break;
    case LAB_OP_GT:
        holds = a->low > high;
        fails = a->high <= low;
        break;
    case LAB_OP_LT:
        holds = a->high < low;
        fails = a->low >= high;
        break;
    case LAB_OP_EQ:
        holds = a->low == a->high && low == high && a->low == low;
        fails = a->high < low || a->low > high;
        break;
    case LAB_OP_IN:
        holds = a->low >= low && a->high <= high;
        fails = a->high < low || a->low > high;
        break;
    }
    return holds ? LAB_EXPECT_HOLDS : fails ? LAB_EXPECT_FAILS : LAB_EXPECT_CANNOT_TELL;
}

static char *
figure_text(const Figure *f)
{
    g_autofree char *unit = f->unit ? g_strconcat(" ", f->unit, NULL) : g_strdup("");
    double value = f->value + 0.0; /* -0 reads as 0 */
    return f->low == f->high
               ? g_strdup_printf("%.6g%s", value, unit)
               : g_strdup_printf("%.6g%s (%.6g to %.6g)", value, unit, f->low, f->high);
}

static char *
reason(const LabExpression *x, const Figure *left, const Figure *right, LabExpectVerdict verdict)
{
    static const char *const words[] = {"is", "is not", "may or may not be"};
    g_autofree char *a = figure_text(left);
    g_autofree char *b =
        x->op == LAB_OP_IN ? g_strdup_printf("%.6g..%.6g", x->low, x->high) : figure_text(right);

    return g_strdup_printf("%s %s %s %s%s", a, words[verdict], lab_expect_op_name(x->op), b,
                           verdict == LAB_EXPECT_CANNOT_TELL
                               ? ": the boots differ by more than the distance to the bound"
                               : "");
}

static LabExpectResult *
judge(const LabExpression *x, Evaluation *e, GError **error)
{
    Figure left, right = {0};

    if (!evaluate(e, x->left, &left, error) || (x->right && !evaluate(e, x->right, &right, error)))
        return NULL;
    if (!x->right)
        right = (Figure){NAN, x->low, x->high, NULL};
    LabExpectResult *r = g_new0(LabExpectResult, 1);
    r->value = left.value;
    r->low = left.low;
    r->high = left.high;
    if (e->unknown) {
        r->verdict = LAB_EXPECT_CANNOT_TELL;
        r->reason = g_steal_pointer(&e->unknown);
        return r;
    }
    r->verdict = compare(x->op, &left, right.low, right.high);
    r->reason = reason(x, &left, &right, r->verdict);
    return r;
}

LabExpectResult *
lab_expect_evaluate(const char *text, LabExpectLookup lookup, gpointer data, GError **error)
{
    int column = 0;
    g_autoptr(GError) inner = NULL;
    g_autoptr(LabExpression) x = lab_expression_parse(text, &column, &inner);

    if (!x) {
        g_propagate_prefixed_error(error, g_steal_pointer(&inner), "column %d: ", column);
        return NULL;
    }
    Evaluation e = {.lookup = lookup, .data = data};
    LabExpectResult *r = judge(x, &e, error);
    g_free(e.unknown);
    return r;
}

gboolean
lab_expect_check(const char *text, GError **error)
{
    int column = 0;
    g_autoptr(GError) inner = NULL;
    g_autoptr(LabExpression) x = lab_expression_parse(text, &column, &inner);

    if (!x)
        g_propagate_prefixed_error(error, g_steal_pointer(&inner), "column %d: ", column);
    return x != NULL;
}
