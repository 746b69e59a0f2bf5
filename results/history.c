/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/facts.h"

#define DAY_US ((gint64)24 * 3600 * G_USEC_PER_SEC)

static void
change_free(ResHistoryChange *c)
{
    g_ptr_array_unref(c->suspects);
    g_free(c->good);
    g_free(c->bad);
    g_free(c);
}

void
res_history_free(ResHistory *h)
{
    if (h == NULL) {
        return;
    }
    g_array_unref(h->nights);
    g_ptr_array_unref(h->changes);
    g_free(h);
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int
compare_nights(const void *a, const void *b)
{
    const ResNight *x = a, *y = b;
    int order = (x->started_us > y->started_us) - (x->started_us < y->started_us);
    return order != 0 ? order : strcmp(x->set, y->set);
}

static double
median(GArray *values)
{
    double *v = &g_array_index(values, double, 0);
    gsize n = values->len;
    qsort(v, n, sizeof *v, compare_doubles);
    return n % 2 == 1 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
}

/* A night that is being put together. */
typedef struct {
    ResNight night;
    GArray *values;
} Gathered;

static void
gathered_free(Gathered *g)
{
    g_array_unref(g->values);
    g_free(g);
}

static void
gather_nights(ResHistory *h, gint64 now_us)
{
    g_autoptr(GHashTable) sets =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)gathered_free);
    GHashTableIter iter;
    gpointer each;
    for (guint i = 0; i < h->series->points->len; i++) {
        const ResSeriesPoint *p = &g_array_index(h->series->points, ResSeriesPoint, i);
        if (!isfinite(p->value)) {
            h->unusable++;
            continue;
        }
        if (p->started_us - DAY_US > now_us) {
            h->future++;
            continue;
        }
        Gathered *g = g_hash_table_lookup(sets, p->set);
        if (g == NULL) {
            g = g_new0(Gathered, 1);
            g->night = (ResNight){p->started_us, p->set, p->facts, 0, 0};
            g->values = g_array_new(FALSE, FALSE, sizeof(double));
            g_hash_table_insert(sets, p->set, g);
        }
        g_array_append_val(g->values, p->value);
    }
    g_hash_table_iter_init(&iter, sets);
    while (g_hash_table_iter_next(&iter, NULL, &each)) {
        Gathered *g = each;
        g->night.value = median(g->values);
        g->night.boots = g->values->len;
        g_array_append_val(h->nights, g->night);
    }
    g_array_sort(h->nights, compare_nights);
}

static const ResNight *
night_at(const ResHistory *h, gsize at)
{
    return &g_array_index(h->nights, ResNight, at);
}

/* The kernels of two nights as a profile names them, where that tells them apart. */
static void
find_kernels(ResHistoryChange *c, const char *before, const char *after)
{
    g_autofree char *good = res_facts_get(before, "kernel"), *bad = res_facts_get(after, "kernel");
    g_autofree char *was = res_facts_get(before, "kernel.release"),
                    *is = res_facts_get(after, "kernel.release");
    if (c->good != NULL) {
        return;
    }
    if (good != NULL && bad != NULL && !g_str_equal(good, bad) && !g_str_equal(good, "default") &&
        !g_str_equal(bad, "default")) {
        c->good = g_steal_pointer(&good);
        c->bad = g_steal_pointer(&bad);
    } else if (was != NULL && is != NULL && !g_str_equal(was, is)) {
        c->good = g_strconcat("boot:", was, NULL);
        c->bad = g_strconcat("boot:", is, NULL);
    }
}

/* What changed between night AT - 1 and night AT. */
static void
add_suspects(const ResHistory *h, ResHistoryChange *c, gssize at)
{
    gssize away = at - (gssize)c->change.at;
    if (at < 1 || at >= (gssize)h->nights->len) {
        return;
    }
    const char *before = night_at(h, (gsize)at - 1)->facts, *after = night_at(h, (gsize)at)->facts;
    if (before == after) { /* of one series: one text each */
        return;
    }
    g_autoptr(GPtrArray) lines = res_facts_differences(before, after);
    for (guint i = 0; i < lines->len; i++) {
        const char *line = g_ptr_array_index(lines, i);
        g_ptr_array_add(c->suspects, away == 0
                                         ? g_strdup_printf("%s, that night", line)
                                         : g_strdup_printf("%s, %d night%s %s", line,
                                                           (int)ABS(away), ABS(away) > 1 ? "s" : "",
                                                           away < 0 ? "before" : "after"));
    }
    find_kernels(c, before, after);
}

static gint64
day_of(gint64 us)
{
    return us - us % DAY_US;
}

static gboolean
same_or_any(const char *wanted, const char *is)
{
    return wanted == NULL || g_strcmp0(wanted, is) == 0;
}

gboolean
res_history_concerns(const ResHistory *h, const ResAnnotation *a)
{
    return g_strcmp0(a->metric, h->series->metric) == 0 &&
           same_or_any(a->profile, h->series->profile) && same_or_any(a->cell, h->series->cell) &&
           same_or_any(a->host, h->series->host);
}

/* The newest that accepts a change whose date may be off by so much. */
static const ResAnnotation *
find_accepted(const ResHistory *h, const ResChange *c, const GPtrArray *annotations)
{
    gsize first = c->at > RES_HISTORY_NEAR ? c->at - RES_HISTORY_NEAR : 0;
    gsize last = MIN(c->at + RES_HISTORY_NEAR, h->nights->len - 1);
    gint64 from = day_of(night_at(h, first)->started_us);
    gint64 to = day_of(night_at(h, last)->started_us) + DAY_US;
    const ResAnnotation *found = NULL;
    for (guint i = 0; annotations != NULL && i < annotations->len; i++) {
        const ResAnnotation *a = g_ptr_array_index(annotations, i);
        if (a->accept && a->when_us >= from && a->when_us < to && res_history_concerns(h, a)) {
            found = a;
        }
    }
    return found;
}

/* Regressions that C takes back: its level is nearer to that before them than to theirs. */
static void
take_back(ResHistory *h, ResHistoryChange *c)
{
    for (guint i = h->changes->len; c->kind == RES_CHANGE_BETTER && i-- > 0;) {
        ResHistoryChange *r = g_ptr_array_index(h->changes, i);
        if (r->kind != RES_CHANGE_WORSE || r->gone) {
            continue;
        }
        if (fabs(c->change.after - r->change.before) > fabs(c->change.after - r->change.after)) {
            break;
        }
        r->gone = TRUE;
        c->back_of = (int)i;
    }
}

static void
add_change(ResHistory *h, const ResChange *change, const GPtrArray *annotations)
{
    ResHistoryChange *c = g_new0(ResHistoryChange, 1);
    gboolean up = change->after > change->before;
    c->change = *change;
    c->kind = h->series->direction == RES_NO_DIRECTION              ? RES_CHANGE_OTHER
              : up == (h->series->direction == RES_LOWER_IS_BETTER) ? RES_CHANGE_WORSE
                                                                    : RES_CHANGE_BETTER;
    c->fresh = change->established == h->nights->len - 1;
    c->back_of = -1;
    c->suspects = g_ptr_array_new_with_free_func(g_free);
    c->accepted = find_accepted(h, change, annotations);
    add_suspects(h, c, (gssize)change->at);
    for (gssize away = 1; away <= RES_HISTORY_NEAR; away++) {
        add_suspects(h, c, (gssize)change->at - away);
        add_suspects(h, c, (gssize)change->at + away);
    }
    take_back(h, c);
    g_ptr_array_add(h->changes, c);
}

ResHistory *
res_history_new(const ResSeries *series, const GPtrArray *annotations, gint64 now_us)
{
    ResHistory *h = g_new0(ResHistory, 1);
    h->series = series;
    h->nights = g_array_new(FALSE, FALSE, sizeof(ResNight));
    h->changes = g_ptr_array_new_with_free_func((GDestroyNotify)change_free);
    gather_nights(h, now_us);
    gsize n = h->nights->len;
    h->more = n < RES_CHANGES_NEEDED ? (guint)(RES_CHANGES_NEEDED - n) : 0;
    g_autofree double *values = g_new(double, n + 1);
    for (gsize i = 0; i < n; i++) {
        values[i] = night_at(h, i)->value;
    }
    g_autoptr(GArray) found = res_changes(values, n);
    for (guint i = 0; i < found->len; i++) {
        add_change(h, &g_array_index(found, ResChange, i), annotations);
    }
    return h;
}

gboolean
res_history_stands(const ResHistoryChange *c)
{
    return c->kind == RES_CHANGE_WORSE && !c->gone && c->accepted == NULL;
}
