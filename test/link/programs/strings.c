/* Strings of all kinds, in pairs: one that the hot function reads and one that the cold one does.
 */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define LONG(c) c c c c c c c c c c
#define LONGER(c) LONG(LONG(LONG(c)))

__attribute__((noinline)) void show(const char *text) {
  unsigned sum = 0;
  for (const char *p = text; *p; ++p)
    sum = sum * 31 + (unsigned char)*p;
  printf("%zu %u\n", strlen(text), sum);
}

#define READER(name)                                                                               \
  const char *volatile name##_table[] = {"" #name " of a table", "shared by tables"};              \
  __attribute__((noinline)) void name(void) {                                                      \
    show("" #name " short");                                                                       \
    show("" #name " long, of more than the thirty-one bytes that gcc aligns no further");          \
    show("" #name " \xc3\xa4\xff\x80");                                                            \
    show("" #name LONGER("0123456789"));                                                           \
    show("");                                                                                      \
    show("shared by readers");                                                                     \
    show(name##_table[1]);                                                                         \
    show(name##_table[0]);                                                                         \
    const wchar_t *volatile wide = L"" #name " wide";                                              \
    printf("%zu %d\n", wcslen(wide), (int)wide[1]);                                                \
  }

READER(hot)
READER(cold)

int main(void) {
  hot();
  cold();
  return 0;
}
