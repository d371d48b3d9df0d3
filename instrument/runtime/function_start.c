/* The start of the function around an address, for hooks that do not get it.
 *
 * Two different hooks of one function then record one event. The start is in .eh_frame_hdr, a
 * sorted table of all functions, which the unwinder searches as well. Every program has it,
 * stripped or not, unless it is built with -fno-asynchronous-unwind-tables. (Its layout is in the
 * Linux Standard Base, chapter "Exception Frames".) Linkers write it in one form only; other forms
 * are not understood.
 */
#include "runtime.h"

/* Numbers are 32 bits, addresses relative to where they are stored... */
static const unsigned char known_form[] = {1, 0x1b, 0x03, 0x3b};

struct unwind_table {
  unsigned char form[sizeof known_form];
  int32_t frames;
  uint32_t count;
  struct {
    int32_t function, frame; /* ...or, here, to the table */
  } entries[];
};

/* The description of one function (an FDE). In its usual form, the start is as in the table. */
struct frame {
  uint32_t size, parent;
  int32_t start; /* relative to itself */
  uint32_t function_size;
};

uintptr_t frontload_function_start(const struct object *object, uintptr_t address) {
  const struct unwind_table *table = (const struct unwind_table *)object->unwind_table;
  const uintptr_t base = (uintptr_t)table;
  if (object->unwind_table_size < sizeof *table ||
      !same_bytes(table->form, known_form, sizeof known_form) ||
      (object->unwind_table_size - sizeof *table) / sizeof *table->entries < table->count)
    return address;

  size_t low = 0, high = table->count; /* the last function that starts at or before the address */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (base + (uintptr_t)(intptr_t)table->entries[middle].function <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return address;
  const uintptr_t start = base + (uintptr_t)(intptr_t)table->entries[low - 1].function;
  const struct frame *frame =
      (const struct frame *)(base + (uintptr_t)(intptr_t)table->entries[low - 1].frame);
  const bool known = (uintptr_t)&frame->start + (uintptr_t)(intptr_t)frame->start == start;
  return known && address - start < frame->function_size ? start : address;
}
