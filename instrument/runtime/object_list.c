/* Walks the dynamic linker's list of objects, also in a signal handler.
 *
 * libc's dl_iterate_phdr takes a lock. glibc's is recursive. musl's is not: a handler that comes
 * while its own thread is in dlopen would wait for ever. But if a signal is blocked, as the handled
 * one is in its handler, the list can be read as a debugger reads it: musl removes no object from
 * it, except one that could not be opened.
 */
#include "base/system_calls.h"
#include "libc.h"
#include "runtime.h"

#include <elf.h>
#include <errno.h>

enum { MIN_PAGE = 4096 };

/* Without an access that might fault: the kernel reads the signal set before it refuses `how`. */
bool frontload_is_readable(const void *address) {
  return SYS(rt_sigprocmask, -1, address, 0, sizeof(signal_set)) != -EFAULT;
}

/* The dynamic linker's record for debuggers; NULL if there is none. */
static const struct r_debug *told_to_debuggers(void) {
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)libc_auxiliary_value(AT_PHDR);
  const size_t count = libc_auxiliary_value(AT_PHNUM);
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

/* Finds the program headers; false if they are not in the first page. */
static bool find_headers(const struct link_map *object, bool is_main, struct dl_phdr_info *info) {
  info->dlpi_addr = object->l_addr;
  info->dlpi_name = object->l_name;
  if (is_main) {
    info->dlpi_phdr = (const ElfW(Phdr) *)libc_auxiliary_value(AT_PHDR);
    info->dlpi_phnum = (ElfW(Half))libc_auxiliary_value(AT_PHNUM);
    return true;
  }
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->l_addr;
  if (!frontload_is_readable(header) ||
      !same_bytes(header->e_ident, (const unsigned char *)ELFMAG, SELFMAG) ||
      header->e_phoff > MIN_PAGE || header->e_phentsize != sizeof(ElfW(Phdr)) ||
      header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > MIN_PAGE)
    return false;
  info->dlpi_phdr = (const ElfW(Phdr) *)(object->l_addr + header->e_phoff);
  info->dlpi_phnum = header->e_phnum;
  return true;
}

int frontload_iterate_objects(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data,
                              bool may_wait) {
  const struct r_debug *told =
      may_wait || libc_can_iterate_in_handlers() ? NULL : told_to_debuggers();
  if (!told)
    return libc_iterate_objects(visit, data);
  const struct link_map *object = told->r_map;
  for (bool is_main = true; object && frontload_is_readable(object); is_main = false) {
    struct dl_phdr_info info;
    if (find_headers(object, is_main, &info) && visit(&info, sizeof info, data))
      return 1;
    object = object->l_next;
  }
  return 0;
}
