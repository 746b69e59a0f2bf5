/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/expect_parse.h"

#include <string.h>

#include "lab/expect_lex.h"

G_DEFINE_QUARK(lab - expect - error - quark, lab_expect_error)

static void
node_free(LabNode *n)
{
    if (!n)
        return;
    g_free(n->metric);
    g_free(n->axis);
    g_clear_pointer(&n->selectors, g_ptr_array_unref);
    g_clear_pointer(&n->columns, g_array_unref);
    g_clear_pointer(&n->args, g_ptr_array_unref);
    g_free(n);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabNode, node_free)

void
lab_expression_free(LabExpression *e)
{
    if (!e)
        return;
    node_free(e->left);
    node_free(e->right);
    g_free(e);
}

static void
selector_free(LabExpectSelector *s)
{
    g_free(s->axis);
    g_free(s->value);
    g_free(s);
}

const char *
lab_expect_op_name(LabExpectOp op)
{
    static const char *const names[] = {">=", "<=", ">", "<", "==", "in"};
    return names[op];
}

static char *
read_selector_value(LabLexer *r, GError **error)
{
    if (*r->at == '"') {
        const char *end = strchr(r->at + 1, '"');
        if (!end) {
            lab_lex_fail(r, error, "the quote is never closed");
            return NULL;
        }
        char *quoted = g_strndup(r->at + 1, end - r->at - 1);
        r->at = end + 1;
        return quoted;
    }
    gsize n = strcspn(r->at, ",)=\"");
    char *value = g_strchomp(g_strndup(r->at, n));
    r->at += n;
    return value;
}

/* The reader stands behind `(`; reads up to and including `)`. */
static gboolean
read_selectors(LabLexer *r, LabNode *metric, GError **error)
{
    for (;;) {
        lab_lex_blanks(r);
        int column = lab_lex_column(r, r->at);
        gsize n = strcspn(r->at, "=,()\"");
        g_autofree char *axis = g_strchomp(g_strndup(r->at, n));
        if (!*axis) {
            lab_lex_fail_expected(r, error, "axis=value");
            return FALSE;
        }
        r->at += n;
        if (*r->at != '=') {
            lab_lex_fail_expected(r, error, "= after the axis");
            return FALSE;
        }
        r->at++;
        lab_lex_blanks(r);
        char *value = read_selector_value(r, error);
        if (!value)
            return FALSE;
        LabExpectSelector *s = g_new0(LabExpectSelector, 1);
        s->axis = g_steal_pointer(&axis);
        s->value = value;
        g_ptr_array_add(metric->selectors, s);
        g_array_append_val(metric->columns, column);
        lab_lex_blanks(r);
        if (*r->at == ')') {
            r->at++;
            return TRUE;
        }
        if (*r->at != ',') {
            lab_lex_fail_expected(r, error, "`,' or `)'");
            return FALSE;
        }
        r->at++;
    }
}

static LabNode *
node_new(LabNodeKind kind, int column)
{
    LabNode *n = g_new0(LabNode, 1);
    n->kind = kind;
    n->column = column;
    n->args = g_ptr_array_new_with_free_func((GDestroyNotify)node_free);
    return n;
}

static LabNode *
read_metric(LabLexer *r, GError **error)
{
    gsize n = lab_lex_name(r->at);

    if (n == 0) {
        lab_lex_fail_expected(r, error, "a metric (WORKLOAD.NAME)");
        return NULL;
    }
    g_autofree char *name = g_strndup(r->at, n);
    if (!strchr(name, '.')) {
        lab_lex_fail(r, error,
                     "`%s' is neither a metric (WORKLOAD.NAME) nor spread(), slope(), min(), "
                     "max()",
                     name);
        return NULL;
    }
    g_autoptr(LabNode) metric = node_new(LAB_NODE_METRIC, lab_lex_column(r, r->at));
    metric->metric = g_steal_pointer(&name);
    metric->selectors = g_ptr_array_new_with_free_func((GDestroyNotify)selector_free);
    metric->columns = g_array_new(FALSE, FALSE, sizeof(int));
    r->at += n;
    lab_lex_blanks(r);
    if (*r->at == '(') {
        r->at++;
        if (!read_selectors(r, metric, error))
            return NULL;
    }
    return g_steal_pointer(&metric);
}

static LabNode *read_sum(LabLexer *r, GError **error);
static LabNode *read_factor(LabLexer *r, GError **error);

/* Arguments of spread(), min(), max(), up to and including `)`. */
static LabNode *
read_call(LabLexer *r, LabNodeKind kind, int column, GError **error)
{
    g_autoptr(LabNode) call = node_new(kind, column);

    for (;;) {
        lab_lex_blanks(r);
        LabNode *arg = kind == LAB_NODE_SPREAD ? read_metric(r, error) : read_sum(r, error);
        if (!arg)
            return NULL;
        g_ptr_array_add(call->args, arg);
        lab_lex_blanks(r);
        if (*r->at == ')') {
            r->at++;
            return g_steal_pointer(&call);
        }
        if (*r->at != ',') {
            lab_lex_fail_expected(r, error, "`,' or `)'");
            return NULL;
        }
        r->at++;
    }
}

/* METRIC, AXIS and `)`. An axis may hold a space ("workload NAME.key"). */
static LabNode *
read_slope(LabLexer *r, int column, GError **error)
{
    g_autoptr(LabNode) slope = node_new(LAB_NODE_SLOPE, column);

    lab_lex_blanks(r);
    LabNode *metric = read_metric(r, error);
    if (!metric)
        return NULL;
    g_ptr_array_add(slope->args, metric);
    lab_lex_blanks(r);
    if (*r->at != ',') {
        lab_lex_fail_expected(r, error, "`,' and an axis");
        return NULL;
    }
    r->at++;
    lab_lex_blanks(r);
    gsize n = strcspn(r->at, "=,()\"");
    slope->axis = g_strchomp(g_strndup(r->at, n));
    slope->axis_column = lab_lex_column(r, r->at);
    if (!*slope->axis) {
        lab_lex_fail_expected(r, error, "an axis");
        return NULL;
    }
    r->at += n;
    if (*r->at != ')') {
        lab_lex_fail_expected(r, error, "`)'");
        return NULL;
    }
    r->at++;
    return g_steal_pointer(&slope);
}

static LabNode *
read_name(LabLexer *r, GError **error)
{
    static const struct {
        const char *name;
        LabNodeKind kind;
    } calls[] = {{"spread", LAB_NODE_SPREAD},
                 {"slope", LAB_NODE_SLOPE},
                 {"min", LAB_NODE_MIN},
                 {"max", LAB_NODE_MAX}};
    int column = lab_lex_column(r, r->at);
    gsize n = lab_lex_name(r->at);

    for (gsize i = 0; i < G_N_ELEMENTS(calls); i++) {
        if (strlen(calls[i].name) != n || strncmp(r->at, calls[i].name, n) != 0)
            continue;
        r->at += n;
        lab_lex_blanks(r);
        if (*r->at != '(') {
            lab_lex_fail_expected(r, error, "`('");
            return NULL;
        }
        r->at++;
        if (calls[i].kind == LAB_NODE_SLOPE)
            return read_slope(r, column, error);
        return read_call(r, calls[i].kind, column, error);
    }
    return read_metric(r, error);
}

static LabNode *
read_primary(LabLexer *r, GError **error)
{
    lab_lex_blanks(r);
    int column = lab_lex_column(r, r->at);
    if (*r->at == '-') {
        r->at++;
        LabNode *arg = read_factor(r, error);
        if (!arg)
            return NULL;
        LabNode *negate = node_new(LAB_NODE_NEGATE, column);
        g_ptr_array_add(negate->args, arg);
        return negate;
    }
    if (*r->at == '(') {
        r->at++;
        g_autoptr(LabNode) inner = read_sum(r, error);
        if (!inner)
            return NULL;
        lab_lex_blanks(r);
        if (*r->at != ')') {
            lab_lex_fail_expected(r, error, "an operator or `)'");
            return NULL;
        }
        r->at++;
        return g_steal_pointer(&inner);
    }
    if (g_ascii_isdigit(*r->at)) {
        double number;
        if (!lab_lex_number(r, &number, error))
            return NULL;
        LabNode *n = node_new(LAB_NODE_NUMBER, column);
        n->number = number;
        return n;
    }
    if (lab_lex_name(r->at) == 0) {
        lab_lex_fail_expected(r, error, "a number, a metric or `('");
        return NULL;
    }
    return read_name(r, error);
}

/* Every recursion of the grammar comes through here, so the bound is kept here. */
static LabNode *
read_factor(LabLexer *r, GError **error)
{
    if (r->depth >= LAB_EXPECT_DEPTH_MAX) {
        lab_lex_fail(r, error, "nested more than %d deep", LAB_EXPECT_DEPTH_MAX);
        return NULL;
    }
    r->depth++;
    LabNode *n = read_primary(r, error);
    r->depth--;
    return n;
}

/* LEFT op RIGHT with operators of one rank; trees lean left, so chains deepen them: bounded too. */
static LabNode *
read_chain(LabLexer *r, LabNode *(*operand)(LabLexer *, GError **), const char *operators,
           const LabNodeKind *kinds, GError **error)
{
    g_autoptr(LabNode) left = operand(r, error);
    if (!left)
        return NULL;
    for (int length = 0;; length++) {
        lab_lex_blanks(r);
        const char *op = *r->at ? strchr(operators, *r->at) : NULL;
        if (!op)
            return g_steal_pointer(&left);
        if (length >= LAB_EXPECT_DEPTH_MAX) {
            lab_lex_fail(r, error, "more than %d operators in a row", LAB_EXPECT_DEPTH_MAX);
            return NULL;
        }
        int column = lab_lex_column(r, r->at);
        r->at++;
        LabNode *right = operand(r, error);
        if (!right)
            return NULL;
        LabNode *both = node_new(kinds[op - operators], column);
        g_ptr_array_add(both->args, g_steal_pointer(&left));
        g_ptr_array_add(both->args, right);
        left = both;
    }
}

static LabNode *
read_product(LabLexer *r, GError **error)
{
    static const LabNodeKind kinds[] = {LAB_NODE_MULTIPLY, LAB_NODE_DIVIDE};
    return read_chain(r, read_factor, "*/", kinds, error);
}

static LabNode *
read_sum(LabLexer *r, GError **error)
{
    static const LabNodeKind kinds[] = {LAB_NODE_ADD, LAB_NODE_SUBTRACT};
    return read_chain(r, read_product, "+-", kinds, error);
}

static gboolean
read_bound(LabLexer *r, double *bound, GError **error)
{
    lab_lex_blanks(r);
    gboolean negative = *r->at == '-';
    r->at += negative;
    if (!lab_lex_number(r, bound, error))
        return FALSE;
    if (negative)
        *bound = -*bound;
    return TRUE;
}

static gboolean
read_range(LabLexer *r, LabExpression *e, GError **error)
{
    if (!read_bound(r, &e->low, error))
        return FALSE;
    lab_lex_blanks(r);
    if (!g_str_has_prefix(r->at, "..")) {
        lab_lex_fail_expected(r, error, "`..' and the upper bound");
        return FALSE;
    }
    r->at += 2;
    if (!read_bound(r, &e->high, error))
        return FALSE;
    if (e->low > e->high) {
        lab_lex_fail(r, error, "the range is empty: %g is above %g", e->low, e->high);
        return FALSE;
    }
    return TRUE;
}

static gboolean
read_operator(LabLexer *r, LabExpectOp *op, GError **error)
{
    lab_lex_blanks(r);
    static const LabExpectOp longest_first[] = {LAB_OP_GE, LAB_OP_LE, LAB_OP_EQ, LAB_OP_GT,
                                                LAB_OP_LT};
    for (gsize i = 0; i < G_N_ELEMENTS(longest_first); i++) {
        const char *name = lab_expect_op_name(longest_first[i]);
        if (g_str_has_prefix(r->at, name)) {
            r->at += strlen(name);
            *op = longest_first[i];
            return TRUE;
        }
    }
    if (lab_lex_name(r->at) == 2 && g_str_has_prefix(r->at, "in")) {
        r->at += 2;
        *op = LAB_OP_IN;
        return TRUE;
    }
    lab_lex_fail_expected(r, error, "an operator, or one of >= <= > < == in");
    return FALSE;
}

LabExpression *
lab_expression_parse(const char *text, int *column, GError **error)
{
    LabLexer r = {.text = text, .at = text, .column = column};

    *column = 1;
    if (strlen(text) > LAB_EXPECT_TEXT_MAX) {
        lab_lex_fail(&r, error, "longer than %d bytes", LAB_EXPECT_TEXT_MAX);
        return NULL;
    }
    if (!g_utf8_validate(text, -1, NULL)) {
        lab_lex_fail(&r, error, "not UTF-8");
        return NULL;
    }
    g_autoptr(LabExpression) e = g_new0(LabExpression, 1);
    e->left = read_sum(&r, error);
    if (!e->left || !read_operator(&r, &e->op, error))
        return NULL;
    if (e->op == LAB_OP_IN) {
        if (!read_range(&r, e, error))
            return NULL;
    } else {
        e->right = read_sum(&r, error);
        if (!e->right)
            return NULL;
    }
    lab_lex_blanks(&r);
    if (*r.at) {
        lab_lex_fail_expected(&r, error, "an operator or the end");
        return NULL;
    }
    return g_steal_pointer(&e);
}
