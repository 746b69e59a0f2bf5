/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From QEMU's loader into 64-bit C, for the first vCPU and for those it starts. PVH's ELF note and entry
 * state: Xen's docs/misc/pvh.pandoc (32-bit protected mode, paging off, EBX: start info). Long mode:
 * Intel SDM vol. 3, 9.8.5. Starting the others: vol. 3, 8.4.4.
 */
#define CR0_PE 0x1
#define CR0_PG_WP_NE_PE 0x80010021
#define CR4_PAE 0x20
#define EFER 0xc0000080
#define EFER_LME 0x100
#define PAGE_PRESENT_RW 0x3
#define PAGE_2M_RW 0x83
#define PAGE_UNCACHED 0x18 /* PCD and PWT */
#define PDES_OF_3G 1536
#define PDES 2048
#define CODE64 0x08
#define DATA 0x10
#define CODE32 0x18
#define TRAMPOLINE 0x8000 /* below 1 MiB, free once the firmware has left */

	.section .note.pvh, "a", @note
	.long 4, 8, 18 /* sizes of name and entry; XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.quad flat_entry

	.text
	.code32
	.globl flat_entry
flat_entry:
	cli
	cld
	movl $flat_stack_top, %esp
	movl %ebx, %edi
	movl $tables + 0x1000 + PAGE_PRESENT_RW, tables
	/* four GiB as they are, in pages of 2 MiB; the last one, of devices, not cached */
	xorl %ecx, %ecx
1:	leal tables + 0x2000 + PAGE_PRESENT_RW(%ecx), %eax
	movl %ecx, %edx
	shrl $9, %edx
	movl %eax, tables + 0x1000(%edx)
	addl $0x1000, %ecx
	cmpl $0x4000, %ecx
	jne 1b
	xorl %ecx, %ecx
	movl $PAGE_2M_RW, %eax
2:	movl %eax, tables + 0x2000(, %ecx, 8)
	addl $0x200000, %eax
	incl %ecx
	cmpl $PDES_OF_3G, %ecx
	jne 3f
	orl $PAGE_UNCACHED, %eax
3:	cmpl $PDES, %ecx
	jne 2b
	lgdt gdt_pointer
	call long_mode
	ljmp $CODE64, $start64

/* Keeps EDI and ESP. */
long_mode:
	movl $tables, %eax
	movl %eax, %cr3
	movl $CR4_PAE, %eax
	movl %eax, %cr4
	movl $EFER, %ecx
	rdmsr
	orl $EFER_LME, %eax
	wrmsr
	movl $CR0_PG_WP_NE_PE, %eax
	movl %eax, %cr0
	ret

ap32:
	movw $DATA, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	movl $flat_ap_stack_top, %esp
	call long_mode
	ljmp $CODE64, $ap64

	.code64
start64:
	call data_segments
	movl %edi, %edi
	call flat_main
	jmp halt
ap64:
	call data_segments
	call flat_ap_main
halt:
	cli
	hlt
	jmp halt

data_segments:
	movl $DATA, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	xorl %eax, %eax
	movl %eax, %fs
	movl %eax, %gs
	ret

/* Copied to TRAMPOLINE, where the others start in real mode. */
	.section .rodata
	.code16
	.globl flat_trampoline, flat_trampoline_end
flat_trampoline:
	cli
	xorw %ax, %ax
	movw %ax, %ds
	lgdtl TRAMPOLINE + trampoline_gdt_pointer - flat_trampoline
	movl $CR0_PE, %eax
	movl %eax, %cr0
	ljmpl $CODE32, $ap32
	.balign 4
trampoline_gdt_pointer:
	.word gdt_end - gdt - 1
	.long gdt
flat_trampoline_end:

	.balign 8
gdt:
	.quad 0
	.quad 0x00af9b000000ffff
	.quad 0x00cf93000000ffff
	.quad 0x00cf9b000000ffff
gdt_end:
gdt_pointer:
	.word gdt_end - gdt - 1
	.long gdt

	.bss
	.balign 4096
tables:
	.skip 6 * 4096
	.skip 8192
flat_stack_top:
	.skip 4096
flat_ap_stack_top:

	.section .note.GNU-stack, "", @progbits
