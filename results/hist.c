/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/hist_private.h"

#include <math.h>
#include <string.h>

#define HALF (1u << RES_HIST_BITS) /* buckets in a power of two */

GQuark
res_hist_error_quark(void)
{
    return g_quark_from_static_string("res-hist-error");
}

ResHist *
res_hist_new(const char *unit, const char *name)
{
    ResHist *h = g_new0(ResHist, 1);
    h->unit = g_strdup(unit);
    h->name = g_strdup(name);
    h->counts = g_array_new(FALSE, TRUE, sizeof(guint64));
    return h;
}

ResHist *
res_hist_copy(const ResHist *h)
{
    ResHist *copy = g_memdup2(h, sizeof *h);
    copy->unit = g_strdup(h->unit);
    copy->name = g_strdup(h->name);
    copy->counts = g_array_copy(h->counts);
    return copy;
}

void
res_hist_free(ResHist *h)
{
    if (h == NULL) {
        return;
    }
    g_free(h->unit);
    g_free(h->name);
    g_array_unref(h->counts);
    g_free(h);
}

const char *
res_hist_unit(const ResHist *h)
{
    return h->unit;
}

const char *
res_hist_name(const ResHist *h)
{
    return h->name;
}

/* Below 2 * HALF a value is its own index; above, the top RES_HIST_BITS + 1 bits and how far they
 * were shifted. */
guint
res_hist_index(gint64 value)
{
    guint64 v = (guint64)value;
    guint bits = v < HALF ? RES_HIST_BITS : (guint)g_bit_storage(v) - 1;
    guint shift = bits - RES_HIST_BITS;
    return shift * HALF + (guint)(v >> shift);
}

gint64
res_hist_low(guint index)
{
    if (index < 2 * HALF) {
        return index;
    }
    guint shift = index / HALF - 1;
    return (gint64)(HALF + index % HALF) << shift;
}

gint64
res_hist_high(guint index)
{
    return res_hist_low(index + 1) - 1;
}

static gboolean
check_value(const ResHist *h, gint64 value, GError **error)
{
    if (value >= 0 && value <= RES_HIST_VALUE_MAX) {
        return TRUE;
    }
    g_set_error(error, RES_HIST_ERROR, RES_HIST_ERROR_CLOCK,
                "%s%sa latency of %" G_GINT64_FORMAT
                " %s is negative or wrapped: the clock ran backwards or was set",
                h->name, h->name[0] != '\0' ? ": " : "", value, h->unit);
    return FALSE;
}

static gboolean
check_room(const ResHist *h, guint64 count, guint64 sum, GError **error)
{
    if (count <= RES_HIST_COUNT_MAX - h->count && sum <= RES_HIST_COUNT_MAX - h->sum) {
        return TRUE;
    }
    g_set_error(error, RES_HIST_ERROR, RES_HIST_ERROR_RANGE,
                "a histogram's samples or their sum are more than %" G_GINT64_FORMAT,
                RES_HIST_COUNT_MAX);
    return FALSE;
}

static void
take_ends(ResHist *h, gint64 min, gint64 max)
{
    gboolean first = h->count == 0;
    h->min = first ? min : MIN(h->min, min);
    h->max = first ? max : MAX(h->max, max);
}

static void
add_to_bucket(ResHist *h, guint index, guint64 count)
{
    if (index >= h->counts->len) {
        g_array_set_size(h->counts, index + 1);
    }
    g_array_index(h->counts, guint64, index) += count;
}

gboolean
res_hist_add(ResHist *h, gint64 value, guint64 count, GError **error)
{
    if (!check_value(h, value, error)) {
        return FALSE;
    }
    if (count == 0) {
        return TRUE;
    }
    /* a product that overflows is out of range whatever it is */
    guint64 sum = 0;
    if (!g_uint64_checked_mul(&sum, (guint64)value, count)) {
        sum = G_MAXUINT64;
    }
    if (!check_room(h, count, sum, error)) {
        return FALSE;
    }
    take_ends(h, value, value);
    add_to_bucket(h, res_hist_index(value), count);
    h->count += count;
    h->sum += sum;
    return TRUE;
}

gboolean
res_hist_add_double(ResHist *h, double value, guint64 count, GError **error)
{
    if (!isfinite(value) || fabs(value) > 9e18) {
        g_set_error(error, RES_HIST_ERROR, RES_HIST_ERROR_CLOCK,
                    "%s%sa latency of %g %s is no latency: the clock is at fault", h->name,
                    h->name[0] != '\0' ? ": " : "", value, h->unit);
        return FALSE;
    }
    return res_hist_add(h, (gint64)llround(value), count, error);
}

gboolean
res_hist_add_censored(ResHist *h, gint64 limit, gint64 max, guint64 count, guint64 sum,
                      GError **error)
{
    if (!check_value(h, limit, error) || !check_value(h, max, error)) {
        return FALSE;
    }
    if (limit > max) {
        g_set_error(error, RES_HIST_ERROR, RES_HIST_ERROR_FORMAT,
                    "samples from %" G_GINT64_FORMAT " on can't have the maximum %" G_GINT64_FORMAT,
                    limit, max);
        return FALSE;
    }
    if (count == 0) {
        return TRUE;
    }
    if (!check_room(h, count, sum, error)) {
        return FALSE;
    }
    take_ends(h, limit, max);
    h->limit = h->censored > 0 ? MIN(h->limit, limit) : limit;
    h->censored += count;
    h->count += count;
    h->sum += sum;
    return TRUE;
}

gboolean
res_hist_widen(ResHist *h, gint64 min, gint64 max, GError **error)
{
    if (!check_value(h, min, error) || !check_value(h, max, error)) {
        return FALSE;
    }
    if (h->count > 0) {
        take_ends(h, min, max);
    }
    return TRUE;
}

gboolean
res_hist_merge(ResHist *h, const ResHist *from, GError **error)
{
    if (!g_str_equal(h->unit, from->unit)) {
        g_set_error(error, RES_HIST_ERROR, RES_HIST_ERROR_UNIT,
                    "histograms in %s and in %s are not merged", h->unit, from->unit);
        return FALSE;
    }
    if (from->count == 0) {
        return TRUE;
    }
    if (!check_room(h, from->count, from->sum, error)) {
        return FALSE;
    }
    take_ends(h, from->min, from->max);
    if (from->counts->len > h->counts->len) {
        g_array_set_size(h->counts, from->counts->len);
    }
    for (guint i = 0; i < from->counts->len; i++) {
        g_array_index(h->counts, guint64, i) += g_array_index(from->counts, guint64, i);
    }
    if (from->censored > 0) {
        h->limit = h->censored > 0 ? MIN(h->limit, from->limit) : from->limit;
        h->censored += from->censored;
    }
    h->count += from->count;
    h->sum += from->sum;
    return TRUE;
}

ResHist *
res_hist_merge_all(const GPtrArray *hists, GError **error)
{
    g_autoptr(ResHist) all = res_hist_copy(g_ptr_array_index(hists, 0));
    for (guint i = 1; i < hists->len; i++) {
        if (!res_hist_merge(all, g_ptr_array_index(hists, i), error)) {
            return NULL;
        }
    }
    return g_steal_pointer(&all);
}

guint64
res_hist_count(const ResHist *h)
{
    return h->count;
}

guint64
res_hist_censored(const ResHist *h)
{
    return h->censored;
}

gint64
res_hist_limit(const ResHist *h)
{
    return h->limit;
}

gint64
res_hist_min(const ResHist *h)
{
    return h->min;
}

gint64
res_hist_max(const ResHist *h)
{
    return h->max;
}

guint64
res_hist_sum(const ResHist *h)
{
    return h->sum;
}

double
res_hist_mean(const ResHist *h)
{
    return h->count > 0 ? (double)h->sum / (double)h->count : 0;
}

GArray *
res_hist_buckets(const ResHist *h)
{
    GArray *buckets = g_array_new(FALSE, FALSE, sizeof(ResHistBucket));
    for (guint i = 0; i < h->counts->len; i++) {
        guint64 count = g_array_index(h->counts, guint64, i);
        if (count > 0) {
            ResHistBucket b = {res_hist_low(i), res_hist_high(i), count};
            g_array_append_val(buckets, b);
        }
    }
    return buckets;
}
