/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/slope.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <math.h>

static gboolean
all_alike(const double *x, gsize n)
{
    for (gsize i = 1; i < n; i++)
        if (x[i] != x[0])
            return FALSE;
    return TRUE;
}

gboolean
res_slope(const double *x, const double *y, gsize n, double confidence, ResSlope *line)
{
    double cov00, cov01, cov11, sumsq;

    if (n < 3 || all_alike(x, n))
        return FALSE;
    gsl_fit_linear(x, 1, y, 1, n, &line->intercept, &line->slope, &cov00, &cov01, &cov11, &sumsq);
    double half = gsl_cdf_tdist_Qinv((1 - confidence) / 2, (double)(n - 2)) * sqrt(cov11);
    line->low = line->slope - half;
    line->high = line->slope + half;
    return isfinite(line->low) && isfinite(line->high) && isfinite(line->intercept);
}
