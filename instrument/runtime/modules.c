/* Which module an address belongs to, and which of its functions were touched already.
 *
 * At every first touch the dynamic linker is asked anew, and the object's build-id (or its name, if
 * it has none) is compared with the module's: dlclose and dlopen tell nobody, and may put another
 * library where one was. So
 *
 *   - a module that was loaded again is the module it was, wherever it is now, and what was touched
 *     before stays touched;
 *   - a module in another's former place is noticed at its first function whose place the other had
 *     not touched. Functions called before that one are recorded at their next call after it, and
 *     missed if there is none; so is the whole of a library in which every function lies where the
 *     other had one that was touched. To notice that would cost every call more than it does now.
 *   - the same file loaded twice at once (dlmopen) is one module that moves to and fro: slow, but
 *     each function is recorded once.
 */
#include "runtime.h"

#include "libc.h"
#include "system_calls.h"

#include <elf.h>

enum {
  PAGE_SIZE = 4096, /* the smallest; what is mapped of an object at all is mapped to its end */
  BUILD_ID_NAME_SIZE = 4,
};

typedef ElfW(Phdr) program_header;

static uintptr_t align_up(uintptr_t value, uintptr_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/* Looks for a build-id in `size` bytes of notes. */
static void find_build_id(struct object *object, const unsigned char *notes, size_t size,
                          uintptr_t alignment) {
  while (size >= sizeof(ElfW(Nhdr))) {
    const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)notes;
    const size_t name = sizeof *note;
    const size_t description = align_up(name + note->n_namesz, alignment);
    const size_t end = description + note->n_descsz;
    const size_t next = align_up(end, alignment);
    if (end > size)
      return;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == BUILD_ID_NAME_SIZE &&
        same_bytes(notes + name, (const unsigned char *)ELF_NOTE_GNU, BUILD_ID_NAME_SIZE) &&
        note->n_descsz <= BUILD_ID_LIMIT) {
      object->build_id = notes + description;
      object->build_id_size = note->n_descsz;
      return;
    }
    if (next > size)
      return;
    notes += next;
    size -= next;
  }
}

static bool is_in_memory(const program_header *segment, const program_header *headers,
                         size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (headers[i].p_type == PT_LOAD && segment->p_vaddr >= headers[i].p_vaddr &&
        segment->p_vaddr + segment->p_filesz <= headers[i].p_vaddr + headers[i].p_filesz)
      return true;
  return false;
}

/* Fills in what the program headers tell; object->bias is known. */
static bool read_program_headers(struct object *object, const program_header *headers,
                                 size_t count) {
  uintptr_t low = UINTPTR_MAX, high = 0;
  object->build_id_size = 0;
  for (size_t i = 0; i < count; ++i) {
    const program_header *segment = &headers[i];
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
      if (segment->p_vaddr < low)
        low = segment->p_vaddr;
      if (segment->p_vaddr + segment->p_memsz > high)
        high = segment->p_vaddr + segment->p_memsz;
    } else if (segment->p_type == PT_NOTE && object->build_id_size == 0 &&
               is_in_memory(segment, headers, count)) {
      find_build_id(object, (const unsigned char *)(object->bias + segment->p_vaddr),
                    segment->p_filesz, segment->p_align == 8 ? 8 : 4);
    }
  }
  if (low >= high)
    return false;
  object->start = object->bias + low;
  object->size = high - low;
  return true;
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

/* Where libc has nothing better. It may wait for another thread's dlopen or dlclose to change the
 * list of objects (not for constructors), and must not be called before libc is initialised, as
 * IFUNC resolvers of static programs are. */
static bool find_by_iterating(uintptr_t address, struct object *object) {
  struct visit visit = {address, object};
  return libc_iterate_objects(visit_object, &visit);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

bool frontload_find_object(uintptr_t address, struct object *object) {
  if (!libc_has_find_object())
    return find_by_iterating(address, object);
  struct dl_find_object found;
  if (!libc_find_object(address, &found))
    return false;
  object->bias = found.dlfo_link_map->l_addr;
  object->name = found.dlfo_link_map->l_name;
  object->is_main = object->name[0] == '\0';
  if (object->is_main)
    return read_program_headers(object, (const program_header *)libc_auxiliary_value(AT_PHDR),
                                libc_auxiliary_value(AT_PHNUM));

  /* The headers are nearly always at the start of the first segment. */
  const ElfW(Ehdr) *header = found.dlfo_map_start;
  if (!same_bytes(header->e_ident, (const unsigned char *)ELFMAG, SELFMAG) ||
      header->e_phentsize != sizeof(program_header) || header->e_phoff > PAGE_SIZE ||
      header->e_phoff + header->e_phnum * sizeof(program_header) > PAGE_SIZE)
    return find_by_iterating(address, object);
  return read_program_headers(
      object, (const program_header *)((uintptr_t)header + (uintptr_t)header->e_phoff),
      header->e_phnum);
}

#else

bool frontload_find_object(uintptr_t address, struct object *object) {
  return find_by_iterating(address, object);
}

#endif

static bool is_module_of(const struct module *module, const struct object *object) {
  if (module->size != object->size || module->address != object->start - object->bias ||
      module->build_id_size != object->build_id_size)
    return false;
  if (object->build_id_size > 0)
    return same_bytes(module->build_id, object->build_id, object->build_id_size);
  const bool is_main = module->flags & FRONTLOAD_MODULE_MAIN;
  return is_main == object->is_main && (is_main || same_string(module->name, object->name));
}

static void set_path(struct module *module, const struct object *object) {
  struct text path = text_in(module->path, PATH_CAPACITY);
  if (object->is_main) {
    long size = sys_readlink("/proc/self/exe", module->path, PATH_CAPACITY - 1);
    if (size > 0)
      text_cut(&path, (size_t)size);
    else
      text_add(&path, (const char *)libc_auxiliary_value(AT_EXECFN)); /* there is no /proc */
  } else {
    if (object->name[0] != '/' && sys_getcwd(module->path, PATH_CAPACITY) > 0) {
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

static size_t mapping_size(size_t executable_size) {
  return TOUCHED_OFFSET + (executable_size / 64 + 1) * sizeof(uint64_t);
}

static struct module *make_module(const struct object *object) {
  struct module *module = sys_map_memory(mapping_size(object->size));
  if (is_error(module))
    return NULL;
  /* Wiped and not withheld, for a handler that forks and then returns, in the child, into the fast
   * path. A generation of children inherits the empty mappings of all before it. */
  sys_advise(module, mapping_size(object->size), MADV_WIPEONFORK);
  module->start = object->start;
  module->size = object->size;
  module->address = object->start - object->bias;
  module->flags = object->is_main ? FRONTLOAD_MODULE_MAIN : 0;
  module->build_id_size = object->build_id_size;
  copy_bytes(module->build_id, object->build_id, object->build_id_size);
  set_path(module, object);
  return module;
}

/* `module` is where its start says, so no other module is there any more. */
static void displace_others(struct recorder *recorder, const struct module *module) {
  for (size_t i = 0; i < MODULE_LIMIT; ++i) {
    struct module *other = __atomic_load_n(&recorder->modules[i], __ATOMIC_ACQUIRE);
    if (!other)
      return;
    uintptr_t start = __atomic_load_n(&other->start, __ATOMIC_RELAXED);
    if (other != module &&
        (start - module->start < module->size || module->start - start < other->size))
      __atomic_compare_exchange_n(&other->start, &start, NOWHERE, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED);
  }
}

struct module *frontload_find_module(struct recorder *recorder, struct session *session,
                                     const struct object *object) {
  struct module *fresh = NULL;
  for (uint32_t i = 0; i < MODULE_LIMIT; ++i) {
    struct module *module = __atomic_load_n(&recorder->modules[i], __ATOMIC_ACQUIRE);
    if (!module) {
      if (!fresh && !(fresh = make_module(object)))
        return NULL;
      fresh->number = i + 1;
      if (__atomic_compare_exchange_n(&recorder->modules[i], &module, fresh, false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        frontload_append_module(session, fresh);
        displace_others(recorder, fresh);
        return fresh;
      }
    }
    if (!is_module_of(module, object))
      continue;
    if (fresh)
      sys_unmap(fresh, mapping_size(fresh->size));
    if (__atomic_load_n(&module->start, __ATOMIC_RELAXED) != object->start) {
      __atomic_store_n(&module->start, object->start, __ATOMIC_RELAXED);
      displace_others(recorder, module);
    }
    return module;
  }
  if (fresh)
    sys_unmap(fresh, mapping_size(fresh->size));
  return NULL;
}
