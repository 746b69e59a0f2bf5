/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The kinds of exit that the flat guest exit-cost measures, in the order it does, for guest/ and
 * lab/ alike. X(NAME, CALLS, LOOP, WHAT): the name in a report, a profile and a metric; calls of a
 * batch; LOOP 1: the empty loop of as many calls is to be subtracted, 0: the figure has no loop
 * around it; WHAT one call of it is. KVM's own answers are told from the virtual machine monitor's
 * (QEMU's) by the device: in-kernel interrupt controllers against all else
 * (Documentation/virt/kvm/api.rst, KVM_CREATE_IRQCHIP).
 */
#define BM_EXIT_KINDS(X)                                                                           \
    X(mmio_lapic, 10, 1, "read of the local APIC's version by its page")                           \
    X(cpuid, 10, 1, "CPUID")                                                                       \
    X(vmcall, 10, 1, "hypercall KVM_HC_VAPIC_POLL_IRQ: an exit and nothing else")                  \
    X(rdmsr, 10, 1, "read of IA32_MISC_ENABLE")                                                    \
    X(wrmsr, 10, 1, "write of IA32_MISC_ENABLE, its value left as it is")                          \
    X(pio_kernel, 10, 1, "port read of an interrupt controller's mask, in the kernel")             \
    X(pio_qemu, 10, 1, "port read of the ACPI PM timer, in QEMU")                                  \
    X(mmio_kernel, 10, 1, "memory-mapped read of the I/O APIC, in the kernel")                     \
    X(mmio_qemu, 10, 1, "memory-mapped read where no device is, in QEMU")                          \
    X(cr8, 10, 1, "write of CR8")                                                                  \
    X(pause, 10, 1, "PAUSE")                                                                       \
    X(eoi, 10, 1, "end of interrupt with none in service")                                         \
    X(tscdeadline, 10, 1, "TSC-deadline timer armed for later")                                    \
    X(tscdeadline_now, 10, 1, "TSC-deadline timer armed for now, its interrupt taken")             \
    X(hlt_timer, 64, 0, "HLT until a timer: from when it was due to the guest running again")      \
    X(self_ipi, 10, 1, "interrupt to oneself, taken")                                              \
    X(self_ipi_hlt, 10, 1, "interrupt to oneself sent with interrupts off, taken in HLT")          \
    X(ipi_running, 1, 1, "interrupt sent to another vCPU that runs; its way there is not in it")   \
    X(ipi_halted, 1, 1,                                                                            \
      "interrupt to another vCPU in HLT, until it takes it; the sender goes to sleep meanwhile")   \
    X(npf, 4, 1, "first touch of a page")
#define BM_EXIT_EMPTY "empty" /* the empty loop */

#define BM_EXIT_TRACED 4         /* batches of a kind that the host looks at */
#define BM_EXIT_BATCHES_MAX 1000 /* of one kind */
