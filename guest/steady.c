/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/steady.h"

#include <stdlib.h>
#include <string.h>

static bool
agree(uint64_t low, uint64_t high, unsigned int ppm)
{
    return (double)(high - low) * 1e6 <= (double)low * ppm;
}

bool
bm_steady_run(const uint64_t *ticks, size_t n, unsigned int ppm)
{
    uint64_t low, high;

    if (n < BM_STEADY_RUN)
        return false;
    low = high = ticks[n - 1];
    for (size_t i = n - BM_STEADY_RUN; i < n; i++) {
        low = ticks[i] < low ? ticks[i] : low;
        high = ticks[i] > high ? ticks[i] : high;
    }
    return agree(low, high, ppm);
}

static int
compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Of an even number the lower of the two in the middle: always a batch that was. */
static uint64_t
median(const uint64_t *ticks, size_t n, uint64_t *scratch)
{
    memcpy(scratch, ticks, n * sizeof *ticks);
    qsort(scratch, n, sizeof *scratch, compare);
    return scratch[(n - 1) / 2];
}

bool
bm_steady_halves(const uint64_t *ticks, size_t n, unsigned int ppm, uint64_t *scratch)
{
    uint64_t first, second;

    if (n < 2)
        return true;
    first = median(ticks, n / 2, scratch);
    second = median(ticks + n / 2, n - n / 2, scratch);
    return first < second ? agree(first, second, ppm) : agree(second, first, ppm);
}
