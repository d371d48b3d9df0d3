# The program of lackey.log, without a C library: its addresses are the same wherever it is linked
# with ld.lld --image-base=0x200000.
        .globl _start, first, second, table, counter
        .text
        .p2align 4
        .type _start, @function
_start: call second
        call first
        xorl %edi, %edi
        movl $60, %eax
        syscall
        .size _start, . - _start
        .p2align 4
        .type first, @function
first:  addl $1, counter(%rip)
        ret
        .size first, . - first
        .p2align 4
        .type second, @function
second: movq table+8(%rip), %rax
        movdqu table+24(%rip), %xmm0
        ret
        .size second, . - second
        .section .rodata
        .p2align 4
        .type table, @object
table:  .zero 64
        .size table, 64
        .data
        .p2align 4
        .type counter, @object
counter: .long 1
        .size counter, 4
