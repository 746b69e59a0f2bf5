/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The text of an expectation (lab/expect.h) as a tree. Private to lab/. */
#include <glib.h>

#include "lab/expect.h"

/* Bounds on what is read: bytes of text, and depth of nesting. */
#define LAB_EXPECT_TEXT_MAX 4096
#define LAB_EXPECT_DEPTH_MAX 64

typedef enum {
    LAB_NODE_NUMBER,
    LAB_NODE_METRIC, /* name, selectors */
    LAB_NODE_SPREAD, /* args are metrics */
    LAB_NODE_SLOPE,  /* one metric, and an axis */
    LAB_NODE_MIN,
    LAB_NODE_MAX,
    LAB_NODE_NEGATE,
    LAB_NODE_ADD,
    LAB_NODE_SUBTRACT,
    LAB_NODE_MULTIPLY,
    LAB_NODE_DIVIDE,
} LabNodeKind;

typedef struct {
    LabNodeKind kind;
    int column; /* 1-based, in characters */
    double number;
    char *metric;
    char *axis; /* of a slope */
    int axis_column;
    GPtrArray *selectors; /* LabExpectSelector * */
    GArray *columns;      /* int: of each selector's axis */
    GPtrArray *args;      /* LabNode * */
} LabNode;

typedef enum { LAB_OP_GE, LAB_OP_LE, LAB_OP_GT, LAB_OP_LT, LAB_OP_EQ, LAB_OP_IN } LabExpectOp;

typedef struct {
    LabNode *left;
    LabExpectOp op;
    LabNode *right;   /* NULL for LAB_OP_IN */
    double low, high; /* LAB_OP_IN */
} LabExpression;
void lab_expression_free(LabExpression *e);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabExpression, lab_expression_free)

/* NULL with the error and its *COLUMN (the message itself does not repeat it). */
LabExpression *lab_expression_parse(const char *text, int *column, GError **error);
const char *lab_expect_op_name(LabExpectOp op);
