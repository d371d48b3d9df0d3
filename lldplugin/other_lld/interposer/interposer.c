/* interposer.c - preloaded into an lld, shows it other section names than its inputs have.
 *
 * ld.frontload --lld runs a linker that knows nothing of fronts. A linker script makes it lay one
 * out, by names of sections that the script can tell apart. This library puts these names into the
 * bytes that the linker has mapped or read of its inputs (plan_format.h). No file is changed:
 * shared mappings are left alone.
 *
 * lld keeps merged strings in the order of a few bits of their hashes. If a shared library has the
 * hash function, this library interposes it and gives the strings of startup the lowest bits, until
 * the linker maps its output: later hashes are those of the output.
 *
 * The program is not ours: without a plan nothing is done; all other files pass through; errno
 * stays as the real function left it; no locks, no allocation.
 */
#include "other_lld/interposer/plan_format.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static struct frontload_plan *plan;
static struct frontload_plan_file *files;
static const struct frontload_plan_patch *patches;
static const uint64_t *slots;
static uint8_t *seen;
static atomic_bool is_writing;

/* The function that the program would have called without us. */
#define REAL(name) ((__typeof__(&name))real_function(&real_##name, #name))

typedef _Atomic(void *) function;
static function real_mmap, real_mmap64, real_read, real_pread, real_pread64, real_xxh3, real_xxh64;

static void *real_function(function *known, const char *name) {
  void *real = atomic_load_explicit(known, memory_order_relaxed);
  if (!real) {
    int before = errno;
    real = dlsym(RTLD_NEXT, name);
    errno = before;
    atomic_store_explicit(known, real, memory_order_relaxed);
  }
  return real;
}

/* By system call: the libc of the linker may be older than ours, and lack fstat(). */
static bool get_status(int fd, struct stat *status) { return syscall(SYS_fstat, fd, status) == 0; }

static bool is_valid(const struct frontload_plan *p, uint64_t size) {
  if (size < sizeof *p || memcmp(p->magic, FRONTLOAD_PLAN_MAGIC, sizeof p->magic) != 0 ||
      p->num_files > size / sizeof *files || p->num_patches > size / sizeof *patches ||
      p->num_slots > size / (sizeof *slots + sizeof *seen) ||
      (p->num_slots & (p->num_slots - 1)) != 0)
    return false;
  const struct frontload_plan_file *f = (const void *)(p + 1);
  for (uint64_t i = 0; i < p->num_files; ++i)
    if (f[i].first_patch > p->num_patches || f[i].num_patches > p->num_patches - f[i].first_patch)
      return false;
  return sizeof *p + p->num_files * sizeof *files + p->num_patches * sizeof *patches +
             p->num_slots * (sizeof *slots + sizeof *seen) ==
         size;
}

__attribute__((constructor)) static void open_plan(void) {
  const char *path = getenv(FRONTLOAD_PLAN_VARIABLE);
  int before = errno, fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  struct stat status;
  if (fd >= 0 && get_status(fd, &status) && status.st_size > 0) {
    size_t size = (size_t)status.st_size;
    struct frontload_plan *p = REAL(mmap)(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED && is_valid(p, size)) {
      files = (void *)(p + 1);
      patches = (const void *)(files + p->num_files);
      slots = (const void *)(patches + p->num_patches);
      seen = (void *)(slots + p->num_slots);
      plan = p;
    }
  }
  if (fd >= 0)
    close(fd);
  errno = before;
}

/* The planned file that is open as `fd`; null if it is none, or has changed since. */
static struct frontload_plan_file *find_file(int fd) {
  struct stat status;
  if (!plan || fd < 0 || !get_status(fd, &status) || !S_ISREG(status.st_mode))
    return NULL;
  uint64_t first = 0, count = plan->num_files;
  while (count > 0) {
    struct frontload_plan_file *middle = &files[first + count / 2];
    if (middle->device == status.st_dev && middle->inode == status.st_ino)
      return middle->size == (uint64_t)status.st_size &&
                     middle->modified_seconds == status.st_mtim.tv_sec &&
                     middle->modified_nanoseconds == status.st_mtim.tv_nsec
                 ? middle
                 : NULL;
    if (middle->device < status.st_dev ||
        (middle->device == status.st_dev && middle->inode < status.st_ino)) {
      first += count / 2 + 1;
      count -= count / 2 + 1;
    } else {
      count /= 2;
    }
  }
  return NULL;
}

/* The first patch of `file` that ends behind `offset`. */
static const struct frontload_plan_patch *find_patch(const struct frontload_plan_file *file,
                                                     uint64_t offset) {
  const struct frontload_plan_patch *first = patches + file->first_patch;
  uint64_t count = file->num_patches;
  while (count > 0) {
    const struct frontload_plan_patch *middle = first + count / 2;
    if (middle->offset + FRONTLOAD_PATCH_SIZE <= offset) {
      first = middle + 1;
      count -= count / 2 + 1;
    } else {
      count /= 2;
    }
  }
  return first;
}

/* Patches the bytes of `file` from `begin` to `end`, which are at `to`. A patch counts as served
 * with its last byte; reads may end within it. */
static void patch(struct frontload_plan_file *file, unsigned char *to, uint64_t begin,
                  uint64_t end) {
  const struct frontload_plan_patch *last = patches + file->first_patch + file->num_patches;
  uint64_t served = 0;
  for (const struct frontload_plan_patch *p = find_patch(file, begin); p < last && p->offset < end;
       ++p) {
    bool fits = true;
    for (unsigned i = 0; i < FRONTLOAD_PATCH_SIZE; ++i)
      if (p->offset + i >= begin && p->offset + i < end)
        fits &= to[p->offset + i - begin] == p->before[i];
    if (!fits)
      continue; /* ld.frontload sees that the patch is missing */
    for (unsigned i = 0; i < FRONTLOAD_PATCH_SIZE; ++i)
      if (p->offset + i >= begin && p->offset + i < end)
        to[p->offset + i - begin] = p->after[i];
    served += p->offset + FRONTLOAD_PATCH_SIZE <= end;
  }
  __atomic_fetch_add(&file->num_served, served, __ATOMIC_RELAXED);
}

static void serve_mapping(void *address, size_t length, int protection, int flags, int fd,
                          off_t offset) {
  if (!plan || address == MAP_FAILED || (flags & MAP_ANONYMOUS))
    return;
  /* lld tries its output with a mapping of one byte. */
  if ((flags & MAP_SHARED) && (protection & PROT_WRITE) && length > 1)
    atomic_store_explicit(&is_writing, true, memory_order_relaxed);
  int before = errno;
  struct frontload_plan_file *file = find_file(fd);
  if (file && (flags & MAP_TYPE) == MAP_PRIVATE && (protection & PROT_READ)) {
    uint64_t begin = (uint64_t)offset;
    uint64_t end = length < file->size - begin ? begin + length : file->size;
    const struct frontload_plan_patch *first = find_patch(file, begin);
    bool isNeeded = begin < file->size && first < patches + file->first_patch + file->num_patches &&
                    first->offset < end;
    if (isNeeded && mprotect(address, length, protection | PROT_WRITE) == 0) {
      patch(file, address, begin, end);
      mprotect(address, length, protection);
    }
  }
  errno = before;
}

EXPORTED void *mmap(void *hint, size_t length, int protection, int flags, int fd, off_t offset) {
  void *address = REAL(mmap)(hint, length, protection, flags, fd, offset);
  serve_mapping(address, length, protection, flags, fd, offset);
  return address;
}

EXPORTED void *mmap64(void *hint, size_t length, int protection, int flags, int fd,
                      off64_t offset) {
  void *address = REAL(mmap64)(hint, length, protection, flags, fd, offset);
  serve_mapping(address, length, protection, flags, fd, offset);
  return address;
}

static void serve_read(int fd, void *buffer, ssize_t length, off_t offset) {
  if (length > 0 && offset >= 0) {
    struct frontload_plan_file *file = find_file(fd);
    if (file)
      patch(file, buffer, (uint64_t)offset, (uint64_t)offset + (uint64_t)length);
  }
}

EXPORTED ssize_t pread(int fd, void *buffer, size_t size, off_t offset) {
  ssize_t length = REAL(pread)(fd, buffer, size, offset);
  int before = errno;
  serve_read(fd, buffer, length, offset);
  errno = before;
  return length;
}

EXPORTED ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset) {
  ssize_t length = REAL(pread64)(fd, buffer, size, offset);
  int before = errno;
  serve_read(fd, buffer, length, offset);
  errno = before;
  return length;
}

EXPORTED ssize_t read(int fd, void *buffer, size_t size) {
  ssize_t length = REAL(read)(fd, buffer, size);
  int before = errno;
  if (plan && length > 0) {
    off_t end = lseek(fd, 0, SEEK_CUR); /* fails for a pipe and the like */
    serve_read(fd, buffer, length, end - length);
  }
  errno = before;
  return length;
}

static uint64_t ordered(uint64_t hash) {
  if (!plan || plan->num_slots == 0 || atomic_load_explicit(&is_writing, memory_order_relaxed))
    return hash;
  uint64_t rest = hash & ~plan->shard_bits, shard = hash & plan->shard_bits;
  uint64_t mask = plan->num_slots - 1;
  /* Not for longer than there are slots: a damaged table may be full. */
  for (uint64_t n = 0, i = hash & mask; n <= mask && slots[i] != 0; ++n, i = (i + 1) & mask)
    if (slots[i] == hash) {
      if (!__atomic_load_n(&seen[i], __ATOMIC_RELAXED))
        __atomic_store_n(&seen[i], 1, __ATOMIC_RELAXED);
      return rest;
    }
  return rest | (shard > plan->least_other ? shard : plan->least_other);
}

/* llvm::xxh3_64bits(ArrayRef<uint8_t>), and xxHash64(StringRef) of LLVM before 17. Both types are a
 * pointer and a length. */
#define XXH3 "_ZN4llvm11xxh3_64bitsENS_8ArrayRefIhEE"
#define XXH64 "_ZN4llvm8xxHash64ENS_9StringRefE"
typedef uint64_t hash_function(const void *data, size_t length);

EXPORTED uint64_t frontload_xxh3(const void *data, size_t length) __asm__(XXH3);
EXPORTED uint64_t frontload_xxh64(const void *data, size_t length) __asm__(XXH64);

uint64_t frontload_xxh3(const void *data, size_t length) {
  return ordered(((hash_function *)real_function(&real_xxh3, XXH3))(data, length));
}

uint64_t frontload_xxh64(const void *data, size_t length) {
  return ordered(((hash_function *)real_function(&real_xxh64, XXH64))(data, length));
}
