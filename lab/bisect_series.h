/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The kernels a bisection goes through, as specs that a profile's kernel key takes:
 *
 *   good A, bad A+P1+P2+...          a series of patches: A, A+P1, A+P1+P2, ...
 *   good src:DIR@R1, bad src:DIR@R2  a git range: R1, then every commit of R1..R2, oldest first,
 *                                    along first parents; patches (+P) the same on both sides
 *   a file                           one spec a line, from good to bad; `#` starts a comment line
 */
#include <gio/gio.h>

#define LAB_SERIES_MAX 4096 /* states of one series */

typedef struct {
    char *kernel; /* spec */
    char *step;   /* what makes it differ from the one before: a patch, a commit and its subject, or
                     the spec; of the first: "the good kernel" */
} LabSeriesState;

/* LabSeriesState *, at least two. Errors say what would be right. */
GPtrArray *lab_series_new(const char *good, const char *bad, GError **error);
GPtrArray *lab_series_read(const char *file, GError **error);
