/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/flat.h"

#include <string.h>

#define GATES 256
#define CODE64 0x08
#define INTERRUPT_GATE 0x8e
#define TRAPS 32
#define TRAP_GP 13
#define TRAMPOLINE 0x8000UL /* flat_start.S */
#define ICR_INIT_OTHERS 0xc4500
#define ICR_STARTUP_OTHERS (0xc4600 | (TRAMPOLINE >> 12))
#define START_WAIT 2000000000UL /* TSC ticks: a second of most */
/* TSC ticks, longer than KVM polls for whoever waits for it (halt_poll_ns): it never learns to. */
#define ANSWER_AFTER 1000000UL
#define APIC_BASE_ENABLE 0x800
#define APIC_BASE_X2APIC 0x400
#define SERIAL 0x3f8
#define PM1_CONTROL 0x604 /* where SeaBIOS puts the PIIX4's and ICH9's ACPI registers: 0x600 */
#define PM1_SLEEP 0x2000

typedef struct {
    uint16_t low, selector;
    uint8_t ist, type;
    uint16_t middle;
    uint32_t high, zero;
} Gate;

typedef struct {
    uint64_t rip, cs, rflags, rsp, ss;
} Frame;

volatile unsigned long bm_flat_taken[BM_VECTORS_END];
volatile uint64_t bm_flat_called_at;
volatile bool bm_flat_answer;
void (*bm_flat_died)(const char *what, uint64_t rip) __attribute__((noreturn));

extern const char flat_trampoline[], flat_trampoline_end[];
void flat_ap_main(void);

static Gate idt[GATES];
static BmFlatCpu flat_cpu;
static bool x2apic_on;
static volatile uint64_t fixup; /* where a #GP goes on; 0: it is not expected */
static volatile bool refused;
static void (*other_main)(void);
static volatile unsigned int others;

/* --- interrupts and traps --- */

static inline void
taken(unsigned int vector)
{
    bm_flat_taken[vector]++;
    bm_flat_apic_write(BM_APIC_EOI, 0);
}

__attribute__((interrupt)) static void
on_timer(Frame *f __attribute__((unused)))
{
    taken(BM_VECTOR_TIMER);
}

__attribute__((interrupt)) static void
on_self(Frame *f __attribute__((unused)))
{
    taken(BM_VECTOR_SELF);
}

__attribute__((interrupt)) static void
on_call(Frame *f __attribute__((unused)))
{
    uint64_t now = bm_tsc();

    bm_flat_called_at = now;
    taken(BM_VECTOR_CALL);
    if (!bm_flat_answer)
        return;
    /* Neither PAUSE nor the TSC at each turn, which an emulator is slow at. */
    __asm__ volatile("sti" : : : "memory");
    while (bm_tsc() - now < ANSWER_AFTER)
        for (unsigned int i = 0; i < 1000; i++)
            __asm__ volatile("" : : : "memory");
    __asm__ volatile("cli" : : : "memory");
    bm_flat_apic_write(BM_APIC_ICR, BM_ICR_OTHERS | BM_VECTOR_ANSWER);
}

__attribute__((interrupt)) static void
on_answer(Frame *f __attribute__((unused)))
{
    taken(BM_VECTOR_ANSWER);
}

/* A spurious interrupt has no EOI; the firmware's are masked. */
__attribute__((interrupt)) static void
on_nothing(Frame *f __attribute__((unused)))
{
}

__attribute__((interrupt)) static void
on_trap(Frame *f)
{
    bm_flat_died("a trap", f->rip);
}

__attribute__((interrupt)) static void
on_trap_with_code(Frame *f, unsigned long code __attribute__((unused)))
{
    if (!fixup)
        bm_flat_died("a fault", f->rip);
    refused = true;
    f->rip = fixup;
}

static void
gate(unsigned int vector, const void *handler)
{
    uint64_t at = (uint64_t)handler;

    idt[vector] = (Gate){.low = (uint16_t)at,
                         .selector = CODE64,
                         .type = INTERRUPT_GATE,
                         .middle = (uint16_t)(at >> 16),
                         .high = (uint32_t)(at >> 32)};
}

static void
load_gates(void)
{
    const struct {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) pointer = {sizeof idt - 1, (uint64_t)idt};

    __asm__ volatile("lidt %0" : : "m"(pointer));
}

static void
make_gates(void)
{
    /* double fault, TSS, segments, stack, protection, page, alignment */
    const uint32_t with_code =
        1U << 8 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 13 | 1U << 14 | 1U << 17;

    for (unsigned int i = 0; i < GATES; i++)
        gate(i, i >= TRAPS           ? (void *)on_nothing
                : with_code >> i & 1 ? (void *)on_trap_with_code
                                     : (void *)on_trap);
    gate(BM_VECTOR_TIMER, on_timer);
    gate(BM_VECTOR_SELF, on_self);
    gate(BM_VECTOR_CALL, on_call);
    gate(BM_VECTOR_ANSWER, on_answer);
}

bool
bm_flat_rdmsr_safe(uint32_t msr, uint64_t *value)
{
    uint32_t low = 0, high = 0;

    refused = false;
    __asm__ volatile("movq $1f, %2\n\trdmsr\n1:\tmovq $0, %2"
                     : "+a"(low), "+d"(high), "=m"(fixup)
                     : "c"(msr)
                     : "memory");
    *value = (uint64_t)high << 32 | low;
    return !refused;
}

bool
bm_flat_wrmsr_safe(uint32_t msr, uint64_t value)
{
    refused = false;
    __asm__ volatile("movq $1f, %0\n\twrmsr\n1:\tmovq $0, %0"
                     : "=m"(fixup)
                     : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory");
    return !refused;
}

/* --- APIC --- */

void
bm_flat_apic_write(uint32_t reg, uint64_t value)
{
    if (x2apic_on)
        bm_wrmsr(BM_X2APIC_MSR(reg), value);
    else
        *(volatile uint32_t *)(BM_APIC_PAGE + reg) = (uint32_t)value;
}

void
bm_flat_apic_on(const BmFlatCpu *cpu)
{
    uint64_t base = bm_rdmsr(BM_MSR_APIC_BASE) | APIC_BASE_ENABLE;

    if (cpu->x2apic)
        base |= APIC_BASE_X2APIC;
    bm_wrmsr(BM_MSR_APIC_BASE, base);
    x2apic_on = cpu->x2apic;
    bm_flat_apic_write(BM_APIC_SPURIOUS, 0x1ff);
    if (cpu->tsc_deadline)
        bm_flat_apic_write(BM_APIC_LVT_TIMER, BM_LVT_TSC_DEADLINE | BM_VECTOR_TIMER);
}

/* --- the processor --- */

void
bm_flat_init(BmFlatCpu *cpu)
{
    uint32_t id[4];

    make_gates();
    load_gates();
    /* The firmware's clock: PIC masked, the PIT's first counter waiting for a count for ever. */
    bm_outb(0x21, 0xff);
    bm_outb(0xa1, 0xff);
    bm_outb(0x43, 0x30);
    bm_cpuid(0, id);
    cpu->amd = memcmp(&id[1], "Auth", 4) == 0;
    bm_cpuid(1, id);
    cpu->x2apic = id[2] >> 21 & 1;
    cpu->tsc_deadline = id[2] >> 24 & 1;
    flat_cpu = *cpu;
}

/* The first of the others; what comes after it sleeps. */
void
flat_ap_main(void)
{
    load_gates();
    bm_flat_apic_on(&flat_cpu);
    if (__atomic_fetch_add(&others, 1, __ATOMIC_SEQ_CST) == 0)
        other_main();
    for (;;)
        __asm__ volatile("cli\n\thlt");
}

bool
bm_flat_start_other(void (*main)(void))
{
    uint64_t start;

    other_main = main;
    memcpy((void *)TRAMPOLINE, flat_trampoline, (size_t)(flat_trampoline_end - flat_trampoline));
    bm_flat_apic_write(BM_APIC_ICR, ICR_INIT_OTHERS);
    for (start = bm_tsc(); bm_tsc() - start < START_WAIT / 100;)
        bm_relax();
    bm_flat_apic_write(BM_APIC_ICR, ICR_STARTUP_OTHERS);
    for (start = bm_tsc(); !others && bm_tsc() - start < START_WAIT;)
        bm_relax();
    return others > 0;
}

void
bm_flat_power_off(void)
{
    bm_outw(PM1_CONTROL, PM1_SLEEP);
    for (;;)
        __asm__ volatile("cli\n\thlt");
}

void
bm_flat_console(const char *line)
{
    for (; *line; line++)
        bm_outb(SERIAL, (uint8_t)*line);
    bm_outb(SERIAL, '\r');
    bm_outb(SERIAL, '\n');
}
