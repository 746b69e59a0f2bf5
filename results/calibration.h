/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Calibration: what boots of one and the same kernel differ by (A/A runs), and so what a comparison
 * on this machine can find.
 */
#include <gio/gio.h>

#include "results/record.h"

#define RES_CALIBRATION_POWER 0.95             /* how surely a detectable change is found */
#define RES_CALIBRATION_MAX (16 * 1024 * 1024) /* bytes of a file */
#define RES_CALIBRATION_BOOTS_MIN 10 /* fewer boots say too little of how a metric repeats */

/* One metric of one cell of a profile. Shares are of the median. */
typedef struct {
    char *profile, *cell, *metric, *unit;
    ResFidelity fidelity;
    unsigned int boots, sets; /* A/A boots behind it, and in how many sets they ran */
    double median;
    double spread;  /* (max - min) / |median| over all boots */
    double sd;      /* standard deviation between boots, within sets */
    double sd_high; /* its upper 95% confidence bound (chi-squared) */
    double between; /* the largest difference between the medians of two sets of 5 or more boots */
    double detectable; /* the smallest change found with RES_CALIBRATION_POWER, with as many boots
                          a side as the calibration was asked for; HUGE_VAL: none is */
    double relevant;   /* smallest relevant change: what sets differ by though nothing changed; 0
                          when that is not known */
} ResCalibrationEntry;

typedef struct {
    GPtrArray *entries;        /* ResCalibrationEntry *, by profile, cell, metric */
    unsigned int boots_a_side; /* what `detectable` holds for */
    double alpha;
} ResCalibration;
void res_calibration_free(ResCalibration *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResCalibration, res_calibration_free)

/*
 * From all RECORDS (ResRecord *, of any profiles; those not done are left out): runs are A/A when
 * profile, cell, parameters (but for how many boots, and in which order), kernel and environment
 * are the same and the kernel is known by its hash; of several such groups of one cell the one with
 * the most boots is taken. Metrics of fewer than 2 boots are left out, and so are those of fidelity
 * functional.
 */
ResCalibration *res_calibration_new(const GPtrArray *records, unsigned int boots_a_side,
                                    double alpha);
/*
 * The smallest shift, in standard deviations between boots, that the two-sided rank test at ALPHA
 * finds with RES_CALIBRATION_POWER: up to 30 boots a side by trying it on normal figures (of a
 * fixed seed; good to 2%), above by the t test's, made larger by the rank test's efficiency against
 * it (3 / pi). HUGE_VAL when so few boots can't find any.
 */
double res_calibration_steps(unsigned int boots_a_side, double alpha);

/* The entry of a metric, or NULL. */
const ResCalibrationEntry *res_calibration_find(const ResCalibration *c, const char *profile,
                                                const char *cell, const char *metric);

/* As a file: one JSON object, ended by a newline. */
char *res_calibration_to_json(const ResCalibration *c);
ResCalibration *res_calibration_from_json(const char *text, gsize len, GError **error);
