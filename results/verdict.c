/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/verdict.h"

#include <math.h>
#include <stdarg.h>

#include "results/ranktest.h"

#define DRIFT_SHARE 0.5 /* a drift that explains so much of a shift makes it untellable */
#define NEEDED_MAX 1000 /* boots; a profile can't ask for more */

const char *
res_verdict_name(ResVerdict v)
{
    static const char *const names[] = {
        [RES_VERDICT_BETTER] = "better",
        [RES_VERDICT_SAME] = "same",
        [RES_VERDICT_WORSE] = "worse",
        [RES_VERDICT_CANNOT_TELL] = "cannot tell",
        [RES_VERDICT_IRRELEVANT] = "different but irrelevant",
        [RES_VERDICT_DIFFERENT] = "different",
    };
    return (gsize)v < G_N_ELEMENTS(names) ? names[v] : "?";
}

const char *
res_estimate_name(ResEstimate e)
{
    static const char *const names[] = {"location", "count", "share", "quantile"};
    return (gsize)e < G_N_ELEMENTS(names) ? names[e] : "?";
}

double
res_verdict_spread(double min, double max, double median)
{
    if (!(max > min)) {
        return 0;
    }
    double wide = max / fabs(median) - min / fabs(median);
    return median < 0 || median > 0 ? MIN(wide, HUGE_VAL) : HUGE_VAL;
}

gboolean
res_relevant_parse(const char *text, double *value, gboolean *is_share)
{
    char *end = NULL;
    *value = g_ascii_strtod(text, &end);
    *is_share = *end == '%';
    if (end == text || !g_ascii_isdigit(text[0]) || !isfinite(*value) ||
        *(end + (*is_share ? 1 : 0)) != '\0') {
        return FALSE;
    }
    *value /= *is_share ? 100 : 1;
    return TRUE;
}

static void G_GNUC_PRINTF(3, 4)
    decide(ResComparison *c, ResVerdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    c->verdict = verdict;
    c->reason = g_strdup_vprintf(format, args);
    va_end(args);
}

static void G_GNUC_PRINTF(2, 3) advise(ResComparison *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_free(c->next);
    c->next = g_strdup_vprintf(format, args);
    va_end(args);
}

static ResVerdict
by_direction(const ResComparison *c, gboolean higher)
{
    if (c->direction == RES_NO_DIRECTION) {
        return RES_VERDICT_DIFFERENT;
    }
    return higher == (c->direction == RES_HIGHER_IS_BETTER) ? RES_VERDICT_BETTER
                                                            : RES_VERDICT_WORSE;
}

/* "p = 0.0079 (exact), 0.016 adjusted for 4 metrics" */
static char *
p_text(const ResComparison *c, unsigned int judged)
{
    g_autofree char *adjusted =
        judged > 1 ? g_strdup_printf(", %.2g adjusted for %u metrics", c->p_adjusted, judged)
                   : g_strdup("");
    return g_strdup_printf("p = %.2g%s%s", c->p, c->p_exact ? " (exact)" : "", adjusted);
}

static gboolean
all_equal(const ResSide *a, const ResSide *b)
{
    return !(a->max > a->min) && !(b->max > b->min) && !(a->min > b->min) && !(a->min < b->min) &&
           !a->censored && !b->censored;
}

/* Boots a side from which the smallest p that can be reached is at most ALPHA for JUDGED metrics.
 */
static unsigned int
boots_needed(const ResComparison *c, double alpha, unsigned int judged)
{
    double each = alpha / MAX(judged, 1);
    gboolean exact = c->fidelity == RES_FIDELITY_INSTRUCTIONS;
    each *= exact && c->estimate != RES_ESTIMATE_QUANTILE ? 1 - RES_VERDICT_DISJOINT_PART : 1;
    unsigned int ranked = res_ranktest_needed(each);
    if (exact && c->estimate != RES_ESTIMATE_QUANTILE) {
        unsigned int n = RES_VERDICT_APART_BOOTS;
        while (res_ranktest_apart(n, n) > each) {
            n++;
        }
        return MIN(ranked, n);
    }
    return ranked;
}

static void
advise_boots(ResComparison *c, unsigned int boots)
{
    c->needed = boots;
    advise(c, "run %u boots a side (--set main.boots=%u)", boots, boots);
}

static void
advise_look(ResComparison *c)
{
    if (c->run_a != NULL && c->run_b != NULL) {
        advise(c, "look at the boots nearest the figures: A %s, B %s (nohzlab show RUN --all)",
               c->run_a, c->run_b);
    }
}

/* Which way, when a difference is sure: the estimate may be 0 where many values are tied. */
static double
effect_of(const ResComparison *c, const ResSide *a, const ResSide *b)
{
    return c->shift.value < 0 || c->shift.value > 0 || a == NULL ? c->shift.value
                                                                 : b->mean - a->mean;
}

/* How the difference was found. */
static char *
how_text(const ResComparison *c, const char *way, double alpha, unsigned int judged)
{
    g_autofree char *p = p_text(c, judged);
    if (c->p_adjusted > alpha) {
        return g_strdup_printf("by how exactly it is known to repeat, not by p (%s), B is %s", p,
                               way);
    }
    if (c->disjoint) {
        return g_strdup_printf("no value occurs on both sides, though values repeat: %s", p);
    }
    if (c->by_repeatability) {
        return g_strdup_printf("all boots of B are %s, and the sides are further apart than twice "
                               "what boots of one side differ by: %s",
                               way, p);
    }
    return g_strdup_printf("test over boots: %s, so B is %s", p, way);
}

static void
decide_different(ResComparison *c, double effect, double alpha, unsigned int judged)
{
    g_autofree char *how = how_text(c, effect > 0 ? "higher" : "lower", alpha, judged);
    gboolean either_way = c->disjoint && c->shift.low < 0 && c->shift.high > 0;
    if (fabs(effect) < c->relevant) {
        decide(c, RES_VERDICT_IRRELEVANT,
               "%s, but by less than the smallest relevant change of %.4g %s (%s)", how,
               c->relevant, c->unit, c->relevant_from);
        return;
    }
    decide(c, either_way ? RES_VERDICT_DIFFERENT : by_direction(c, effect > 0), "%s%s", how,
           either_way ? "; their ranges overlap, so which way is not sure" : "");
    if (c->verdict == RES_VERDICT_WORSE || c->verdict == RES_VERDICT_DIFFERENT) {
        advise_look(c);
    }
}

static gboolean
within_relevant(const ResComparison *c)
{
    return c->shift.low >= -c->relevant && c->shift.high <= c->relevant;
}

/* No difference was found: is there room for one? */
static void
decide_room(ResComparison *c, double alpha, unsigned int judged)
{
    g_autofree char *p = p_text(c, judged);
    unsigned int needed = boots_needed(c, alpha, judged), n = MIN(c->na, c->nb);
    gboolean enough = c->p_smallest <= alpha && c->confidence >= 1 - alpha - 1e-12;
    if (c->fidelity == RES_FIDELITY_INSTRUCTIONS && n >= RES_VERDICT_KNOWN_BOOTS) {
        enough = TRUE;
    }
    if (enough && within_relevant(c)) {
        decide(c, RES_VERDICT_SAME,
               "the whole interval is within the smallest relevant change of %.4g %s (%s); %s",
               c->relevant, c->unit, c->relevant_from, p);
        return;
    }
    if (c->p_smallest > alpha) {
        decide(c, RES_VERDICT_CANNOT_TELL,
               "%u against %u boots: the smallest p the test can reach is %.2g, above %.2g; %u "
               "boots a side would do",
               c->na, c->nb, c->p_smallest, alpha, needed);
        advise_boots(c, needed);
        return;
    }
    if (c->p <= alpha) {
        decide(c, RES_VERDICT_CANNOT_TELL,
               "%s: alone it would be told, but %u metrics are judged at once", p, judged);
        advise_boots(c, MAX(needed, n + 1));
        return;
    }
    decide(c, RES_VERDICT_CANNOT_TELL,
           "%s: no difference found, but the interval leaves room for more than the smallest "
           "relevant change of %.4g %s (%s)",
           p, c->relevant, c->unit, c->relevant_from);
    /* its width goes down with the root of the number of boots */
    double half = (c->shift.high - c->shift.low) / 2;
    double boots = isfinite(half) && c->relevant > 0 ? ceil(n * pow(half / c->relevant, 2)) : 0;
    if (boots > n && boots <= NEEDED_MAX) {
        advise_boots(c, (unsigned int)boots);
    } else if (boots > NEEDED_MAX) {
        advise(c,
               "no affordable number of boots shows a change of %.4g %s here: see nohzlab "
               "calibrate, and give this metric a larger one in [relevant]",
               c->relevant, c->unit);
    }
}

/* All boots of both sides gave one and the same value. */
static void
decide_identical(ResComparison *c, double alpha, unsigned int judged)
{
    gboolean exact = c->fidelity == RES_FIDELITY_INSTRUCTIONS;
    if (c->p_smallest <= alpha || (exact && MIN(c->na, c->nb) >= RES_VERDICT_KNOWN_BOOTS)) {
        decide(c, RES_VERDICT_SAME, "identical: all %u and %u boots gave the same value", c->na,
               c->nb);
        return;
    }
    unsigned int needed = exact ? RES_VERDICT_KNOWN_BOOTS : boots_needed(c, alpha, judged);
    decide(c, RES_VERDICT_CANNOT_TELL,
           "%u against %u boots, all values are identical: the smallest p the test can reach is "
           "%.2g, above %.2g; %u boots a side would do",
           c->na, c->nb, c->p_smallest, alpha, needed);
    advise_boots(c, needed);
}

static gboolean
decide_drift(ResComparison *c, const ResSide *a, const ResSide *b, unsigned int judged)
{
    gboolean repeats = c->by_repeatability || c->known_to_repeat || c->disjoint;
    double explained = a != NULL && !repeats ? res_estimate_drift(c, a, b) : 0;
    if (explained < DRIFT_SHARE) {
        return FALSE;
    }
    g_autofree char *p = p_text(c, judged);
    decide(c, RES_VERDICT_CANNOT_TELL,
           "%s, but one side ran after the other and both drift that way from boot to boot, which "
           "would make %.0f%% of the difference",
           p, MIN(explained * 100, 100));
    advise(c, "let boots of both sides alternate: both kernels as an axis of one profile");
    return TRUE;
}

void
res_verdict_decide(ResComparison *c, const ResSide *a, const ResSide *b, double alpha,
                   unsigned int judged)
{
    c->next = g_strdup("");
    if (c->fidelity == RES_FIDELITY_FUNCTIONAL) {
        decide(c, RES_VERDICT_CANNOT_TELL, "every number is meaningless at fidelity functional");
        return;
    }
    if (a != NULL && all_equal(a, b)) {
        decide_identical(c, alpha, judged);
        return;
    }
    double effect = effect_of(c, a, b);
    gboolean sure = c->p_adjusted <= alpha || c->known_to_repeat;
    if (!sure || !(effect < 0 || effect > 0)) {
        decide_room(c, alpha, judged);
    } else if (!decide_drift(c, a, b, judged)) {
        decide_different(c, effect, alpha, judged);
    }
}
