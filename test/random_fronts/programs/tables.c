// Sections of our own that __start_ and __stop_ find: constant, writable, relocated, zero, of code,
// and one that only a pointer from outside keeps.
#include <stddef.h>
#include <stdio.h>

struct entry {
  const char *name;
  int (*run)(int);
};
#define IN(section_name) __attribute__((section(section_name), used))
#define COMMAND(name, text)                                                                        \
  IN("steps") static int name(int x) { return x + (int)sizeof text; }                              \
  IN("commands") static const struct entry name##_entry = {text, name};                            \
  IN("constants") static const int name##_constant = (int)sizeof text;                             \
  IN("numbers") static int name##_number = (int)sizeof text * 2;
COMMAND(help, "help")
COMMAND(version, "version")
COMMAND(list, "list all")
IN("zeroes") static int zero_a = 0;
IN("zeroes") static int zero_b = 0;

extern const struct entry __start_commands[], __stop_commands[];
extern const int __start_constants[], __stop_constants[];
extern int __start_numbers[], __stop_numbers[], __start_zeroes[], __stop_zeroes[];
extern const char __start_steps[], __stop_steps[];
extern const int __start_absent[] __attribute__((weak)), __stop_absent[] __attribute__((weak));

int main(void) {
  int sum = 0;
  for (const struct entry *entry = __start_commands; entry < __stop_commands; ++entry) {
    const char *code = (const char *)entry->run;
    printf("%s %d %d\n", entry->name, entry->run(10), code >= __start_steps && code < __stop_steps);
  }
  for (const int *p = __start_constants; p < __stop_constants; ++p)
    sum = sum * 10 + *p;
  for (int *p = __start_numbers; p < __stop_numbers; ++p)
    sum += ++*p;
  printf("%d %td %d\n", sum, __stop_zeroes - __start_zeroes, __start_absent == __stop_absent);
  return zero_a + zero_b;
}
