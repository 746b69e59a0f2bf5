/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The kinds of exit as code: what is done before, in and after a batch of each. */
#include <stdint.h>

#include "guest/exit_cost.h"
#include "guest/flat.h"

typedef struct {
    const char *name;
    unsigned int calls;           /* of a batch */
    unsigned int warmup;          /* batches before those that are measured */
    bool after_x2apic;            /* wants the APIC as MSRs, where there is x2APIC */
    const char *(*prepare)(void); /* NULL, or why it can't be measured; may be left out */
    void (*call)(void);           /* one call... */
    uint64_t (*batch)(void);      /* ... or a whole batch that measures itself: its ticks */
    void (*finish)(void);         /* may be left out */
} BmExitKind;

#define BM_EXIT_WARMUP_MAX 60

#define BM_EXIT_COUNT_ONE(name, calls, loop, what) +1
#define BM_EXIT_COUNT (0 BM_EXIT_KINDS(BM_EXIT_COUNT_ONE))
extern const BmExitKind bm_exit_kinds[BM_EXIT_COUNT];

typedef struct {
    BmFlatCpu cpu;
    unsigned int vcpus;
    uint64_t tsc_khz; /* 0: not known */
    uint64_t memory;  /* bytes of it, from address 0 */
    uint64_t pages;   /* that will be touched at most */
    bool kvm;
} BmExitMachine;
extern BmExitMachine bm_exit_machine;

/* Once, before kinds that want it: the APIC as MSRs, and the second vCPU started. */
void bm_exit_second_half(void);

/* Ticks of one batch of KIND, and of as many calls of nothing. */
uint64_t bm_exit_batch(const BmExitKind *kind);
uint64_t bm_exit_empty_batch(unsigned int calls);
/* Ticks of a thousand instructions, in thousandths of a tick an instruction. */
uint64_t bm_exit_ticks_per_insn(void);
/* TSC ticks a millisecond by the ACPI PM timer; 0: it does not run. */
uint64_t bm_exit_tsc_khz(void);
