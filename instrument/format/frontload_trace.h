/* The Frontload trace format, version 1.5: what one process recorded.
 *
 * A recorder writes a trace (instrument/runtime inside the program, instrument/tracer and
 * instrument/valgrind beside it), and scripts/frontload/profile/trace.py reads it. Only this header
 * declares the format. It is plain C because the runtime includes it and may use nothing else.
 *
 * A trace is a shared file mapping that is valid after every single store. A process killed at any
 * point leaves a readable trace. Only `failed` is written at the end, and no reader needs it.
 *
 *   byte 0                      header, FRONTLOAD_TRACE_HEADER_SIZE bytes
 *   byte header_size + 16 * i   slot i of the stream, 16 bytes each, to the end of the file
 *
 * All integers are in the byte order of the machine that wrote the trace (header byte 8
 * records the order).
 *
 * The stream is a sequence of records of one or more slots each. The top byte of a record's first
 * word holds its kind. A slot whose first word is zero is empty: either the stream ends here, or a
 * thread was stopped between claiming the slot and filling it. A reader skips empty slots, and
 * stops at `next_slot` or at the end of the file, whichever comes first.
 *
 * A recorder that maps the file makes room for slots in whole pages, which may be a large hole. It
 * may claim a slot before there is room. So a file of whole 4096-byte pages may be shorter than its
 * `next_slot` slots: the process ended in between, or room ran out. `dropped_events` then counts
 * the lost events. Any other file that is shorter was truncated.
 *
 *   event record, one slot (kinds FUNCTION, DATA, BLOCK and CODE):
 *     u64  kind << 56 | address
 *     u32  module: the number of the MODULE record that the address belongs to
 *     u32  thread: the kernel's thread id
 *
 *   `address` is an ELF virtual address of that module, as in its symbol table's st_value: the
 *   run-time address minus the load bias.
 *     FUNCTION  the entry of a function, or an address inside it if that is all the recorder knows
 *               (-finstrument-function-entry-bare, coverage)
 *     DATA      the first byte of a 16-byte granule that the program itself, not the loader
 *               relocating it, has read or written
 *     BLOCK     the start of a basic block
 *     CODE      (since 1.1) the first instruction executed in a part of 4 bytes of code (before
 *               1.4: in a granule of 16), at its exact address, which tells apart functions and
 *               basic blocks that share a granule
 *   Events stand in the stream in the order of first touch, which agrees with each thread's own
 *   order. A recorder that cannot tell threads apart writes the process id as `thread`.
 *   Where a signal handler interrupted the recorder, an event may be in the stream twice: the first
 *   counts.
 *
 *   module record, 1 + ceil((build_id_size + path_size) / 16) slots (kind MODULE):
 *     u64  kind << 56 | complete << 48 | build_id_size << 40 | slots << 16 | path_size
 *            path_size: 16 bits; slots: 24 bits, of the whole record including this slot;
 *            build_id_size: 8 bits, 0 if the module has none; complete: 1 once all bytes of the
 *            record are in place, 0 if the writer was stopped before that (then a reader skips the
 *            record and every event that names it)
 *     u32  module: its number, from 1 up; numbers are unique within one trace
 *     u32  flags: FRONTLOAD_MODULE_MAIN for the program itself
 *     then build_id_size bytes of the GNU build-id, then path_size bytes of the path of the file
 *     (not zero-terminated, cut to at most 65535 bytes), then zeros to a whole slot.
 *   The module record may come after the first event that names it (two threads race). Two records
 *   may describe the same file (same build-id and path); readers unite them.
 *
 * A *run* is a process that has executed a program, with the forked ones that have not executed
 * another: the workers of a server are part of its start. They have traces of their own, with the
 * same number `run`. It is made from the time at which the run began, to be unique among runs.
 *
 * The *role* of a process is the user's word for its kind, as browsers have several. --role,
 * FRONTLOAD_ROLE or frontload_set_role() set it (frontload_role.h defines which are valid). A trace
 * has nothing else of a command line or an environment.
 *
 * Compatibility: a reader refuses a newer major version. A newer minor version may add header
 * fields in the reserved space, and record kinds of one slot, which a reader skips.
 */
#pragma once

#include "frontload_role.h"

#include <assert.h>
#include <stdint.h>

/* The first byte is not ASCII and the line ends catch text-mode transfers (the idea is PNG's). */
#define FRONTLOAD_TRACE_MAGIC                                                                      \
  "\x89"                                                                                           \
  "FLT\r\n\x1a\n"
#define FRONTLOAD_TRACE_MAJOR 1
#define FRONTLOAD_TRACE_MINOR 5
#define FRONTLOAD_TRACE_HEADER_SIZE 128
#define FRONTLOAD_TRACE_SLOT_SIZE 16
#define FRONTLOAD_GRANULE 16  /* bytes of data whose first touch is one event */
#define FRONTLOAD_CODE_PART 4 /* likewise of code: x86 instructions have about four bytes */
/* A recorder replaces no file. It tries NAME, NAME.1, NAME.2... up to this number. */
#define FRONTLOAD_TRACE_MAX_SUFFIX 99999

enum frontload_byte_order { FRONTLOAD_LITTLE_ENDIAN = 1, FRONTLOAD_BIG_ENDIAN = 2 };

enum frontload_recorder {
  FRONTLOAD_RECORDER_RUNTIME = 1,
  FRONTLOAD_RECORDER_TRACER = 2,
  FRONTLOAD_RECORDER_VALGRIND = 3,
};

enum frontload_record_kind {
  FRONTLOAD_EMPTY = 0,
  FRONTLOAD_FUNCTION = 1,
  FRONTLOAD_DATA = 2,
  FRONTLOAD_BLOCK = 3,
  FRONTLOAD_CODE = 4,
  FRONTLOAD_MODULE = 0x80,
};

enum frontload_module_flags { FRONTLOAD_MODULE_MAIN = 1 };

/* 128 bytes. Offsets are given because other languages read this too. */
struct frontload_trace_header {
  char magic[8];           /*   0  FRONTLOAD_TRACE_MAGIC */
  uint8_t byte_order;      /*   8  enum frontload_byte_order */
  uint8_t word_size;       /*   9  bytes in an address of the traced program: 4 or 8 */
  uint16_t machine;        /*  10  e_machine of the traced program, e.g. 62 for x86-64 */
  uint16_t major;          /*  12  FRONTLOAD_TRACE_MAJOR */
  uint16_t minor;          /*  14  FRONTLOAD_TRACE_MINOR */
  uint32_t header_size;    /*  16  FRONTLOAD_TRACE_HEADER_SIZE */
  uint32_t slot_size;      /*  20  FRONTLOAD_TRACE_SLOT_SIZE */
  uint32_t recorder;       /*  24  enum frontload_recorder */
  uint32_t pid;            /*  28  the recorded process */
  uint64_t next_slot;      /*  32  slots claimed so far; updated atomically */
  uint64_t dropped_events; /*  40  first touches that found no room (the earliest are kept) */
  uint8_t startup_done;    /*  48  1 once recording was ended on purpose (startup done, --until) */
  uint8_t forked;          /*  49  1 if a recorded process of the same run has forked it */
  uint8_t failed;          /*  50  since 1.5: 1 if the process had an exit status other than 0, or a
                                   signal ended it that dumps core; 0: not, or not known */
  uint8_t unused[5];       /*  51  zero */
  uint64_t run;            /*  56  since 1.2: the number of the run; 0: not known */
  char role[FRONTLOAD_ROLE_SIZE]; /*  64  since 1.3: ASCII, then zeros; empty: none */
  uint8_t reserved[32];           /*  96  zero */
};

/* Fills in what each trace of this version has. Store the magic last, so that a file cut off before
 * that is no trace. */
static inline void frontload_begin_trace(struct frontload_trace_header *header,
                                         enum frontload_recorder recorder, uint16_t machine,
                                         uint32_t pid) {
  header->byte_order =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? FRONTLOAD_LITTLE_ENDIAN : FRONTLOAD_BIG_ENDIAN;
  header->word_size = sizeof(void *);
  header->machine = machine;
  header->major = FRONTLOAD_TRACE_MAJOR;
  header->minor = FRONTLOAD_TRACE_MINOR;
  header->header_size = FRONTLOAD_TRACE_HEADER_SIZE;
  header->slot_size = FRONTLOAD_TRACE_SLOT_SIZE;
  header->recorder = recorder;
  header->pid = pid;
}

struct frontload_trace_slot {
  uint64_t kind_address; /* kind << 56 | address; stored last, so that a filled slot is complete */
  uint32_t module;
  uint32_t thread;
};

#define FRONTLOAD_ADDRESS_MASK ((UINT64_C(1) << 56) - 1)

static_assert(sizeof(struct frontload_trace_header) == FRONTLOAD_TRACE_HEADER_SIZE, "see above");
static_assert(sizeof(struct frontload_trace_slot) == FRONTLOAD_TRACE_SLOT_SIZE, "see above");
