/* One recorder for all copies of the runtime in libraries.
 *
 * A library with its own copy can be closed and opened again. The new copy knows nothing of the old
 * one, so each time a recorder would be left behind, and another trace begun. Therefore the first
 * such copy leaves its recorder's address in a page at a fixed place, in the middle of the
 * addresses that Linux leaves free. If that place is taken, or the machine has no such address,
 * each copy has a recorder of its own.
 *
 * A program's own copy, and the shared library, are never closed, and need no sharing.
 */
#include "base/system_calls.h"
#include "runtime.h"

/* Another text, or other sizes, if copies of different versions must not share. */
static const unsigned char layout_mark[] = "frontload recorder 3";

struct shared_page {
  unsigned char mark[sizeof layout_mark];
  size_t recorder_size, session_size, module_size;
  struct recorder *recorder; /* atomic; stored last */
};

static struct shared_page *const shared_page = (struct shared_page *)0x464c54520000;

static bool is_in_program(void) {
  struct object object;
  return !frontload_find_object((uintptr_t)layout_mark, &object, true) || object.is_main;
}

struct recorder *frontload_find_shared_recorder(void) {
  if (is_in_program() || !frontload_is_readable(shared_page) ||
      !same_bytes(shared_page->mark, layout_mark, sizeof layout_mark) ||
      shared_page->recorder_size != sizeof(struct recorder) ||
      shared_page->session_size != sizeof(struct session) ||
      shared_page->module_size != sizeof(struct module))
    return NULL;
  return __atomic_load_n(&shared_page->recorder, __ATOMIC_ACQUIRE);
}

void frontload_share_recorder(struct recorder *recorder) {
  if (is_in_program())
    return;
  void *mapping = sys_map_memory_at(shared_page, sizeof *shared_page);
  if (is_error(mapping))
    return;
  if (mapping != shared_page) { /* before Linux 4.17 the place is only a hint */
    sys_unmap(mapping, sizeof *shared_page);
    return;
  }
  copy_bytes(shared_page->mark, layout_mark, sizeof layout_mark);
  shared_page->recorder_size = sizeof(struct recorder);
  shared_page->session_size = sizeof(struct session);
  shared_page->module_size = sizeof(struct module);
  __atomic_store_n(&shared_page->recorder, recorder, __ATOMIC_RELEASE);
}
