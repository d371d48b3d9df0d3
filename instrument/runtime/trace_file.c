/* The trace of this process: a shared file mapping, so that every store is in the file at once and
 * stays there however the process ends.
 *
 * The file grows in chunks. A chunk's blocks are allocated before it is written to, so that a full
 * disk is an error from a system call and never a SIGBUS. (If a file system writes everything to a
 * new place, as btrfs does, that is not enough: see base/file_systems.h.) No descriptor is kept:
 * programs close and reuse descriptors at will. So the first chunks are mapped from the beginning,
 * for programs that become another user, leave for another root, or have no descriptor left (Linux
 * 5.14). To grow beyond that, the file is opened again by its path, if the path leads to it still.
 * If growing fails, the runtime warns once; later first touches are only counted.
 */
#include "base/file_systems.h"
#include "base/machine.h"
#include "base/system_calls.h"
#include "runtime.h"
#include "signals.h"

#include <errno.h>

enum {
  FIRST_CHUNK_SIZE = 64 << 10, /* 4,088 events: enough for most programs */
  CHUNK_SIZE = 256 << 10,
  RESERVED_SIZE = FIRST_CHUNK_SIZE + 16 * CHUNK_SIZE, /* 266,000 events */
};

static uint64_t chunk_offset(size_t chunk) {
  return chunk == 0 ? 0 : FIRST_CHUNK_SIZE + (uint64_t)(chunk - 1) * CHUNK_SIZE;
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
    error = SYS(write, fd, zeros, sizeof zeros);
  }
  return error < 0 ? error : 0;
}

/* Beyond the limit on file sizes, a signal comes as well, which would end the program. */
static long without_signal(long error, signal_set pending) {
  if (error == -EFBIG)
    sys_discard_signal(SIGNAL_BIT(SIGXFSZ) & ~pending);
  return error;
}

static long allocate(int fd, uint64_t offset, uint64_t size) {
  const signal_set pending = sys_pending_signals();
  long error = SYS(fallocate, fd, 0, offset, size);
  if (error == -EOPNOTSUPP || error == -ENOSYS)
    error = append_zeros(fd, offset + size);
  return without_signal(error, pending);
}

/* Maps the first chunk, and if possible the reserve (session->reserved_size). The file has its size
 * before it is mapped: QEMU maps nothing behind a file's end for a processor whose pages are larger
 * than the machine's. */
static void *map_first_chunk(int fd, struct session *session) {
  long error = allocate(fd, 0, FIRST_CHUNK_SIZE);
  if (error < 0)
    return (void *)error;
  const signal_set pending = sys_pending_signals();
  const bool has_room = without_signal(SYS(ftruncate, fd, RESERVED_SIZE), pending) == 0;
  void *mapping = sys_map_file(fd, 0, RESERVED_SIZE);
  const bool is_mapped = !is_error(mapping);
  session->mapped_size = is_mapped ? RESERVED_SIZE : FIRST_CHUNK_SIZE;
  if (has_room && is_mapped &&
      sys_advise(mapping, 1, MADV_POPULATE_WRITE) == 0) /* its first page */
    session->reserved_size = RESERVED_SIZE;
  else if (has_room)
    SYS(ftruncate, fd, FIRST_CHUNK_SIZE); /* a file that will grow must not seem to have grown */
  return is_mapped ? mapping : sys_map_file(fd, 0, FIRST_CHUNK_SIZE);
}

bool frontload_may_store(const struct session *session, const void *place) {
  return !session->moves || can_store_to(place);
}

/* The number of this run, from the file system's time of its first trace: a filter of system calls
 * may kill a program that asks for the time. */
static uint64_t begin_run(struct config *config, const struct stat *first_trace) {
  uint64_t none = 0, run = (uint64_t)first_trace->st_ctim.tv_sec * 1000000000 +
                           (uint64_t)first_trace->st_ctim.tv_nsec;
  run ^= (uint64_t)first_trace->st_ino << 32; /* the clock of a file system is coarse */
  if (__atomic_compare_exchange_n(&config->run, &none, run, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED))
    return run;
  return none;
}

static void write_header(struct frontload_trace_header *header, uint32_t pid) {
  frontload_begin_trace(header, FRONTLOAD_RECORDER_RUNTIME, FRONTLOAD_MACHINE, pid);
  /* Last, so that a file cut off before this is no trace. */
  __atomic_thread_fence(__ATOMIC_RELEASE);
  copy_bytes((unsigned char *)header->magic, (const unsigned char *)FRONTLOAD_TRACE_MAGIC,
             sizeof header->magic);
}

/* Opens a file, with further flags. Returns the descriptor or a negative errno. Never returns 0, 1
 * or 2, even if these are closed: the program's output must not go into the trace. (Another thread
 * can write to the descriptor in the moment before it is moved away.) */
static int open_file(const char *path, int flags) {
  if (!may_name_files())
    return -EAGAIN;
  int fd = sys_open(path, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || fd > 2)
    return fd;
  int moved = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
  sys_close(fd);
  return moved;
}

static int create(const char *path) { return open_file(path, O_CREAT | O_EXCL); }

static bool is_folder(const char *path) {
  const int fd = sys_open(path, O_DIRECTORY | O_PATH | O_CLOEXEC, 0);
  if (fd >= 0)
    sys_close(fd);
  return fd >= 0;
}

/* Creates a file that no other process writes to, under the path or the first free one of PATH.1,
 * PATH.2..., and updates `path`. Returns its descriptor or a negative errno. */
static int create_file(struct text *path) {
  const size_t size = path->size;
  int fd = path->overflow ? -ENAMETOOLONG : create(path->start);
  if (fd == -EEXIST && is_folder(path->start))
    return -EISDIR;
  for (uint32_t suffix = 1; fd == -EEXIST && suffix <= FRONTLOAD_TRACE_MAX_SUFFIX; ++suffix) {
    text_cut(path, size);
    text_add_char(path, '.');
    text_add_number(path, suffix);
    fd = path->overflow ? -ENAMETOOLONG : create(path->start);
  }
  return fd;
}

/* Creates the file and maps its first chunk. Returns a negative errno if there is no file. */
static long set_up(struct recorder *recorder, struct session *session, struct text *path) {
  struct config *config = &recorder->config;
  bool is_forked = __atomic_load_n(&config->run, __ATOMIC_RELAXED) != 0;
  int fd = create_file(path);
  if (fd < 0)
    return fd;
  struct stat status;
  long error = sys_fstat(fd, &status);
  void *mapping = error < 0 ? (void *)error : map_first_chunk(fd, session);
  session->moves = error >= 0 && moves_what_it_writes(fd);
  sys_close(fd);
  if (!is_error(mapping) && !frontload_may_store(session, mapping)) {
    sys_unmap(mapping, session->mapped_size);
    mapping = (void *)-ENOSPC;
  }
  if (is_error(mapping)) {
    sys_unlink(session->path);
    return (long)mapping;
  }
  session->device = status.st_dev;
  session->inode = status.st_ino;
  session->chunks[0] = mapping;
  session->header = mapping;
  session->header->forked = is_forked;
  session->header->run = begin_run(config, &status);
  copy_bytes((unsigned char *)session->header->role, (const unsigned char *)config->role,
             sizeof config->role);
  write_header(session->header, __atomic_load_n(&recorder->pid, __ATOMIC_RELAXED));
  return 0;
}

/* If two threads make the first touch together, one throws its file away. If its file has the
 * requested name, of `size` bytes, and the kept file a suffix, the kept file takes over the name.
 * (map_by_path() looks again for a file that is renamed meanwhile.) */
static void throw_away(struct session *session, struct session *kept, size_t size) {
  if (session->header) {
    const bool is_asked_for = kept && !session->path[size] && kept->path[size];
    if (is_asked_for && SYS(renameat2, AT_FDCWD, kept->path, AT_FDCWD, session->path) == 0)
      kept->path[size] = '\0';
    else
      sys_unlink(session->path);
    sys_unmap(session->header, session->mapped_size);
  }
  sys_unmap(session, sizeof *session);
}

/* Ends recording, unless another thread has opened a trace meanwhile: then returns that. */
static struct session *give_up(struct recorder *recorder, const char *thing, long error) {
  struct session *others = __atomic_load_n(&recorder->session, __ATOMIC_ACQUIRE);
  if (others)
    return others;
  __atomic_store_n(&frontload_state.recorder, NOT_RECORDING, __ATOMIC_RELEASE);
  if (!__atomic_exchange_n(&recorder->config.has_ended, true, __ATOMIC_RELAXED))
    frontload_warn(&recorder->config, thing, "cannot create the trace", error, UNRECORDED);
  return NULL;
}

struct session *frontload_open_session(struct recorder *recorder) {
  if (!may_name_files())
    return NULL; /* another time */
  struct session *session = sys_map_memory(sizeof *session);
  if (is_error(session))
    return give_up(recorder, "FRONTLOAD_TRACE", (long)session);
  sys_advise(session, sizeof *session, MADV_WIPEONFORK);
  session->config = &recorder->config;
  struct text path = text_in(session->path, PATH_CAPACITY);
  text_add_pattern(&path, recorder->config.pattern, /* %m is expanded already */ "",
                   __atomic_load_n(&recorder->pid, __ATOMIC_RELAXED));
  const size_t size = path.size;
  long error = set_up(recorder, session, &path);

  struct session *others = NULL;
  if (error < 0)
    others = give_up(recorder, session->path, error);
  else if (__atomic_compare_exchange_n(&recorder->session, &others, session, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return session;
  throw_away(session, others, size);
  return others;
}

/* NULL in a child, after a handler has forked and returned to the middle of its parent's touch. */
static struct frontload_trace_header *header_of(struct session *session) {
  return __atomic_load_n(&session->header, __ATOMIC_RELAXED);
}

/* `error` is a negative errno or 0. */
static void end_trace(struct session *session, const char *what, long error) {
  if (header_of(session) && !__atomic_exchange_n(&session->full, true, __ATOMIC_RELAXED))
    frontload_warn(session->config, session->path, what, error,
                   "later first touches are only counted");
}

static const char *const full_disk = "the trace ends here: the disk or its quota is full";

static bool allocate_reserved(struct session *session, unsigned char *chunk) {
  const long error = sys_advise(chunk, CHUNK_SIZE, MADV_POPULATE_WRITE);
  if (error == -EFAULT) /* a store would be a SIGBUS */
    end_trace(session, full_disk, 0);
  else if (error < 0)
    end_trace(session, "the trace ends here", error);
  return error == 0;
}

static unsigned char *map_by_path(struct session *session, size_t chunk) {
  int fd = open_file(session->path, 0);
  if (fd == -ENOENT) /* renamed at this moment: see throw_away */
    fd = open_file(session->path, 0);
  long error = fd;
  if (fd >= 0) {
    struct stat status;
    void *mapping = NULL;
    error = sys_fstat(fd, &status);
    if (error == 0 && (status.st_dev != session->device || status.st_ino != session->inode))
      error = -ESTALE;
    if (error == 0)
      error = allocate(fd, chunk_offset(chunk), CHUNK_SIZE);
    if (error == 0)
      mapping = sys_map_file(fd, chunk_offset(chunk), CHUNK_SIZE);
    sys_close(fd);
    if (error == 0 && !is_error(mapping))
      return mapping;
    error = error ? error : (long)mapping;
  }
  if (error == -ESTALE)
    end_trace(session, "the trace ends here: another file has its name now", 0);
  else
    end_trace(session, "the trace ends here", error);
  return NULL;
}

static unsigned char *make_chunk(struct session *session, size_t chunk) {
  const bool is_reserved = chunk_offset(chunk) < session->reserved_size;
  unsigned char *mapping;
  if (is_reserved) {
    mapping = (unsigned char *)session->header + chunk_offset(chunk);
    if (!allocate_reserved(session, mapping))
      return NULL;
  } else if (!(mapping = map_by_path(session, chunk))) {
    return NULL;
  }
  unsigned char *others = NULL;
  if (__atomic_compare_exchange_n(&session->chunks[chunk], &others, mapping, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return mapping;
  if (!is_reserved)
    sys_unmap(mapping, CHUNK_SIZE);
  return others;
}

static unsigned char *grow(struct session *session, size_t chunk) {
  const signal_set before = begin_undisturbed();
  unsigned char *start = __atomic_load_n(&session->chunks[chunk], __ATOMIC_ACQUIRE);
  if (!start && header_of(session))
    start = make_chunk(session, chunk);
  end_undisturbed(before);
  return start;
}

static uint64_t slot_offset(uint64_t index) {
  return FRONTLOAD_TRACE_HEADER_SIZE + index * FRONTLOAD_TRACE_SLOT_SIZE;
}

static uint64_t chunk_at(uint64_t offset) {
  return offset < FIRST_CHUNK_SIZE ? 0 : 1 + (offset - FIRST_CHUNK_SIZE) / CHUNK_SIZE;
}

static struct frontload_trace_slot *slot_at(struct session *session, uint64_t index) {
  const uint64_t offset = slot_offset(index), chunk = chunk_at(offset);
  if (chunk >= CHUNK_LIMIT) {
    end_trace(session, "the trace ends here", -EFBIG);
    return NULL;
  }
  unsigned char *start = __atomic_load_n(&session->chunks[chunk], __ATOMIC_ACQUIRE);
  if (!start && !(start = grow(session, chunk)))
    return NULL;
  return (struct frontload_trace_slot *)(start + (offset - chunk_offset(chunk)));
}

static bool is_full(struct session *session) {
  return __atomic_load_n(&session->full, __ATOMIC_RELAXED);
}

static bool may_store(struct session *session, const void *place) {
  if (!frontload_may_store(session, place)) {
    end_trace(session, full_disk, 0);
    return false;
  }
  return true;
}

bool frontload_has_room(struct session *session) {
  struct frontload_trace_header *header = header_of(session);
  if (!header || is_full(session))
    return false;
  const uint64_t chunk =
      chunk_at(slot_offset(__atomic_load_n(&header->next_slot, __ATOMIC_RELAXED)));
  return chunk < CHUNK_LIMIT && __atomic_load_n(&session->chunks[chunk], __ATOMIC_RELAXED);
}

void frontload_count_dropped(struct session *session) {
  struct frontload_trace_header *header = header_of(session);
  if (header && frontload_may_store(session, header))
    __atomic_fetch_add(&header->dropped_events, 1, __ATOMIC_RELAXED);
}

struct frontload_trace_slot *frontload_add_event(struct session *session,
                                                 const struct module *module,
                                                 enum frontload_record_kind kind, uintptr_t address,
                                                 uint32_t thread) {
  struct frontload_trace_header *header = header_of(session);
  if (!header || is_full(session) || !may_store(session, header))
    return NULL;
  struct frontload_trace_slot *slot =
      slot_at(session, __atomic_fetch_add(&header->next_slot, 1, __ATOMIC_RELAXED));
  if (!slot || !may_store(session, slot))
    return NULL;
  slot->module = module->number;
  slot->thread = thread;
  uint64_t kind_address = (uint64_t)kind << 56 | (address & FRONTLOAD_ADDRESS_MASK);
  __atomic_store_n(&slot->kind_address, kind_address, __ATOMIC_RELEASE);
  return slot;
}

void frontload_take_back(struct session *session, struct frontload_trace_slot *event) {
  if (frontload_may_store(session, event))
    __atomic_store_n(&event->kind_address, 0, __ATOMIC_RELAXED);
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
  if (is_full(session) || !may_store(session, session->header))
    return;
  const uint64_t index = __atomic_fetch_add(&session->header->next_slot, slots, __ATOMIC_RELAXED);
  struct frontload_trace_slot *first = slot_at(session, index);
  uint64_t word = (uint64_t)FRONTLOAD_MODULE << 56 | (uint64_t)module->build_id_size << 40 |
                  slots << 16 | module->path_size;
  if (first && !may_store(session, first))
    return;
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
    if (!first || !slot || (i % FRONTLOAD_TRACE_SLOT_SIZE == 0 && !may_store(session, slot)))
      return;
    slot[i % FRONTLOAD_TRACE_SLOT_SIZE] = module_byte(module, i);
  }
  if (may_store(session, first))
    __atomic_store_n(&first->kind_address, word | UINT64_C(1) << 48, __ATOMIC_RELEASE);
}
