/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest/exit_cost_kinds.h"

/* KVM_HC_VAPIC_POLL_IRQ: "Trigger guest exit so that the host can check for pending interrupts on
 * reentry" (Documentation/virt/kvm/x86/hypercalls.rst): an exit, and nothing else. */
#define HYPERCALL 1
#define PIC_MASK 0x21
#define PM_TIMER 0x608 /* where SeaBIOS puts it on QEMU's pc */
#define PM_TIMER_HZ 3579545UL
#define IOAPIC 0xfec00000UL
#define NO_DEVICE 0xfed60000UL /* below the APIC's page, of no chipset QEMU has */
#define FAR_TICKS (1UL << 36)
/* Longer than KVM polls before it sleeps (halt_poll_ns) and than a tick of any host: so the timer
 * is always due after the housekeeping CPU's next event, and the host's idle loop stops its tick.
 */
#define SLEEP_MS 12
/* Of ticks: coarser than the frequency is known, so that every boot sleeps as long; a timer that
 * counts in steps is then late by as much each time. */
#define SLEEP_STEP 0x10000UL
#define PAGE 4096UL
#define TOUCH_FROM (16UL << 20) /* beyond all that the firmware and we have touched */
#define TOUCH_KEEP (1UL << 20)  /* the firmware's tables at the end of memory */
#define INSNS 1000
#define WARMUP 4
#define WARMUP_IDLE                                                                                \
    BM_EXIT_WARMUP_MAX /* the host's idle governor learns from its last tens of sleeps */

#define CALLS(name, calls, loop, what) CALLS_##name = calls,
enum { BM_EXIT_KINDS(CALLS) };
enum { OTHER_HALTS, OTHER_SPINS };

BmExitMachine bm_exit_machine;
static volatile int other_does, other_doing;
static bool other_there;
static uint64_t misc_enable;
static uintptr_t touch_next;

static void
call_nothing(void)
{
    __asm__ volatile("");
}

/* --- exits that answer at once --- */

static void
call_cpuid(void)
{
    uint32_t out[4];
    bm_cpuid(0, out);
}

static const char *
prepare_vmcall(void)
{
    return bm_exit_machine.kvm ? NULL : "this is not a guest of KVM";
}

static void
call_vmcall(void)
{
    uint64_t result = HYPERCALL;

    if (bm_exit_machine.cpu.amd)
        __asm__ volatile("vmmcall" : "+a"(result) : : "memory");
    else
        __asm__ volatile("vmcall" : "+a"(result) : : "memory");
}

static const char *
prepare_msr(void)
{
    if (!bm_flat_rdmsr_safe(BM_MSR_MISC_ENABLE, &misc_enable) ||
        !bm_flat_wrmsr_safe(BM_MSR_MISC_ENABLE, misc_enable))
        return "IA32_MISC_ENABLE is not there";
    return NULL;
}

static void
call_rdmsr(void)
{
    bm_rdmsr(BM_MSR_MISC_ENABLE);
}

static void
call_wrmsr(void)
{
    bm_wrmsr(BM_MSR_MISC_ENABLE, misc_enable);
}

static void
call_pio_kernel(void)
{
    bm_inb(PIC_MASK);
}

static const char *
prepare_pm_timer(void)
{
    uint32_t first = bm_inl(PM_TIMER);

    for (unsigned int i = 0; i < 1000; i++)
        if (bm_inl(PM_TIMER) != first)
            return NULL;
    return "there is no ACPI PM timer";
}

static void
call_pio_qemu(void)
{
    bm_inl(PM_TIMER);
}

static const char *
prepare_mmio_lapic(void)
{
    return bm_rdmsr(BM_MSR_APIC_BASE) & 0x400 ? "the firmware left the APIC in x2APIC mode" : NULL;
}

static void
call_mmio_lapic(void)
{
    bm_mmio_read(BM_APIC_PAGE + BM_APIC_VERSION);
}

static void
call_mmio_kernel(void)
{
    bm_mmio_read(IOAPIC);
}

static void
call_mmio_qemu(void)
{
    bm_mmio_read(NO_DEVICE);
}

static void
call_cr8(void)
{
    __asm__ volatile("mov %0, %%cr8" : : "r"(0UL) : "memory");
}

static void
call_pause(void)
{
    bm_relax();
}

static void
call_eoi(void)
{
    bm_flat_apic_write(BM_APIC_EOI, 0);
}

static const char *
prepare_npf(void)
{
    touch_next = touch_next ? touch_next : TOUCH_FROM;
    if (bm_exit_machine.memory < TOUCH_FROM + TOUCH_KEEP + bm_exit_machine.pages * PAGE)
        return "the guest has too little memory for so many batches";
    return NULL;
}

static void
call_npf(void)
{
    *(volatile uint8_t *)touch_next = 1;
    touch_next += PAGE;
}

/* --- timers --- */

static const char *
prepare_deadline(void)
{
    return bm_exit_machine.cpu.tsc_deadline ? NULL : "the APIC has no TSC-deadline timer";
}

static const char *
prepare_sleep(void)
{
    return bm_exit_machine.tsc_khz ? prepare_deadline()
                                   : "without an ACPI PM timer the TSC's frequency is not known";
}

static void
call_tscdeadline(void)
{
    bm_wrmsr(BM_MSR_TSC_DEADLINE, bm_tsc() + FAR_TICKS);
}

static void
finish_deadline(void)
{
    bm_wrmsr(BM_MSR_TSC_DEADLINE, 0);
}

static void
interrupts_on(void)
{
    __asm__ volatile("sti" : : : "memory");
}

static void
interrupts_off(void)
{
    __asm__ volatile("cli" : : : "memory");
}

static const char *
prepare_deadline_now(void)
{
    const char *why = prepare_deadline();

    if (!why)
        interrupts_on();
    return why;
}

static void
call_tscdeadline_now(void)
{
    unsigned long before = bm_flat_taken[BM_VECTOR_TIMER];

    bm_wrmsr(BM_MSR_TSC_DEADLINE, bm_tsc());
    while (bm_flat_taken[BM_VECTOR_TIMER] == before)
        ;
}

/* Returns when it was to end. Interrupts are off before and after. */
static uint64_t
sleep_long(void)
{
    unsigned long before = bm_flat_taken[BM_VECTOR_TIMER];
    uint64_t due = bm_tsc() + SLEEP_MS * bm_exit_machine.tsc_khz / SLEEP_STEP * SLEEP_STEP;

    bm_wrmsr(BM_MSR_TSC_DEADLINE, due);
    while (bm_flat_taken[BM_VECTOR_TIMER] == before)
        bm_sti_hlt_cli();
    return due;
}

/* How late the host is depends on where in its ticks it sleeps: many of them are one batch. */
static uint64_t
batch_hlt_timer(void)
{
    uint64_t late = 0;

    for (unsigned int i = 0; i < CALLS_hlt_timer; i++) {
        uint64_t due = sleep_long();
        late += bm_tsc() - due;
    }
    return late;
}

/* --- interrupts between vCPUs --- */

static const char *
prepare_self_ipi(void)
{
    interrupts_on();
    return NULL;
}

static void
call_self_ipi(void)
{
    unsigned long before = bm_flat_taken[BM_VECTOR_SELF];

    bm_flat_apic_write(BM_APIC_ICR, BM_ICR_SELF | BM_VECTOR_SELF);
    while (bm_flat_taken[BM_VECTOR_SELF] == before)
        ;
}

static void
call_self_ipi_hlt(void)
{
    bm_flat_apic_write(BM_APIC_ICR, BM_ICR_SELF | BM_VECTOR_SELF);
    bm_sti_hlt_cli();
}

/* The other vCPU, for good. */
static void
other_main(void)
{
    for (;;) {
        other_doing = other_does;
        if (other_doing == OTHER_HALTS) {
            bm_sti_hlt_cli();
            continue;
        }
        interrupts_on();
        while (other_does == OTHER_SPINS)
            ;
        interrupts_off();
    }
}

static void
call_other(void)
{
    bm_flat_apic_write(BM_APIC_ICR, BM_ICR_OTHERS | BM_VECTOR_CALL);
}

static const char *
prepare_other(int does)
{
    if (!other_there)
        return "the guest has one vCPU (guest.vcpus = 2)";
    other_does = does;
    call_other();
    while (other_doing != does)
        bm_relax();
    bm_flat_answer = does == OTHER_HALTS;
    return NULL;
}

static const char *
prepare_ipi_running(void)
{
    return prepare_other(OTHER_SPINS);
}

static const char *
prepare_ipi_halted(void)
{
    const char *why = prepare_sleep();

    return why ? why : prepare_other(OTHER_HALTS);
}

/* Until it was taken nothing else is sent, and that is not measured. */
static uint64_t
batch_ipi_running(void)
{
    unsigned long before = bm_flat_taken[BM_VECTOR_CALL];
    uint64_t start = bm_tsc();

    call_other();
    uint64_t end = bm_tsc();
    while (bm_flat_taken[BM_VECTOR_CALL] == before)
        bm_relax();
    return end - start;
}

static uint64_t
batch_ipi_halted(void)
{
    sleep_long(); /* by then the other sleeps, too */
    unsigned long before = bm_flat_taken[BM_VECTOR_ANSWER];
    uint64_t start = bm_tsc();
    call_other();
    while (bm_flat_taken[BM_VECTOR_ANSWER] == before)
        bm_sti_hlt_cli();
    return bm_flat_called_at - start;
}

static void
finish_other(void)
{
    prepare_other(OTHER_HALTS);
    bm_flat_answer = false;
}

/* --- the table --- */

const BmExitKind bm_exit_kinds[BM_EXIT_COUNT] = {
    {"mmio_lapic", CALLS_mmio_lapic, WARMUP, false, prepare_mmio_lapic, call_mmio_lapic, NULL,
     NULL},
    {"cpuid", CALLS_cpuid, WARMUP, false, NULL, call_cpuid, NULL, NULL},
    {"vmcall", CALLS_vmcall, WARMUP, false, prepare_vmcall, call_vmcall, NULL, NULL},
    {"rdmsr", CALLS_rdmsr, WARMUP, false, prepare_msr, call_rdmsr, NULL, NULL},
    {"wrmsr", CALLS_wrmsr, WARMUP, false, prepare_msr, call_wrmsr, NULL, NULL},
    {"pio_kernel", CALLS_pio_kernel, WARMUP, false, NULL, call_pio_kernel, NULL, NULL},
    {"pio_qemu", CALLS_pio_qemu, WARMUP, false, prepare_pm_timer, call_pio_qemu, NULL, NULL},
    {"mmio_kernel", CALLS_mmio_kernel, WARMUP, false, NULL, call_mmio_kernel, NULL, NULL},
    {"mmio_qemu", CALLS_mmio_qemu, WARMUP, false, NULL, call_mmio_qemu, NULL, NULL},
    {"cr8", CALLS_cr8, WARMUP, false, NULL, call_cr8, NULL, NULL},
    {"pause", CALLS_pause, WARMUP, false, NULL, call_pause, NULL, NULL},
    {"eoi", CALLS_eoi, WARMUP, true, NULL, call_eoi, NULL, NULL},
    {"tscdeadline", CALLS_tscdeadline, WARMUP, true, prepare_deadline, call_tscdeadline, NULL,
     finish_deadline},
    {"tscdeadline_now", CALLS_tscdeadline_now, WARMUP, true, prepare_deadline_now,
     call_tscdeadline_now, NULL, interrupts_off},
    {"hlt_timer", CALLS_hlt_timer, WARMUP, true, prepare_sleep, NULL, batch_hlt_timer, NULL},
    {"self_ipi", CALLS_self_ipi, WARMUP, true, prepare_self_ipi, call_self_ipi, NULL,
     interrupts_off},
    {"self_ipi_hlt", CALLS_self_ipi_hlt, WARMUP, true, NULL, call_self_ipi_hlt, NULL, NULL},
    {"ipi_running", CALLS_ipi_running, WARMUP, true, prepare_ipi_running, NULL, batch_ipi_running,
     finish_other},
    {"ipi_halted", CALLS_ipi_halted, WARMUP_IDLE, true, prepare_ipi_halted, NULL, batch_ipi_halted,
     finish_other},
    {"npf", CALLS_npf, WARMUP, true, prepare_npf, call_npf, NULL, NULL},
};

void
bm_exit_second_half(void)
{
    bm_flat_apic_on(&bm_exit_machine.cpu);
    if (bm_exit_machine.vcpus > 1)
        other_there = bm_flat_start_other(other_main);
}

/* --- clocks --- */

__attribute__((noinline)) static uint64_t
loop(void (*call)(void), unsigned int calls)
{
    uint64_t start = bm_tsc();

    for (unsigned int i = 0; i < calls; i++)
        call();
    return bm_tsc() - start;
}

uint64_t
bm_exit_batch(const BmExitKind *kind)
{
    return kind->batch ? kind->batch() : loop(kind->call, kind->calls);
}

uint64_t
bm_exit_empty_batch(unsigned int calls)
{
    return loop(call_nothing, calls);
}

uint64_t
bm_exit_ticks_per_insn(void)
{
    uint64_t least = UINT64_MAX;

    for (unsigned int i = 0; i < 10; i++) {
        uint64_t start = bm_tsc();
        uint64_t none = bm_tsc() - start;
        start = bm_tsc();
        __asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(INSNS));
        uint64_t ticks = bm_tsc() - start;
        if (ticks >= none && ticks - none < least)
            least = ticks - none;
    }
    return least == UINT64_MAX ? 0 : least;
}

uint64_t
bm_exit_tsc_khz(void)
{
    const uint32_t mask = 0xffffff; /* the timer has at least 24 bits */
    const uint32_t wanted = PM_TIMER_HZ / 200;
    uint32_t passed = 0;

    if (prepare_pm_timer())
        return 0;
    uint32_t first = bm_inl(PM_TIMER) & mask;
    uint64_t start = bm_tsc(), now = start;
    while (passed < wanted) {
        passed = ((bm_inl(PM_TIMER) & mask) - first) & mask;
        now = bm_tsc();
    }
    return (now - start) * PM_TIMER_HZ / passed / 1000;
}
