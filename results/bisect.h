/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Which step of a series moved a number: the decisions of a bisection, without what builds and
 * boots. Pure: what to do next follows from what was told so far, so a journal that is told again
 * goes on where it stopped.
 *
 * A series of N steps has N + 1 states: state 0 is good, state N bad, state K has the first K
 * steps. Boots of one state differ by chance. How much is taken from all states that were booted
 * more than once, together (the pooled standard deviation); a state is good or bad when Student's
 * interval of its distance from the middle between the two ends lies on one side; otherwise it
 * or an end is booted once more. States that can't be built, booted or told are gone round.
 */
#include <glib.h>

typedef struct ResBisect ResBisect;

typedef struct {
    unsigned int end_boots; /* of each end at least, from which the spread is known: 2 or more */
    unsigned int max_boots; /* of one state, after which it can't be told */
    double confidence;      /* of each decision */
    double relevant;        /* the ends must differ by this share of the good one's figure */
} ResBisectOptions;
extern const ResBisectOptions res_bisect_defaults;

/* STEPS > 0. */
ResBisect *res_bisect_new(unsigned int steps, const ResBisectOptions *options);
void res_bisect_free(ResBisect *b);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResBisect, res_bisect_free)

/* A boot of STATE gave VALUE (finite). */
void res_bisect_value(ResBisect *b, unsigned int state, double value);
/* STATE can't be had. */
void res_bisect_skip(ResBisect *b, unsigned int state);

typedef enum {
    RES_BISECT_BOOT,   /* STATE, once more */
    RES_BISECT_FOUND,  /* step STATE (1 to N) is the first bad one */
    RES_BISECT_RANGE,  /* the first bad one is one of the steps FIRST to LAST: what is between can't
                          be had or told */
    RES_BISECT_ALIKE,  /* good and bad can't be told apart */
    RES_BISECT_NO_END, /* STATE, an end, can't be had */
} ResBisectKind;
typedef struct {
    ResBisectKind kind;
    unsigned int state;
    unsigned int first, last; /* steps, of RANGE and FOUND */
} ResBisectNext;
ResBisectNext res_bisect_next(const ResBisect *b);

/* What is known of a state; N is 0 before its first boot. */
typedef struct {
    unsigned int n;
    double mean, low, high; /* of the mean, at the asked-for confidence; low = high = mean while the
                               spread is unknown */
    gboolean skipped;
    gboolean between; /* surely neither the good end's level nor the bad one's */
} ResBisectState;
ResBisectState res_bisect_state(const ResBisect *b, unsigned int state);
