/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* Inside results/ only: a page as a list of points that pass or don't, which JUnit and TAP share.
 */
#include "results/page.h"

typedef enum {
    RES_POINT_OK,
    RES_POINT_FAILED,  /* what was tested is wrong */
    RES_POINT_ERROR,   /* whether it is can't be told */
    RES_POINT_SKIPPED, /* not looked at, or no claim to fail */
} ResPointState;

typedef struct {
    char *name;
    ResPointState state;
    char *type;    /* "fails", "cannot tell", "infra", ...: the verdict's or outcome's own word */
    char *message; /* "" for a point that is ok and has nothing to add */
    double seconds;
} ResPoint;

typedef struct {
    char *name;
    GPtrArray *points; /* ResPoint * */
    guint count[RES_POINT_SKIPPED + 1];
    double seconds;
} ResPointSuite;

/* ResPointSuite *: expectations, runs, and what was compared; none without points. */
GPtrArray *res_points_new(const ResPage *p);
