/* A program with a malloc of its own: recording neither needs memory from it nor is lost in it.

   exit 0
   process: main malloc take free */
#include <stddef.h>

static _Alignas(16) char memory[1 << 20];
static size_t used;

static void *take(size_t size) {
  char *result = memory + used;
  used += (size + 15) / 16 * 16;
  return result;
}

void *malloc(size_t size) { return take(size); }

void *calloc(size_t count, size_t size) { return take(count * size); }

void *realloc(void *old, size_t size) {
  (void)old;
  return take(size);
}

void free(void *old) { (void)old; }

int main(void) {
  free(malloc(10));
  return 0;
}
