/* The five symbols that the runtime takes from libc. Each may be missing, for now or for good.
 *
 * The hooks are called at any time, also before relocation, by IFUNC resolvers. Therefore nothing
 * of libc is called through the procedure linkage table: each address is loaded from the global
 * offset table and checked first. It is NULL there before relocation, and if libc has no such
 * symbol.
 */
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/auxv.h>

extern char **environ;

/* The compiler would take it for granted that a symbol's address is not NULL. */
#define ADDRESS_IN_LIBC(symbol)                                                                    \
  __extension__({                                                                                  \
    __typeof__(&(symbol)) pointer = &(symbol);                                                     \
    __asm__("" : "+r"(pointer));                                                                   \
    pointer;                                                                                       \
  })

/* False until the program is relocated and libc initialised. */
static inline bool libc_is_ready(void) {
  char ***environment = ADDRESS_IN_LIBC(environ);
  return environment && *environment && ADDRESS_IN_LIBC(getauxval);
}

/* Only for types that Linux always gives: for others, getauxval would set errno. */
static inline unsigned long libc_auxiliary_value(unsigned long type) {
  return ADDRESS_IN_LIBC(getauxval)(type);
}

/* Lock-free, and callable from signal handlers; in glibc since 2.35. */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object
static inline bool libc_has_find_object(void) { return ADDRESS_IN_LIBC(_dl_find_object); }

static inline bool libc_find_object(uintptr_t address, struct dl_find_object *found) {
  return ADDRESS_IN_LIBC(_dl_find_object)((void *)address, found) == 0;
}
#else
struct dl_find_object {
  void *dlfo_map_start;
  struct link_map *dlfo_link_map;
};
#define libc_has_find_object() false
#define libc_find_object(address, found) ((void)(address), (void)(found), false)
#endif

#pragma weak gnu_get_libc_version
extern const char *gnu_get_libc_version(void);

/* glibc's lock is recursive. */
static inline bool libc_can_iterate_in_handlers(void) {
  return ADDRESS_IN_LIBC(gnu_get_libc_version) != NULL;
}

/* Takes the lock that guards the dynamic linker's list of objects. */
static inline int libc_iterate_objects(int (*visit)(struct dl_phdr_info *, size_t, void *),
                                       void *data) {
  return ADDRESS_IN_LIBC(dl_iterate_phdr)(visit, data);
}
