// Counts words, in the order in which they come first.
#ifndef COUNT_H
#define COUNT_H

void count_word(const char *word);
int count_different(void);
const char *count_name(int place);
int count_of(int place);
int count_test(void);

#endif
