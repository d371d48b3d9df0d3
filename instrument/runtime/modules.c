/* Which module an address belongs to.
 *
 * Every first touch asks the dynamic linker again, and compares the object's build-id (or its name,
 * if it has none) with the module's: dlclose and dlopen are not announced, and may replace one
 * library by another. So
 *
 *   - a module that is loaded again, at any address, is the same module, and its touches stay.
 *   - a module in another's former place is noticed at its first function whose place the other had
 *     not touched. Functions called before may be missed: noticing that would slow down every call.
 *   - the same file loaded twice at once (dlmopen) is one module that moves to and fro: slow, but
 *     each function is recorded once.
 *
 * Data works alike, but most accesses (stacks, the heap) are to no module. So pages are remembered
 * as foreign until a module is found around them: data of a library loaded there is missed until a
 * function of the library, or data of another page, is touched. Pages of code whose module cannot
 * be kept (too many, or no memory) are remembered likewise.
 */
#include "runtime.h"

#include "base/notes.h"
#include "base/system_calls.h"
#include "libc.h"
#include "signals.h"

#include <elf.h>
#include <errno.h>

enum {
  PAGE_SIZE = 4096, /* the smallest; each page of an object is mapped to its end */
};

typedef ElfW(Ehdr) file_header;
typedef ElfW(Phdr) program_header;

static bool is_in_memory(const program_header *segment, const program_header *headers,
                         size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (headers[i].p_type == PT_LOAD && segment->p_vaddr >= headers[i].p_vaddr &&
        segment->p_vaddr + segment->p_filesz <= headers[i].p_vaddr + headers[i].p_filesz)
      return true;
  return false;
}

struct range {
  uintptr_t low, high;
};

static void extend(struct range *range, const program_header *segment) {
  if (segment->p_vaddr < range->low)
    range->low = segment->p_vaddr;
  if (segment->p_vaddr + segment->p_memsz > range->high)
    range->high = segment->p_vaddr + segment->p_memsz;
}

/* Fills in the object by its program headers; object->bias is known. */
static bool read_program_headers(struct object *object, const program_header *headers,
                                 size_t count) {
  struct range loaded = {UINTPTR_MAX, 0}, code = {UINTPTR_MAX, 0};
  object->build_id_size = 0;
  for (size_t i = 0; i < count; ++i) {
    const program_header *segment = &headers[i];
    if (segment->p_type == PT_LOAD) {
      extend(&loaded, segment);
      if (segment->p_flags & PF_X)
        extend(&code, segment);
    } else if (segment->p_type == PT_NOTE && object->build_id_size == 0 &&
               is_in_memory(segment, headers, count)) {
      const struct notes notes = {(const unsigned char *)(object->bias + segment->p_vaddr),
                                  segment->p_filesz, note_alignment(segment->p_align)};
      struct note id;
      if (find_build_id(notes, BUILD_ID_LIMIT, &id)) {
        object->build_id = id.descriptor;
        object->build_id_size = id.descriptor_size;
      }
    }
  }
  if (loaded.low >= loaded.high)
    return false;
  if (code.low >= code.high)
    code.low = code.high = loaded.low; /* a library of data */
  loaded.low &= ~(uintptr_t)(PAGE_SIZE - 1);
  object->start = object->bias + code.low;
  object->size = code.high - code.low;
  object->loaded_start = object->bias + loaded.low;
  object->loaded_size = loaded.high - loaded.low;
  return true;
}

/* The program headers of the program, or of another object: nearly always these are in its first
 * page. NULL if they are elsewhere. */
static const program_header *find_headers(bool is_main, const file_header *object, size_t *count) {
  if (is_main) {
    *count = libc_auxiliary_value(AT_PHNUM);
    return (const program_header *)libc_auxiliary_value(AT_PHDR);
  }
  *count = object->e_phnum;
  if (!same_bytes(object->e_ident, (const unsigned char *)ELFMAG, SELFMAG) ||
      object->e_phentsize != sizeof(program_header) || object->e_phoff > PAGE_SIZE ||
      object->e_phoff + *count * sizeof(program_header) > PAGE_SIZE)
    return NULL;
  return (const program_header *)((uintptr_t)object + (uintptr_t)object->e_phoff);
}

struct visit {
  uintptr_t address;
  struct object *object;
};

static int visit_object(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  const struct visit *visit = data;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const program_header *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD ||
        visit->address - (info->dlpi_addr + segment->p_vaddr) >= segment->p_memsz)
      continue;
    struct object *object = visit->object;
    object->bias = info->dlpi_addr;
    object->name = info->dlpi_name;
    object->is_main = (uintptr_t)info->dlpi_phdr == libc_auxiliary_value(AT_PHDR);
    return read_program_headers(object, info->dlpi_phdr, info->dlpi_phnum);
  }
  return 0;
}

/* Without an access that might fault: the kernel reads the signal set before it refuses `how`. A
 * filter that denies the call tells nothing. */
bool frontload_is_readable(const void *address) {
  return SYS(rt_sigprocmask, -1, address, 0, sizeof(signal_set)) == -EINVAL;
}

/* The dynamic linker's record for debuggers; NULL if there is none. */
static const struct r_debug *told_to_debuggers(void) {
  size_t count;
  const program_header *headers = find_headers(true, NULL, &count);
  const ElfW(Dyn) *dynamic = NULL;
  uintptr_t bias = 0;
  for (size_t i = 0; i < count; ++i)
    if (headers[i].p_type == PT_PHDR)
      bias = (uintptr_t)headers - headers[i].p_vaddr;
  for (size_t i = 0; i < count; ++i)
    if (headers[i].p_type == PT_DYNAMIC)
      dynamic = (const ElfW(Dyn) *)(bias + headers[i].p_vaddr);
  for (; dynamic && dynamic->d_tag != DT_NULL; ++dynamic)
    if (dynamic->d_tag == DT_DEBUG)
      return (const struct r_debug *)dynamic->d_un.d_ptr;
  return NULL;
}

/* For libcs without _dl_find_object. It may wait for another thread's dlopen or dlclose to change
 * the list of objects (not for constructors). It must not be called before libc is initialised, as
 * IFUNC resolvers of static programs are.
 *
 * libc's dl_iterate_phdr takes a lock. glibc's is recursive. musl's is not: a handler that comes
 * while its own thread is in dlopen would wait for ever. But if a signal is blocked, as the handled
 * one is in its handler, the list can be read as a debugger reads it: musl removes no object from
 * it, except one that could not be opened. `may_wait`: it is certain that the thread is not in a
 * signal handler. */
static bool find_by_iterating(uintptr_t address, struct object *object, bool may_wait) {
  struct visit visit = {address, object};
  const struct r_debug *told =
      may_wait || libc_can_iterate_in_handlers() ? NULL : told_to_debuggers();
  if (!told)
    return libc_iterate_objects(visit_object, &visit);
  const struct link_map *next = told->r_map;
  for (bool is_main = true; next && frontload_is_readable(next); is_main = false) {
    struct dl_phdr_info info;
    const file_header *start = (const file_header *)next->l_addr;
    size_t count;
    info.dlpi_addr = next->l_addr;
    info.dlpi_name = next->l_name;
    info.dlpi_phdr =
        is_main || frontload_is_readable(start) ? find_headers(is_main, start, &count) : NULL;
    if (info.dlpi_phdr) {
      info.dlpi_phnum = (ElfW(Half))count;
      if (visit_object(&info, sizeof info, &visit))
        return true;
    }
    next = next->l_next;
  }
  return false;
}

bool frontload_find_object_at_once(uintptr_t address, struct object *object) {
  struct dl_find_object found;
  if (!libc_has_find_object() || !libc_find_object(address, &found))
    return false;
  object->bias = found.dlfo_link_map->l_addr;
  object->name = found.dlfo_link_map->l_name;
  object->is_main = object->name[0] == '\0';
  size_t count;
  const program_header *headers = find_headers(object->is_main, found.dlfo_map_start, &count);
  return headers && read_program_headers(object, headers, count);
}

bool frontload_is_foreign(uintptr_t address) {
  struct dl_find_object found;
  return libc_has_find_object() && !libc_find_object(address, &found);
}

bool frontload_find_object(uintptr_t address, struct object *object, bool may_wait) {
  return frontload_find_object_at_once(address, object) ||
         (!frontload_is_foreign(address) && find_by_iterating(address, object, may_wait));
}

static bool is_module_of(const struct module *module, const struct object *object) {
  if (module->size != object->size || module->address != object->start - object->bias ||
      module->loaded_size != object->loaded_size ||
      module->before != object->start - object->loaded_start ||
      module->build_id_size != object->build_id_size)
    return false;
  if (object->build_id_size > 0)
    return same_bytes(module->build_id, object->build_id, object->build_id_size);
  const bool is_main = module->flags & FRONTLOAD_MODULE_MAIN;
  return is_main == object->is_main && (is_main || same_string(module->name, object->name));
}

bool frontload_is_where(const struct module *module, const struct object *object) {
  return __atomic_load_n(&module->start, __ATOMIC_RELAXED) == object->start &&
         is_module_of(module, object);
}

static void set_path(struct module *module, const struct object *object) {
  struct text path = text_in(module->path, PATH_CAPACITY);
  const bool may_ask = may_name_files();
  if (object->is_main) {
    long size = may_ask ? sys_readlink("/proc/self/exe", module->path, PATH_CAPACITY - 1) : -EAGAIN;
    if (size > 0)
      text_cut(&path, (size_t)size);
    else
      text_add(&path, (const char *)libc_auxiliary_value(AT_EXECFN)); /* there is no /proc */
  } else {
    if (object->name[0] != '/' && may_ask && sys_getcwd(module->path, PATH_CAPACITY) > 0) {
      text_cut(&path, string_size(module->path));
      text_add_char(&path, '/');
    }
    module->name = path.start + path.size;
    text_add(&path, object->name);
    if (path.overflow) {
      text_cut(&path, 0);
      module->name = path.start;
      text_add(&path, object->name);
    }
  }
  module->path_size = path.size;
}

/* The size of the data set before the module: in whole pages, of which the largest are 64 KiB. */
static size_t data_set_size(const struct object *object) {
  return align_up((object->loaded_size / FRONTLOAD_GRANULE / 64 + 1) * sizeof(uint64_t), 65536);
}

static size_t mapping_size(const struct object *object) {
  return data_set_size(object) + TOUCHED_OFFSET + (object->size / 64 + 1) * sizeof(uint64_t);
}

static struct module *make_module(const struct object *object) {
  unsigned char *mapping = sys_map_memory(mapping_size(object));
  if (is_error(mapping))
    return NULL;
  /* Children get it wiped, not unmapped: a handler that forks may return, in the child, into the
   * fast path. A generation of children inherits the empty mappings of all before it. */
  sys_advise(mapping, mapping_size(object), MADV_WIPEONFORK);
  struct module *module = (struct module *)(mapping + data_set_size(object));
  module->start = object->start;
  module->size = object->size;
  module->before = object->start - object->loaded_start;
  module->loaded_size = object->loaded_size;
  module->address = object->start - object->bias;
  module->flags = object->is_main ? FRONTLOAD_MODULE_MAIN : 0;
  module->build_id_size = object->build_id_size;
  copy_bytes(module->build_id, object->build_id, object->build_id_size);
  set_path(module, object);
  return module;
}

static void unmake_module(struct module *module, const struct object *object) {
  if (module)
    sys_unmap((unsigned char *)module - data_set_size(object), mapping_size(object));
}

/* Marks all modules but `keep` that have a byte in the range as gone. */
static void displace(struct recorder *recorder, uintptr_t first, size_t size,
                     const struct module *keep) {
  for (size_t i = 0; i < MODULE_LIMIT; ++i) {
    struct module *module = __atomic_load_n(&recorder->modules[i], __ATOMIC_ACQUIRE);
    if (!module)
      return;
    uintptr_t start = __atomic_load_n(&module->start, __ATOMIC_RELAXED);
    uintptr_t loaded = start - module->before;
    if (module != keep && (loaded - first < size || first - loaded < module->loaded_size))
      __atomic_compare_exchange_n(&module->start, &start, NOWHERE, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED);
  }
}

void frontload_set_foreign(struct recorder *recorder, uintptr_t *entry, uintptr_t address) {
  displace(recorder, address, 1, NULL);
  __atomic_store_n(entry, foreign_page(address), __ATOMIC_RELEASE);
}

static void forget_foreign(uintptr_t *entry) {
  if (__atomic_load_n(entry, __ATOMIC_RELAXED) & 1)
    __atomic_store_n(entry, 0, __ATOMIC_RELAXED);
}

/* Notes that the module, and nothing else, is in the object's place. */
static void take_place(struct recorder *recorder, const struct module *module,
                       const struct object *object) {
  displace(recorder, object->loaded_start, object->loaded_size, module);
  size_t pages = (object->loaded_size + PAGE_SIZE - 1) / PAGE_SIZE;
  for (size_t i = 0; i < pages && i < PAGE_TABLE_SIZE; ++i) {
    const uintptr_t page = object->loaded_start + i * PAGE_SIZE;
    forget_foreign(data_cache_entry(recorder, page));
    forget_foreign(foreign_code_entry(recorder, page));
  }
}

_Static_assert(MODULE_LIMIT == 1024, "as it is told below");

/* Warns once of a module that cannot be kept; `error` is 0 if there are too many. */
static struct module *no_room(struct recorder *recorder, const struct object *object, long error) {
  if (!__atomic_exchange_n(&recorder->config.told_of_modules, true, __ATOMIC_RELAXED))
    frontload_warn(&recorder->config, object->is_main ? "the program" : object->name,
                   error ? "this module is not recorded"
                         : "this module is not recorded, there were 1024 before it",
                   error, "its first touches are only counted");
  return NULL;
}

struct module *frontload_find_module(struct recorder *recorder, struct session *session,
                                     const struct object *object) {
  struct module *fresh = NULL;
  for (uint32_t i = 0; i < MODULE_LIMIT; ++i) {
    struct module *module = __atomic_load_n(&recorder->modules[i], __ATOMIC_ACQUIRE);
    if (!module) {
      if (!fresh && !(fresh = make_module(object)))
        return no_room(recorder, object, -ENOMEM);
      fresh->number = i + 1;
      if (__atomic_compare_exchange_n(&recorder->modules[i], &module, fresh, false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        frontload_append_module(session, fresh);
        take_place(recorder, fresh, object);
        return fresh;
      }
    }
    if (!is_module_of(module, object))
      continue;
    unmake_module(fresh, object);
    if (__atomic_load_n(&module->start, __ATOMIC_RELAXED) != object->start) {
      __atomic_store_n(&module->start, object->start, __ATOMIC_RELAXED);
      take_place(recorder, module, object);
    }
    return module;
  }
  unmake_module(fresh, object);
  return no_room(recorder, object, 0);
}
