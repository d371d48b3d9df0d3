/* Recorded modules in memory, and the first touches of their granules. */
#include "touches.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_mallocfree.h>

#include "messages.h"
#include "trace.h"

/* Of the core: gives memory that the program does not see. */
extern SysRes VG_(am_mmap_anon_float_valgrind)(SizeT size);

_Static_assert(1 << GRANULE_SHIFT == FRONTLOAD_GRANULE, "the granules of the trace");
_Static_assert(1 << PART_SHIFT == FRONTLOAD_CODE_PART, "their parts");

typedef struct Mapped {
  ModuleFile *file;
  Addr bias;
  UChar *kept; /* the bytes of a module that is not mapped now; else NULL */
  Bool is_mapped;
  struct Mapped *next;
} Mapped;

/* Programs, their libraries and their heap lie below 64 GiB in Valgrind: it keeps higher addresses
 * for itself, except for the first stack. */
static const Addr max_limit = (Addr)1 << 36, min_limit = (Addr)1 << 32;
static Addr limit;
static UChar *bytes;
static Mapped *modules;
static ModuleFile *program;
static Bool has_ended;
static UInt end_time; /* of VG_(read_millisecond_timer); 0: none */

Bool touches_begin(void) {
  for (limit = max_limit; limit >= min_limit; limit >>= 1) {
    /* One page more, so that the byte behind the last one can be tested, too. */
    SysRes room = VG_(am_mmap_anon_float_valgrind)((limit >> GRANULE_SHIFT) + VKI_PAGE_SIZE);
    if (!sr_isError(room)) {
      bytes = (UChar *)sr_Res(room);
      return True;
    }
  }
  return False;
}

UChar *touches_bytes(void) { return bytes; }
Addr touches_limit(void) { return limit; }
Bool touches_has_ended(void) { return has_ended; }
void touches_end_after(UInt milliseconds) {
  end_time = milliseconds ? VG_(read_millisecond_timer)() + milliseconds : 0;
}

static Addr begin_of(const Mapped *m) { return m->bias + m->file->begin; }
static Addr end_of(const Mapped *m) { return m->bias + m->file->end; }
static UChar *first_byte(const Mapped *m) { return bytes + (begin_of(m) >> GRANULE_SHIFT); }
static SizeT num_bytes(const Mapped *m) {
  return (((end_of(m) - 1) >> GRANULE_SHIFT) - (begin_of(m) >> GRANULE_SHIFT)) + 1;
}

/* The bytes of a module's granules; NULL if there are none. */
static UChar *bytes_of(const Mapped *m) { return m->is_mapped ? first_byte(m) : m->kept; }

void touches_add(ModuleFile *file, Addr bias, Bool is_program) {
  for (const Mapped *m = modules; m; m = m->next)
    if (module_is_copy(m->file, file))
      file = m->file;
  if (is_program)
    program = file;
  Mapped *m = modules;
  while (m && !(m->file == file && (!m->is_mapped || m->bias == bias)))
    m = m->next;
  if (m && m->is_mapped)
    return; /* by another of its segments */
  if (bias + file->end > limit || bias + file->end < bias) {
    warn("%s: not recorded: it is mapped above 0x%lx", file->path, limit);
    return;
  }
  if (!m) {
    m = VG_(calloc)("frontload.mapped", 1, sizeof *m);
    m->file = file;
    m->next = modules;
    modules = m;
    if (file->is_cut)
      warn("%s: recorded up to 0x%lx only: its headers say that it needs more memory", file->path,
           file->end);
  }
  const UChar *known = NULL; /* the bytes of any mapping of the file, maybe a former one */
  for (const Mapped *other = modules; other && !known; other = other->next)
    known = other->file == file ? bytes_of(other) : NULL;
  m->bias = bias;
  m->is_mapped = True;
  if (has_ended)
    return;
  if (known)
    VG_(memcpy)(first_byte(m), known, num_bytes(m));
  else
    VG_(memset)(first_byte(m), AWAITS_DATA | AWAITS_CODE, num_bytes(m));
  VG_(free)(m->kept);
  m->kept = NULL;
}

void touches_remove(Addr begin, SizeT size) {
  for (Mapped *m = modules; m; m = m->next) {
    /* A library is unmapped as a whole; a mapping over a part of it is its own segment. */
    if (!m->is_mapped || begin > begin_of(m) || begin + size < end_of(m))
      continue;
    m->is_mapped = False;
    if (has_ended)
      continue;
    m->kept = VG_(malloc)("frontload.kept", num_bytes(m));
    VG_(memcpy)(m->kept, first_byte(m), num_bytes(m));
    VG_(memset)(first_byte(m), 0, num_bytes(m));
  }
}

static Mapped *module_at(Addr address) {
  for (Mapped *m = modules; m; m = m->next)
    if (m->is_mapped && address >= begin_of(m) && address < end_of(m))
      return m;
  return NULL;
}

Bool touches_has(Addr address) { return module_at(address) != NULL; }

/* Whether the startup goes on. */
static Bool is_awaited(void) {
  if (!has_ended && end_time && VG_(read_millisecond_timer)() >= end_time)
    touches_end();
  return !has_ended;
}

static void record_touch(const Mapped *touched, Addr granule, UChar awaited,
                         enum frontload_record_kind kind, Addr address) {
  SizeT index = granule - (begin_of(touched) >> GRANULE_SHIFT);
  for (const Mapped *m = modules; m; m = m->next)
    if (m->file == touched->file && bytes_of(m))
      bytes_of(m)[index] &= ~awaited;
  trace_event(kind, program, touched->file, address - touched->bias);
}

void touches_data(Addr address, SizeT size) {
  Addr last = (address + size - 1) >> GRANULE_SHIFT;
  for (Addr granule = address >> GRANULE_SHIFT; granule <= last; ++granule) {
    /* Modules begin and end with whole pages of memory, but not with whole granules. */
    Addr first = granule << GRANULE_SHIFT;
    Mapped *m = module_at(first < address ? address : first);
    if (!m || !(bytes[granule] & AWAITS_DATA) || !is_awaited())
      continue;
    record_touch(m, granule, AWAITS_DATA, FRONTLOAD_DATA, first);
  }
}

void touches_code(Addr granule, UWord starts) {
  if (!is_awaited())
    return;
  for (UInt i = 0; i < FRONTLOAD_GRANULE; ++i) {
    const UChar part = AWAITS_FIRST_PART << (i >> PART_SHIFT);
    const Addr address = (granule << GRANULE_SHIFT) + i;
    if (!(starts >> i & 1) || !(bytes[granule] & part))
      continue;
    Mapped *m = module_at(address);
    if (m)
      record_touch(m, granule, part, FRONTLOAD_CODE, address);
  }
}

void touches_end(void) {
  if (has_ended)
    return;
  has_ended = True;
  trace_mark_startup_done();
  for (Mapped *m = modules; m; m = m->next)
    if (m->is_mapped)
      VG_(memset)(first_byte(m), 0, num_bytes(m));
}

void touches_begin_again(void) {
  if (has_ended)
    return;
  trace_begin_again();
  for (Mapped *m = modules; m; m = m->next) {
    VG_(free)(m->kept);
    m->kept = NULL;
    if (m->is_mapped)
      VG_(memset)(first_byte(m), AWAITS_DATA | AWAITS_CODE, num_bytes(m));
  }
}
