/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * A flat guest: 64-bit code without an operating system, memory mapped as it is, interrupts off
 * until asked for. The processor's side of it; registers and MSRs are of the Intel SDM (vol. 3, 11
 * APIC, vol. 4) and of AMD's APM (vol. 2).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BM_MSR_APIC_BASE 0x1b
#define BM_MSR_MISC_ENABLE 0x1a0
#define BM_MSR_TSC_DEADLINE 0x6e0
/* Of the APIC's page; in x2APIC mode its MSR is 0x800 + a sixteenth. */
#define BM_APIC_VERSION 0x30
#define BM_APIC_EOI 0xb0
#define BM_APIC_SPURIOUS 0xf0
#define BM_APIC_ICR 0x300
#define BM_APIC_LVT_TIMER 0x320
#define BM_APIC_PAGE 0xfee00000UL
#define BM_X2APIC_MSR(reg) (0x800 + ((reg) >> 4))

#define BM_ICR_SELF 0x40000 /* shorthand: to the sender */
#define BM_ICR_OTHERS 0xc0000
#define BM_LVT_TSC_DEADLINE 0x40000

typedef struct {
    bool amd, x2apic, tsc_deadline;
} BmFlatCpu;

/* Vectors that are ours to use, and how often each was taken: its interrupt ends with an EOI. */
enum { BM_VECTOR_TIMER = 0x40, BM_VECTOR_SELF, BM_VECTOR_CALL, BM_VECTOR_ANSWER, BM_VECTORS_END };
extern volatile unsigned long bm_flat_taken[BM_VECTORS_END];
/* When BM_VECTOR_CALL was taken last, by the TSC; and whether it is answered, some time later, with
 * BM_VECTOR_ANSWER to the first vCPU. */
extern volatile uint64_t bm_flat_called_at;
extern volatile bool bm_flat_answer;

/* Interrupt table, timers of the firmware off, what the processor has. */
void bm_flat_init(BmFlatCpu *cpu);
/* The APIC in x2APIC mode where there is one; its software switch on. On each vCPU. */
void bm_flat_apic_on(const BmFlatCpu *cpu);
/* As the APIC now is. */
void bm_flat_apic_write(uint32_t reg, uint64_t value);

/* False: the processor refuses it (#GP). */
bool bm_flat_rdmsr_safe(uint32_t msr, uint64_t *value);
bool bm_flat_wrmsr_safe(uint32_t msr, uint64_t value);

/* Starts the other vCPUs; only the first to come runs MAIN, the rest sleep for good. False: none
 * came. */
bool bm_flat_start_other(void (*main)(void));

/* Called with what went wrong by a trap nobody expected; must not return. */
extern void (*bm_flat_died)(const char *what, uint64_t rip) __attribute__((noreturn));

/* S5 by the ACPI of QEMU's pc machine. */
void bm_flat_power_off(void) __attribute__((noreturn));
/* A line for the console (the first serial port). */
void bm_flat_console(const char *line);

static inline void
bm_outb(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline void
bm_outw(uint16_t port, uint16_t value)
{
    __asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port));
}

static inline void
bm_outl(uint16_t port, uint32_t value)
{
    __asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t
bm_inb(uint16_t port)
{
    uint8_t value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline uint16_t
bm_inw(uint16_t port)
{
    uint16_t value;
    __asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline uint32_t
bm_inl(uint16_t port)
{
    uint32_t value;
    __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline void
bm_ins(uint16_t port, void *to, size_t n)
{
    __asm__ volatile("rep insb" : "+D"(to), "+c"(n) : "d"(port) : "memory");
}

static inline uint64_t
bm_rdmsr(uint32_t msr)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (uint64_t)high << 32 | low;
}

static inline void
bm_wrmsr(uint32_t msr, uint64_t value)
{
    __asm__ volatile("wrmsr"
                     :
                     : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory");
}

static inline void
bm_cpuid(uint32_t leaf, uint32_t out[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
                     : "a"(leaf), "c"(0));
}

/* After all that came before it, and before all that comes after. */
static inline uint64_t
bm_tsc(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

static inline void
bm_relax(void)
{
    __asm__ volatile("pause" : : : "memory");
}

/* Interrupts on; the next instruction is run before any is taken. */
static inline void
bm_sti_hlt_cli(void)
{
    __asm__ volatile("sti\n\thlt\n\tcli" : : : "memory");
}

static inline uint32_t
bm_mmio_read(uintptr_t address)
{
    return *(volatile uint32_t *)address;
}
