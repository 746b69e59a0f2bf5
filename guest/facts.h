/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* What the guest reads about itself: the `fact` lines. */
#include "guest/port.h"

typedef struct {
    int kmsg_fd; /* stays open, so that a later look finds only what is new */
    unsigned int kmsg_sent;
    char clocksource[64];
} BmFacts;

void bm_facts_send(BmFacts *f, BmPort *p);
/* Kernel messages since, and the clocksource if it is another one. */
void bm_facts_send_late(BmFacts *f, BmPort *p);
/* One fact; `fact cut KEY` after it when it did not fit. */
void bm_fact(BmPort *p, const char *key, const char *value, size_t len);
