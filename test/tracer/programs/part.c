/* A shared library with everything that runs early. */
#define STEP __attribute__((noinline)) void
#define WORK __asm__ volatile("")

static STEP chosen(void) { WORK; }
__attribute__((used)) static void *resolver(void) { return (void *)chosen; }
void part_indirect(void) __attribute__((ifunc("resolver")));
__attribute__((constructor)) STEP part_constructor(void) { part_indirect(); }
__attribute__((destructor)) STEP part_destructor(void) { WORK; }
STEP part_one(void) { WORK; }
STEP part_two(void) { WORK; }
__attribute__((section(".text.far"))) STEP part_far(void) { WORK; }
STEP part_never(void) { WORK; }
