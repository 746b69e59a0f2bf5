/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Whether a machine leaves its isolated CPUs alone, judged by what is in force in it, not by what
 * was asked for.
 */
#include <glib.h>

#include "host/root.h"
#include "host/wish.h"

typedef enum {
    HOST_GRADE_PASS,
    HOST_GRADE_WARN,
    HOST_GRADE_FAIL,
    HOST_GRADE_CANNOT, /* nothing is known: never taken for a pass */
    HOST_GRADES,
} HostGrade;
const char *host_grade_name(HostGrade g); /* "PASS", "WARN", "FAIL", "CANNOT CHECK" */

typedef struct {
    const char *name; /* of the check: "irq" */
    HostGrade grade;
    char *message; /* what was found, and what that means; one line, fit for a terminal */
    char *fix;     /* the command or kernel parameter that puts it right, or NULL */
} HostCheckLine;
void host_check_line_free(HostCheckLine *l);

/* The number of possible CPUs, 0 when it can't be read. */
unsigned int host_root_ncpus(const HostRoot *root);

/* All checks in order, one HostCheckLine * or more of each. WISH NULL: the running command line's.
 */
GPtrArray *host_check(const HostRoot *root, const HostWish *wish);
