/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/observe_exits.h"

#include <stdlib.h>

typedef struct {
    guint32 code;
    const char *name;
} Name;

/* Both tables are sorted by code. arch/x86/include/uapi/asm/svm.h, SVM_EXIT_* and SVM_VMGEXIT_*;
 * exceptions are SVM_EXIT_EXCP_BASE + vector (arch/x86/include/uapi/asm/kvm.h). */
static const Name svm_names[] = {
    {0x000, "READ_CR0"},
    {0x002, "READ_CR2"},
    {0x003, "READ_CR3"},
    {0x004, "READ_CR4"},
    {0x008, "READ_CR8"},
    {0x010, "WRITE_CR0"},
    {0x012, "WRITE_CR2"},
    {0x013, "WRITE_CR3"},
    {0x014, "WRITE_CR4"},
    {0x018, "WRITE_CR8"},
    {0x020, "READ_DR0"},
    {0x021, "READ_DR1"},
    {0x022, "READ_DR2"},
    {0x023, "READ_DR3"},
    {0x024, "READ_DR4"},
    {0x025, "READ_DR5"},
    {0x026, "READ_DR6"},
    {0x027, "READ_DR7"},
    {0x030, "WRITE_DR0"},
    {0x031, "WRITE_DR1"},
    {0x032, "WRITE_DR2"},
    {0x033, "WRITE_DR3"},
    {0x034, "WRITE_DR4"},
    {0x035, "WRITE_DR5"},
    {0x036, "WRITE_DR6"},
    {0x037, "WRITE_DR7"},
    {0x040, "EXCP_DE"},
    {0x041, "EXCP_DB"},
    {0x043, "EXCP_BP"},
    {0x044, "EXCP_OF"},
    {0x045, "EXCP_BR"},
    {0x046, "EXCP_UD"},
    {0x047, "EXCP_NM"},
    {0x048, "EXCP_DF"},
    {0x04a, "EXCP_TS"},
    {0x04b, "EXCP_NP"},
    {0x04c, "EXCP_SS"},
    {0x04d, "EXCP_GP"},
    {0x04e, "EXCP_PF"},
    {0x050, "EXCP_MF"},
    {0x051, "EXCP_AC"},
    {0x052, "EXCP_MC"},
    {0x053, "EXCP_XM"},
    {0x060, "INTR"},
    {0x061, "NMI"},
    {0x062, "SMI"},
    {0x063, "INIT"},
    {0x064, "VINTR"},
    {0x065, "CR0_SEL_WRITE"},
    {0x066, "IDTR_READ"},
    {0x067, "GDTR_READ"},
    {0x068, "LDTR_READ"},
    {0x069, "TR_READ"},
    {0x06a, "IDTR_WRITE"},
    {0x06b, "GDTR_WRITE"},
    {0x06c, "LDTR_WRITE"},
    {0x06d, "TR_WRITE"},
    {0x06e, "RDTSC"},
    {0x06f, "RDPMC"},
    {0x070, "PUSHF"},
    {0x071, "POPF"},
    {0x072, "CPUID"},
    {0x073, "RSM"},
    {0x074, "IRET"},
    {0x075, "SWINT"},
    {0x076, "INVD"},
    {0x077, "PAUSE"},
    {0x078, "HLT"},
    {0x079, "INVLPG"},
    {0x07a, "INVLPGA"},
    {0x07b, "IOIO"},
    {0x07c, "MSR"},
    {0x07d, "TASK_SWITCH"},
    {0x07e, "FERR_FREEZE"},
    {0x07f, "SHUTDOWN"},
    {0x080, "VMRUN"},
    {0x081, "VMMCALL"},
    {0x082, "VMLOAD"},
    {0x083, "VMSAVE"},
    {0x084, "STGI"},
    {0x085, "CLGI"},
    {0x086, "SKINIT"},
    {0x087, "RDTSCP"},
    {0x088, "ICEBP"},
    {0x089, "WBINVD"},
    {0x08a, "MONITOR"},
    {0x08b, "MWAIT"},
    {0x08c, "MWAIT_COND"},
    {0x08d, "XSETBV"},
    {0x08e, "RDPRU"},
    {0x08f, "EFER_WRITE_TRAP"},
    {0x090, "CR0_WRITE_TRAP"},
    {0x091, "CR1_WRITE_TRAP"},
    {0x092, "CR2_WRITE_TRAP"},
    {0x093, "CR3_WRITE_TRAP"},
    {0x094, "CR4_WRITE_TRAP"},
    {0x095, "CR5_WRITE_TRAP"},
    {0x096, "CR6_WRITE_TRAP"},
    {0x097, "CR7_WRITE_TRAP"},
    {0x098, "CR8_WRITE_TRAP"},
    {0x099, "CR9_WRITE_TRAP"},
    {0x09a, "CR10_WRITE_TRAP"},
    {0x09b, "CR11_WRITE_TRAP"},
    {0x09c, "CR12_WRITE_TRAP"},
    {0x09d, "CR13_WRITE_TRAP"},
    {0x09e, "CR14_WRITE_TRAP"},
    {0x09f, "CR15_WRITE_TRAP"},
    {0x0a2, "INVPCID"},
    {0x0a5, "BUS_LOCK"},
    {0x0a6, "IDLE_HLT"},
    {0x400, "NPF"},
    {0x401, "AVIC_INCOMPLETE_IPI"},
    {0x402, "AVIC_UNACCELERATED_ACCESS"},
    {0x403, "VMGEXIT"},
    {0x80000001, "VMGEXIT_MMIO_READ"},
    {0x80000002, "VMGEXIT_MMIO_WRITE"},
    {0x80000003, "VMGEXIT_NMI_COMPLETE"},
    {0x80000004, "VMGEXIT_AP_HLT_LOOP"},
    {0x80000005, "VMGEXIT_AP_JUMP_TABLE"},
    {0x80000010, "VMGEXIT_PSC"},
    {0x80000011, "VMGEXIT_GUEST_REQUEST"},
    {0x80000012, "VMGEXIT_EXT_GUEST_REQUEST"},
    {0x80000013, "VMGEXIT_AP_CREATION"},
    {0x8000fffd, "VMGEXIT_HV_FEATURES"},
    {0x8000fffe, "VMGEXIT_TERM_REQUEST"},
    {0x8000ffff, "VMGEXIT_UNSUPPORTED_EVENT"},
    {0xf0000000, "SW"},
};

/* arch/x86/include/uapi/asm/vmx.h, EXIT_REASON_*. */
static const Name vmx_names[] = {
    {0, "EXCEPTION_NMI"},
    {1, "EXTERNAL_INTERRUPT"},
    {2, "TRIPLE_FAULT"},
    {3, "INIT_SIGNAL"},
    {4, "SIPI_SIGNAL"},
    {7, "INTERRUPT_WINDOW"},
    {8, "NMI_WINDOW"},
    {9, "TASK_SWITCH"},
    {10, "CPUID"},
    {12, "HLT"},
    {13, "INVD"},
    {14, "INVLPG"},
    {15, "RDPMC"},
    {16, "RDTSC"},
    {18, "VMCALL"},
    {19, "VMCLEAR"},
    {20, "VMLAUNCH"},
    {21, "VMPTRLD"},
    {22, "VMPTRST"},
    {23, "VMREAD"},
    {24, "VMRESUME"},
    {25, "VMWRITE"},
    {26, "VMOFF"},
    {27, "VMON"},
    {28, "CR_ACCESS"},
    {29, "DR_ACCESS"},
    {30, "IO_INSTRUCTION"},
    {31, "MSR_READ"},
    {32, "MSR_WRITE"},
    {33, "INVALID_STATE"},
    {34, "MSR_LOAD_FAIL"},
    {36, "MWAIT_INSTRUCTION"},
    {37, "MONITOR_TRAP_FLAG"},
    {39, "MONITOR_INSTRUCTION"},
    {40, "PAUSE_INSTRUCTION"},
    {41, "MCE_DURING_VMENTRY"},
    {43, "TPR_BELOW_THRESHOLD"},
    {44, "APIC_ACCESS"},
    {45, "EOI_INDUCED"},
    {46, "GDTR_IDTR"},
    {47, "LDTR_TR"},
    {48, "EPT_VIOLATION"},
    {49, "EPT_MISCONFIG"},
    {50, "INVEPT"},
    {51, "RDTSCP"},
    {52, "PREEMPTION_TIMER"},
    {53, "INVVPID"},
    {54, "WBINVD"},
    {55, "XSETBV"},
    {56, "APIC_WRITE"},
    {57, "RDRAND"},
    {58, "INVPCID"},
    {59, "VMFUNC"},
    {60, "ENCLS"},
    {61, "RDSEED"},
    {62, "PML_FULL"},
    {63, "XSAVES"},
    {64, "XRSTORS"},
    {67, "UMWAIT"},
    {68, "TPAUSE"},
    {74, "BUS_LOCK"},
    {75, "NOTIFY"},
    {77, "TDCALL"},
    {84, "MSR_READ_IMM"},
    {85, "MSR_WRITE_IMM"},
};

/* vmx.h: VMX_EXIT_REASONS_FAILED_VMENTRY, VMX_EXIT_REASONS_SGX_ENCLAVE_MODE; the reason itself has
 * 16 bits. */
#define VMX_FLAGS 0x88000000U

static int
by_code(const void *key, const void *element)
{
    guint32 code = *(const guint32 *)key;
    const Name *n = element;

    return (code > n->code) - (code < n->code);
}

const char *
host_exit_name(HostExitVendor vendor, guint64 code)
{
    const Name *table = vendor == HOST_EXIT_SVM ? svm_names : vmx_names;
    gsize n = vendor == HOST_EXIT_SVM ? G_N_ELEMENTS(svm_names) : G_N_ELEMENTS(vmx_names);

    if (vendor == HOST_EXIT_UNKNOWN_VENDOR)
        return NULL;
    /* SVM_EXIT_ERR is -1, in 32 bits or, with newer kernels, in 64. */
    if (vendor == HOST_EXIT_SVM && (code == G_MAXUINT32 || code == G_MAXUINT64))
        return "ERR";
    if (code > G_MAXUINT32)
        return NULL;
    guint32 basic = (guint32)code;
    if (vendor == HOST_EXIT_VMX)
        basic &= ~VMX_FLAGS;
    const Name *found = bsearch(&basic, table, n, sizeof(*table), by_code);
    return found ? found->name : NULL;
}

gboolean
host_exit_is_external_interrupt(HostExitVendor vendor, guint64 code)
{
    return (vendor == HOST_EXIT_VMX && (code & ~(guint64)VMX_FLAGS) == 1) ||
           (vendor == HOST_EXIT_SVM && code == 0x060);
}

const char *
host_exit_vendor_name(HostExitVendor vendor)
{
    static const char *const names[] = {"unknown", "vmx", "svm"};

    return names[vendor];
}
