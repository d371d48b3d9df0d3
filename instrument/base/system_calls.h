/* System calls of our own, made with inline assembly, for code that lives inside another program.
 *
 * Such code cannot use libc's wrappers. They set errno, which belongs to the host program and lives
 * in thread-local storage that does not exist yet when an IFUNC resolver of a static program runs.
 * Some are cancellation points, sanitizers replace them, and a program built with
 * -finstrument-functions may define its own, which would call back into the hooks.
 *
 * Every call returns what the kernel returns: a result, or a negative errno.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

/* clang's <limits.h> lacks PATH_MAX for code without libc, and musl has no <linux/limits.h>. */
#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* Not every libc has these. */
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* struct clone_args of linux/sched.h, which not every set of headers has, in its first version. */
struct clone3_arguments {
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#if defined(__x86_64__) && !defined(__ILP32__)

static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

/* clone3(2), whose child calls `work` on the stack of the arguments. `work` never returns. -ENOSYS
 * in old kernels, in Valgrind and qemu-user, and on machines without this function. */
static inline long sys_clone3(const struct clone3_arguments *arguments, void (*work)(void *),
                              void *argument) {
  long result;
  register void (*r12)(void *) __asm__("r12") = work;
  register void *r13 __asm__("r13") = argument;
  __asm__ volatile("syscall\n\t"
                   "test %%rax, %%rax\n\t"
                   "jnz 1f\n\t"
                   "xor %%ebp, %%ebp\n\t"
                   "mov %%r13, %%rdi\n\t"
                   "call *%%r12\n"
                   "1:"
                   : "=a"(result)
                   : "a"(SYS_clone3), "D"(arguments), "S"(sizeof *arguments), "r"(r12), "r"(r13)
                   : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__) && !defined(__ILP32__)

static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

static inline long sys_clone3(const struct clone3_arguments *arguments, void (*work)(void *),
                              void *argument) {
  register long x8 __asm__("x8") = SYS_clone3;
  register long x0 __asm__("x0") = (long)arguments;
  register long x1 __asm__("x1") = sizeof *arguments;
  register void (*x20)(void *) __asm__("x20") = work;
  register void *x21 __asm__("x21") = argument;
  __asm__ volatile("svc 0\n\t"
                   "cbnz x0, 1f\n\t"
                   "mov x29, xzr\n\t"
                   "mov x0, x21\n\t"
                   "blr x20\n"
                   "1:"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x20), "r"(x21)
                   : "x30", "memory");
  return x0;
}

#elif defined(__riscv) && __riscv_xlen == 64

static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  register long a3 __asm__("a3") = d;
  register long a4 __asm__("a4") = e;
  register long a5 __asm__("a5") = f;
  __asm__ volatile("ecall"
                   : "+r"(a0)
                   : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                   : "memory");
  return a0;
}

static inline long sys_clone3(const struct clone3_arguments *arguments, void (*work)(void *),
                              void *argument) {
  (void)arguments, (void)work, (void)argument;
  return -ENOSYS;
}

#else
#error "frontload knows the system calls of x86-64, AArch64 and 64-bit RISC-V Linux only"
#endif

/* A system call by its name, as in SYS(openat, AT_FDCWD, path); arguments left out are 0. */
#define SYS(name, ...) SYS_OF(SYS_##name, __VA_ARGS__ __VA_OPT__(, ) 0, 0, 0, 0, 0, 0, 0)
#define SYS_OF(number, a, b, c, d, e, f, ...)                                                      \
  system_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline int sys_open(const char *path, int flags, int mode) {
  return (int)SYS(openat, AT_FDCWD, path, flags, mode);
}

static inline void sys_close(int fd) { SYS(close, fd); }

static inline int sys_fcntl(int fd, int command, long argument) {
  return (int)SYS(fcntl, fd, command, argument);
}

static inline int sys_fstat(int fd, struct stat *status) { return (int)SYS(fstat, fd, status); }

static inline int sys_stat(const char *path, struct stat *status) {
  return (int)SYS(newfstatat, AT_FDCWD, path, status);
}

static inline long sys_read(int fd, void *bytes, size_t size) { return SYS(read, fd, bytes, size); }

static inline long sys_pread(int fd, void *bytes, size_t size, uint64_t offset) {
  return SYS(pread64, fd, bytes, size, offset);
}

/* Blocks of 512 bytes that this thread has read from devices; 0 if the kernel does not count. */
static inline uint64_t sys_blocks_read(void) {
  enum { THIS_THREAD = 1 }; /* RUSAGE_THREAD, which not every set of headers has */
  struct rusage usage;
  return SYS(getrusage, THIS_THREAD, &usage) ? 0 : (uint64_t)usage.ru_inblock;
}

static inline int sys_unlink(const char *path) { return (int)SYS(unlinkat, AT_FDCWD, path); }

static inline long sys_readlink(const char *path, char *target, size_t size) {
  return SYS(readlinkat, AT_FDCWD, path, target, size);
}

static inline long sys_getcwd(char *path, size_t size) { return SYS(getcwd, path, size); }

static inline uint32_t sys_getpid(void) { return (uint32_t)SYS(getpid); }

static inline uint32_t sys_gettid(void) { return (uint32_t)SYS(gettid); }

/* No mapping is ever at a negative address, so the sign tells an error. */
static inline int is_error(const void *mapping) { return (intptr_t)mapping < 0; }

/* A test under ThreadSanitizer tells it of these system calls. */
#ifndef FOR_THREAD_SANITIZER
#define FOR_THREAD_SANITIZER(action, start, size) (void)0
#endif

static inline void *sys_map_at(const void *place, size_t size, int flags, int fd, uint64_t offset) {
  void *mapping = (void *)SYS(mmap, place, size, PROT_READ | PROT_WRITE, flags, fd, offset);
  if (!is_error(mapping))
    FOR_THREAD_SANITIZER(acquire, mapping, size);
  return mapping;
}

enum { MEMORY_OF_OUR_OWN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

static inline void *sys_map_memory(size_t size) {
  return sys_map_at(NULL, size, MEMORY_OF_OUR_OWN, -1, 0);
}

static inline void *sys_map_file(int fd, uint64_t offset, size_t size) {
  return sys_map_at(NULL, size, MAP_SHARED, fd, offset);
}

static inline void sys_unmap(void *start, size_t size) {
  FOR_THREAD_SANITIZER(release, start, size);
  SYS(munmap, start, size);
}

static inline int sys_advise(void *start, size_t size, int advice) {
  return (int)SYS(madvise, start, size, advice);
}

/* A set of signals as the kernel sees it: bit n - 1 is signal n. */
typedef uint64_t signal_set;

#define SIGNAL_BIT(signal) ((signal_set)1 << ((signal) - 1))

/* `how`: SIG_BLOCK or SIG_SETMASK. Returns the signals blocked before. */
static inline signal_set sys_change_blocked_signals(int how, signal_set signals) {
  signal_set before = 0;
  SYS(rt_sigprocmask, how, &signals, &before, sizeof before);
  return before;
}

/* Whether the program handles the signal: it is neither ignored nor left to the kernel. */
static inline int sys_has_handler(int signal) {
  uintptr_t action[4] = {0}; /* struct kernel_sigaction, in which the handler comes first */
  SYS(rt_sigaction, signal, 0, action, sizeof(signal_set));
  return action[0] != (uintptr_t)SIG_DFL && action[0] != (uintptr_t)SIG_IGN;
}

static inline signal_set sys_pending_signals(void) {
  signal_set pending = 0;
  SYS(rt_sigpending, &pending, sizeof pending);
  return pending;
}

/* Removes one pending signal of `signals`, which must be blocked, if there is one. */
static inline void sys_discard_signal(signal_set signals) {
  struct timespec now = {0, 0};
  SYS(rt_sigtimedwait, &signals, 0, &now, sizeof signals);
}
