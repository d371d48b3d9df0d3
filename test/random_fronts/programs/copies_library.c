// What the program copies.
int counter = 1, table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
const int limits[3] = {10, 20, 30};
const char *const words[2] = {"first", "second"};

int library_function(int x) { return x * 3 + table[3]; }
int (*library_address(void))(int) { return library_function; }
const char *library_word(void) { return words[1]; }
__attribute__((noinline)) int library_adds(int n) {
  table[n] += n;
  return counter += table[n];
}
