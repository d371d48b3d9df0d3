// A small hash table of words.
#include "count.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 1 << 16 };

static struct {
  char *name;
  int count;
} words[PLACES];
static int used;
static int place_of[2 * PLACES]; // the place of a word plus one, by its hash

static unsigned hash(const char *word) {
  unsigned value = 2166136261u;
  for (; *word; word++)
    value = (value ^ (unsigned char)*word) * 16777619u;
  return value % (2 * PLACES);
}

void count_word(const char *word) {
  unsigned at = hash(word);
  while (place_of[at] && strcmp(words[place_of[at] - 1].name, word) != 0)
    at = (at + 1) % (2 * PLACES);
  if (!place_of[at]) {
    if (used == PLACES)
      return;
    words[used].name = strdup(word);
    place_of[at] = ++used;
  }
  words[place_of[at] - 1].count++;
}

int count_different(void) {
  return used;
}

const char *count_name(int place) {
  return words[place].name;
}

int count_of(int place) {
  return words[place].count;
}
