// A test of the counting, which a start does not need.
#include "count.h"

#include <string.h>

int count_test(void) {
  static const char *const words[] = {"to", "be", "or", "not", "to", "be"};
  for (int i = 0; i < 6; i++)
    count_word(words[i]);
  int wrong = count_different() != 4;
  wrong += strcmp(count_name(0), "to") != 0 || count_of(0) != 2;
  wrong += strcmp(count_name(3), "not") != 0 || count_of(3) != 1;
  return wrong;
}
