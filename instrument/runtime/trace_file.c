/* The trace of this process: a shared file mapping, so that every store is in the file at once and
 * stays there however the process ends.
 *
 * The file grows in chunks. A chunk's blocks are allocated before it is mapped, so that a full disk
 * is an error from a system call and never a SIGBUS. No descriptor is kept: programs close and
 * reuse descriptors at will. To grow, the file is opened again by its path, and is left alone if
 * the path has come to mean another file (chroot, rename). When growing fails, for that or any
 * other reason (the program has become another user), what is recorded stays and every later first
 * touch is only counted.
 */
#include "base/machine.h"
#include "base/system_calls.h"
#include "runtime.h"

#include <errno.h>

enum {
  FIRST_CHUNK_SIZE = 64 << 10, /* 4,088 events: enough for most programs */
  CHUNK_SIZE = 256 << 10,
  SUFFIX_LIMIT = 10000,
};

static uint64_t chunk_offset(size_t chunk) {
  return chunk == 0 ? 0 : FIRST_CHUNK_SIZE + (uint64_t)(chunk - 1) * CHUNK_SIZE;
}

static size_t chunk_size(size_t chunk) { return chunk == 0 ? FIRST_CHUNK_SIZE : CHUNK_SIZE; }

/* Never returns 0, 1 or 2, even where those are closed: what the program writes there is not for
 * the trace. (Another thread can write to one in the moment before it is moved away.) */
static int open_file(const char *path, int flags) {
  int fd = sys_open(path, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0 || fd > 2)
    return fd;
  int moved = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
  sys_close(fd);
  return moved;
}

/* For file systems without fallocate. Another thread may be doing the same, and recording already:
 * appending never overwrites, and at worst makes the file longer than needed. */
static long append_zeros(int fd, uint64_t size) {
  static const char zeros[4096];
  long error = sys_fcntl(fd, F_SETFL, O_APPEND);
  while (error >= 0) {
    struct stat status;
    error = sys_fstat(fd, &status);
    if (error < 0 || (uint64_t)status.st_size >= size)
      break;
    error = sys_write(fd, zeros, sizeof zeros);
  }
  return error < 0 ? error : 0;
}

static long allocate(int fd, uint64_t offset, uint64_t size) {
  signal_set pending = sys_pending_signals();
  long error = sys_fallocate(fd, offset, size);
  if (error == -EOPNOTSUPP || error == -ENOSYS)
    error = append_zeros(fd, offset + size);
  /* Beyond the limit on file sizes there is a signal too, and it would end the program. */
  if (error == -EFBIG)
    sys_discard_signal(SIGNAL_BIT(SIGXFSZ) & ~pending);
  return error;
}

/* The mapping of one chunk of the open file, or a negative errno. */
static void *map_chunk(int fd, size_t chunk) {
  long error = allocate(fd, chunk_offset(chunk), chunk_size(chunk));
  if (error < 0)
    return (void *)error;
  void *mapping = sys_map_file(fd, chunk_offset(chunk), chunk_size(chunk));
  if (is_error(mapping))
    return mapping;
  /* It belongs to this process alone. The kernel knows the advice since 2.6.16. */
  sys_advise(mapping, chunk_size(chunk), MADV_DONTFORK);
  return mapping;
}

static void write_header(struct frontload_trace_header *header, uint32_t pid) {
  header->byte_order =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? FRONTLOAD_LITTLE_ENDIAN : FRONTLOAD_BIG_ENDIAN;
  header->word_size = sizeof(void *);
  header->machine = FRONTLOAD_MACHINE;
  header->major = FRONTLOAD_TRACE_MAJOR;
  header->minor = FRONTLOAD_TRACE_MINOR;
  header->header_size = FRONTLOAD_TRACE_HEADER_SIZE;
  header->slot_size = FRONTLOAD_TRACE_SLOT_SIZE;
  header->recorder = FRONTLOAD_RECORDER_RUNTIME;
  header->pid = pid;
  /* Last, so that a file cut off before this is no trace. */
  __atomic_thread_fence(__ATOMIC_RELEASE);
  copy_bytes((unsigned char *)header->magic, (const unsigned char *)FRONTLOAD_TRACE_MAGIC,
             sizeof header->magic);
}

/* Creates a file that no other process writes to: with O_EXCL, under the first free name. */
static int create_file(struct text *path) {
  const size_t size = path->size;
  int fd = path->overflow ? -ENAMETOOLONG : open_file(path->start, O_CREAT | O_EXCL);
  if (fd != -EEXIST)
    return fd;
  int folder = sys_open(path->start, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder >= 0) {
    sys_close(folder);
    return -EISDIR;
  }
  for (uint32_t suffix = 1; fd == -EEXIST && suffix < SUFFIX_LIMIT; ++suffix) {
    text_cut(path, size);
    text_add_char(path, '.');
    text_add_number(path, suffix);
    fd = path->overflow ? -ENAMETOOLONG : open_file(path->start, O_CREAT | O_EXCL);
  }
  return fd;
}

/* Creates the file and maps its first chunk. Returns a negative errno if there is no file. */
static long set_up(struct session *session, struct text *path) {
  int fd = create_file(path);
  if (fd < 0)
    return fd;
  struct stat status;
  long error = sys_fstat(fd, &status);
  void *mapping = error < 0 ? (void *)error : map_chunk(fd, 0);
  sys_close(fd);
  if (is_error(mapping)) {
    sys_unlink(session->path);
    return (long)mapping;
  }
  session->device = status.st_dev;
  session->inode = status.st_ino;
  session->chunks[0] = mapping;
  session->header = mapping;
  write_header(session->header, session->pid);
  return 0;
}

static void throw_away(struct session *session) {
  if (session->header) {
    sys_unlink(session->path);
    sys_unmap(session->header, FIRST_CHUNK_SIZE);
  }
  sys_unmap(session, sizeof *session);
}

/* Ends recording, unless another thread has opened a trace meanwhile: then returns that. */
static struct session *give_up(struct recorder *recorder, const char *thing, long error) {
  struct session *others = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  struct recorder *expected = recorder;
  if (!others && __atomic_compare_exchange_n(&frontload_recorder, &expected, NOT_RECORDING, false,
                                             __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    frontload_warn(&recorder->config, thing, "cannot create the trace", error);
  return others;
}

struct session *frontload_open_session(struct recorder *recorder) {
  struct session *session = sys_map_memory(sizeof *session);
  if (is_error(session))
    return give_up(recorder, "FRONTLOAD_TRACE", (long)session);
  sys_advise(session, sizeof *session, MADV_DONTFORK);
  session->pid = sys_getpid();
  struct text path = text_in(session->path, PATH_CAPACITY);
  frontload_expand_pattern(&recorder->config, session->pid, &path);
  long error = set_up(session, &path);

  struct session *others = NULL;
  if (error < 0)
    others = give_up(recorder, session->path, error);
  else if (__atomic_compare_exchange_n(&recorder->session, &others, session, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return session;
  throw_away(session);
  return others;
}

static unsigned char *grow(struct session *session, size_t chunk) {
  int fd = open_file(session->path, 0);
  if (fd < 0)
    return NULL;
  struct stat status;
  unsigned char *mapping = NULL;
  if (sys_fstat(fd, &status) == 0 && status.st_dev == session->device &&
      status.st_ino == session->inode)
    mapping = map_chunk(fd, chunk);
  sys_close(fd);
  if (!mapping || is_error(mapping))
    return NULL;

  unsigned char *others = NULL;
  if (__atomic_compare_exchange_n(&session->chunks[chunk], &others, mapping, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return mapping;
  sys_unmap(mapping, chunk_size(chunk));
  return others;
}

static struct frontload_trace_slot *slot_at(struct session *session, uint64_t index) {
  uint64_t offset = FRONTLOAD_TRACE_HEADER_SIZE + index * FRONTLOAD_TRACE_SLOT_SIZE;
  uint64_t chunk = offset < FIRST_CHUNK_SIZE ? 0 : 1 + (offset - FIRST_CHUNK_SIZE) / CHUNK_SIZE;
  if (chunk >= CHUNK_LIMIT)
    return NULL;
  unsigned char *start = __atomic_load_n(&session->chunks[chunk], __ATOMIC_ACQUIRE);
  if (!start && !(start = grow(session, chunk)))
    return NULL;
  return (struct frontload_trace_slot *)(start + (offset - chunk_offset(chunk)));
}

static bool is_full(struct session *session) {
  return __atomic_load_n(&session->full, __ATOMIC_RELAXED);
}

static void set_full(struct session *session) {
  __atomic_store_n(&session->full, true, __ATOMIC_RELAXED);
}

void frontload_count_dropped(struct session *session) {
  __atomic_fetch_add(&session->header->dropped_events, 1, __ATOMIC_RELAXED);
}

void frontload_append_event(struct session *session, const struct module *module,
                            enum frontload_record_kind kind, uintptr_t address) {
  struct frontload_trace_slot *slot = NULL;
  if (!is_full(session))
    slot = slot_at(session, __atomic_fetch_add(&session->header->next_slot, 1, __ATOMIC_RELAXED));
  if (!slot) {
    set_full(session);
    frontload_count_dropped(session);
    return;
  }
  slot->module = module->number;
  slot->thread = sys_gettid();
  uint64_t kind_address = (uint64_t)kind << 56 | (address & FRONTLOAD_ADDRESS_MASK);
  __atomic_store_n(&slot->kind_address, kind_address, __ATOMIC_RELEASE);
}

/* Byte `i` of the module record's variable part: build-id, then path. */
static unsigned char module_byte(const struct module *module, size_t i) {
  if (i < module->build_id_size)
    return module->build_id[i];
  return (unsigned char)module->path[i - module->build_id_size];
}

void frontload_append_module(struct session *session, const struct module *module) {
  const size_t size = module->build_id_size + module->path_size;
  const uint64_t slots = 1 + (size + FRONTLOAD_TRACE_SLOT_SIZE - 1) / FRONTLOAD_TRACE_SLOT_SIZE;
  if (is_full(session))
    return;
  uint64_t index = __atomic_fetch_add(&session->header->next_slot, slots, __ATOMIC_RELAXED);
  struct frontload_trace_slot *first = slot_at(session, index);
  uint64_t word = (uint64_t)FRONTLOAD_MODULE << 56 | (uint64_t)module->build_id_size << 40 |
                  slots << 16 | module->path_size;
  if (first) {
    first->module = module->number;
    first->thread = module->flags;
    /* A reader has to know how many slots to skip before there is anything in them. */
    __atomic_store_n(&first->kind_address, word, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
  for (size_t i = 0; i < size; ++i) {
    unsigned char *slot =
        (unsigned char *)slot_at(session, index + 1 + i / FRONTLOAD_TRACE_SLOT_SIZE);
    if (!first || !slot) {
      set_full(session);
      return;
    }
    slot[i % FRONTLOAD_TRACE_SLOT_SIZE] = module_byte(module, i);
  }
  __atomic_store_n(&first->kind_address, word | UINT64_C(1) << 48, __ATOMIC_RELEASE);
}
