// A library of words, few of which a start says.
#define WORD(n)                                                                                    \
  const char *word_##n(void);                                                                      \
  const char *word_##n(void) { return "word " #n; }
#define TEN(n) WORD(n##0) WORD(n##1) WORD(n##2) WORD(n##3) WORD(n##4) WORD(n##5) WORD(n##6)         \
    WORD(n##7) WORD(n##8) WORD(n##9)
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)

const char *greeting(int politely);
const char *greeting(int politely) { return politely ? "good day" : "hello"; }
