/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/export_points.h"

static void
point_free(ResPoint *point)
{
    g_free(point->name);
    g_free(point->type);
    g_free(point->message);
    g_free(point);
}

static void
suite_free(ResPointSuite *s)
{
    g_free(s->name);
    g_ptr_array_unref(s->points);
    g_free(s);
}

static ResPointSuite *
suite_new(char *name)
{
    ResPointSuite *s = g_new0(ResPointSuite, 1);
    s->name = name;
    s->points = g_ptr_array_new_with_free_func((GDestroyNotify)point_free);
    return s;
}

static ResPoint *
add(ResPointSuite *s, char *name, ResPointState state, const char *type, const char *message)
{
    ResPoint *point = g_new0(ResPoint, 1);
    point->name = name;
    point->state = state;
    point->type = g_strdup(type);
    point->message = g_strdup(message != NULL ? message : "");
    s->count[state]++;
    g_ptr_array_add(s->points, point);
    return point;
}

static ResPointSuite *
claims(const ResPage *p, const char *profile)
{
    static const ResPointState states[] = {
        [RES_CLAIM_HOLDS] = RES_POINT_OK,
        [RES_CLAIM_FAILS] = RES_POINT_FAILED,
        [RES_CLAIM_CANNOT_TELL] = RES_POINT_ERROR,
    };
    ResPointSuite *s = suite_new(g_strdup(profile));
    gboolean skipped = p->outcomes[RES_OUTCOME_SKIP] == p->records->len;
    for (guint i = 0; i < p->claims->len; i++) {
        const ResClaim *c = g_ptr_array_index(p->claims, i);
        g_autofree char *message = g_strdup_printf("%s: %s", c->text, c->reason);
        add(s, g_strdup(c->name), skipped ? RES_POINT_SKIPPED : states[c->verdict],
            skipped ? "skip" : res_claim_verdict_name(c->verdict), message);
    }
    return s;
}

static ResPointState
run_state(ResOutcome outcome)
{
    switch (outcome) {
    case RES_OUTCOME_DONE:
        return RES_POINT_OK;
    case RES_OUTCOME_SKIP:
        return RES_POINT_SKIPPED;
    case RES_OUTCOME_INFRA:
    case RES_OUTCOME_CANCELLED:
        return RES_POINT_ERROR;
    default:
        return RES_POINT_FAILED;
    }
}

static ResPointSuite *
runs(const ResPage *p, const char *profile)
{
    ResPointSuite *s = suite_new(g_strdup_printf("%s runs", profile));
    for (guint i = 0; i < p->records->len; i++) {
        const ResRecord *r = g_ptr_array_index(p->records, i);
        gboolean fine = r->detail != NULL && r->detail[0] != '\0';
        g_autofree char *type = g_strconcat(res_outcome_name(r->outcome), fine ? ": " : "",
                                            fine ? r->detail : "", NULL);
        ResPoint *point = add(s, res_page_run_name(r), run_state(r->outcome), type, r->message);
        point->seconds = (double)MAX(r->ended_us - r->started_us, 0) / G_USEC_PER_SEC;
        s->seconds += point->seconds;
    }
    return s;
}

static ResPointSuite *
compared(const ResPage *p, const char *profile)
{
    static const ResPointState states[] = {
        [RES_VERDICT_BETTER] = RES_POINT_OK,     [RES_VERDICT_SAME] = RES_POINT_OK,
        [RES_VERDICT_WORSE] = RES_POINT_FAILED,  [RES_VERDICT_CANNOT_TELL] = RES_POINT_SKIPPED,
        [RES_VERDICT_IRRELEVANT] = RES_POINT_OK, [RES_VERDICT_DIFFERENT] = RES_POINT_OK,
    };
    const ResRecord *first = g_ptr_array_index(p->baseline, 0);
    ResPointSuite *s = suite_new(g_strdup_printf("%s against %s", profile, first->set));
    if (p->refused != NULL) {
        add(s, g_strdup("comparable"), RES_POINT_ERROR, "not compared", p->refused);
    }
    for (guint i = 0; p->comparisons != NULL && i < p->comparisons->len; i++) {
        const ResComparison *c = g_ptr_array_index(p->comparisons, i);
        if (c->direction == RES_NO_DIRECTION) {
            continue; /* evidence, not a claim */
        }
        g_autofree char *message =
            g_strdup_printf("%s%.6g -> %s%.6g %s, %u and %u boots, fidelity %s: %s",
                            c->censored_a ? ">= " : "", c->a, c->censored_b ? ">= " : "", c->b,
                            c->unit, c->na, c->nb, res_fidelity_name(c->fidelity), c->reason);
        char *name = c->cell[0] != '\0' ? g_strdup_printf("%s, %s", c->metric, c->cell)
                                        : g_strdup(c->metric);
        add(s, name, states[c->verdict], res_verdict_name(c->verdict), message);
    }
    return s;
}

GPtrArray *
res_points_new(const ResPage *p)
{
    GPtrArray *suites = g_ptr_array_new_with_free_func((GDestroyNotify)suite_free);
    const char *profile = res_page_first(p)->profile;
    if (p->claims->len > 0) {
        g_ptr_array_add(suites, claims(p, profile));
    }
    g_ptr_array_add(suites, runs(p, profile));
    if (p->baseline != NULL) {
        g_ptr_array_add(suites, compared(p, profile));
    }
    return suites;
}
