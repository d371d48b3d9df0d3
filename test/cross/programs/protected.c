/* An AArch64 program whose branches are protected: an indirect call may go only to where the
 * compiler has put a landing pad. Told to, it calls a function that has none, and the kernel ends
 * it by SIGILL.
 *
 * It has a start of its own, because that of Debian 12's libc has no landing pad for the call that
 * comes from the dynamic linker. */
#include <stdio.h>
#include <string.h>

__asm__(".globl _start\n.type _start,%function\n_start: hint #34\n" /* bti c */
        "mov x29, #0\nmov x30, #0\nmov x5, x0\nldr x1, [sp]\nadd x2, sp, #8\nmov x6, sp\n"
        "adrp x0, main\nadd x0, x0, :lo12:main\nmov x3, #0\nmov x4, #0\n"
        "bl __libc_start_main\nbl abort\n.size _start, . - _start\n"
        ".section .text.hot_3_bare,\"ax\"\n.globl hot_3_bare\n.type hot_3_bare,%function\n"
        /* The tracer wants to be told that it is code. */
        "hot_3_bare: .cfi_startproc\nmov w0, #7\nret\n.cfi_endproc\n"
        ".size hot_3_bare, . - hot_3_bare\n.text\n");
int hot_3_bare(int x);

__attribute__((noinline)) int hot_1_add(int x) { return x + 1; }
__attribute__((noinline)) int hot_2_call(int (*volatile f)(int), int x) { return f(x); }
__attribute__((noinline)) int cold_add(int x) { return x + 2; }

int main(int argc, char **argv) {
  printf("%d ", hot_2_call(hot_1_add, 1) + hot_2_call(cold_add, 1));
  puts(argc > 1 && !strcmp(argv[1], "bare") && hot_2_call(hot_3_bare, 1) == 7 ? "bare" : "kept");
  return 0;
}
